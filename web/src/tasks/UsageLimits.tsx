import { useQuery } from '@tanstack/react-query';
import { Hourglass } from 'lucide-react';

import { api, call } from '../api/client';
import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { dateTime } from '../lib/format';
import { AskAgain } from '../ui/AskAgain';

// The usage limits that hold tasks back: whose, since when, until when, and how many wait. Read anew when other tasks wait.
export default function UsageLimits({ waiting }: { waiting: Task[] }) {
  const { t, language } = useTranslation();
  const quotas = useQuery({
    queryKey: ['quotas', waiting.map((task) => `${task.id} ${task.waiting_for?.until ?? ''}`).sort()],
    queryFn: ({ signal }) => call(api.GET('/api/quotas', { signal })),
    placeholderData: (old) => old,
    refetchInterval: 30_000,
  }).data?.quotas;
  return quotas?.map((quota) => (
    <section
      key={quota.account}
      className="card mx-6 mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3 max-md:mx-4"
      aria-label={t('limits.label')}
      data-quota={quota.account}
    >
      <Hourglass size={18} className="shrink-0 text-amber" aria-hidden />
      <div className="min-w-40 flex-1">
        <p className="font-medium break-words">{t('limits.title', { account: quota.account })}</p>
        <p className="text-sm break-words text-muted" title={quota.text}>
          {t('limits.times', { since: dateTime(quota.since, language), until: dateTime(quota.until, language) })}{' '}
          {t('limits.held', { count: quota.waiting, queued: quota.queued })}
        </p>
      </div>
      <AskAgain of={quota} />
    </section>
  ));
}
