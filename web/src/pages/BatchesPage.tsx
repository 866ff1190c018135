// Every batch with its counts, the newest first; each opens the list of its tasks.
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Layers } from 'lucide-react';
import { useEffect } from 'react';

import { api, call } from '../api/client';
import type { BatchList } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { ago, ms, number } from '../lib/format';
import { shown } from '../lib/hidden';
import { useNow } from '../lib/hooks';

type Row = BatchList['batches'][number];
const states = ['failed', 'running', 'resumed', 'pending', 'completed', 'cancelled'] as const;
const tones: Partial<Record<(typeof states)[number], string>> = {
  failed: 'text-red font-medium',
  running: 'text-blue',
};

function BatchRow({ batch }: { batch: Row }) {
  const { t, language } = useTranslation();
  const now = useNow();
  const made = ms(batch.created_at);
  return (
    <li className="border-b border-line" data-batch-row={batch.batch_id}>
      <Link
        to="/tasks"
        search={{ batch: batch.batch_id }}
        className="flex flex-wrap items-center gap-x-4 gap-y-1 px-6 py-3 hover:bg-hover max-md:px-4"
      >
        <Layers size={16} className="shrink-0 text-muted" aria-hidden />
        <span className="min-w-0 flex-1 truncate font-medium">
          {t('tasks.row.batchOf', { count: batch.total, title: shown(batch.title) })}
        </span>
        <span className="flex flex-wrap gap-x-3 text-sm text-muted">
          {states
            .filter((state) => batch.counts[state] > 0)
            .map((state) => (
              <span key={state} className={tones[state]}>
                {number(batch.counts[state], language)} {t(`tasks.status.${state}`)}
              </span>
            ))}
        </span>
        {made !== null && <span className="w-20 text-right text-sm text-muted">{ago(made, now, language)}</span>}
      </Link>
    </li>
  );
}

export function BatchesPage() {
  const { t } = useTranslation();
  useEffect(() => {
    document.title = `${t('batches.title')} · errand`;
  }, [t]);
  const pages = useInfiniteQuery({
    queryKey: ['batch', 'list'],
    queryFn: ({ signal, pageParam }) =>
      call(
        api.GET('/api/batches', {
          params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  });
  const all = pages.data?.pages.flatMap((page) => page.batches) ?? [];
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <header className="px-6 pt-5 pb-4 max-md:px-4">
        <h1 className="text-[22px] leading-tight font-semibold tracking-tight">{t('batches.title')}</h1>
        <p className="mt-0.5 text-muted">{t('batches.subtitle')}</p>
      </header>
      {pages.isError && (
        <p role="alert" className="px-6 text-red max-md:px-4">
          {t('batches.failed')}
        </p>
      )}
      {pages.isSuccess && all.length === 0 && <p className="px-6 text-muted max-md:px-4">{t('batches.none')}</p>}
      {all.length > 0 && (
        <ul className="border-t border-line">
          {all.map((batch) => (
            <BatchRow key={batch.batch_id} batch={batch} />
          ))}
        </ul>
      )}
      {pages.hasNextPage && (
        <div className="p-4 text-center">
          <button type="button" className="btn" disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
            {t('batches.more')}
          </button>
        </div>
      )}
    </div>
  );
}
