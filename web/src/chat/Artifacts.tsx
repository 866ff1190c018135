import { useQuery } from '@tanstack/react-query';
import { ChevronRight, Download, FileText, PackageOpen } from 'lucide-react';
import { useState } from 'react';

import { api, call, fetchText } from '../api/client';
import type { Artifact, ArtifactPreview, Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { download } from '../lib/clipboard';
import { bytes, dateTime } from '../lib/format';
import { showError } from '../tasks/actions';
import { Empty } from '../ui/Empty';
import { plain } from './ansi';
import { ArtifactView } from './ArtifactView';
import { typeOf, viewOf } from './artifactKinds';

const address = (task: Task, artifact: Artifact): string =>
  `/api/tasks/${task.id}/artifacts/${encodeURIComponent(artifact.id)}`;

// The beginning of it as text, or that it is none.
function TextPreview({ task, artifact }: { task: Task; artifact: Artifact }) {
  const { t } = useTranslation();
  const preview = useQuery({
    queryKey: ['artifact', task.id, artifact.id, artifact.size],
    queryFn: async ({ signal }) =>
      (await (await fetchText(`${address(task, artifact)}?preview=true`, signal)).json()) as ArtifactPreview,
  });
  if (!preview.data)
    return <p className="border-t border-line px-4 py-3 text-muted">{preview.error?.message ?? t('common.loading')}</p>;
  if (preview.data.binary) return <p className="border-t border-line px-4 py-3 text-muted">{t('artifacts.binary')}</p>;
  return (
    <div className="border-t border-line">
      <pre
        tabIndex={0}
        className="max-h-96 overflow-auto px-4 py-3 font-mono text-[12.5px] break-words whitespace-pre-wrap"
      >
        {preview.data.text.split('\n').map(plain).join('\n')}
      </pre>
      {preview.data.more && <p className="px-4 pb-3 text-xs text-muted">{t('artifacts.more')}</p>}
    </div>
  );
}

// What is not read as text is drawn by the browser from its bytes.
function Preview({ task, artifact }: { task: Task; artifact: Artifact }) {
  const [asText, setAsText] = useState(false);
  const kind = viewOf(artifact);
  const { t } = useTranslation();
  if (!kind || asText) return <TextPreview task={task} artifact={artifact} />;
  return (
    <>
      <ArtifactView address={address(task, artifact)} name={artifact.name} kind={kind} type={typeOf(artifact)} />
      {kind === 'html' && (
        <p className="flex flex-wrap items-center gap-3 px-4 pb-3 text-xs text-muted">
          {t('artifacts.htmlHint')}
          <button type="button" className="text-accent-text underline" onClick={() => setAsText(true)}>
            {t('artifacts.asText')}
          </button>
        </p>
      )}
    </>
  );
}

function File({ task, artifact }: { task: Task; artifact: Artifact }) {
  const { t, language } = useTranslation();
  const [open, setOpen] = useState(false);
  const save = async () => {
    try {
      const response = await fetchText(address(task, artifact));
      download(await response.blob(), artifact.name.split('/').at(-1) ?? artifact.name);
    } catch (error) {
      showError(error);
    }
  };
  const facts = [
    artifact.media_type?.split(';', 1)[0],
    bytes(artifact.size),
    artifact.run === undefined ? null : t('artifacts.run', { n: artifact.run }),
    artifact.modified_at && dateTime(artifact.modified_at, language),
  ];
  return (
    <li className="card mb-2 overflow-hidden" data-artifact={artifact.name}>
      <div className="flex items-center gap-3 px-4 py-3">
        <button
          type="button"
          className="flex min-w-0 flex-1 items-center gap-3 text-left"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight size={15} className={`shrink-0 text-muted ${open ? 'rotate-90' : ''}`} aria-hidden />
          <FileText size={18} className="shrink-0 text-muted" aria-hidden />
          <span className="min-w-0">
            <span className="block truncate font-mono text-[13px]">{artifact.name}</span>
            <span className="text-xs text-muted">{facts.filter(Boolean).join(' · ')}</span>
          </span>
        </button>
        <button
          type="button"
          className="btn max-md:btn-icon"
          aria-label={`${t('log.download')}: ${artifact.name}`}
          onClick={() => void save()}
        >
          <Download size={15} aria-hidden />
          <span className="max-md:sr-only">{t('log.download')}</span>
        </button>
      </div>
      {open && <Preview task={task} artifact={artifact} />}
    </li>
  );
}

export default function Artifacts({ task }: { task: Task }) {
  const { t } = useTranslation();
  const list = useQuery({
    queryKey: ['artifacts', task.id, task.status, task.attempt],
    queryFn: ({ signal }) => call(api.GET('/api/tasks/{id}/artifacts', { params: { path: { id: task.id } }, signal })),
    staleTime: 0,
  });
  const artifacts = list.data?.artifacts ?? [];
  if (!list.isPending && artifacts.length === 0)
    return (
      <Empty icon={PackageOpen} title={t('artifacts.none')}>
        {t('artifacts.hint')}
      </Empty>
    );
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <ul className="column py-6 max-md:py-4">
        {artifacts.map((artifact) => (
          <File key={artifact.id} task={task} artifact={artifact} />
        ))}
      </ul>
      {(list.data?.left_out ?? 0) > 0 && (
        <p className="column pb-6 text-sm text-amber">
          {t('artifacts.leftOut', { count: list.data?.left_out ?? 0 })} {list.data?.left_out_why}
        </p>
      )}
    </div>
  );
}
