// What waits for a person, pinned above the list whatever that shows: every open question with what there is to decide, to
// be answered here (R15.2), and the failures that nobody has looked at.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';

import { api, call } from '../api/client';
import { AskCard, askOf } from '../chat/AskCard';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { ago, dateTime } from '../lib/format';
import { shown } from '../lib/hidden';
import { useNow } from '../lib/hooks';
import { kept, useStore } from '../lib/store';
import { summary } from './summary';

const unfolded = kept<'open' | 'closed'>('errand.inbox', 'open');
const questionsMost = 20; // A diff each: whoever has more answers these first.
const failuresMost = 5;

export default function Inbox() {
  const { t, language } = useTranslation();
  const now = useNow();
  const open = useStore(unfolded) === 'open';
  const inbox = useQuery({
    queryKey: ['inbox'],
    queryFn: ({ signal }) => call(api.GET('/api/inbox', { signal })),
    placeholderData: (old) => old,
  }).data;
  const questions = inbox?.questions ?? [];
  const failures = inbox?.failures ?? [];
  if (questions.length === 0) return null;
  return (
    <section
      className="mx-6 mb-4 flex max-h-[45dvh] shrink-0 flex-col overflow-hidden rounded-xl border border-violet max-md:mx-4"
      aria-label={t('inbox.label')}
      data-testid="inbox"
    >
      <button
        type="button"
        className="flex h-10 shrink-0 items-center gap-2 bg-violet-soft px-4 text-left font-medium text-violet"
        aria-expanded={open}
        onClick={() => unfolded.set(open ? 'closed' : 'open')}
      >
        <ChevronDown size={16} className={`shrink-0 ${open ? '' : '-rotate-90'}`} aria-hidden />
        <span className="min-w-0 truncate">
          {t('inbox.questions', { count: questions.length })}
          {inbox?.more ? '+' : ''}
        </span>
        {failures.length > 0 && (
          <span className="ml-auto shrink-0 text-sm font-normal text-red">
            {t('inbox.failures', { count: failures.length })}
          </span>
        )}
      </button>
      {open && (
        <ul className="min-h-0 divide-y divide-line overflow-y-auto" tabIndex={0} aria-label={t('inbox.label')}>
          {questions.slice(0, questionsMost).map(({ task, asked_at, ...question }) => {
            const ask = askOf(question);
            return (
              <li key={`${task.id} ${question.request_id}`} className="px-4 pt-3 pb-1" data-question={task.id}>
                <p className="flex min-w-0 flex-wrap items-baseline gap-x-3 text-sm">
                  <Link
                    to="/chat"
                    search={{ taskId: task.id }}
                    className="min-w-0 truncate font-medium hover:underline"
                  >
                    {shown(task.title)}
                  </Link>
                  <span className="text-muted">{task.agent}</span>
                  <time className="text-muted" dateTime={asked_at} title={dateTime(asked_at, language)}>
                    {ago(Date.parse(asked_at), now, language)}
                  </time>
                </p>
                {ask && <AskCard taskId={task.id} folder={task.work_dir} ask={ask} open />}
              </li>
            );
          })}
          {questions.length > questionsMost && (
            <li className="px-4 py-3 text-sm">
              <Link to="/tasks" search={{ status: 'needs-input' }} className="text-accent-text underline">
                {t('inbox.more', { count: questions.length - questionsMost })}
              </Link>
            </li>
          )}
          {failures.slice(0, failuresMost).map((task) => (
            <li key={task.id} className="flex min-w-0 flex-wrap items-baseline gap-x-3 px-4 py-2.5 text-sm">
              <Link to="/chat" search={{ taskId: task.id }} className="min-w-0 truncate font-medium hover:underline">
                {shown(task.title)}
              </Link>
              <span className="min-w-0 truncate text-red">{shown(summary(task).text)}</span>
            </li>
          ))}
          {failures.length > failuresMost && (
            <li className="px-4 py-2.5 text-sm">
              <Link to="/tasks" search={{ status: 'failed' }} className="text-accent-text underline">
                {t('inbox.moreFailures', { count: failures.length - failuresMost })}
              </Link>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}
