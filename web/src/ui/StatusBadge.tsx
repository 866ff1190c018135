import { Ban, Check, CircleHelp, Clock, Hourglass, LoaderCircle, RotateCw, X } from 'lucide-react';
import type { ReactNode } from 'react';

import type { Status, WaitingFor } from '../api/types';
import { useTranslation, type Translate } from '../i18n/i18n';
import { duration } from '../lib/format';
import { useNow } from '../lib/hooks';

interface Shown {
  key: string;
  tone: string;
  icon: ReactNode;
}

const size = { size: 13, strokeWidth: 2.4, 'aria-hidden': true } as const;
const busy = <LoaderCircle {...size} className="spin" />;

const shown: Record<Status, Shown> = {
  pending: { key: 'tasks.status.pending', tone: 'bg-amber-soft text-amber', icon: <Clock {...size} /> },
  running: { key: 'tasks.status.running', tone: 'bg-blue-soft text-blue', icon: busy },
  resumed: {
    key: 'tasks.status.resumed',
    tone: 'bg-blue-soft text-blue',
    icon: <RotateCw {...size} className="spin" />,
  },
  completed: { key: 'tasks.status.completed', tone: 'bg-green-soft text-green', icon: <Check {...size} /> },
  failed: { key: 'tasks.status.failed', tone: 'bg-red-soft text-red', icon: <X {...size} /> },
  cancelled: { key: 'tasks.status.cancelled', tone: 'bg-grey-soft text-grey', icon: <Ban {...size} /> },
};

// What a task shows of itself: its state, unless something else is the news: it asks, or its processes are going.
export function shownState(task: Stateful): Shown {
  if (task.stopping) {
    const key = task.status === 'cancelled' ? 'tasks.status.cancelling' : 'tasks.status.stopping';
    return { key, tone: 'bg-grey-soft text-grey', icon: busy };
  }
  const kind = task.status === 'running' || task.status === 'resumed' ? task.waiting_for?.kind : undefined;
  if (kind === 'answer' || kind === 'permission') {
    return { key: 'tasks.status.needsInput', tone: 'bg-violet-soft text-violet', icon: <CircleHelp {...size} /> };
  }
  if (kind) return { key: `tasks.status.${kind}`, tone: 'bg-amber-soft text-amber', icon: <Hourglass {...size} /> };
  return shown[task.status];
}

// What it waits for that no person can give, in words: it goes on by itself.
export function WaitWords({ waiting }: { waiting: WaitingFor }) {
  const { t } = useTranslation();
  const now = useNow();
  const left = waiting.until ? Date.parse(waiting.until) - now : 0;
  const key = waiting.kind === 'children' ? 'children' : left > 0 ? 'quotaUntil' : 'quota';
  return (
    <span className="truncate" title={waiting.text}>
      {t(`waiting.${key}`, { time: duration(left) })}
    </span>
  );
}

interface Stateful {
  status: Status;
  stopping: boolean;
  waiting_for: WaitingFor | null;
}
export function statusBadge(task: Stateful, t: Translate) {
  const { key, tone, icon } = shownState(task);
  return (
    <span
      data-shows={key.split('.').pop()}
      className={`inline-flex h-6 items-center gap-1.5 rounded-full px-2.5 text-xs font-medium whitespace-nowrap ${tone}`}
    >
      {icon}
      {t(key)}
    </span>
  );
}
export const StatusBadge = ({ task }: { task: Stateful }) => statusBadge(task, useTranslation().t);
