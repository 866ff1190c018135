// The list of tasks, put together: rows (useTaskRows), what is selected (useSelection), keys (useTaskKeys) and how they look.
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { ArrowUp } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';

import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { arrives } from '../lib/arrives';
import { quoted } from '../lib/hidden';
import { usePhone } from '../lib/hooks';
import { useStore } from '../lib/store';
import { arrivals } from '../queries';
import { taskQuery, type TaskSearch } from '../search';
import type { Confirmation } from '../ui/Dialog';
import { act, type Action } from './actions';
import { Heading } from './Heading';
import { isEmpty } from './selection';
import type { MenuAt } from './TaskMenu';
import { TaskTable } from './TaskTable';
import { Toolbar } from './Toolbar';
import { useSelection } from './useSelection';
import { useTaskKeys } from './useTaskKeys';
import { useTaskRows } from './useTaskRows';

// What not everybody sees at once comes when it is needed: the first row waits for none of it.
const BatchHeader = lazy(() => arrives(() => import('./BatchHeader')));
const BulkBar = lazy(() => arrives(() => import('./BulkBar')));
const Confirm = lazy(() => arrives(() => import('../ui/Confirm')));
const NoTasks = lazy(() => arrives(() => import('./NoTasks')));
const TaskMenu = lazy(() => arrives(() => import('./TaskMenu')));
const UsageLimits = lazy(() => arrives(() => import('./UsageLimits')));

const headHeight = 36; // Of the columns' names, which stay where the rows scroll.
const barHeight = 80; // What floats above the last rows while some are selected.

// What a click on a row opens is there before the click.
function usePreloadedChat(): () => void {
  const router = useRouter();
  const done = useRef(false);
  return () => {
    if (done.current) return;
    done.current = true;
    void router.loadRouteChunk(router.routesByPath['/chat']);
  };
}

export function TasksPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ from: '/tasks' });
  const query = useMemo(() => taskQuery(search), [search]);
  const phone = usePhone();
  const searchBox = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [question, setQuestion] = useState<Confirmation | null>(null);
  const [menu, setMenu] = useState<MenuAt | null>(null);
  const fresh = useStore(arrivals);
  const list = useTaskRows(query, scroller, phone ? 84 : 56);
  // A batch's row stands for several tasks, and is none of them.
  const chosen = useSelection(query, (index) => {
    const row = list.at(index);
    return row && !list.batch(row) ? row : undefined;
  });
  const limited = useMemo(() => list.active.filter((task) => task.waiting_for?.kind === 'quota'), [list.active]);
  const preload = usePreloadedChat();

  useEffect(() => {
    document.title = `${t('tasks.title')} · errand`;
  }, [t]);

  const setSearch = useCallback(
    (change: Partial<TaskSearch>) =>
      void navigate({ to: '/tasks', search: (old) => ({ ...old, ...change }), replace: 'q' in change }),
    [navigate],
  );
  const onView = useCallback((view: TaskSearch) => void navigate({ to: '/tasks', search: view }), [navigate]);
  const onOpen = useCallback((task: Task) => void navigate({ to: '/chat', search: { taskId: task.id } }), [navigate]);
  const onBatch = useCallback((batch: string) => void navigate({ to: '/tasks', search: { batch } }), [navigate]);
  const onMenu = useCallback((at: MenuAt) => setMenu(at), []);
  const onAction = useCallback(
    (action: Action, task: Task) => {
      if (action === 'retry') return void act('retry', task.id);
      setQuestion({
        title: t(`confirm.${action}.title`),
        body: t(`confirm.${action}.body`, { title: quoted(task.title) }),
        action: t(`tasks.actions.${action}`),
        danger: true,
        onConfirm: () => void act(action, task.id),
      });
    },
    [t],
  );

  const bar = isEmpty(chosen.selection) ? 0 : barHeight;
  useTaskKeys({ list, chosen, searchBox, covered: bar + (phone ? 0 : headHeight), onOpen });

  const { head, rows } = list;
  const failed = head.isError && !head.data ? head.error : null;
  return (
    <>
      <Heading agent={search.agent} />
      <Toolbar
        search={search}
        setSearch={setSearch}
        onView={onView}
        counts={head.data?.counts}
        asking={head.data?.needs_input ?? 0}
        searchBox={searchBox}
        ready={list.seen}
      />
      <Suspense>{limited.length > 0 && <UsageLimits waiting={limited} />}</Suspense>
      <Suspense>{search.batch && <BatchHeader id={search.batch} onQuestion={setQuestion} />}</Suspense>
      <div className="relative flex min-h-0 flex-1 flex-col border-t border-line">
        <TaskTable
          list={list}
          scroller={scroller}
          phone={phone}
          inBatch={search.batch !== undefined}
          focus={chosen.focus}
          selection={chosen.selection}
          covered={bar}
          onOpen={onOpen}
          onSelect={chosen.select}
          onAction={onAction}
          onMenu={onMenu}
          onBatch={onBatch}
          onAll={chosen.selectAll}
          onClear={chosen.clear}
          onNear={preload}
        >
          <Suspense>
            {!head.isPending && (failed || rows.count === 0) && (
              <NoTasks
                error={failed}
                filtered={Object.keys(search).some((key) => key !== 'sort' && key !== 'flat')}
                onClear={() => void navigate({ to: '/tasks', search: {} })}
                onRetry={() => void head.refetch()}
              />
            )}
          </Suspense>
        </TaskTable>
        <Suspense>
          {bar > 0 && (
            <BulkBar
              selection={chosen.selection}
              total={list.total}
              query={query}
              search={search}
              tasks={list.drawn.map((index) => list.at(index)?.task).filter((task) => task !== undefined)}
              onAll={chosen.selectAll}
              onClear={chosen.clear}
              onQuestion={setQuestion}
            />
          )}
        </Suspense>
        {fresh > 0 && (
          <button
            type="button"
            onClick={list.toTop}
            className="btn btn-primary absolute top-12 left-1/2 z-20 -translate-x-1/2 rounded-full shadow-[var(--shadow)]"
          >
            <ArrowUp size={14} aria-hidden />
            {t('tasks.arrivals', { count: fresh })}
          </button>
        )}
      </div>
      <Suspense>{menu && <TaskMenu at={menu} onClose={() => setMenu(null)} />}</Suspense>
      <Suspense>{question && <Confirm {...question} onClose={() => setQuestion(null)} />}</Suspense>
    </>
  );
}
