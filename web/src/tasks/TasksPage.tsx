import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { ArrowUp, Plus } from 'lucide-react';
import { lazy, memo, Suspense, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';

import { needsInput, type Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { quoted } from '../lib/hidden';
import { useChanged, useDebounced, useLatest, usePhone } from '../lib/hooks';
import { useKeys } from '../lib/keys';
import { useStore } from '../lib/store';
import { arrivals, listMayMove, queryClient, useActive } from '../queries';
import { taskQuery, type TaskSearch } from '../search';
import type { Confirmation } from '../ui/Dialog';
import { act, type Action } from './actions';
import { allRows, rowTop, type Rows } from './rows';
import { isEmpty, nothing, toggle } from './selection';
import { SkeletonRow, TaskRow } from './TaskRow';
import { Toolbar } from './Toolbar';
import { hasChildren } from './tree';
import { useShown } from './useShown';
import { useTaskList } from './useTaskList';
import { useTree, type TreeRow } from './useTree';

// What not everybody sees at once comes when it is needed: the first row waits for none of it.
const BatchHeader = lazy(() => import('./BatchHeader'));
const BulkBar = lazy(() => import('./BulkBar'));
const Confirm = lazy(() => import('../ui/Confirm'));
const NoTasks = lazy(() => import('./NoTasks'));
const UsageLimits = lazy(() => import('./UsageLimits'));

const none: Task[] = [];
const nowhere: number[] = [];
const same = (index: number) => index;
const headHeight = 36; // Of the columns' names, which stay where the rows scroll.
const barHeight = 80; // What floats above the last rows while some are selected.
const headings = ['name', 'agent', 'status', 'model', 'started', 'duration', 'actions'] as const;

const Heading = memo(function Heading({ agent }: { agent: string | undefined }) {
  const { t } = useTranslation();
  return (
    <header className="flex items-start gap-4 px-6 pt-5 pb-4 max-md:px-4">
      <div className="min-w-0 flex-1">
        <h1 className="text-[22px] leading-tight font-semibold tracking-tight">{t('tasks.title')}</h1>
        <p className="mt-0.5 text-muted max-md:hidden">{t('tasks.subtitle')}</p>
      </div>
      <Link to="/chat" search={agent ? { agentId: agent } : {}} className="btn btn-primary h-9">
        <Plus size={16} aria-hidden />
        {t('tasks.newTask')}
      </Link>
    </header>
  );
});

export function TasksPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = useSearch({ from: '/tasks' });
  const phone = usePhone();
  const searchBox = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const preloaded = useRef(false);
  const [focus, setFocus] = useState(-1);
  const [selection, setSelection] = useState(nothing);
  const [question, setQuestion] = useState<Confirmation | null>(null);
  const fresh = useStore(arrivals);

  useEffect(() => {
    document.title = `${t('tasks.title')} · errand`;
  }, [t]);

  const query = useMemo(() => taskQuery(search), [search]);
  const rowHeight = phone ? 84 : 56;
  // Rows move only for those who look at the top.
  const { shown, settle, reveal } = useShown(scroller, (top) => listMayMove.set(top < rowHeight));
  const list = useTaskList(query, shown.from, shown.to);
  // What asks for a person is found among the tasks at work: the server has no such state.
  // The rows first: what they do not need waits for them.
  const seen = useDebounced(!list.head.isPending, 60, false);
  const active = useActive({}, seen || search.status === 'needs-input');
  const matching = useActive(query, seen || search.status === 'needs-input');
  const asking = useMemo(() => (matching.data?.tasks ?? []).filter(needsInput), [matching.data]);
  const limited = useMemo(
    () => (active.data?.tasks ?? []).filter((task) => task.waiting_for?.kind === 'quota'),
    [active.data],
  );
  const onlyAsking = search.status === 'needs-input';
  const tree = useTree(query, list.total, list.loaded, active.data?.tasks ?? none);
  const total = onlyAsking ? asking.length : tree.total;
  const treeRow = (index: number): TreeRow | undefined => {
    if (!onlyAsking) return tree.row(index);
    const task = asking[index];
    return task && { task, depth: 0 };
  };
  const rowAt = (index: number): Task | undefined => treeRow(index)?.task;
  // For what rows call: it must not be new each time, or every row would be drawn again with every pixel scrolled.
  const latestRow = useLatest(rowAt);

  const covered = isEmpty(selection) ? 0 : barHeight;
  const hidden = onlyAsking ? nowhere : tree.hidden;
  const rows: Rows = useMemo(() => ({ count: total, height: rowHeight, hidden }), [total, rowHeight, hidden]);
  const flat = onlyAsking ? same : tree.flat;
  useLayoutEffect(() => settle(rows, flat), [settle, rows, flat]);
  if (useChanged(query)) {
    setSelection(nothing);
    setFocus(-1);
  }
  useEffect(() => {
    arrivals.set(0);
    listMayMove.set(true);
    scroller.current?.scrollTo({ top: 0 });
  }, [query]);
  useEffect(() => () => listMayMove.set(true), []);

  const setSearch = useCallback(
    (change: Partial<TaskSearch>) =>
      void navigate({ to: '/tasks', search: (old) => ({ ...old, ...change }), replace: 'q' in change }),
    [navigate],
  );
  const toTop = () => {
    arrivals.set(0);
    scroller.current?.scrollTo({ top: 0 });
    void queryClient.invalidateQueries({ queryKey: ['tasks'] });
  };

  const onOpen = useCallback((task: Task) => void navigate({ to: '/chat', search: { taskId: task.id } }), [navigate]);
  const onSelect = useCallback(
    (index: number, withRange: boolean) =>
      setSelection((old) => toggle(old, index, withRange, (i) => latestRow.current(i)?.id)),
    [latestRow],
  );
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

  const selectAll = () => setSelection({ ids: new Set(), all: true, anchor: null });

  const move = (by: number, extend: boolean) => {
    let next = Math.max(0, Math.min(total - 1, focus + by));
    while (rows.hidden.includes(next) && next + by >= 0 && next + by < total) next += by;
    if (total === 0) return;
    setFocus(next);
    reveal(next, covered + (phone ? 0 : headHeight));
    if (extend)
      setSelection((old) =>
        toggle({ ...old, anchor: old.anchor ?? Math.max(0, focus) }, next, true, (i) => rowAt(i)?.id),
      );
  };
  // As in every tree: right opens, left closes.
  const fold = (wanted: boolean) => {
    const task = rowAt(focus);
    if (task?.session_id && hasChildren(task, tree.parents) && tree.open.has(task.session_id) !== wanted)
      tree.toggle(task.session_id);
  };
  useKeys({
    '/': () => searchBox.current?.focus(),
    j: () => move(1, false),
    k: () => move(-1, false),
    ArrowDown: () => move(1, false),
    ArrowUp: () => move(-1, false),
    'shift+j': () => move(1, true),
    'shift+k': () => move(-1, true),
    x: () => focus >= 0 && onSelect(focus, false),
    ArrowRight: () => fold(true),
    ArrowLeft: () => fold(false),
    Enter: () => {
      const task = rowAt(focus);
      if (task) onOpen(task);
    },
    Escape: () => (isEmpty(selection) ? setFocus(-1) : setSelection(nothing)),
  });

  const drawn: number[] = [];
  for (let index = shown.first; index <= Math.min(shown.last, total - 1); index++)
    if (!rows.hidden.includes(index)) drawn.push(index);
  // What a click on a row opens is there before the click.
  const router = useRouter();
  const preload = () => {
    if (preloaded.current) return;
    preloaded.current = true;
    void router.loadRouteChunk(router.routesByPath['/chat']);
  };

  const filtered = Object.keys(search).some((key) => key !== 'sort');
  const failed = !onlyAsking && list.head.isError && !list.head.data ? list.head.error : null;
  const loading = onlyAsking ? matching.isPending : list.head.isPending;

  return (
    <>
      <Heading agent={search.agent} />
      <Toolbar
        search={search}
        setSearch={setSearch}
        counts={list.head.data?.counts}
        asking={asking.length}
        searchBox={searchBox}
        ready={seen}
      />
      <Suspense>{limited.length > 0 && <UsageLimits waiting={limited} />}</Suspense>
      <Suspense>{search.batch && <BatchHeader id={search.batch} onQuestion={setQuestion} />}</Suspense>
      <div className="relative flex min-h-0 flex-1 flex-col border-t border-line">
        <div
          ref={scroller}
          tabIndex={0}
          role="region"
          aria-label={t('tasks.listLabel')}
          data-testid="task-list"
          className="min-h-0 flex-1 overflow-auto outline-none focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]"
        >
          <div role="table" aria-label={t('tasks.title')} aria-rowcount={total + 1} className="min-w-full">
            <div
              role="row"
              aria-rowindex={1}
              className="task-grid sticky top-0 z-10 h-9 border-b border-line bg-panel text-xs font-medium text-muted max-md:hidden"
            >
              <div role="columnheader" className="flex">
                <input
                  type="checkbox"
                  className="size-4 accent-[var(--accent)]"
                  aria-label={t('tasks.selectAll')}
                  title={t('tasks.selectAll')}
                  checked={!isEmpty(selection)}
                  disabled={total === 0}
                  ref={(box) => {
                    if (box) box.indeterminate = !isEmpty(selection) && !selection.all && selection.ids.size < total;
                  }}
                  onChange={() => (isEmpty(selection) ? selectAll() : setSelection(nothing))}
                />
              </div>
              {headings.map((heading) => (
                <div
                  key={heading}
                  role="columnheader"
                  className={`col-${heading} ${heading === 'actions' ? 'text-right' : ''}`}
                >
                  {t(`tasks.columns.${heading}`)}
                </div>
              ))}
            </div>
            {total > 0 && (
              <div
                className="relative w-full"
                style={{ height: allRows(rows) + covered }}
                role="presentation"
                onPointerOver={preload}
                onFocus={preload}
              >
                {drawn.map((index) => {
                  const row = treeRow(index);
                  const task = row?.task;
                  return task ? (
                    <TaskRow
                      key={index}
                      task={task}
                      top={rowTop(rows, index)}
                      depth={row.depth}
                      fold={
                        onlyAsking || !task.session_id || !hasChildren(task, tree.parents)
                          ? 'none'
                          : tree.open.has(task.session_id)
                            ? 'open'
                            : 'closed'
                      }
                      onFold={tree.toggle}
                      inBatch={search.batch !== undefined}
                      onOpen={onOpen}
                      index={index}
                      phone={phone}
                      focused={index === focus}
                      selected={selection.all || selection.ids.has(task.id)}
                      onSelect={onSelect}
                      onAction={onAction}
                    />
                  ) : (
                    <SkeletonRow key={index} phone={phone} top={rowTop(rows, index)} />
                  );
                })}
              </div>
            )}
          </div>
          {loading && Array.from({ length: 8 }, (_, i) => <SkeletonRow key={i} phone={phone} />)}
          <Suspense>
            {!loading && (failed || total === 0) && (
              <NoTasks
                error={failed}
                filtered={filtered}
                onClear={() => void navigate({ to: '/tasks', search: {} })}
                onRetry={() => void list.head.refetch()}
              />
            )}
          </Suspense>
        </div>
        <Suspense>
          {!isEmpty(selection) && (
            <BulkBar
              selection={selection}
              total={onlyAsking ? asking.length : list.total}
              query={query}
              search={search}
              tasks={drawn.map(rowAt).filter((task) => task !== undefined)}
              onAll={selectAll}
              onClear={() => setSelection(nothing)}
              onQuestion={setQuestion}
            />
          )}
        </Suspense>
        {fresh > 0 && (
          <button
            type="button"
            onClick={toTop}
            className="btn btn-primary absolute top-12 left-1/2 z-20 -translate-x-1/2 rounded-full shadow-[var(--shadow)]"
          >
            <ArrowUp size={14} aria-hidden />
            {t('tasks.arrivals', { count: fresh })}
          </button>
        )}
      </div>
      <Suspense>{question && <Confirm {...question} onClose={() => setQuestion(null)} />}</Suspense>
    </>
  );
}
