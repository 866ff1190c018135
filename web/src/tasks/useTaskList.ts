// A list of any length, read in windows: only the pages that are on the screen, by offset, so that a jump to the middle
// of 100,000 costs one request.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';

import { api, call } from '../api/client';
import { readTasks } from '../queries';
import type { Task, TaskQuery } from '../api/types';

export const pageSize = 50; // About 1.5 kB each, and more than a screen has.

// The pages that rows [first, last] lie on.
export function pagesFor(first: number, last: number, total: number): number[] {
  const end = Math.min(last, total - 1);
  if (end < 0) return [0];
  const from = Math.max(0, Math.floor(first / pageSize));
  return Array.from({ length: Math.floor(end / pageSize) - from + 1 }, (_, i) => from + i);
}

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
  const wanted = pagesFor(first, last, total).filter((page) => page > 0);
  const pages = useQueries({
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
  });
  const byPage = new Map<number, Task[]>([[0, head.data?.tasks ?? []]]);
  wanted.forEach((page, i) => byPage.set(page, pages[i]?.data?.tasks ?? []));
  const rows = (index: number): Task | undefined => byPage.get(Math.floor(index / pageSize))?.[index % pageSize];
  // What is here, with its place.
  const loaded = (): [number, Task][] =>
    [...byPage].flatMap(([page, tasks]) => tasks.map((task, i): [number, Task] => [page * pageSize + i, task]));
  // Another one whenever anything of it changed.
  const version = [head, ...pages].map((page, i) => `${wanted[i - 1] ?? 0}@${page.dataUpdatedAt}`).join();
  return { head, total, rows, loaded, version };
}
