import { Link } from '@tanstack/react-router';
import { ChevronRight, CornerDownRight, Terminal } from 'lucide-react';
import { memo, type MouseEvent } from 'react';

import type { Batch, Task } from '../api/types';
import { useTranslation, type Translate } from '../i18n/i18n';
import { shortModel } from '../lib/format';
import { shown } from '../lib/hidden';
import { useDebounced } from '../lib/hooks';
import { glyph } from '../ui/glyph';
import { statusBadge } from '../ui/StatusBadge';
import { answerOnce, can, type Action } from './actions';
import { BatchChip } from './BatchChip';
import { durationOf, Started, summaryLine } from './rowCells';
import { wholeTitle } from './summary';
import type { MenuAt } from './TaskMenu';

// Ten rows and more come into sight with every frame of a fast scroll, so a row is cheap to make: its parts are plain functions
// where they have no state of their own, its icons one path each, and what is clicked is found by the row, not by its parts.

export interface RowProps {
  task: Task;
  index: number;
  top: number;
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
  onMenu: (at: MenuAt) => void;
  onBatch: (id: string) => void;
  batch: Batch | undefined; // The row stands for all of it.
}

const foldButton = ({ task, fold }: RowProps, t: Translate) => {
  if (fold === 'none' || !task.session_id) return null;
  const label = t(fold === 'open' ? 'tasks.row.hideChildren' : 'tasks.row.showChildren');
  return (
    <button
      type="button"
      className="-ml-1 grid size-6 shrink-0 place-items-center rounded text-muted hover:bg-grey-soft hover:text-text"
      aria-expanded={fold === 'open'}
      aria-label={`${label}: ${shown(task.title)}`}
      title={label}
      data-do="fold"
    >
      <ChevronRight size={15} className={`transition-transform ${fold === 'open' ? 'rotate-90' : ''}`} aria-hidden />
    </button>
  );
};

const marks = ({ task, depth, inBatch, batch }: RowProps, t: Translate) => (
  <>
    {task.pinned && (
      <span
        className="shrink-0 text-accent"
        role="img"
        aria-label={t('tasks.row.pinned')}
        title={t('tasks.row.pinned')}
      >
        {icons.pin}
      </span>
    )}
    {task.archived && <span className="chip shrink-0">{t('tasks.row.archived')}</span>}
    {batch && batch.counts.failed > 0 && (
      <span className="chip shrink-0 bg-red-soft text-red">
        {t('tasks.row.batchFailed', { count: batch.counts.failed })}
      </span>
    )}
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

const address = (task: Task): string => `/chat?taskId=${encodeURIComponent(task.id)}`;
const icons = {
  pin: glyph('M12 17v5M8 3h8l-1 7 4 4H5l4-4z', 13),
  menu: glyph('M5 12h.01M12 12h.01M19 12h.01', 16),
  viewChat: glyph('M3.5 20.2V6A2.5 2.5 0 0 1 6 3.5h12A2.5 2.5 0 0 1 20.5 6v8.4a2.5 2.5 0 0 1-2.5 2.5H7.2z', 16),
  cancel: glyph('M6.5 6.5h11v11h-11z', 16, true),
  retry: glyph('M3.5 4v5.5H9M4 9.5a8.6 8.6 0 1 1-.6 4.6', 15),
  delete: glyph('M3.5 6.5h17M9 6.5v-3h6v3M5.5 6.5l.9 14.2h11.2l.9-14.2M10 11v5.5M14 11v5.5', 15),
};

// What a permission waits for is said in the row; whoever wants to see more opens the task. An answer cannot be taken back, and
// rows move by themselves: one that has just come to this place takes none, so that nobody answers what they have not read.
const settleMs = 400;
function Answers({ task, top }: { task: Task; top: number }) {
  const { t } = useTranslation();
  const place = `${task.waiting_for?.request_id} ${top}`;
  const still = useDebounced(place, settleMs, '') === place;
  const button = (decision: 'allow' | 'deny') => (
    <button
      type="button"
      disabled={!still}
      className={`h-6 shrink-0 rounded-md px-2 text-xs font-medium ${decision === 'allow' ? 'bg-accent text-on-accent' : 'border border-line-strong hover:bg-hover'}`}
      aria-label={`${t(`tasks.actions.${decision}`)}: ${shown(task.title)}`}
      data-do={decision}
    >
      {t(`tasks.actions.${decision}`)}
    </button>
  );
  return (
    <span className="flex shrink-0 items-center gap-1.5">
      {button('allow')}
      {button('deny')}
    </span>
  );
}
const answers = ({ task, top, batch }: RowProps) =>
  task.waiting_for?.kind === 'permission' && !batch && <Answers task={task} top={top} />;

const actions = ({ task, phone, batch }: RowProps, t: Translate) => {
  if (batch) return null; // It stands for several: what one can do with them is in the batch.
  const label = (key: string) => ({ 'aria-label': `${t(key)}: ${shown(task.title)}`, title: t(key) });
  const button = (action: Action, tone = '') => (
    <button type="button" className={`row-icon ${tone}`} {...label(`tasks.actions.${action}`)} data-do={action}>
      {icons[action]}
    </button>
  );
  const more = can.cancel(task) || can.retry(task);
  return (
    <div className="-mr-2 flex items-center justify-end">
      {/* On a phone the row itself is the way there. */}
      {!phone && (
        <a
          href={address(task)}
          className={`row-icon ${more ? '' : 'mr-8'}`}
          {...label('tasks.actions.viewChat')}
          data-do="open"
        >
          {icons.viewChat}
        </a>
      )}
      {can.cancel(task) && button('cancel')}
      {can.retry(task) && button('retry')}
      {button('delete', 'hover:text-red')}
      <button type="button" className="row-icon" aria-haspopup="menu" {...label('tasks.actions.more')} data-do="menu">
        {icons.menu}
      </button>
    </div>
  );
};

const selectBox = ({ task, selected, batch }: RowProps, t: Translate) => (
  <input
    disabled={batch !== undefined}
    type="checkbox"
    checked={selected}
    readOnly
    aria-label={t('tasks.select', { title: shown(task.title) })}
    data-do="select"
    className="size-4 shrink-0 accent-[var(--accent)]"
  />
);

// A click anywhere in a row: on what does something, on a link elsewhere, or on the row itself, which opens the task.
function clicked(
  event: MouseEvent,
  { task, index, onSelect, onFold, onOpen, onAction, onMenu, onBatch, batch }: RowProps,
): void {
  const at = (event.target as Element).closest<HTMLElement>('a, button, input');
  const what = at?.dataset.do;
  if (what === 'select') return onSelect(index, event.shiftKey);
  if (what === 'fold') return onFold(task.session_id ?? '');
  if (what === 'cancel' || what === 'retry' || what === 'delete') return onAction(what, task);
  if (what === 'allow' || what === 'deny') return void answerOnce(task, what);
  if (what === 'menu' && at) {
    const { right, bottom } = at.getBoundingClientRect();
    return onMenu({ task, right, bottom });
  }
  if (what === 'batch' || (batch && !at)) {
    event.preventDefault();
    return onBatch(task.batch_id ?? '');
  }
  if (what === 'open') {
    // In another tab or window where that is asked for: the browser knows how.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
  } else if (at || getSelection()?.toString()) return; // Words that were marked are no click.
  onOpen(task);
}

export const TaskRow = memo(function TaskRow(props: RowProps) {
  const { t, language } = useTranslation();
  const { task, index, top, selected, focused, phone, depth } = props;
  const indent = depth > 0 ? { paddingLeft: depth * 22 } : undefined;
  const tone = selected ? 'bg-accent-soft' : focused ? 'bg-hover' : 'hover:bg-panel';
  const focus = focused ? 'shadow-[inset_3px_0_0_var(--accent)]' : '';
  const row = {
    role: 'row',
    'aria-rowindex': index + 2,
    'data-task': task.id,
    'data-depth': depth,
    style: { top },
    onClick: (event: MouseEvent) => clicked(event, props),
  };
  const { batch } = props;
  const title = (
    <a
      href={batch ? `/tasks?batch=${encodeURIComponent(batch.batch_id)}` : address(task)}
      className="min-w-0 truncate font-medium hover:underline"
      title={wholeTitle(task)}
      data-do={batch ? 'batch' : 'open'}
    >
      {batch ? t('tasks.row.batchOf', { count: batch.total, title: shown(task.title) }) : shown(task.title)}
    </a>
  );
  if (phone) {
    return (
      <div {...row} className={`task-row flex flex-col justify-center gap-1 px-4 ${tone} ${focus}`}>
        <div role="cell" className="flex min-w-0 items-center gap-2" style={indent}>
          {selectBox(props, t)}
          {foldButton(props, t)}
          {title}
          <span className="ml-auto">{statusBadge(task, t)}</span>
        </div>
        <div role="cell" className="flex min-w-0 items-center gap-2 pl-6 text-xs text-muted">
          <span className="shrink-0">{task.agent}</span>
          <span className="tabular-nums">{durationOf(task)}</span>
          <span className="min-w-0 flex-1 overflow-hidden">{summaryLine(task, t, language)}</span>
          {answers(props)}
          {actions(props, t)}
        </div>
      </div>
    );
  }
  return (
    <div
      {...row}
      aria-selected={selected}
      aria-current={focused || undefined}
      className={`task-row task-grid ${tone} ${focus}`}
    >
      <div role="cell" className="flex">
        {selectBox(props, t)}
      </div>
      <div role="cell" className="min-w-0 pr-4" style={indent}>
        <div className="flex min-w-0 items-center gap-2">
          {depth > 0 && <CornerDownRight size={14} className="shrink-0 text-muted" aria-hidden />}
          {foldButton(props, t)}
          {title}
          {marks(props, t)}
        </div>
        <div className="flex min-w-0 items-center gap-2">
          <div className="min-w-0">{summaryLine(task, t, language)}</div>
          {answers(props)}
        </div>
      </div>
      <div role="cell" className="col-agent truncate pr-3" title={task.agent}>
        {task.agent}
      </div>
      <div role="cell">{statusBadge(task, t)}</div>
      <div role="cell" className="col-model truncate pr-3 text-muted" title={task.model ?? undefined}>
        {task.model ? shortModel(task.model) : '–'}
      </div>
      <div role="cell" className="col-started truncate pr-3 text-muted">
        <Started task={task} language={language} />
      </div>
      <div role="cell" className="pr-3 tabular-nums">
        {durationOf(task)}
      </div>
      <div role="cell">{actions(props, t)}</div>
    </div>
  );
});

// A row that is not read yet. It stands still: that one moves would cost more than the row that comes.
export function SkeletonRow({ phone, top }: { phone: boolean; top?: number }) {
  const place = top === undefined ? 'relative' : '';
  return (
    <div
      className={`task-row flex items-center gap-4 px-4 ${place} ${phone ? '' : 'pl-14'}`}
      style={{ top }}
      aria-hidden
    >
      <div className="skeleton h-4 w-2/5" />
      <div className="skeleton h-4 w-1/6" />
      <div className="skeleton h-4 w-1/5" />
    </div>
  );
}
