// The saved views, behind the list's own filters. Loaded when the rows are there.
import { Bookmark, Trash2 } from 'lucide-react';
import { useId, useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { useStore } from '../lib/store';
import type { TaskSearch } from '../search';
import { Dialog } from '../ui/Dialog';
import { dropView, sameView, saveView, views } from './views';

interface Props {
  search: TaskSearch;
  onView: (search: TaskSearch) => void;
}

export default function SavedViews({ search, onView }: Props) {
  const { t } = useTranslation();
  const all = useStore(views);
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const field = useId();
  const now = all.find((view) => sameView(view.search, search));
  return (
    <>
      {all.length > 0 && (
        <select
          className="field w-auto max-w-44 text-muted max-md:max-w-none max-md:flex-1"
          aria-label={t('views.label')}
          value={now?.name ?? ''}
          onChange={(event) => onView(all.find((view) => view.name === event.target.value)?.search ?? {})}
        >
          <option value="">{t('views.none')}</option>
          {all.map((view) => (
            <option key={view.name} value={view.name}>
              {view.name}
            </option>
          ))}
        </select>
      )}
      {now ? (
        <button
          type="button"
          className="btn btn-ghost btn-icon"
          aria-label={t('views.drop', { name: now.name })}
          title={t('views.drop', { name: now.name })}
          onClick={() => dropView(now.name)}
        >
          <Trash2 size={15} aria-hidden />
        </button>
      ) : (
        Object.keys(search).length > 0 && (
          <button
            type="button"
            className="btn btn-ghost btn-icon"
            aria-label={t('views.save')}
            title={t('views.save')}
            onClick={() => {
              setName('');
              setNaming(true);
            }}
          >
            <Bookmark size={15} aria-hidden />
          </button>
        )
      )}
      {naming && (
        <Dialog title={t('views.save')} onClose={() => setNaming(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (name.trim() === '') return;
              saveView(name, search);
              setNaming(false);
            }}
          >
            <label htmlFor={field} className="text-sm text-muted">
              {t('views.name')}
            </label>
            <input
              id={field}
              className="field mt-1 w-full"
              value={name}
              maxLength={60}
              autoFocus
              onChange={(event) => setName(event.target.value)}
            />
            <div className="mt-5 flex justify-end gap-2">
              <button type="button" className="btn" onClick={() => setNaming(false)}>
                {t('common.keep')}
              </button>
              <button type="submit" className="btn btn-primary" disabled={name.trim() === ''}>
                {t('common.save')}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
