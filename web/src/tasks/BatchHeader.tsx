import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Layers } from 'lucide-react';

import { api, call } from '../api/client';
import type { Counts } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { queryClient } from '../queries';
import type { Confirmation } from '../ui/Dialog';
import { toast } from '../ui/toast';
import { showError } from './actions';

const tones: [keyof Counts, string][] = [
  ['completed', 'bg-green'],
  ['failed', 'bg-red'],
  ['cancelled', 'bg-grey'],
  ['running', 'bg-blue'],
  ['resumed', 'bg-blue'],
];

export default function BatchHeader({ id, onQuestion }: { id: string; onQuestion: (question: Confirmation) => void }) {
  const { t } = useTranslation();
  const batch = useQuery({
    queryKey: ['batch', id],
    queryFn: ({ signal }) => call(api.GET('/api/batches/{id}', { params: { path: { id } }, signal })),
  }).data;
  // Tasks with worktrees of their own are attempts that can be compared.
  const tasks = useQuery({
    queryKey: ['batch', id, 'first'],
    queryFn: ({ signal }) =>
      call(api.GET('/api/tasks', { params: { query: { batch_id: id, archived: 'all', limit: 16 } }, signal })),
  }).data?.tasks;
  const attempts = tasks?.filter((task) => task.isolation !== null).length ?? 0;
  if (!batch) return null;
  const done = batch.total - batch.at_work;
  const run = async (what: 'cancel' | 'retry' | 'clear') => {
    const params = { params: { path: { id } } };
    try {
      if (what === 'cancel') await call(api.POST('/api/batches/{id}/cancel', params));
      else if (what === 'retry') await call(api.POST('/api/batches/{id}/retry', params));
      else await call(api.POST('/api/batches/{id}/clear', params));
      toast('ok', t(`batch.done.${what}`));
      void queryClient.invalidateQueries({ queryKey: ['tasks'] });
      void queryClient.invalidateQueries({ queryKey: ['batch'] });
    } catch (error) {
      showError(error);
    }
  };
  const ask = (what: 'cancel' | 'clear', count: number) =>
    onQuestion({
      title: t(`batch.${what}.title`, { count }),
      body: t(`batch.${what}.body`),
      action: t(`batch.${what}.action`),
      danger: true,
      onConfirm: () => void run(what),
    });
  return (
    <section
      className="card mx-6 mb-4 flex flex-wrap items-center gap-x-5 gap-y-3 px-4 py-3 max-md:mx-4"
      aria-label={t('batch.label')}
    >
      <Layers size={18} className="text-muted" aria-hidden />
      <div className="min-w-40 flex-1">
        <p className="font-medium">{t('batch.progress', { done, total: batch.total })}</p>
        <div
          className="mt-1.5 flex h-1.5 overflow-hidden rounded-full bg-grey-soft"
          role="progressbar"
          aria-label={t('batch.label')}
          aria-valuemin={0}
          aria-valuemax={batch.total}
          aria-valuenow={done}
        >
          {tones.map(([status, tone]) => (
            <span
              key={status}
              className={tone}
              style={{ width: `${(100 * batch.counts[status]) / Math.max(1, batch.total)}%` }}
            />
          ))}
        </div>
      </div>
      <div className="flex flex-wrap gap-2">
        {attempts > 1 && (
          <Link to="/attempts" search={{ batch: id }} className="btn btn-primary">
            {t('attempts.compare')}
          </Link>
        )}
        <button type="button" className="btn" disabled={batch.counts.failed === 0} onClick={() => void run('retry')}>
          {t('batch.retry')}
        </button>
        <button
          type="button"
          className="btn"
          disabled={batch.at_work === 0}
          onClick={() => ask('cancel', batch.at_work)}
        >
          {t('batch.cancel.action')}
        </button>
        <button type="button" className="btn" disabled={done === 0} onClick={() => ask('clear', done)}>
          {t('batch.clear.action')}
        </button>
      </div>
    </section>
  );
}
