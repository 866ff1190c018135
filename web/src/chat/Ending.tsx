import { CircleX, Hourglass } from 'lucide-react';

import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { failureText } from '../lib/sentences';
import { AskAgain } from '../ui/AskAgain';
import { WaitWords } from '../ui/StatusBadge';

// How it ended, where that is more than the badge says.
export function Ending({ task, className }: { task: Task; className: string }) {
  const { t } = useTranslation();
  if (task.status === 'pending')
    return (
      <p className={`${className} text-muted`}>
        {task.queue_position ? t('tasks.row.queue', { place: task.queue_position }) : t('tasks.row.waiting')}
        {task.queue_reason && ` ${task.queue_reason}`}
      </p>
    );
  if (task.waiting_for?.kind === 'quota' || task.waiting_for?.kind === 'children')
    return (
      <p className={`${className} flex items-center gap-2 text-amber`}>
        <Hourglass size={15} className="shrink-0" aria-hidden />
        <WaitWords waiting={task.waiting_for} />
        {task.waiting_for.kind === 'quota' && <AskAgain of={{ task: task.id }} />}
      </p>
    );
  if (task.status === 'failed' && task.error) {
    return (
      <div className={`${className} border border-red bg-red-soft`} data-testid="failure">
        <p className="flex items-start gap-2.5 text-red">
          <CircleX size={17} className="mt-0.5 shrink-0" aria-hidden />
          <span className="min-w-0 flex-1 break-words">{failureText(task.error, t)}</span>
          <code className="shrink-0 pt-0.5 font-mono text-xs max-md:hidden">{task.error.code}</code>
        </p>
        {failureText(task.error, t) !== task.error.message && (
          <p className="mt-1 pl-7 text-sm break-words text-red" lang="en">
            {task.error.message}
          </p>
        )}
        {task.error.details && Object.keys(task.error.details).length > 0 && (
          <details className="mt-1 pl-7 text-sm text-red">
            <summary>{t('chat.errorDetails')}</summary>
            <pre tabIndex={0} className="mt-1 max-h-48 overflow-auto font-mono text-xs whitespace-pre-wrap">
              {JSON.stringify(task.error.details, null, 2)}
            </pre>
          </details>
        )}
      </div>
    );
  }
  if (task.status === 'cancelled')
    return <p className={`${className} text-muted`}>{task.stopping ? t('chat.cancelling') : t('chat.cancelled')}</p>;
  if (task.kind === 'command' && task.exit_code !== null)
    return <p className={`${className} text-muted`}>{t('chat.exit', { code: task.exit_code })}</p>;
  return null;
}
