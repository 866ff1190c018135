import { CircleHelp, ShieldQuestion } from 'lucide-react';
import { useState } from 'react';

import { api, call } from '../api/client';
import type { WaitingFor } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { showError } from '../tasks/actions';
import type { Ask } from './transcript';

type Reply = { decision: 'allow' | 'allow_always' | 'deny'; message?: string } | { answer: string };

// A question of the agent, answered where it stands.
export function AskCard({ taskId, ask, open }: { taskId: string; ask: Ask; open: boolean }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [sending, setSending] = useState(false);
  const permission = ask.kind === 'permission';
  const send = async (reply: Reply) => {
    setSending(true);
    try {
      await call(
        api.POST('/api/tasks/{id}/answer', {
          params: { path: { id: taskId } },
          body: { request_id: ask.id, ...reply },
        }),
      );
    } catch (error) {
      showError(error);
    } finally {
      setSending(false);
    }
  };
  const Icon = permission ? ShieldQuestion : CircleHelp;
  return (
    <section
      className={`my-3 rounded-xl border px-4 py-3 ${open ? 'border-violet bg-violet-soft' : 'border-line bg-panel'}`}
      aria-label={open ? `${t('chat.ask.label')}: ${ask.text}` : undefined}
      data-ask={ask.id}
      data-open={open}
    >
      <p className="flex items-start gap-2.5 font-medium">
        <Icon size={18} className={`mt-0.5 shrink-0 ${open ? 'text-violet' : 'text-muted'}`} aria-hidden />
        <span className="min-w-0 whitespace-pre-wrap break-words">{ask.text}</span>
      </p>
      {open && permission && (
        <div className="mt-3 flex flex-wrap gap-2 pl-7">
          <button
            type="button"
            className="btn btn-primary"
            disabled={sending}
            onClick={() => void send({ decision: 'allow' })}
          >
            {t('chat.ask.allow')}
          </button>
          <button
            type="button"
            className="btn"
            disabled={sending}
            onClick={() => void send({ decision: 'allow_always' })}
          >
            {t('chat.ask.allowAlways')}
          </button>
          <button
            type="button"
            className="btn text-red"
            disabled={sending}
            onClick={() => void send({ decision: 'deny', ...(text.trim() ? { message: text.trim() } : {}) })}
          >
            {t('chat.ask.deny')}
          </button>
          <input
            className="field h-8 w-auto min-w-40 flex-1 text-sm"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && text.trim()) void send({ decision: 'deny', message: text.trim() });
            }}
            placeholder={t('chat.ask.instead')}
            aria-label={t('chat.ask.instead')}
          />
        </div>
      )}
      {open && !permission && (
        <>
          {ask.options.length > 0 && (
            <div className="mt-3 flex flex-wrap gap-2 pl-7">
              {ask.options.map((option) => (
                <button
                  key={option}
                  type="button"
                  className="btn"
                  disabled={sending}
                  onClick={() => void send({ answer: option })}
                >
                  {option}
                </button>
              ))}
            </div>
          )}
          <form
            className="mt-3 flex gap-2 pl-7"
            onSubmit={(event) => {
              event.preventDefault();
              if (text.trim()) void send({ answer: text.trim() });
            }}
          >
            <input
              className="field"
              value={text}
              onChange={(event) => setText(event.target.value)}
              placeholder={t('chat.ask.other')}
              aria-label={t('chat.ask.other')}
            />
            <button type="submit" className="btn h-9" disabled={sending || !text.trim()}>
              {t('chat.ask.answer')}
            </button>
          </form>
        </>
      )}
      {!open && (
        <p className="mt-1 pl-7 text-sm text-muted">
          {ask.answer ? decisionText(ask.answer.decision, t) : t('chat.ask.gone')}
        </p>
      )}
    </section>
  );
}

const decisionText = (decision: string, t: (key: string) => string): string =>
  t(
    `chat.ask.decision.${decision === 'allow' || decision === 'allow_always' || decision === 'deny' ? decision : 'answer'}`,
  );

// What a task asks now, where its events were not read.
export const askOf = (waiting: WaitingFor): Ask | null =>
  waiting.request_id
    ? {
        id: waiting.request_id,
        kind: waiting.kind,
        text: waiting.text ?? '',
        options: waiting.options ?? [],
        answer: null,
        message: null,
        part: 0,
        offset: 0,
      }
    : null;
