import { ServerOff } from 'lucide-react';
import { useState } from 'react';

import { atWork, isBusy, type Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { errorText } from '../lib/sentences';
import { Empty } from '../ui/Empty';
import { Composer } from './Composer';
import { Conversation } from './Conversation';
import { Ending } from './Ending';
import { modes, type Mode } from './sent';
import { sender } from './sender';
import { Subtasks } from './Subtasks';
import { useTranscript } from './useTranscript';

export function Chat({ task }: { task: Task }) {
  const { t } = useTranslation();
  const { transcript, error, loadEarlier, retry } = useTranscript(task.id);
  const [mode, setMode] = useState<Mode>('steer');
  const send = sender(task, mode);
  const working = atWork(task.status);
  const ended = task.status === 'failed' || task.status === 'cancelled';

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
      <Empty icon={ServerOff} title={errorText(error, t)}>
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
          attach
          folder={task.work_dir}
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
