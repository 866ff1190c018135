import { X } from 'lucide-react';

import type { Task, TaskQuery } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { number } from '../lib/format';
import type { TaskSearch } from '../search';
import type { Confirmation } from '../ui/Dialog';
import { toast } from '../ui/toast';
import { actOnAll, can, matching, readTask, showError, type Action } from './actions';
import type { Selection } from './selection';

interface Props {
  selection: Selection;
  total: number;
  query: TaskQuery;
  search: TaskSearch;
  tasks: Task[]; // Those on the screen.
  onAll: () => void;
  onClear: () => void;
  onQuestion: (question: Confirmation) => void;
}

// The filter in words, for the question before a bulk action.
const inWords = (search: TaskSearch): string =>
  Object.entries(search)
    .filter(([key]) => key !== 'sort')
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ');

export default function BulkBar({ selection, total, query, search, tasks, onAll, onClear, onQuestion }: Props) {
  const { t, language } = useTranslation();
  const count = selection.all ? total : selection.ids.size;
  const n = number(count, language);
  const known = new Map(tasks.map((task) => [task.id, task]));

  const ask = async (action: Action) => {
    // Frozen now: what is done is what the question says, however the list moves meanwhile.
    let ids: string[];
    try {
      ids = selection.all
        ? (await matching(query)).filter(can[action]).map((task) => task.id)
        : (await Promise.all([...selection.ids].map(async (id) => known.get(id) ?? (await readTask(id)))))
            .filter((task) => task !== null && can[action](task))
            .map((task) => task!.id);
    } catch (error) {
      return showError(error);
    }
    if (ids.length === 0) return toast('info', t(`bulk.none.${action}`));
    const filter = inWords(search);
    onQuestion({
      title: t(`bulk.${action}.title`, { count: ids.length, n: number(ids.length, language) }),
      body: (
        <>
          <p>{t(`bulk.${action}.body`)}</p>
          {ids.length < count && <p className="mt-2">{t('bulk.skipped', { count: count - ids.length })}</p>}
          {selection.all && (
            <p className="mt-2 rounded-lg bg-panel px-3 py-2 font-mono text-xs">{filter || t('bulk.everything')}</p>
          )}
        </>
      ),
      action: t(`tasks.actions.${action}`),
      danger: action !== 'retry',
      onConfirm: () => {
        onClear();
        void actOnAll(action, ids);
      },
    });
  };

  return (
    <div className="pointer-events-none absolute inset-x-4 bottom-4 z-20 flex justify-center">
      <div
        className="card pointer-events-auto flex items-center gap-x-3 gap-y-2 rounded-2xl py-2 pr-2.5 pl-2 shadow-[var(--shadow)] max-md:w-full max-md:flex-wrap"
        role="toolbar"
        aria-label={t('bulk.label')}
      >
        <button
          type="button"
          className="grid size-8 place-items-center rounded-lg text-muted hover:bg-hover hover:text-text"
          onClick={onClear}
          aria-label={t('bulk.clear')}
        >
          <X size={15} aria-hidden />
        </button>
        <span className="-ml-1 font-medium whitespace-nowrap">{t('bulk.selected', { count, n })}</span>
        {!selection.all && total > selection.ids.size && (
          <button
            type="button"
            className="whitespace-nowrap text-accent-text underline underline-offset-2"
            onClick={onAll}
          >
            {t('bulk.selectAll', { count: total, n: number(total, language) })}
          </button>
        )}
        <span className="ml-auto flex gap-2 md:ml-4">
          <button type="button" className="btn" onClick={() => void ask('retry')}>
            {t('tasks.actions.retry')}
          </button>
          <button type="button" className="btn" onClick={() => void ask('cancel')}>
            {t('tasks.actions.cancel')}
          </button>
          <button type="button" className="btn text-red" onClick={() => void ask('delete')}>
            {t('tasks.actions.delete')}
          </button>
        </span>
      </div>
    </div>
  );
}
