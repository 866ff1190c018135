// The list in groups: all that is grouped is read, so a part of it comes first and more where somebody asks for it.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState, type RefObject } from 'react';

import { api, call } from '../api/client';
import type { Task, TaskList, TaskQuery } from '../api/types';
import { useChanged } from '../lib/hooks';
import { readTasks } from '../queries';
import type { Grouping } from '../search';
import { groupsOf, type Group } from './groups';
import type { TaskRows } from './useTaskRows';

const pageSize = 500; // As many as the server gives at once.
export const groupedMost = 5_000; // All of them are in the page's memory; nobody reads more.

export interface TaskGroups {
  groups: Group[];
  closed: ReadonlySet<string>; // By their keys.
  firsts: ReadonlyMap<string, number>; // Which row the first of a group that is open is.
  toggle: (key: string) => void;
  read: number; // So many of `total` are in groups.
  total: number;
  pending: boolean;
  more: (() => void) | null; // Reads further ones; null while it does, and where the bound is met.
}

const nothing: ReadonlySet<string> = new Set();
const none: Task[] = [];

async function readFirst(query: TaskQuery, count: number, signal: AbortSignal): Promise<TaskList> {
  const tasks: Task[] = [];
  let cursor: string | null | undefined;
  for (;;) {
    const page = await readTasks(
      call(
        api.GET('/api/tasks', {
          params: { query: { ...query, limit: pageSize, ...(cursor ? { cursor } : {}) } },
          signal,
        }),
      ),
    );
    tasks.push(...page.tasks);
    cursor = page.next_cursor;
    if (!cursor || tasks.length >= count) return { ...page, tasks };
  }
}

// With the rows of the groups that are open behind each other, for the keyboard and the selection.
export function useGroups(
  query: TaskQuery,
  by: Grouping | undefined,
  list: TaskRows,
  scroller: RefObject<HTMLDivElement | null>,
): { groups: TaskGroups; list: TaskRows } | null {
  const [count, setCount] = useState(pageSize);
  const read = useQuery({
    queryKey: ['tasks', query, 'grouped', count],
    enabled: by !== undefined,
    queryFn: ({ signal }) => readFirst(query, count, signal),
    placeholderData: keepPreviousData,
  });
  const [closed, setClosed] = useState(nothing);
  if (useChanged(by)) setClosed(nothing);
  const tasks = read.data?.tasks ?? none;
  const groups = useMemo(() => (by ? groupsOf(tasks, by) : []), [tasks, by]);
  const { open, firsts } = useMemo(() => {
    const open: Task[] = [];
    const firsts = new Map<string, number>();
    for (const group of groups) {
      if (closed.has(group.key)) continue;
      firsts.set(group.key, open.length);
      open.push(...group.tasks);
    }
    return { open, firsts };
  }, [groups, closed]);
  if (!by) return null;
  return {
    groups: {
      groups,
      closed,
      firsts,
      toggle: (key) =>
        setClosed((old) => {
          const next = new Set(old);
          if (!next.delete(key)) next.add(key);
          return next;
        }),
      read: tasks.length,
      total: list.head.data?.total ?? tasks.length,
      pending: read.isPending,
      more: read.isPlaceholderData || count >= groupedMost ? null : () => setCount(count + pageSize),
    },
    list: {
      ...list,
      rows: { count: open.length, height: list.rows.height, hidden: [] },
      drawn: open.map((_, index) => index),
      at: (index) => {
        const task = open[index];
        return task && { task, depth: 0 };
      },
      batch: () => undefined,
      fold: () => 'none',
      reveal: (index) => {
        const id = open[index]?.id;
        if (id)
          scroller.current?.querySelector(`[data-task="${CSS.escape(id)}"]`)?.scrollIntoView({ block: 'nearest' });
      },
    },
  };
}
