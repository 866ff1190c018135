import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeft, CircleX, Hourglass, MessageSquareOff, RotateCcw, ServerOff, Square, Trash2 } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';

import { api, ApiError, call } from '../api/client';
import { atWork, isBusy, needsInput, type Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { shortModel } from '../lib/format';
import { quoted, shown as shownName } from '../lib/hidden';
import { usePhone } from '../lib/hooks';
import { queryClient, upToDate, useTask } from '../queries';
import { chatTabs, type ChatTab } from '../search';
import { act, can, showError } from '../tasks/actions';
import { wholeTitle } from '../tasks/summary';
import Confirm from '../ui/Confirm';
import type { Confirmation } from '../ui/Dialog';
import { Empty } from '../ui/Empty';
import { AskAgain } from '../ui/AskAgain';
import { StatusBadge, WaitWords } from '../ui/StatusBadge';
import { announce } from '../ui/toast';
import { Composer } from './Composer';
import { Conversation } from './Conversation';
import { NewChat } from './NewChat';
import { Subtasks } from './Subtasks';
import { modes, remember, type Mode } from './sent';
import { Usage } from './Usage';
import { useTranscript } from './useTranscript';

const Artifacts = lazy(() => import('./Artifacts'));
const Details = lazy(() => import('./Details'));
const LogView = lazy(() => import('./LogView'));
const Timeline = lazy(() => import('./Timeline'));

export function ChatPage() {
  const { taskId, agentId, tab, forkOf, at } = useSearch({ from: '/chat' });
  if (!taskId) return <NewChat agentId={agentId} forkOf={forkOf} at={at} />;
  return <TaskChat key={taskId} id={taskId} tab={tab} />;
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

function OpenTask({ task, tab }: { task: Task; tab: ChatTab | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [question, setQuestion] = useState<Confirmation | null>(null);
  const command = task.kind === 'command';
  const phone = usePhone();
  const tabs = chatTabs.filter((each) => (command ? each !== 'chat' : each !== 'log'));
  const shown = tab && tabs.includes(tab) ? tab : tabs[0]!;

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
      <header className="border-b border-line px-6 pt-4 max-md:px-4">
        <div className="flex items-center gap-3">
          <Link
            to="/tasks"
            search={{}}
            className="btn btn-ghost btn-icon -ml-2"
            aria-label={t('notFound.back')}
            title={t('notFound.back')}
          >
            <ArrowLeft size={17} aria-hidden />
          </Link>
          <h1
            className={`min-w-0 truncate text-[17px] font-semibold tracking-tight ${command && task.command?.startsWith(task.title.replace(/…$/, '')) ? 'font-mono text-[15px]' : ''}`}
            title={wholeTitle(task)}
          >
            {shownName(task.title)}
          </h1>
          {!phone && <StatusBadge task={task} />}
          <span className="ml-auto flex shrink-0 items-center gap-1">
            {can.retry(task) && (
              <button type="button" className="btn" onClick={() => void act('retry', task.id)}>
                <RotateCcw size={14} aria-hidden />
                <span className="max-md:sr-only">{t('tasks.actions.retry')}</span>
              </button>
            )}
            {can.cancel(task) && (
              <button type="button" className="btn" onClick={cancel}>
                <Square size={11} fill="currentColor" aria-hidden />
                <span className="max-md:sr-only">{t('tasks.actions.cancel')}</span>
              </button>
            )}
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              onClick={remove}
              aria-label={t('tasks.actions.delete')}
              title={t('tasks.actions.delete')}
            >
              <Trash2 size={15} aria-hidden />
            </button>
          </span>
        </div>
        {phone && (
          <p className="mt-1.5 flex min-w-0 items-center gap-3 overflow-hidden">
            <StatusBadge task={task} />
            <span className="truncate text-xs text-muted">{task.agent}</span>
            <Usage task={task} />
          </p>
        )}
        <div className="mt-2 flex items-end gap-6 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4">
          <div className="-ml-3 flex shrink-0" role="tablist" aria-label={t('chat.tabs')}>
            {tabs.map((each) => (
              <button
                key={each}
                type="button"
                role="tab"
                id={`tab-${each}`}
                aria-selected={each === shown}
                aria-controls="panel"
                onClick={() =>
                  void navigate({
                    to: '/chat',
                    search: { taskId: task.id, ...(each === tabs[0] ? {} : { tab: each }) },
                    replace: true,
                  })
                }
                className={`border-b-2 px-3 py-2 text-[13px] font-medium whitespace-nowrap ${each === shown ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text'}`}
              >
                {t(`chat.tab.${each}`)}
              </button>
            ))}
          </div>
          {!phone && (
            <span className="mb-2.5 ml-auto flex min-w-0 items-center gap-3 text-xs text-muted">
              <span className="min-w-0 truncate">
                {task.agent}
                {task.model ? ` · ${shortModel(task.model)}` : ''}
              </span>
              <Usage task={task} />
            </span>
          )}
        </div>
      </header>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${shown}`} className="flex min-h-0 flex-1 flex-col">
        {shown === 'chat' && <Chat task={task} />}
        <Suspense fallback={<p className="p-6 text-muted">{t('common.loading')}</p>}>
          {shown === 'log' && <LogView task={task} />}
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

// How it ended, where that is more than the badge says.
function Ending({ task, className }: { task: Task; className: string }) {
  const { t } = useTranslation();
  if (task.status === 'pending')
    return (
      <p className={`${className} text-muted`}>
        {task.queue_position ? t('tasks.row.queue', { place: task.queue_position }) : t('tasks.row.waiting')}
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
          <span className="min-w-0 flex-1 break-words">{task.error.message}</span>
          <code className="shrink-0 pt-0.5 font-mono text-xs max-md:hidden">{task.error.code}</code>
        </p>
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

function Chat({ task }: { task: Task }) {
  const { t } = useTranslation();
  const { transcript, error, loadEarlier, retry } = useTranscript(task.id);
  const [mode, setMode] = useState<Mode>('steer');
  const working = atWork(task.status);
  const ended = task.status === 'failed' || task.status === 'cancelled';

  const send = async (text: string): Promise<boolean> => {
    const path = { id: task.id };
    try {
      if (ended) {
        const again = await call(api.POST('/api/tasks/{id}/retry', { params: { path }, body: { message: text } }));
        queryClient.setQueryData(['task', task.id], upToDate(again));
      } else {
        if (working) remember(task.id, text, mode);
        const body = { message: text, ...(working ? { when: mode } : {}) };
        const taken = await call(api.POST('/api/tasks/{id}/message', { params: { path }, body }));
        queryClient.setQueryData(['task', task.id], upToDate(taken.task));
      }
      return true;
    } catch (failure) {
      showError(failure);
      return false;
    }
  };

  if (!transcript) {
    if (!error)
      return (
        <div className="column flex flex-col gap-4 py-6" aria-busy>
          <div className="skeleton ml-auto h-10 w-1/3" />
          <div className="skeleton h-4 w-2/3" />
          <div className="skeleton h-4 w-1/2" />
        </div>
      );
    return (
      <Empty icon={ServerOff} title={error.status > 0 ? error.message : t('errors.unreachable')}>
        <button type="button" className="btn mt-2" onClick={retry}>
          {t('common.tryAgain')}
        </button>
      </Empty>
    );
  }
  const lastUser = transcript.messages.findLast((message) => message.role === 'user');
  const arrived = lastUser?.parts.map((part) => ('text' in part ? part.text : '')).join('');
  const thinking = (task.status === 'running' || task.status === 'resumed') && !task.waiting_for;
  const footer = (
    <div className="min-h-4 pt-1 pb-4">
      {thinking && (
        <p className="mt-2 flex items-center gap-2 text-sm text-muted">
          <span className="size-2 animate-pulse rounded-full bg-blue" aria-hidden />
          {t('chat.working')}
        </p>
      )}
      <Ending task={task} className="mt-1 rounded-xl bg-panel px-4 py-3" />
    </div>
  );
  return (
    <>
      <Conversation task={task} transcript={transcript} loadEarlier={loadEarlier} footer={footer} />
      <div className="column pt-2 pb-4 max-md:pb-3">
        {task.session_id && <Subtasks session={task.session_id} />}
        <Composer
          place={task.id}
          arrived={arrived}
          placeholder={
            ended ? t('chat.retryPlaceholder') : working ? t('chat.messagePlaceholder') : t('chat.resumePlaceholder')
          }
          sendLabel={ended ? t('tasks.actions.retry') : working ? t('chat.send') : t('chat.resume')}
          onSend={send}
        >
          {working && task.status !== 'pending' && (
            <label className="flex items-center gap-2">
              <span className="sr-only">{t('chat.mode.label')}</span>
              <select
                value={mode}
                onChange={(event) => setMode(event.target.value as Mode)}
                className="field h-8 w-auto border-transparent bg-transparent text-xs text-muted hover:bg-hover"
              >
                {modes.map((each) => (
                  <option key={each} value={each}>
                    {t(`chat.mode.${each}`)}
                  </option>
                ))}
              </select>
              <span className="max-md:hidden">{t(`chat.modeHint.${mode}`)}</span>
            </label>
          )}
          {!isBusy(task) && !ended && <span>{t('chat.resumeHint')}</span>}
        </Composer>
      </div>
    </>
  );
}
