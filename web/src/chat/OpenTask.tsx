// A task with its tabs.
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';

import { needsInput, type Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { arrives } from '../lib/arrives';
import { quoted, shown as shownName } from '../lib/hidden';
import { chatTabs, type ChatTab } from '../search';
import { act } from '../tasks/actions';
import Confirm from '../ui/Confirm';
import type { Confirmation } from '../ui/Dialog';
import { announce } from '../ui/toast';
import { Chat } from './Chat';
import { Ending } from './Ending';
import { TaskHeader } from './TaskHeader';

const Artifacts = lazy(() => arrives(() => import('./Artifacts')));
const Changes = lazy(() => arrives(() => import('../changes/Changes')));
const Details = lazy(() => arrives(() => import('./Details')));
const LogView = lazy(() => arrives(() => import('./LogView')));
const Timeline = lazy(() => arrives(() => import('./Timeline')));

// The window's title, and what a screen reader is told of the task.
function useAnnouncements(task: Task): void {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${shownName(task.title)} · errand`;
  }, [task.title]);
  // Told at boundaries only: it began, it asks, it is done.
  const last = useRef('');
  const state = needsInput(task) ? 'needsInput' : task.status;
  useEffect(() => {
    if (last.current && last.current !== state) announce(t(`announce.${state}`, { title: quoted(task.title) }));
    last.current = state;
  }, [state, t, task.title]);
}

export function OpenTask({ task, tab }: { task: Task; tab: ChatTab | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [question, setQuestion] = useState<Confirmation | null>(null);
  const command = task.kind === 'command';
  const tabs = chatTabs.filter((each) => (command ? each !== 'chat' : each !== 'log'));
  const shown = tab && tabs.includes(tab) ? tab : tabs[0]!;

  useAnnouncements(task);

  const cancel = () =>
    setQuestion({
      title: t('confirm.cancel.title'),
      body: t('confirm.cancel.body', { title: quoted(task.title) }),
      action: t('tasks.actions.cancel'),
      danger: true,
      onConfirm: () => void act('cancel', task.id),
    });
  const remove = () =>
    setQuestion({
      title: t('confirm.delete.title'),
      body: t('confirm.delete.body', { title: quoted(task.title) }),
      action: t('tasks.actions.delete'),
      danger: true,
      onConfirm: () =>
        void act('delete', task.id).then((done) => (done ? navigate({ to: '/tasks', search: {} }) : undefined)),
    });

  return (
    <>
      <TaskHeader
        task={task}
        tabs={tabs}
        shown={shown}
        onTab={(each) =>
          void navigate({
            to: '/chat',
            search: { taskId: task.id, ...(each === tabs[0] ? {} : { tab: each }) },
            replace: true,
          })
        }
        onCancel={cancel}
        onDelete={remove}
      />
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${shown}`} className="flex min-h-0 flex-1 flex-col">
        {shown === 'chat' && <Chat task={task} />}
        <Suspense fallback={<p className="p-6 text-muted">{t('common.loading')}</p>}>
          {shown === 'log' && <LogView task={task} />}
          {shown === 'changes' && <Changes key={task.id} task={task} />}
          {shown === 'timeline' && <Timeline task={task} />}
          {shown === 'artifacts' && <Artifacts task={task} />}
          {shown === 'details' && <Details task={task} />}
        </Suspense>
      </div>
      {command && shown === 'log' && (
        <div className="border-t border-line px-6 py-3 empty:hidden max-md:px-4">
          <Ending task={task} className="rounded-xl px-4 py-2.5" />
        </div>
      )}
      {question && <Confirm {...question} onClose={() => setQuestion(null)} />}
    </>
  );
}
