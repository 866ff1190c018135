import { Link, useSearch } from '@tanstack/react-router';
import { MessageSquareOff, ServerOff } from 'lucide-react';
import { lazy, Suspense } from 'react';

import { ApiError } from '../api/client';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { arrives } from '../lib/arrives';
import { useMedia } from '../lib/hooks';
import { useTask } from '../queries';
import type { ChatTab } from '../search';
import { Empty } from '../ui/Empty';
import { OpenTask } from './OpenTask';

// One of the two is shown: a page that is loaded with both waits for what nobody sees.
const Conversations = lazy(() => arrives(() => import('./Conversations')));
const NewChat = lazy(() => arrives(() => import('./NewChat')));

export function ChatPage() {
  const { taskId, agentId, tab, forkOf, at } = useSearch({ from: '/chat' });
  const wide = useMedia('(min-width: 1200px)');
  // What needs the width has it.
  const beside = wide && tab !== 'changes' && tab !== 'log' && tab !== 'timeline';
  return (
    <div className="flex min-h-0 flex-1">
      <Suspense>{beside && <Conversations open={taskId} />}</Suspense>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        {taskId ? (
          <TaskChat key={taskId} id={taskId} tab={tab} />
        ) : (
          <Suspense>
            <NewChat agentId={agentId} forkOf={forkOf} at={at} />
          </Suspense>
        )}
      </div>
    </div>
  );
}

function TaskChat({ id, tab }: { id: string; tab: ChatTab | undefined }) {
  const { t } = useTranslation();
  const task = useTask(id);
  const gone = task.error instanceof ApiError && task.error.status === 404;
  if (task.data && !gone) return <OpenTask task={task.data} tab={tab} />;
  if (task.isPending) {
    return (
      <div className="flex flex-col gap-3 p-6" aria-busy>
        <div className="skeleton h-7 w-1/3" />
        <div className="skeleton h-4 w-1/2" />
      </div>
    );
  }
  return (
    <Empty page icon={gone ? MessageSquareOff : ServerOff} title={gone ? t('chat.gone') : t('errors.unreachable')}>
      {gone && <p>{task.error?.message}</p>}
      <div className="mt-4 flex justify-center gap-2">
        <Link to="/tasks" search={{}} className="btn">
          {t('notFound.back')}
        </Link>
        {!gone && (
          <button type="button" className="btn" onClick={() => void task.refetch()}>
            {t('common.tryAgain')}
          </button>
        )}
      </div>
    </Empty>
  );
}
