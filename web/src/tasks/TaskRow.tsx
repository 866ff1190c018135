import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  ChevronRight,
  CircleHelp,
  CornerDownRight,
  Layers,
  MessageSquare,
  RotateCcw,
  Square,
  Terminal,
  Trash2,
  Wrench,
} from 'lucide-react';
import { memo, type MouseEvent, type ReactNode } from 'react';

import { api, call } from '../api/client';
import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { ago, dateTime, ms, number, shortModel, taskDuration } from '../lib/format';
import { useDebounced, useNow } from '../lib/hooks';
import { StatusBadge, WaitWords } from '../ui/StatusBadge';
import { can, type Action } from './actions';
import { summary } from './summary';

export interface RowProps {
  task: Task;
  index: number;
  selected: boolean;
  focused: boolean;
  phone: boolean;
  depth: number; // Below which parent it stands.
  fold: 'none' | 'open' | 'closed';
  inBatch: boolean; // The whole list is of its batch.
  onFold: (session: string) => void;
  onOpen: (task: Task) => void;
  onSelect: (index: number, range: boolean) => void;
  onAction: (action: Action, task: Task) => void;
}

// Ticks by itself, so that the row does not.
function Started({ task }: { task: Task }) {
  const { language } = useTranslation();
  const now = useNow();
  const at = task.started_at ?? task.created_at;
  return (
    <time dateTime={at} title={dateTime(at, language)}>
      {task.started_at ? ago(Date.parse(at), now, language) : '–'}
    </time>
  );
}
function Duration({ task }: { task: Task }) {
  return <>{taskDuration(task, useNow()) ?? '–'}</>;
}
function LastUpdate({ task }: { task: Task }) {
  const { t, language } = useTranslation();
  const now = useNow();
  const at = ms(task.progress.last_update);
  return at === null ? null : (
    <span className="shrink-0">{t('tasks.row.updated', { ago: ago(at, now, language) })}</span>
  );
}

export function SummaryLine({ task }: { task: Task }) {
  const { t, language } = useTranslation();
  const { kind, text } = summary(task);
  const working = task.status === 'running' || task.status === 'resumed';
  const pieces: ReactNode[] = [];
  if (kind === 'ask')
    pieces.push(
      <span key="a" className="flex min-w-0 items-center gap-1 text-violet">
        <CircleHelp size={12} className="shrink-0" aria-hidden />
        <span className="truncate">{text}</span>
      </span>,
    );
  if (kind === 'wait' && task.waiting_for)
    pieces.push(
      <span key="w" className="flex min-w-0 text-amber">
        <WaitWords waiting={task.waiting_for} />
      </span>,
    );
  if (kind === 'tool')
    pieces.push(
      <span key="t" className="flex min-w-0 items-center gap-1">
        <Wrench size={12} className="shrink-0" aria-hidden />
        <span className="truncate font-mono text-[11px]">{text}</span>
      </span>,
    );
  if (kind === 'queue')
    pieces.push(<span key="q">{text ? t('tasks.row.queue', { place: text }) : t('tasks.row.waiting')}</span>);
  if (kind === 'error')
    pieces.push(
      <span key="e" className="truncate text-red">
        {text}
      </span>,
    );
  if (kind === 'result')
    pieces.push(
      <span key="r" className="truncate">
        {text}
      </span>,
    );
  if (kind === 'output')
    pieces.push(
      <span key="o">{t('tasks.row.lines', { count: Number(text), n: number(Number(text), language) })}</span>,
    );
  if (task.progress.tool_calls > 0)
    pieces.push(
      <span key="c" className="shrink-0">
        {t('tasks.row.toolCalls', { count: task.progress.tool_calls })}
      </span>,
    );
  if (working && kind !== 'ask') pieces.push(<LastUpdate key="u" task={task} />);
  return (
    <div className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
      {pieces.flatMap((piece, i) =>
        i === 0
          ? [piece]
          : [
              <span key={`s${i}`} aria-hidden className="text-line-strong">
                ·
              </span>,
              piece,
            ],
      )}
    </div>
  );
}

// How far its batch is. Asked only of rows that stay on the screen.
function BatchChip({ id }: { id: string }) {
  const { t } = useTranslation();
  const stays = useDebounced(true, 250, false);
  const batch = useQuery({
    queryKey: ['batch', id],
    enabled: stays,
    queryFn: ({ signal }) => call(api.GET('/api/batches/{id}', { params: { path: { id } }, signal })),
    retry: false,
  }).data;
  const done = batch ? batch.total - batch.at_work : 0;
  const label = batch ? t('tasks.row.batchDone', { done, total: batch.total }) : t('tasks.row.batch', { id });
  return (
    <Link
      to="/tasks"
      search={{ batch: id }}
      className="chip shrink-0 tabular-nums hover:text-text"
      aria-label={label}
      title={label}
      data-batch={id}
    >
      <Layers size={11} aria-hidden />
      {batch ? `${done}/${batch.total}` : '…'}
    </Link>
  );
}

function Fold({ task, fold, onFold }: Pick<RowProps, 'task' | 'fold' | 'onFold'>) {
  const { t } = useTranslation();
  if (fold === 'none' || !task.session_id) return null;
  const session = task.session_id;
  const label = t(fold === 'open' ? 'tasks.row.hideChildren' : 'tasks.row.showChildren');
  return (
    <button
      type="button"
      className="-ml-1 grid size-6 shrink-0 place-items-center rounded text-muted hover:bg-grey-soft hover:text-text"
      aria-expanded={fold === 'open'}
      aria-label={`${label}: ${task.title}`}
      title={label}
      onClick={() => onFold(session)}
    >
      <ChevronRight size={15} className={`transition-transform ${fold === 'open' ? 'rotate-90' : ''}`} aria-hidden />
    </button>
  );
}

function Marks({ task, depth, inBatch }: Pick<RowProps, 'task' | 'depth' | 'inBatch'>) {
  const { t } = useTranslation();
  return (
    <>
      {task.kind === 'command' && (
        <Terminal size={14} className="shrink-0 text-muted" aria-label={t('tasks.row.command')} />
      )}
      {task.parent_session_id && depth === 0 && (
        <Link
          to="/tasks"
          search={{ parent: task.parent_session_id }}
          className="shrink-0 text-muted hover:text-text"
          aria-label={t('tasks.row.siblings')}
          title={t('tasks.row.siblings')}
        >
          <CornerDownRight size={14} aria-hidden />
        </Link>
      )}
      {task.batch_id && !inBatch && <BatchChip id={task.batch_id} />}
      {task.resume_count > 0 && (
        <span className="chip shrink-0">{t('tasks.row.resumed', { count: task.resume_count })}</span>
      )}
      {task.is_forked && <span className="chip shrink-0">{t('tasks.row.forked')}</span>}
      {task.attempt > 1 && <span className="chip shrink-0">{t('tasks.row.attempt', { n: task.attempt })}</span>}
    </>
  );
}

function Actions({ task, phone, onAction }: Pick<RowProps, 'task' | 'phone' | 'onAction'>) {
  const { t } = useTranslation();
  const icon = 'grid size-8 place-items-center rounded-lg text-muted hover:bg-grey-soft hover:text-text';
  const label = (key: string) => ({ 'aria-label': `${t(key)}: ${task.title}`, title: t(key) });
  return (
    <div className="-mr-2 flex items-center justify-end">
      {/* On a phone the row itself is the way there. */}
      {!phone && (
        <Link to="/chat" search={{ taskId: task.id }} className={icon} {...label('tasks.actions.viewChat')}>
          <MessageSquare size={16} aria-hidden />
        </Link>
      )}
      {can.cancel(task) && (
        <button
          type="button"
          className={icon}
          {...label('tasks.actions.cancel')}
          onClick={() => onAction('cancel', task)}
        >
          <Square size={11} fill="currentColor" aria-hidden />
        </button>
      )}
      {can.retry(task) && (
        <button
          type="button"
          className={icon}
          {...label('tasks.actions.retry')}
          onClick={() => onAction('retry', task)}
        >
          <RotateCcw size={15} aria-hidden />
        </button>
      )}
      {!phone && !can.cancel(task) && !can.retry(task) && <span className="size-8" />}
      <button
        type="button"
        className={`${icon} hover:text-red`}
        {...label('tasks.actions.delete')}
        onClick={() => onAction('delete', task)}
      >
        <Trash2 size={15} aria-hidden />
      </button>
    </div>
  );
}

function Select({ task, index, selected, onSelect }: Pick<RowProps, 'task' | 'index' | 'selected' | 'onSelect'>) {
  const { t } = useTranslation();
  return (
    <input
      type="checkbox"
      checked={selected}
      readOnly
      aria-label={t('tasks.select', { title: task.title })}
      onClick={(event) => onSelect(index, event.shiftKey)}
      className="size-4 accent-[var(--accent)]"
    />
  );
}

export const TaskRow = memo(function TaskRow(props: RowProps) {
  const { task, index, selected, focused, phone, depth } = props;
  const indent = depth > 0 ? { paddingLeft: depth * 22 } : undefined;
  const open = (event: MouseEvent) => {
    // What is in the row has its own meaning, and so have words that were marked.
    if ((event.target as Element).closest('a, button, input') || getSelection()?.toString()) return;
    props.onOpen(task);
  };
  const tone = `cursor-pointer border-b border-line ${selected ? 'bg-accent-soft' : focused ? 'bg-hover' : 'hover:bg-panel'} ${focused ? 'shadow-[inset_3px_0_0_var(--accent)]' : ''}`;
  const title = (
    <Link
      to="/chat"
      search={{ taskId: task.id }}
      className="min-w-0 truncate font-medium hover:underline"
      title={task.title}
    >
      {task.title}
    </Link>
  );
  if (phone) {
    return (
      <div
        role="row"
        aria-rowindex={index + 2}
        data-task={task.id}
        data-depth={depth}
        onClick={open}
        className={`flex h-full flex-col justify-center gap-1 px-4 ${tone}`}
      >
        <div role="cell" className="flex min-w-0 items-center gap-2" style={indent}>
          <Select {...props} />
          <Fold {...props} />
          {title}
          <span className="ml-auto">
            <StatusBadge task={task} />
          </span>
        </div>
        <div role="cell" className="flex min-w-0 items-center gap-2 pl-6 text-xs text-muted">
          <span className="shrink-0">{task.agent}</span>
          <span className="tabular-nums">
            <Duration task={task} />
          </span>
          <span className="min-w-0 flex-1">
            <SummaryLine task={task} />
          </span>
          <Actions {...props} />
        </div>
      </div>
    );
  }
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selected}
      aria-current={focused || undefined}
      data-task={task.id}
      data-depth={depth}
      onClick={open}
      className={`task-grid h-full ${tone}`}
    >
      <div role="cell" className="flex">
        <Select {...props} />
      </div>
      <div role="cell" className="min-w-0 pr-4" style={indent}>
        <div className="flex min-w-0 items-center gap-2">
          {depth > 0 && <CornerDownRight size={14} className="shrink-0 text-muted" aria-hidden />}
          <Fold {...props} />
          {title}
          <Marks {...props} />
        </div>
        <SummaryLine task={task} />
      </div>
      <div role="cell" className="col-agent truncate pr-3" title={task.agent}>
        {task.agent}
      </div>
      <div role="cell">
        <StatusBadge task={task} />
      </div>
      <div role="cell" className="col-model truncate pr-3 text-muted" title={task.model ?? undefined}>
        {task.model ? shortModel(task.model) : '–'}
      </div>
      <div role="cell" className="col-started truncate pr-3 text-muted">
        <Started task={task} />
      </div>
      <div role="cell" className="pr-3 tabular-nums">
        <Duration task={task} />
      </div>
      <div role="cell">
        <Actions {...props} />
      </div>
    </div>
  );
});

export function SkeletonRow({ phone }: { phone: boolean }) {
  return (
    <div className={`flex h-full items-center gap-4 border-b border-line px-4 ${phone ? '' : 'pl-14'}`} aria-hidden>
      <div className="skeleton h-4 w-2/5" />
      <div className="skeleton h-4 w-1/6" />
      <div className="skeleton h-4 w-1/5" />
    </div>
  );
}
