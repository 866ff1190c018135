// The files that a task changed. All rows have one height, so 3,000 of them cost what thirty do.
import { useVirtualizer } from '@tanstack/react-virtual';
import { MessageSquare, Users } from 'lucide-react';
import { memo, useEffect, useRef, type KeyboardEvent } from 'react';

import type { ChangedFile } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { number, shortId } from '../lib/format';
import { shown } from '../lib/hidden';
import { usePhone } from '../lib/hooks';

const letters: Record<ChangedFile['status'], [letter: string, tone: string]> = {
  added: ['A', 'text-green'],
  modified: ['M', 'text-amber'],
  deleted: ['D', 'text-red'],
  renamed: ['R', 'text-violet'],
  type_changed: ['T', 'text-blue'],
};

export function Counts({ file }: { file: Pick<ChangedFile, 'added' | 'removed'> }) {
  const { language } = useTranslation();
  return (
    <span className="flex shrink-0 gap-1.5 font-mono text-[12px] tabular-nums">
      {file.added > 0 && <span className="text-green">+{number(file.added, language)}</span>}
      {file.removed > 0 && <span className="text-red">−{number(file.removed, language)}</span>}
    </span>
  );
}

const cut = (path: string): [name: string, folder: string] => {
  const at = path.lastIndexOf('/');
  return [path.slice(at + 1), at < 0 ? '' : path.slice(0, at)];
};

const Row = memo(function Row({ file, on, comments }: { file: ChangedFile; on: boolean; comments: number }) {
  const { t } = useTranslation();
  const [letter, tone] = letters[file.status] ?? letters.modified;
  const [name, folder] = cut(file.path);
  const sharedWith = t('changes.sharedFile', { tasks: (file.shared_with ?? []).map(shortId).join(', ') });
  return (
    <span
      className={`flex h-full items-center gap-2 rounded-lg px-2 ${on ? 'bg-accent-soft' : 'hover:bg-hover'}`}
      title={shown(file.old_path ? `${file.old_path} → ${file.path}` : file.path)}
    >
      <span className={`w-3 shrink-0 text-center font-mono text-[12px] font-semibold ${tone}`} aria-hidden>
        {letter}
      </span>
      <span className="sr-only">{t(`changes.status.${file.status}`)}: </span>
      <span className="flex min-w-0 flex-1 items-baseline gap-2 text-[13px]">
        <bdi className={`truncate ${file.status === 'deleted' ? 'line-through' : ''}`}>{shown(name)}</bdi>
        {folder && <bdi className="min-w-8 flex-1 truncate text-xs text-muted">{shown(folder)}</bdi>}
      </span>
      {!file.certain && (
        <span className="shrink-0 text-amber" title={sharedWith} data-testid="shared-file">
          <Users size={13} aria-hidden />
          <span className="sr-only">{sharedWith}</span>
        </span>
      )}
      {comments > 0 && (
        <span className="flex shrink-0 items-center gap-0.5 text-xs text-accent-text">
          <MessageSquare size={12} aria-hidden />
          <span className="sr-only">{t('changes.comments', { count: comments })}</span>
          <span aria-hidden>{comments}</span>
        </span>
      )}
      {file.binary ? (
        <span className="shrink-0 text-xs text-muted">{t('changes.binary')}</span>
      ) : (
        <Counts file={file} />
      )}
    </span>
  );
});

interface Props {
  files: ChangedFile[];
  total: number;
  selected: string | null;
  comments: Map<string, number>; // By the file's name.
  onSelect: (name: string) => void;
}

export function FileList({ files, total, selected, comments, onSelect }: Props) {
  const { t, language } = useTranslation();
  const phone = usePhone();
  const scroller = useRef<HTMLDivElement>(null);
  const height = phone ? 44 : 30;
  const virtual = useVirtualizer({
    count: files.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => files[index]?.name ?? index,
    overscan: 12,
    paddingStart: 8,
    paddingEnd: 8,
  });
  const at = files.findIndex((file) => file.name === selected);
  useEffect(() => virtual.measure(), [height, virtual]);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at);
  }, [at, virtual]);
  const keys = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: files.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const file = files[Math.max(0, Math.min(files.length - 1, to))];
    if (file) onSelect(file.name);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div
        ref={scroller}
        role="listbox"
        tabIndex={0}
        aria-label={t('changes.files', { count: total, n: number(total, language) })}
        aria-activedescendant={at >= 0 ? `file-${at}` : undefined}
        onKeyDown={keys}
        className="min-h-0 flex-1 overflow-y-auto px-2 outline-none focus-visible:ring-2 focus-visible:ring-accent focus-visible:ring-inset"
        data-testid="changed-files"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const file = files[item.index];
            if (!file) return null;
            return (
              <div
                key={item.key}
                id={`file-${item.index}`}
                role="option"
                aria-selected={file.name === selected}
                aria-setsize={files.length}
                aria-posinset={item.index + 1}
                data-file={file.path}
                className="absolute inset-x-0 top-0 cursor-pointer"
                style={{ height, transform: `translateY(${item.start}px)` }}
                onClick={() => onSelect(file.name)}
              >
                <Row file={file} on={file.name === selected} comments={comments.get(file.name) ?? 0} />
              </div>
            );
          })}
        </div>
      </div>
      {total > files.length && (
        <p className="border-t border-line px-4 py-2 text-xs text-muted">
          {t('changes.moreFiles', { count: total - files.length, n: number(total - files.length, language) })}
        </p>
      )}
    </div>
  );
}
