// The rows of the list: which there are under a filter, where they lie, and which of them are on the screen.
import { useEffect, useLayoutEffect, useMemo, type RefObject } from 'react';

import type { Batch, Task, TaskQuery } from '../api/types';
import { useDebounced } from '../lib/hooks';
import { arrivals, listMayMove, queryClient, useActive } from '../queries';
import type { Rows } from './rows';
import { hasChildren } from './tree';
import { useShown } from './useShown';
import { useTaskList } from './useTaskList';
import { useTree, type TreeRow } from './useTree';

const none: Task[] = [];

export interface TaskRows {
  rows: Rows;
  drawn: number[]; // The rows on the screen, and some around them.
  at: (index: number) => TreeRow | undefined; // Undefined: not read yet.
  batch: (row: TreeRow) => Batch | undefined;
  total: number; // In the list, without the subtasks that were opened in it.
  head: ReturnType<typeof useTaskList>['head']; // Its first page, with the counts.
  seen: boolean; // The rows are there: what they do not need may be read.
  active: Task[];
  fold: (task: Task) => 'none' | 'open' | 'closed';
  toggle: (session: string) => void;
  reveal: (index: number, covered: number) => void;
  toTop: () => void;
}

export function useTaskRows(query: TaskQuery, scroller: RefObject<HTMLDivElement | null>, height: number): TaskRows {
  // Rows move only for those who look at the top.
  const { shown, settle, reveal } = useShown(scroller, (top) => listMayMove.set(top < height));
  const { head, total, loaded, batches } = useTaskList(query, shown.from, shown.to);
  const seen = useDebounced(!head.isPending, 60, false);
  const active = useActive(seen).data?.tasks ?? none;
  const tree = useTree(query, total, loaded, active);

  const rows = useMemo(() => ({ count: tree.total, height, hidden: tree.hidden }), [tree.total, height, tree.hidden]);
  useLayoutEffect(() => settle(rows, tree.flat), [settle, rows, tree.flat]);
  // Another list begins at its top.
  useEffect(() => {
    arrivals.set(0);
    listMayMove.set(true);
    scroller.current?.scrollTo({ top: 0 });
  }, [query, scroller]);
  useEffect(() => () => listMayMove.set(true), []);

  const toTop = () => {
    arrivals.set(0);
    scroller.current?.scrollTo({ top: 0 });
    void queryClient.invalidateQueries({ queryKey: ['tasks'] });
  };

  const drawn: number[] = [];
  for (let index = shown.first; index <= Math.min(shown.last, rows.count - 1); index++)
    if (!rows.hidden.includes(index)) drawn.push(index);

  return {
    rows,
    drawn,
    at: tree.row,
    // Of a row that stands for a whole batch.
    batch: ({ task, depth }) => {
      const batch = depth === 0 && task.batch_id ? batches.get(task.batch_id) : undefined;
      return batch && batch.total > 1 ? batch : undefined;
    },
    total,
    head,
    seen,
    active,
    fold: (task) =>
      !task.session_id || !hasChildren(task, tree.parents)
        ? 'none'
        : tree.open.has(task.session_id)
          ? 'open'
          : 'closed',
    toggle: tree.toggle,
    reveal,
    toTop,
  };
}
