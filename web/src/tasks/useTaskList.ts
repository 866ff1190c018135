// A list of any length, read in windows: only the pages that are on the screen, by offset, so that a jump to the middle
// of 100,000 costs one request.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { api, call } from '../api/client';
import { readTasks } from '../queries';
import type { Task, TaskList, TaskQuery } from '../api/types';

export const pageSize = 50; // About 1.5 kB each, and more than a screen has.

// The pages that rows [first, last] lie on.
export function pagesFor(first: number, last: number, total: number): number[] {
  const end = Math.min(last, total - 1);
  if (end < 0) return [0];
  const from = Math.max(0, Math.floor(first / pageSize));
  return Array.from({ length: Math.floor(end / pageSize) - from + 1 }, (_, i) => from + i);
}

// What is here of the list. Another object whenever anything of it changed, and only then.
export interface Loaded {
  at: (index: number) => Task | undefined;
  all: [number, Task][]; // With their places.
}
function loadedOf(pages: [number, Task[]][]): Loaded {
  const byPage = new Map(pages);
  return {
    at: (index) => byPage.get(Math.floor(index / pageSize))?.[index % pageSize],
    all: pages.flatMap(([page, tasks]) => tasks.map((task, i): [number, Task] => [page * pageSize + i, task])),
  };
}
const listsOf = (read: { data: TaskList | undefined }[]) => read.map(({ data }) => data);

export function useTaskList(query: TaskQuery, first: number, last: number) {
  const head = useQuery({
    queryKey: ['tasks', query, 'head'],
    queryFn: ({ signal }) =>
      readTasks(
        call(
          api.GET('/api/tasks', {
            params: { query: { ...query, limit: pageSize, total: true, counts: true } },
            signal,
          }),
        ),
      ),
    placeholderData: keepPreviousData,
  });
  const total = head.data?.total ?? 0;
  const pages = pagesFor(first, last, total);
  const from = Math.max(1, pages[0] ?? 1);
  const to = pages.at(-1) ?? 0;
  const wanted = useMemo(() => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i), [from, to]);
  const lists = useQueries({
    queries: wanted.map((page) => ({
      queryKey: ['tasks', query, page],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readTasks(
          call(
            api.GET('/api/tasks', {
              params: { query: { ...query, limit: pageSize, offset: page * pageSize } },
              signal,
            }),
          ),
        ),
      gcTime: 30_000,
    })),
    combine: listsOf,
  });
  const loaded = useMemo(
    () =>
      loadedOf([
        [0, head.data?.tasks ?? []],
        ...wanted.map((page, i): [number, Task[]] => [page, lists[i]?.tasks ?? []]),
      ]),
    [head.data, wanted, lists],
  );
  const batches = useMemo(
    () =>
      new Map(
        [head.data, ...lists].flatMap((list) => (list?.batches ?? []).map((batch) => [batch.batch_id, batch] as const)),
      ),
    [head.data, lists],
  );
  return { head, total, loaded, batches };
}
