import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, BellRing, Brain, ChevronRight, Clock, FoldVertical, Info, TriangleAlert } from 'lucide-react';
import { memo, useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';

import { isBusy, type Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { showError } from '../tasks/actions';
import { LongText } from '../ui/LongText';
import { AskCard, askOf } from './AskCard';
import { makeSplitter } from './blocks';
import { Markdown, MarkdownText } from './markdown';
import { MessageActions, messageText } from './Message';
import { modeOf } from './sent';
import { ToolCard } from './ToolCard';
import { rowsOf, type Row, type Transcript } from './transcript';

interface UserProps {
  row: Extract<Row, { kind: 'user' }>;
  taskId: string;
  atWork: boolean; // It has begun: what it has not read waits.
}

function UserRow({ row, taskId, atWork }: UserProps) {
  const { t } = useTranslation();
  const { message } = row;
  const pending = row.pending && atWork;
  // Only pictures that are here already: nothing is fetched because a message names it.
  const pictures = message.parts.flatMap((part) =>
    part.type === 'file' && part.url.startsWith('data:image/') ? [part] : [],
  );
  const text = messageText({
    ...message,
    parts: message.parts.filter((part) => !pictures.some((each) => each === part)),
  });
  const mode = modeOf(taskId, text);
  return (
    <div
      className="group mt-5 mb-1 flex flex-col items-end"
      data-message={message.id}
      data-role="user"
      data-pending={pending}
    >
      <div
        className={`max-w-[85%] rounded-2xl rounded-br-md px-4 py-2.5 whitespace-pre-wrap break-words ${pending ? 'border border-dashed border-amber bg-amber-soft' : 'bg-accent-soft'}`}
      >
        {pictures.map((file, i) => (
          <img key={i} src={file.url} alt={file.name} className="mb-2 max-h-72 max-w-full rounded-lg last:mb-0" />
        ))}
        <LongText text={text} className="" />
      </div>
      <div className="mt-0.5 flex min-h-6 flex-row-reverse items-center gap-2 text-xs text-muted">
        {pending && (
          <span className="flex items-center gap-1 text-amber">
            <Clock size={12} aria-hidden />
            {t('chat.pending')}
            {mode && ` · ${t(`chat.pendingMode.${mode}`)}`}
          </span>
        )}
        <span className="md:opacity-0 md:group-focus-within:opacity-100 md:group-hover:opacity-100">
          <MessageActions message={message} taskId={taskId} />
        </span>
      </div>
    </div>
  );
}

// What the agent was told that nobody wrote: a summary in the place of what was before, a note of a fork. Long ones folded.
function NoteRow({ row }: { row: Extract<Row, { kind: 'system' }> }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const compaction = row.name === 'compaction';
  // A notice is a report: a heading, and what there is to say.
  const notice = row.message.role === 'user';
  const long = compaction || notice || row.text.length > 280 || row.text.split('\n').length > 4;
  const title = row.text.split('\n', 1)[0]?.replace(/^#+\s*/, '') ?? '';
  if (!long)
    return (
      <p
        className="my-3 flex gap-2.5 rounded-xl bg-panel px-4 py-2.5 text-sm text-muted"
        data-note={row.name ?? 'note'}
      >
        <Info size={15} className="mt-0.5 shrink-0" aria-hidden />
        <span className="min-w-0 whitespace-pre-wrap break-words">{row.text}</span>
      </p>
    );
  const Icon = compaction ? FoldVertical : notice ? BellRing : Info;
  return (
    <details
      className="my-3 rounded-xl border border-line bg-panel px-4 py-2.5 text-sm"
      data-note={row.name ?? 'note'}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="flex list-none items-center gap-2.5 font-medium text-muted">
        <Icon size={15} className="shrink-0" aria-hidden />
        <span className="min-w-0 truncate">{compaction ? t('chat.note.compaction') : title}</span>
        <span className="ml-auto shrink-0 text-xs font-normal underline underline-offset-2">{t('chat.note.show')}</span>
      </summary>
      <div className="mt-2 max-h-96 overflow-auto text-muted" tabIndex={0}>
        {open && <MarkdownText text={notice ? row.text.slice(row.text.indexOf('\n') + 1) : row.text} />}
      </div>
    </details>
  );
}

function ReasoningRow({ row }: { row: Extract<Row, { kind: 'reasoning' }> }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false); // What is folded is not read either.
  return (
    <details
      className="group/fold my-1.5 -ml-3 text-muted max-md:-ml-2"
      data-testid="reasoning"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="flex w-fit list-none items-center gap-2 rounded-lg px-3 py-1 text-[13px] font-medium hover:bg-hover hover:text-text">
        <Brain size={15} className={row.live ? 'animate-pulse text-blue' : ''} aria-hidden />
        {row.live ? t('chat.thinking') : t('chat.thought')}
        <ChevronRight size={14} className="transition-transform group-open/fold:rotate-90" aria-hidden />
      </summary>
      <div className="mt-1 mb-2 ml-[19px] border-l-2 border-line py-1 pl-4 text-[13px]">
        {open && <MarkdownText text={row.text} />}
      </div>
    </details>
  );
}

interface RowProps {
  row: Row;
  taskId: string;
  folder: string | null;
  busy: boolean;
  waiting: string | undefined; // The question that is open.
}

const RowView = memo(function RowView({ row, taskId, folder, busy, waiting }: RowProps): ReactNode {
  const { t } = useTranslation();
  switch (row.kind) {
    case 'user':
      return <UserRow row={row} taskId={taskId} atWork={busy} />;
    case 'block':
      return (
        <div data-message={row.message.id} data-role="assistant">
          <Markdown text={row.text} live={row.live} />
        </div>
      );
    case 'reasoning':
      return <ReasoningRow row={row} />;
    case 'tool':
      return <ToolCard row={row} asks={waiting === row.call.call_id} />;
    case 'ask':
      return <AskCard taskId={taskId} folder={folder} ask={row.ask} open={waiting === row.ask.id && !row.ask.answer} />;
    case 'file':
      // Only a picture that is here already: nothing is fetched because an agent named it.
      if (/^data:image\//.test(row.file.url))
        return (
          <img
            src={row.file.url}
            alt={row.file.name}
            className="my-2 max-h-96 max-w-full rounded-xl border border-line"
          />
        );
      return <p className="chip my-2">{row.file.name}</p>;
    case 'system':
      return <NoteRow row={row} />;
    case 'foot':
      return (
        <div className="mt-0.5 mb-1 -ml-1.5">
          <MessageActions message={row.message} taskId={taskId} />
        </div>
      );
    case 'warning':
      return (
        <p className="my-2 flex items-start gap-2 rounded-xl bg-amber-soft px-3 py-2 text-sm text-amber">
          <TriangleAlert size={15} className="mt-0.5 shrink-0" aria-hidden />
          {row.warning.text}
        </p>
      );
    case 'interrupted':
      return <p className="my-2 text-sm text-muted italic">{t('chat.interrupted')}</p>;
    case 'turn':
      return (
        <div className="mt-5 flex items-center gap-3 text-xs text-muted" role="separator">
          <span className="h-px flex-1 bg-line" />
          {t('chat.turn', { n: row.turn })}
          <span className="h-px flex-1 bg-line" />
        </div>
      );
  }
});

// Rows that say the same are the same object, so that only what changed is drawn again.
function makeStabilizer() {
  let old = new Map<string, Row>();
  return (rows: Row[]): Row[] => {
    const next = new Map<string, Row>();
    const stable = rows.map((row) => {
      const before = old.get(row.key);
      const same = before && before.kind === row.kind && equal(before, row) ? before : row;
      next.set(row.key, same);
      return same;
    });
    old = next;
    return stable;
  };
}
function equal(a: Row, b: Row): boolean {
  if (a.kind === 'block' && b.kind === 'block') return a.text === b.text && a.live === b.live && a.first === b.first;
  if (a.kind === 'reasoning' && b.kind === 'reasoning') return a.text === b.text && a.live === b.live;
  if (a.kind === 'tool' && b.kind === 'tool')
    return a.call.call_id === b.call.call_id && a.result?.call_id === b.result?.call_id && a.live === b.live;
  if (a.kind === 'user' && b.kind === 'user') return a.message === b.message && a.pending === b.pending;
  if (a.kind === 'system' && b.kind === 'system') return a.text === b.text && a.name === b.name;
  if (a.kind === 'ask' && b.kind === 'ask') return a.ask === b.ask;
  if (a.kind === 'warning' && b.kind === 'warning') return a.warning.seq === b.warning.seq;
  return JSON.stringify(a) === JSON.stringify(b);
}

interface Props {
  task: Task;
  transcript: Transcript;
  loadEarlier: () => Promise<void>;
  footer: ReactNode;
}

export function Conversation({ task, transcript, loadEarlier, footer }: Props) {
  const { t } = useTranslation();
  const scroller = useRef<HTMLDivElement>(null);
  const [split] = useState(makeSplitter);
  const working = task.status === 'running' || task.status === 'resumed';
  const [stable] = useState(makeStabilizer);
  const rows = useMemo(() => {
    const rows = rowsOf(transcript, split, working);
    // That it was cut short is said once: by how the task ended, where that is the reason.
    if (task.status === 'failed' || task.status === 'cancelled') {
      const at = rows.findLastIndex((row) => row.kind === 'interrupted');
      if (at >= 0 && !rows.slice(at + 1).some((row) => row.kind !== 'foot')) rows.splice(at, 1);
    }
    // Its question is not among the events that were read: it is shown from the record.
    const ask = task.waiting_for ? askOf(task.waiting_for) : null;
    if (ask && !rows.some((row) => row.kind === 'ask' && row.ask.id === ask.id))
      rows.push({ kind: 'ask', key: ask.id, ask });
    return stable(rows);
  }, [transcript, split, stable, working, task.waiting_for, task.status]);
  const [atEnd, setAtEnd] = useState(true);
  const placed = useRef(false);
  const head = transcript.more ? 1 : 0;

  const virtual = useVirtualizer({
    count: rows.length + head + 1,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    getItemKey: (index) => (head && index === 0 ? 'earlier' : (rows[index - head]?.key ?? 'footer')),
    overscan: 6,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: 80,
    paddingStart: 16,
    paddingEnd: 8,
    onChange: (instance) => setAtEnd(instance.isAtEnd(80)),
  });

  // At the end it stays at the end, however much comes at once, until its reader scrolls up.
  const pinned = useRef(true);
  const lastTop = useRef(0);
  const onScroll = () => {
    const box = scroller.current;
    if (!box) return;
    const up = box.scrollTop < lastTop.current - 2;
    lastTop.current = box.scrollTop;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 80) pinned.current = true;
    else if (up) pinned.current = false;
  };
  const height = virtual.getTotalSize();
  useEffect(() => {
    if (pinned.current && placed.current) virtual.scrollToEnd();
  }, [rows, height, virtual]);

  const loading = useRef<Promise<void> | null>(null);
  const earlier = useCallback(
    () => (loading.current ??= loadEarlier().finally(() => (loading.current = null))),
    [loadEarlier],
  );

  // First the end, or the message that the address names, however far back it is: then what is before it is read first.
  const [wanted, setWanted] = useState(() => location.hash.slice(1));
  const [lit, setLit] = useState<string | null>(null);
  const [pages, setPages] = useState(0); // Read for it so far: the rows of a page may be shown before the next can be asked for.
  useEffect(() => {
    const changed = () => setWanted(location.hash.slice(1));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  useEffect(() => {
    if (rows.length === 0 || (placed.current && !wanted)) return;
    const index = wanted ? rows.findIndex((row) => 'message' in row && row.message.id === wanted) : -1;
    if (wanted && index < 0 && transcript.more)
      return void earlier().then(
        () => setPages((n) => n + 1),
        () => setWanted(''),
      );
    placed.current = true;
    setWanted('');
    if (index < 0) return virtual.scrollToEnd();
    pinned.current = false;
    setLit(wanted);
    virtual.scrollToIndex(index + head, { align: 'start' });
  }, [rows, head, virtual, wanted, transcript.more, pages, earlier]);
  useEffect(() => {
    if (!lit) return;
    const later = setTimeout(() => setLit(null), 2500);
    return () => clearTimeout(later);
  }, [lit]);

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('chat.transcript')}
        data-testid="transcript"
        className="h-full overflow-y-auto outline-none [overflow-anchor:none]"
      >
        <div className="column relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index - head];
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={`absolute inset-x-6 top-0 flow-root max-md:inset-x-4 ${lit && row && 'message' in row && row.message.id === lit ? 'lit' : ''}`}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {head && item.index === 0 ? (
                  <div className="py-3 text-center">
                    <button type="button" className="btn" onClick={() => void earlier().catch(showError)}>
                      {t('chat.earlier')}
                    </button>
                  </div>
                ) : row ? (
                  <RowView
                    row={row}
                    taskId={task.id}
                    folder={task.work_dir}
                    busy={isBusy(task) && task.status !== 'pending'}
                    waiting={task.waiting_for?.request_id}
                  />
                ) : (
                  footer
                )}
              </div>
            );
          })}
        </div>
      </div>
      {!atEnd && (
        <button
          type="button"
          className="btn absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-[var(--shadow)]"
          onClick={() => {
            pinned.current = true;
            virtual.scrollToEnd();
          }}
        >
          <ArrowDown size={14} aria-hidden />
          {t('chat.latest')}
        </button>
      )}
    </div>
  );
}
