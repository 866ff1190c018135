import { CircleHelp, ShieldQuestion } from 'lucide-react';
import { useState } from 'react';

import { api, call } from '../api/client';
import type { WaitingFor } from '../api/types';
import { useTranslation, type Translate } from '../i18n/i18n';
import { useShownFolder } from '../lib/folders';
import { shown } from '../lib/hidden';
import { showError } from '../tasks/actions';
import { askText } from '../tasks/summary';
import { LongText } from '../ui/LongText';
import { Diff } from './Diff';
import type { Ask } from './transcript';

type Scope = 'once' | 'call' | 'pattern' | 'task' | 'agent';
type Reply = { decision: 'allow' | 'deny'; scope?: Scope; pattern?: string; message?: string } | { answer: string };

// A question of the agent, answered where it stands.
interface Props {
  taskId: string;
  folder: string | null;
  ask: Ask;
  open: boolean;
}

export function AskCard({ taskId, folder, ask, open }: Props) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [sending, setSending] = useState(false);
  const [scope, setScope] = useState('once'); // A scope, and where it has one the place of its pattern: "pattern 0".
  const permission = ask.kind === 'permission';
  const place = useShownFolder(permission ? ask.workDir : null);
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
  // Who allows a command sees all that is in it.
  const [first = '', ...more] = shown(askText(ask.text, folder)).split('\n');
  // What is decided is one line: it says what was, and asks for nothing.
  if (!open)
    return (
      <p
        className="my-1.5 flex items-center gap-2 px-3 text-sm text-muted"
        data-ask={ask.id}
        data-open={false}
        title={ask.text}
      >
        <Icon size={15} className="shrink-0" aria-hidden />
        <span className="min-w-0 truncate">{first}</span>
        <span className="max-w-[60%] shrink-0 truncate font-medium text-text">
          {ask.answer ? decisionText(ask.answer, t) : t('chat.ask.gone')}
        </span>
      </p>
    );
  return (
    <section
      className="my-3 rounded-xl border border-violet bg-violet-soft p-4"
      aria-label={`${t('chat.ask.label')}: ${ask.text}`}
      data-ask={ask.id}
      data-open={true}
    >
      <div className="flex items-start gap-2.5">
        <Icon size={18} className="mt-px shrink-0 text-violet" aria-hidden />
        <div className="max-h-72 min-w-0 flex-1 overflow-auto break-words whitespace-pre-wrap" title={ask.text}>
          <LongText text={first} className="font-medium" />
          {more.length > 0 && <LongText text={more.join('\n')} className="mt-0.5 text-sm text-muted" />}
          {place && (
            <p className="mt-0.5 font-mono text-[12.5px] text-muted" data-testid="ask-folder">
              {t('chat.ask.in', { folder: shown(place) })}
            </p>
          )}
        </div>
      </div>
      {ask.diff && (
        <div className="mt-3 overflow-hidden rounded-lg border border-line bg-bg">
          <Diff text={shown(ask.diff)} />
        </div>
      )}
      {permission && (
        <div className="mt-3 flex flex-wrap gap-2 pl-7 max-md:pl-0">
          <button
            type="button"
            className="btn btn-primary"
            disabled={sending}
            onClick={() => void send(allowance(scope, ask))}
          >
            {t(scope === 'once' ? 'chat.ask.allow' : 'chat.ask.allowScope')}
          </button>
          <label className="flex min-w-0 items-center gap-1">
            <span className="sr-only">{t('chat.ask.further')}</span>
            <select
              className="field h-9 max-w-64 min-w-0"
              value={scope}
              disabled={sending}
              onChange={(event) => setScope(event.target.value)}
            >
              <option value="once">{t('chat.ask.scope.once')}</option>
              <option value="call">{t('chat.ask.scope.call')}</option>
              {ask.patterns.map((each, i) => (
                <option key={each.pattern} value={`pattern ${i}`}>
                  {t('chat.ask.scope.pattern', { pattern: shown(each.pattern).replaceAll('\n', ', ') })}
                </option>
              ))}
              <option value="task">{t('chat.ask.scope.task')}</option>
              <option value="agent">{t('chat.ask.scope.agent')}</option>
              {ask.patterns.map((each, i) => (
                <option key={`agent ${each.pattern}`} value={`agent ${i}`}>
                  {t('chat.ask.scope.agentPattern', { pattern: shown(each.pattern).replaceAll('\n', ', ') })}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            className="btn text-red"
            disabled={sending}
            onClick={() => void send({ decision: 'deny', ...(text.trim() ? { message: text.trim() } : {}) })}
          >
            {t('chat.ask.deny')}
          </button>
          <input
            className="field basis-full"
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
      {!permission && (
        <>
          {ask.options.length > 0 && (
            <div className="mt-3 flex flex-wrap gap-2 pl-7 max-md:pl-0">
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
            className="mt-2 flex gap-2 pl-7 max-md:pl-0"
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
    </section>
  );
}

function allowance(chosen: string, ask: Ask): Reply {
  const [scope = 'once', place] = chosen.split(' ');
  const pattern = place === undefined ? undefined : ask.patterns[Number(place)]?.pattern;
  return { decision: 'allow', scope: scope as Scope, ...(pattern === undefined ? {} : { pattern }) };
}

// What was decided, and in which words.
function decisionText({ decision, by, words }: NonNullable<Ask['answer']>, t: Translate): string {
  if (by === 'timeout') return t('chat.ask.decision.timeout');
  if (decision === 'answer') return words || t('chat.ask.decision.answer');
  const said = t(`chat.ask.decision.${decision}`, { defaultValue: t('chat.ask.decision.answer') });
  return words ? `${said} ${words}` : said;
}

// What a task asks now, where its events were not read.
export const askOf = (waiting: WaitingFor): Ask | null =>
  waiting.request_id
    ? {
        id: waiting.request_id,
        kind: waiting.kind,
        text: waiting.text ?? '',
        options: waiting.options ?? [],
        workDir: waiting.work_dir ?? null,
        diff: waiting.diff ?? null,
        patterns: waiting.patterns ?? [],
        answer: null,
        message: null,
        part: 0,
        offset: 0,
      }
    : null;
