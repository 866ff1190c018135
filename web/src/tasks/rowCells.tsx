// What a row says of its task beside its name: when, how long, and in one line what it does. Plain functions where there is no
// state: see TaskRow.tsx.
import { CircleHelp, Wrench } from 'lucide-react';
import { Fragment, type ReactNode } from 'react';

import type { Task } from '../api/types';
import { useTranslation, type Language, type Translate } from '../i18n/i18n';
import { useShownFolder } from '../lib/folders';
import { ago, dateTime, ms, number, taskDuration } from '../lib/format';
import { shown } from '../lib/hidden';
import { useNow } from '../lib/hooks';
import { WaitWords } from '../ui/StatusBadge';
import { summary } from './summary';

// What ticks does so by itself, so that the row does not.
export function Started({ task, language }: { task: Task; language: Language }) {
  const now = useNow();
  const at = task.started_at ?? task.created_at;
  return (
    <time dateTime={at} title={dateTime(at, language)}>
      {task.started_at ? ago(Date.parse(at), now, language) : '–'}
    </time>
  );
}
function Ticking({ task }: { task: Task }) {
  return taskDuration(task, useNow()) ?? '–';
}
const isWorking = (task: Task): boolean => task.status === 'running' || task.status === 'resumed';
export const durationOf = (task: Task): ReactNode =>
  task.started_at && (isWorking(task) || !task.completed_at) ? <Ticking task={task} /> : (taskDuration(task, 0) ?? '–');
function LastUpdate({ task }: { task: Task }) {
  const { t, language } = useTranslation();
  const now = useNow();
  const at = ms(task.progress.last_update);
  return at === null ? null : (
    <span className="shrink-0">{t('tasks.row.updated', { ago: ago(at, now, language) })}</span>
  );
}

const dot = (
  <span aria-hidden className="text-line-strong">
    ·
  </span>
);

// With the dot before it: a narrow window shows neither.
function RowFolder({ path, first }: { path: string; first: boolean }) {
  const { t } = useTranslation();
  return (
    <span className="flex min-w-0 shrink-0 items-center gap-1.5 max-md:hidden">
      {!first && dot}
      <bdi className="max-w-48 truncate font-mono text-[11px]" title={t('details.workDir')}>
        {shown(useShownFolder(path))}
      </bdi>
    </span>
  );
}

export function summaryLine(task: Task, t: Translate, language: Language) {
  const { kind, text } = summary(task);
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
  if (isWorking(task) && kind !== 'ask') pieces.push(<LastUpdate key="u" task={task} />);
  return (
    <div className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
      {pieces.map((piece, i) => (
        <Fragment key={i}>
          {i > 0 && dot}
          {piece}
        </Fragment>
      ))}
      {task.work_dir && <RowFolder path={task.work_dir} first={pieces.length === 0} />}
    </div>
  );
}
