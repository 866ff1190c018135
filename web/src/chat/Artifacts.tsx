import { useQuery } from '@tanstack/react-query';
import { Download, FileText, PackageOpen } from 'lucide-react';
import { useTranslation } from 'react-i18next';

import { api, call, fetchText } from '../api/client';
import type { Artifact, Task } from '../api/types';
import { download } from '../lib/clipboard';
import { bytes } from '../lib/format';
import { showError } from '../tasks/actions';
import { Empty } from '../ui/Empty';

export function Artifacts({ task }: { task: Task }) {
  const { t } = useTranslation();
  const list = useQuery({
    queryKey: ['artifacts', task.id, task.status, task.attempt],
    queryFn: ({ signal }) => call(api.GET('/api/tasks/{id}/artifacts', { params: { path: { id: task.id } }, signal })),
    staleTime: 0,
  });
  const artifacts = list.data?.artifacts ?? [];
  const save = async (artifact: Artifact) => {
    try {
      const response = await fetchText(`/api/tasks/${task.id}/artifacts/${encodeURIComponent(artifact.id)}`);
      download(await response.blob(), artifact.name.split('/').pop() ?? artifact.name);
    } catch (error) {
      showError(error);
    }
  };
  if (!list.isPending && artifacts.length === 0) return <Empty icon={PackageOpen} title={t('artifacts.none')}>{t('artifacts.hint')}</Empty>;
  return (
    <ul className="mx-auto w-full max-w-3xl overflow-auto p-6 max-md:p-4">
      {artifacts.map((artifact) => (
        <li key={artifact.id} className="card mb-2 flex items-center gap-3 px-4 py-3">
          <FileText size={18} className="shrink-0 text-muted" aria-hidden />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-mono text-[13px]">{artifact.name}</span>
            <span className="text-xs text-muted">{artifact.media_type} · {bytes(artifact.size)}{artifact.run === undefined ? '' : ` · ${t('artifacts.run', { n: artifact.run })}`}</span>
          </span>
          <button type="button" className="btn" onClick={() => void save(artifact)}>
            <Download size={15} aria-hidden />
            {t('log.download')}
          </button>
        </li>
      ))}
    </ul>
  );
}
