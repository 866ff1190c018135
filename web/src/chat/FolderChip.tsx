// Where a new task works, beside its words (R14.1): the last used folder, recent ones, and completion by the server.
import { Folder } from 'lucide-react';
import { useId, useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import { fromHome, useFolders } from '../lib/folders';
import { shown } from '../lib/hidden';

interface Props {
  folder: string; // Empty: the server's default.
  onChange: (folder: string) => void;
}

export function FolderChip({ folder, onChange }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const list = useId();
  const known = useFolders('');
  const found = useFolders(open && /^[~/]/.test(folder) ? folder : '');
  const here = folder ? fromHome(folder, known?.home) : (known?.default.shown ?? '…');
  return (
    <>
      <button
        type="button"
        className="btn btn-ghost max-w-full min-w-0"
        aria-expanded={open}
        title={t('launch.folder')}
        data-testid="folder-chip"
        onClick={() => setOpen(!open)}
      >
        <Folder size={15} className="shrink-0" aria-hidden />
        <span className="sr-only">{t('launch.folder')}: </span>
        <bdi className="truncate font-mono text-[12px]">{shown(here)}</bdi>
      </button>
      {open && (
        <div className="flex basis-full flex-col gap-2 pb-1" data-testid="folder-choice">
          <input
            className="field font-mono text-[13px]"
            aria-label={t('launch.folder')}
            placeholder={known?.default.shown ?? t('launch.folderDefault')}
            value={folder}
            list={list}
            autoComplete="off"
            spellCheck={false}
            autoFocus
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' && event.key !== 'Escape') return;
              event.preventDefault();
              event.stopPropagation();
              setOpen(false);
            }}
          />
          <datalist id={list}>
            {(found?.folders ?? []).map((each) => (
              <option key={each.path} value={folder.startsWith('~') ? each.shown : each.path} />
            ))}
          </datalist>
          {(known?.recent.length ?? 0) > 0 && (
            <div className="flex flex-wrap gap-1.5" role="group" aria-label={t('launch.recentFolders')}>
              {known?.recent.map((each) => (
                <button
                  key={each.path}
                  type="button"
                  className="chip max-w-full truncate font-mono"
                  title={each.path}
                  onClick={() => {
                    onChange(each.path);
                    setOpen(false);
                  }}
                >
                  {shown(each.shown)}
                </button>
              ))}
            </div>
          )}
        </div>
      )}
    </>
  );
}
