// What a task changed, read when it is looked at and again when the task did something. While nobody looks nothing is asked.
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';

import { fetchText } from '../api/client';
import type { FilePatch, Task, TaskEvent } from '../api/types';
import { onEvents, onReset, watchTask } from '../live/live';
import { queryClient } from '../queries';
import { readChanges } from './api';
import { makePace } from './pace';
import { parsePatch, type Patch } from './patch';

// What may have changed a file, or who it belongs to.
const matters = (event: TaskEvent): boolean =>
  event.type === 'tool.completed' ||
  event.type === 'output' ||
  event.type === 'message.completed' ||
  event.type === 'task.status' ||
  event.type === 'end';

export const lookAgain = (id: string): Promise<unknown> =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: ['changes', id] }),
    queryClient.invalidateQueries({ queryKey: ['patch', id] }),
  ]);

export function useChanges(task: Task) {
  const { id } = task;
  const changes = useQuery({
    queryKey: ['changes', id],
    queryFn: ({ signal }) => readChanges(id, signal),
    refetchOnMount: 'always',
  });
  useEffect(() => {
    let missed = false;
    const pace = makePace(() => lookAgain(id));
    const happened = () => {
      missed = document.hidden;
      if (!missed) pace.happened();
    };
    const seen = () => missed && !document.hidden && happened();
    const stop = [
      onEvents((events) => events.some((event) => event.task_id === id && matters(event)) && happened()),
      onReset(happened),
      watchTask(id, () => undefined),
    ];
    document.addEventListener('visibilitychange', seen);
    return () => {
      pace.stop();
      for (const each of stop) each();
      document.removeEventListener('visibilitychange', seen);
    };
  }, [id]);
  return changes;
}

const patchOf = (id: string, name: string) => ({
  queryKey: ['patch', id, name],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await (await fetchText(`/api/tasks/${id}/changes/${name}`, signal)).json()) as FilePatch,
  gcTime: 60_000, // A patch may be half a megabyte.
});

export interface OpenPatch {
  patch: Patch | null; // Null: it is not read yet, or not shown.
  why: string | null; // Why it is not.
  error: Error | null;
}

export function usePatch(id: string, name: string | null): OpenPatch {
  const { data, error } = useQuery({ ...patchOf(id, name ?? ''), enabled: name !== null, refetchOnMount: 'always' });
  const text = data?.patch ?? null;
  const patch = useMemo(() => (text === null ? null : parsePatch(text)), [text]);
  return { patch, why: data && text === null ? (data.why ?? '') : null, error: data ? null : error };
}

// Those of several files; what is not read yet is not in it.
export function usePatches(id: string, names: string[]): Map<string, Patch> {
  return useQueries({
    queries: names.map((name) => patchOf(id, name)),
    combine: (results) => {
      const all = new Map<string, Patch>();
      for (const [i, { data }] of results.entries()) if (data?.patch) all.set(names[i]!, parsePatch(data.patch));
      return all;
    },
  });
}
