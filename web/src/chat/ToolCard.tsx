import {
  ChevronRight,
  Circle,
  CircleAlert,
  CircleCheck,
  CircleDot,
  FileText,
  FilePen,
  FilePlus2,
  FolderTree,
  Globe,
  Hourglass,
  Layers,
  ListChecks,
  LoaderCircle,
  Search,
  Terminal,
  Wrench,
  type LucideIcon,
} from 'lucide-react';
import { memo, useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import { bytes, number, shortDuration } from '../lib/format';
import { More, useShown } from '../ui/LongText';
import { pieces } from './ansi';
import { Diff, isDiff } from './Diff';
import { pictureOf, toolView, type Family, type Todo, type ToolView } from './tools';
import type { Row } from './transcript';

const icons: Record<Family, LucideIcon> = {
  shell: Terminal,
  read: FileText,
  write: FilePlus2,
  edit: FilePen,
  search: Search,
  list: FolderTree,
  todo: ListChecks,
  web: Globe,
  task: Layers,
  other: Wrench,
};

const linesMost = 40;
const code = 'max-h-96 overflow-auto px-4 py-2 font-mono text-[12.5px] leading-relaxed whitespace-pre-wrap break-words';

// Coloured where the program coloured it.
function Text({ text }: { text: string }) {
  if (!text.includes('\u001b')) return text;
  return text.split('\n').map((line, i) => (
    <span key={i}>
      {pieces(line).map((piece, j) => (
        <span key={j} className={piece.className}>
          {piece.text}
        </span>
      ))}
      {'\n'}
    </span>
  ));
}

const step = 60_000;

function Pre({ text, tone = '', prompt = false }: { text: string; tone?: string; prompt?: boolean }) {
  const { shown, rest, more } = useShown(text, step);
  return (
    <>
      <pre tabIndex={0} className={`${code} ${tone}`}>
        {prompt && <span className="text-muted select-none">$ </span>}
        {prompt ? shown : <Text text={shown} />}
      </pre>
      <More rest={rest} onClick={more} />
    </>
  );
}

function Output({ text, isError = false }: { text: string; isError?: boolean }) {
  const { t, language } = useTranslation();
  const [all, setAll] = useState(false);
  const picture = pictureOf(text);
  if (picture)
    return (
      <img src={picture} alt={t('chat.tool.picture')} className="m-3 max-h-96 max-w-[calc(100%-1.5rem)] rounded-lg" />
    );
  if (isDiff(text)) return <Diff text={text} />;
  const lines = text.replace(/\n$/, '').split('\n');
  const cut = !all && lines.length > linesMost;
  return (
    <>
      <Pre text={cut ? lines.slice(0, linesMost).join('\n') : text} tone={isError ? 'text-red' : ''} />
      {cut && (
        <button
          type="button"
          className="px-4 pb-2 text-xs text-accent-text underline underline-offset-2"
          onClick={() => setAll(true)}
        >
          {t('chat.tool.showAll', { n: number(lines.length, language), size: bytes(text.length) })}
        </button>
      )}
    </>
  );
}

const todoIcons = { pending: Circle, in_progress: CircleDot, completed: CircleCheck };
function Todos({ todos }: { todos: Todo[] }) {
  const { t } = useTranslation();
  return (
    <ul className="flex flex-col gap-1.5 px-4 py-3" data-testid="todos">
      {todos.map(({ text, state }, i) => {
        const Icon = todoIcons[state];
        const tone = { pending: 'text-muted', in_progress: 'text-blue', completed: 'text-green' }[state];
        return (
          <li key={i} className="flex items-start gap-2">
            <Icon size={16} className={`mt-0.5 shrink-0 ${tone}`} aria-label={t(`chat.todo.${state}`)} />
            <span className={state === 'completed' ? 'text-muted line-through' : ''}>{text}</span>
          </li>
        );
      })}
    </ul>
  );
}

// What it was asked to do, in the form that shows most.
function Given({ view, input }: { view: ToolView; input: unknown }) {
  const { t } = useTranslation();
  if (view.todos) return <Todos todos={view.todos} />;
  if (view.diff !== undefined) return <Diff text={view.diff} />;
  if (view.content !== undefined) return <Output text={view.content} />;
  if (view.command !== undefined) return <Pre text={view.command} tone="bg-code" prompt />;
  return (
    <>
      <p className="px-4 pt-2 text-xs font-medium text-muted">{t('chat.tool.input')}</p>
      <Pre text={typeof input === 'string' ? input : (JSON.stringify(input, null, 2) ?? '')} />
    </>
  );
}

// What was opened or closed by hand stays so when its row leaves the screen and comes back.
const chosen = new Map<string, boolean>();
const openLines = 14;

export const ToolCard = memo(function ToolCard({ row, asks }: { row: Extract<Row, { kind: 'tool' }>; asks: boolean }) {
  const { t } = useTranslation();
  const { call, result, live } = row;
  const view = toolView(call.name, call.input);
  // A short change and a list of what is to be done are news; the rest is for those who ask.
  const short = view.todos !== undefined || (view.diff !== undefined && view.diff.split('\n').length <= openLines);
  const [open, setOpen] = useState(chosen.get(call.call_id) ?? (short && !result?.is_error));
  const state = result ? (result.is_error ? 'failed' : 'done') : live ? 'running' : 'none';
  const Icon = icons[view.family];
  // What was read or looked for is in the summary already.
  const plain = result !== null && ['read', 'list', 'search'].includes(view.family) && view.summary !== '';
  // What an edit answers is that it worked: the change itself says so.
  const quiet = result && !result.is_error && (view.diff !== undefined || view.todos !== undefined);
  return (
    <div className="card my-1 overflow-hidden" data-tool={call.name} data-state={state}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => {
          chosen.set(call.call_id, !open);
          setOpen(!open);
        }}
        className="flex h-9 w-full items-center gap-2.5 px-3 text-left hover:bg-hover"
      >
        <ChevronRight
          size={15}
          className={`shrink-0 text-muted transition-transform ${open ? 'rotate-90' : ''}`}
          aria-hidden
        />
        <Icon size={15} className="shrink-0 text-muted" aria-hidden />
        <span className="max-w-[50%] shrink-0 truncate font-medium">{call.name}</span>
        <span className="min-w-0 flex-1 truncate text-muted">
          <span className={`font-mono text-[12.5px] ${result?.is_error ? 'text-red' : 'text-text'}`}>
            {view.summary}
          </span>
          {view.detail && <span className="ml-2 text-xs text-muted">{view.detail}</span>}
        </span>
        {(view.added !== undefined || view.removed !== undefined) && (
          <span className="shrink-0 font-mono text-xs tabular-nums">
            {view.added !== undefined && <span className="text-green">+{view.added}</span>}
            {view.removed !== undefined && <span className="ml-1.5 text-red">−{view.removed}</span>}
          </span>
        )}
        {result && result.ms > 0 && (
          <span className="shrink-0 text-xs text-muted tabular-nums">{shortDuration(result.ms)}</span>
        )}
        {state === 'failed' && (
          <CircleAlert size={16} className="shrink-0 text-red" aria-label={t('chat.tool.failed')} />
        )}
        {state === 'done' && <CircleCheck size={16} className="shrink-0 text-green" aria-label={t('chat.tool.done')} />}
        {state === 'running' && asks && (
          <Hourglass size={15} className="shrink-0 text-violet" aria-label={t('chat.tool.waits')} />
        )}
        {state === 'running' && !asks && (
          <LoaderCircle size={16} className="spin shrink-0 text-blue" aria-label={t('chat.tool.running')} />
        )}
      </button>
      {open && (
        <div className="border-t border-line">
          {!plain && <Given view={view} input={call.input} />}
          {result && result.output !== '' && !quiet && (
            <div className={plain ? '' : 'border-t border-line'}>
              {view.command === undefined && !plain && (
                <p className="px-4 pt-2 text-xs font-medium text-muted">{t('chat.tool.output')}</p>
              )}
              <Output text={result.output} isError={result.is_error} />
              {result.truncated && (
                <p className="px-4 pb-2 text-xs text-muted">{t('chat.tool.truncated', { size: bytes(result.size) })}</p>
              )}
            </div>
          )}
        </div>
      )}
    </div>
  );
});
