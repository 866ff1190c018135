import { ChevronRight, CircleAlert, CircleCheck, LoaderCircle, Wrench } from 'lucide-react';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';

import { bytes, number, shortDuration } from '../lib/format';
import { Diff, isDiff } from './Diff';
import type { Row } from './transcript';

// "make test", "README.md": the one argument that says most.
export function toolSummary(input: unknown): string {
  if (typeof input === 'string') return input.split('\n', 1)[0] ?? '';
  if (typeof input !== 'object' || input === null) return '';
  const values = input as Record<string, unknown>;
  for (const key of ['command', 'path', 'file_path', 'file', 'pattern', 'query', 'url', 'description', 'prompt']) {
    const value = values[key];
    if (typeof value === 'string') return value.split('\n', 1)[0] ?? '';
  }
  const first = Object.values(values).find((value) => typeof value === 'string');
  return typeof first === 'string' ? (first.split('\n', 1)[0] ?? '') : '';
}

const linesMost = 40;

function Output({ text, isError }: { text: string; isError: boolean }) {
  const { t, i18n } = useTranslation();
  const [all, setAll] = useState(false);
  const lines = text.replace(/\n$/, '').split('\n');
  const cut = !all && lines.length > linesMost;
  if (isDiff(text)) return <Diff text={text} />;
  return (
    <>
      <pre
        tabIndex={0}
        className={`max-h-96 overflow-auto px-4 py-2 font-mono text-[12.5px] leading-relaxed whitespace-pre-wrap break-words ${isError ? 'text-red' : ''}`}
      >
        {cut ? lines.slice(0, linesMost).join('\n') : text}
      </pre>
      {cut && (
        <button
          type="button"
          className="px-4 pb-2 text-xs text-accent-text underline underline-offset-2"
          onClick={() => setAll(true)}
        >
          {t('chat.tool.showAll', { n: number(lines.length, i18n.language), size: bytes(text.length) })}
        </button>
      )}
    </>
  );
}

export const ToolCard = memo(function ToolCard({ row }: { row: Extract<Row, { kind: 'tool' }> }) {
  const { t } = useTranslation();
  const { call, result, live } = row;
  const [open, setOpen] = useState(false);
  const summary = toolSummary(call.input);
  const input = typeof call.input === 'string' ? call.input : JSON.stringify(call.input, null, 2);
  const state = result ? (result.is_error ? 'failed' : 'done') : live ? 'running' : 'none';
  return (
    <div
      className={`card my-2 overflow-hidden ${result?.is_error ? 'border-red' : ''}`}
      data-tool={call.name}
      data-state={state}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2.5 px-3 py-2 text-left hover:bg-hover"
      >
        <ChevronRight
          size={15}
          className={`shrink-0 text-muted transition-transform ${open ? 'rotate-90' : ''}`}
          aria-hidden
        />
        <Wrench size={14} className="shrink-0 text-muted" aria-hidden />
        <span className="shrink-0 font-medium">{call.name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-[12.5px] text-muted">{summary}</span>
        {result && <span className="shrink-0 text-xs text-muted tabular-nums">{shortDuration(result.ms)}</span>}
        {state === 'failed' && (
          <CircleAlert size={16} className="shrink-0 text-red" aria-label={t('chat.tool.failed')} />
        )}
        {state === 'done' && <CircleCheck size={16} className="shrink-0 text-green" aria-label={t('chat.tool.done')} />}
        {state === 'running' && (
          <LoaderCircle size={16} className="spin shrink-0 text-blue" aria-label={t('chat.tool.running')} />
        )}
      </button>
      {open && (
        <div className="border-t border-line">
          <p className="px-4 pt-2 text-xs font-medium text-muted">{t('chat.tool.input')}</p>
          <pre
            tabIndex={0}
            className="max-h-72 overflow-auto px-4 py-2 font-mono text-[12.5px] whitespace-pre-wrap break-words"
          >
            {input}
          </pre>
          {result && (
            <div className="border-t border-line">
              <p className="px-4 pt-2 text-xs font-medium text-muted">{t('chat.tool.output')}</p>
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
