import { Link } from '@tanstack/react-router';
import { Layers, Search, X } from 'lucide-react';
import { lazy, memo, Suspense, useEffect, useRef, useState, type RefObject } from 'react';

import type { Counts } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { arrives } from '../lib/arrives';
import { number, shortId } from '../lib/format';
import { useChanged } from '../lib/hooks';
import { useAgents } from '../queries';
import { filters, sorts, type Filter, type Sort, type TaskSearch } from '../search';

const SavedViews = lazy(() => arrives(() => import('./SavedViews')));

function countOf(filter: Filter | undefined, counts: Counts | undefined, asking: number): number | undefined {
  if (filter === 'needs-input') return asking;
  if (!counts) return undefined;
  if (!filter) return Object.values(counts).reduce((sum, n) => sum + n, 0);
  return filter === 'running' ? counts.running + counts.resumed : counts[filter];
}

const names: Record<Filter, string> = {
  'needs-input': 'tasks.status.needsInput',
  running: 'tasks.filter.running',
  pending: 'tasks.status.pending',
  completed: 'tasks.filter.completed',
  failed: 'tasks.filter.failed',
  cancelled: 'tasks.status.cancelled',
};

interface Props {
  search: TaskSearch;
  setSearch: (change: Partial<TaskSearch>) => void;
  onView: (search: TaskSearch) => void; // The whole search anew.
  counts: Counts | undefined;
  asking: number;
  searchBox: RefObject<HTMLInputElement | null>;
  ready: boolean; // The rows are there: what they do not need may be read.
}

// The words that are searched for, and how to write them: they are in the address a moment after the last letter.
function useSearchText(q: string, setSearch: Props['setSearch']): [string, (text: string) => void] {
  const [text, setText] = useState(q);
  const [sent, setSent] = useState(q);
  const later = useRef<ReturnType<typeof setTimeout>>(undefined);
  // Our own words that come back from the address change nothing: more may be written since.
  if (useChanged(q) && q !== sent) {
    setText(q);
    setSent(q);
  }
  useEffect(() => () => clearTimeout(later.current), []);
  const write = (next: string) => {
    setText(next);
    clearTimeout(later.current);
    later.current = setTimeout(() => {
      setSent(next);
      setSearch({ q: next || undefined });
    }, 50);
  };
  return [text, write];
}

// Not drawn again with every row that comes into sight.
export const Toolbar = memo(function Toolbar({ search, setSearch, onView, counts, asking, searchBox, ready }: Props) {
  const { t, language } = useTranslation();
  const agents = useAgents(ready || search.agent !== undefined).data?.agents ?? [];
  const [text, write] = useSearchText(search.q ?? '', setSearch);
  const select = 'field w-auto max-w-44 text-muted max-md:max-w-none max-md:flex-1';
  return (
    <div className="flex flex-col gap-3 px-6 pb-4 max-md:px-4">
      <div className="flex flex-wrap items-center gap-2">
        <div className="relative min-w-52 flex-1 max-md:basis-full md:max-w-md">
          <Search size={16} className="pointer-events-none absolute top-2.5 left-3 text-muted" aria-hidden />
          <input
            ref={searchBox}
            type="search"
            value={text}
            onChange={(event) => write(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return;
              write('');
              event.currentTarget.blur();
            }}
            placeholder={t('tasks.search')}
            aria-label={t('tasks.search')}
            className="field pl-9 [&::-webkit-search-cancel-button]:hidden"
          />
          {text === '' && (
            <kbd
              className="pointer-events-none absolute top-2 right-2 rounded border border-line-strong px-1.5 font-mono text-xs leading-5 text-muted max-md:hidden"
              aria-hidden
            >
              /
            </kbd>
          )}
        </div>
        <select
          className={select}
          aria-label={t('tasks.columns.agent')}
          value={search.agent ?? ''}
          onChange={(event) => setSearch({ agent: event.target.value || undefined })}
        >
          <option value="">{t('tasks.anyAgent')}</option>
          {agents.map((agent) => (
            <option key={agent.id} value={agent.id}>
              {agent.name}
            </option>
          ))}
        </select>
        <select
          className={select}
          aria-label={t('tasks.sort.label')}
          value={search.sort ?? 'attention'}
          onChange={(event) =>
            setSearch({ sort: event.target.value === 'attention' ? undefined : (event.target.value as Sort) })
          }
        >
          {sorts.map((sort) => (
            <option key={sort} value={sort}>
              {t(`tasks.sort.${sort}`)}
            </option>
          ))}
        </select>
        <select
          className={select}
          aria-label={t('tasks.show.label')}
          value={search.show ?? ''}
          onChange={(event) => setSearch({ show: (event.target.value || undefined) as TaskSearch['show'] })}
        >
          <option value="">{t('tasks.show.all')}</option>
          <option value="pinned">{t('tasks.show.pinned')}</option>
          <option value="archived">{t('tasks.show.archived')}</option>
        </select>
        <Suspense>{ready && <SavedViews search={search} onView={onView} />}</Suspense>
        <Link
          to="/batches"
          className="btn btn-ghost btn-icon"
          aria-label={t('tasks.batches')}
          title={t('tasks.batches')}
        >
          <Layers size={16} aria-hidden />
        </Link>
        {search.batch && (
          <Pill
            label={t('tasks.batchIs', { id: shortId(search.batch).replace(/^\w+_/, '') })}
            onRemove={() => setSearch({ batch: undefined })}
          />
        )}
        {search.parent && (
          <Pill
            label={t('tasks.parentIs', { id: shortId(search.parent).replace(/^\w+_/, '') })}
            onRemove={() => setSearch({ parent: undefined })}
          />
        )}
      </div>
      <div
        className="-mx-4 flex gap-1.5 overflow-x-auto px-4 md:mx-0 md:px-0"
        role="group"
        aria-label={t('tasks.filter.label')}
      >
        {[undefined, ...filters].map((filter) => {
          const count = countOf(filter, counts, asking);
          const on = search.status === filter;
          const urgent = filter === 'needs-input' && asking > 0;
          return (
            <button
              key={filter ?? 'all'}
              type="button"
              aria-pressed={on}
              data-filter={filter ?? 'all'}
              onClick={() => setSearch({ status: filter })}
              className={`flex h-8 shrink-0 items-center gap-1.5 rounded-full border px-3 text-[13px] font-medium whitespace-nowrap ${
                on
                  ? 'border-transparent bg-text text-bg'
                  : urgent
                    ? 'border-transparent bg-violet-soft text-violet'
                    : 'border-line-strong text-muted hover:bg-hover hover:text-text'
              }`}
            >
              {t(filter ? names[filter] : 'tasks.filter.all')}
              {count !== undefined && <span className="tabular-nums opacity-80">{number(count, language)}</span>}
            </button>
          );
        })}
      </div>
    </div>
  );
});

function Pill({ label, onRemove }: { label: string; onRemove: () => void }) {
  const { t } = useTranslation();
  return (
    <span className="flex h-9 items-center gap-1 rounded-lg bg-accent-soft pr-1 pl-3 text-accent-text">
      {label}
      <button
        type="button"
        className="grid size-6 place-items-center rounded hover:bg-hover"
        onClick={onRemove}
        aria-label={`${t('tasks.clearFilters')}: ${label}`}
      >
        <X size={14} aria-hidden />
      </button>
    </span>
  );
}
