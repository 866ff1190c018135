import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Layers } from 'lucide-react';

import { api, call } from '../api/client';
import { useTranslation } from '../i18n/i18n';
import { useDebounced } from '../lib/hooks';

// How far its batch is. Asked only of rows that stay on the screen.
export function BatchChip({ id }: { id: string }) {
  const { t } = useTranslation();
  const stays = useDebounced(true, 250, false);
  const batch = useQuery({
    queryKey: ['batch', id],
    enabled: stays,
    queryFn: ({ signal }) => call(api.GET('/api/batches/{id}', { params: { path: { id } }, signal })),
    retry: false,
  }).data;
  const done = batch ? batch.total - batch.at_work : 0;
  const label = batch ? t('tasks.row.batchDone', { done, total: batch.total }) : t('tasks.row.batch', { id });
  return (
    <Link
      to="/tasks"
      search={{ batch: id }}
      className="chip shrink-0 tabular-nums hover:text-text"
      aria-label={label}
      title={label}
      data-batch={id}
    >
      <Layers size={11} aria-hidden />
      {batch ? `${done}/${batch.total}` : '…'}
    </Link>
  );
}
