import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import { useState, type ReactNode } from 'react';

import { api, call } from '../api/client';
import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { bytes, cost, dateTime, number } from '../lib/format';
import { shown } from '../lib/hidden';
import { useNow } from '../lib/hooks';
import { useChildren } from '../queries';
import { CopyButton } from '../ui/CopyLine';
import { StatusBadge } from '../ui/StatusBadge';
import { Meter, shares, shareText } from './Usage';
import { useSpent } from './useSpent';

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid min-h-11 grid-cols-[10rem_1fr] items-baseline gap-4 border-b border-line py-2.5 last:border-b-0 max-md:grid-cols-1 max-md:gap-0.5">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

// The tasks that a task launched, and theirs, opened one by one.
function Children({ session, depth = 0 }: { session: string; depth?: number }) {
  const children = useChildren(session);
  const { t } = useTranslation();
  if (!children) return null;
  if (children.length === 0) return <span className="pl-8 text-xs text-muted">{t('details.noChildren')}</span>;
  return (
    <ul role={depth === 0 ? 'tree' : 'group'} aria-label={depth === 0 ? t('details.children') : undefined}>
      {children.map((task) => (
        <Child key={task.id} task={task} depth={depth} />
      ))}
    </ul>
  );
}

function Child({ task, depth }: { task: Task; depth: number }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <li role="treeitem" aria-expanded={task.session_id ? open : undefined} className={depth > 0 ? 'pl-5' : ''}>
      <div className="flex items-center gap-2 py-1">
        <button
          type="button"
          className="grid size-6 place-items-center rounded hover:bg-hover"
          aria-label={t('details.children')}
          onClick={() => setOpen(!open)}
          disabled={!task.session_id}
        >
          <ChevronRight size={14} className={open ? 'rotate-90' : ''} aria-hidden />
        </button>
        <Link to="/chat" search={{ taskId: task.id }} className="min-w-0 truncate hover:underline">
          {shown(task.title)}
        </Link>
        <StatusBadge task={task} />
      </div>
      {open && task.session_id && <Children session={task.session_id} depth={depth + 1} />}
    </li>
  );
}

// Each bound of it, and how much of it is used.
function Budget({ task }: { task: Task }) {
  const { t, language } = useTranslation();
  const now = useNow();
  const spent = useSpent(task);
  return (
    <ul className="flex flex-col gap-1.5">
      {shares(task, spent, now).map((share) => (
        <li key={share.key} className="flex flex-wrap items-center gap-x-3">
          <span className="min-w-44">{shareText(share, t, language)}</span>
          <Meter share={share} />
        </li>
      ))}
    </ul>
  );
}

export default function Details({ task }: { task: Task }) {
  const { t, language } = useTranslation();
  const time = (at: string | null) => (at ? dateTime(at, language) : '–');
  const n = (value: number) => number(value, language);
  const { usage } = task.progress;
  const hasChildren = (useChildren(task.session_id)?.length ?? 0) > 0;
  const parent = useQuery({
    queryKey: ['session', task.parent_session_id],
    enabled: task.parent_session_id !== null,
    queryFn: ({ signal }) =>
      call(api.GET('/api/sessions/{id}', { params: { path: { id: task.parent_session_id ?? '' } }, signal })),
    retry: false,
  }).data;
  return (
    <div className="min-h-0 flex-1 overflow-auto px-6 py-5 max-md:px-4">
      <dl className="card mx-auto max-w-[712px] px-5 py-1">
        <Line name={t('details.id')}>
          <span className="-my-1.5 flex items-center gap-1 font-mono text-[13px]">
            <span className="min-w-0 truncate">{task.id}</span>
            <CopyButton text={task.id} />
          </span>
        </Line>
        {task.command && (
          <Line name={t('details.command')}>
            <pre tabIndex={0} className="overflow-x-auto font-mono text-[13px] whitespace-pre-wrap">
              {task.command}
            </pre>
          </Line>
        )}
        <Line name={t('tasks.columns.agent')}>
          {task.agent}
          {task.model ? ` · ${task.model}` : ''}
        </Line>
        <Line name={t('details.workDir')}>
          <span className="font-mono text-[13px]">{task.work_dir ?? '–'}</span>
        </Line>
        <Line name={t('details.created')}>{time(task.created_at)}</Line>
        {task.started_at && <Line name={t('details.started')}>{time(task.started_at)}</Line>}
        {task.deadline_at && <Line name={t('details.deadline')}>{time(task.deadline_at)}</Line>}
        {task.completed_at && <Line name={t('details.completed')}>{time(task.completed_at)}</Line>}
        <Line name={t('details.turns')}>
          {n(task.progress.turns)} · {t('tasks.row.attempt', { n: task.attempt })}
        </Line>
        {usage.input_tokens + usage.output_tokens > 0 && (
          <Line name={t('details.usage')}>
            {t('chat.tokens', { input: n(usage.input_tokens), output: n(usage.output_tokens) })}
            {usage.cost_usd === null
              ? ' · $?'
              : usage.cost_usd > 0 && ` · ${usage.unpriced ? '≥ ' : ''}${cost(usage.cost_usd)}`}
          </Line>
        )}
        {task.budget && (
          <Line name={t('details.budget')}>
            <Budget task={task} />
          </Line>
        )}
        {task.kind === 'command' && (
          <Line name={t('details.output')}>
            {t('log.lines', { count: task.progress.output_lines, n: n(task.progress.output_lines) })} ·{' '}
            {bytes(task.progress.output_bytes)} · CPU {task.progress.cpu_s.toFixed(1)} s ·{' '}
            {bytes(task.progress.memory_bytes)}
          </Line>
        )}
        {task.exit_code !== null && <Line name={t('details.exit')}>{task.exit_code}</Line>}
        {task.signal !== null && <Line name={t('details.signal')}>{task.signal}</Line>}
        {task.batch_id && (
          <Line name={t('details.batch')}>
            <Link to="/tasks" search={{ batch: task.batch_id }} className="text-accent-text underline">
              {task.batch_id}
            </Link>
          </Line>
        )}
        {task.parent_session_id && (
          <Line name={t('details.parent')}>
            {parent?.task_id ? (
              <Link to="/chat" search={{ taskId: parent.task_id }} className="text-accent-text underline">
                {shown(parent.title ?? parent.task_id)}
              </Link>
            ) : (
              <Link to="/tasks" search={{ parent: task.parent_session_id }} className="text-accent-text underline">
                {shown(parent?.title ?? task.parent_session_id)}
              </Link>
            )}
          </Line>
        )}
        {task.session_id && hasChildren && (
          <Line name={t('details.children')}>
            <Children session={task.session_id} />
          </Line>
        )}
        {Object.keys(task.labels).length > 0 && (
          <Line name={t('details.labels')}>
            <span className="flex flex-wrap gap-1">
              {Object.entries(task.labels).map(([key, value]) => (
                <span key={key} className="chip">
                  {key}: {value}
                </span>
              ))}
            </span>
          </Line>
        )}
      </dl>
    </div>
  );
}
