// What was read from the server, and how the live stream keeps it true. Rows on the screen are changed in place by the
// events; what changes which rows there are (a new task, one that left a filter) is read again, at most once a second.
import { QueryClient, useQuery } from '@tanstack/react-query';

import { api, ApiError, call } from './api/client';
import type { Progress, Task, TaskBrief, TaskEvent, TaskList } from './api/types';
import { onSession } from './api/session';
import { forgetOldest } from './lib/bounded';
import { store, useStore } from './lib/store';
import { connection, onEvents, onReset } from './live/live';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity, // The stream says when something changed.
      refetchOnWindowFocus: false,
      networkMode: 'always', // "Offline" says nothing about a server on this machine.
      retry: (count, error) =>
        error instanceof ApiError && error.status > 0 && error.status < 500 ? false : count < 6,
      retryDelay: (attempt) => Math.min(5000, 400 * 2 ** attempt),
    },
    mutations: { networkMode: 'always' },
  },
});

export interface Change {
  brief?: TaskBrief;
  progress?: Progress;
  deleted?: boolean;
}

// The last word on each task of some events.
export function changesOf(events: TaskEvent[], into = new Map<string, Change>()): Map<string, Change> {
  for (const event of events) {
    const change = into.get(event.task_id) ?? {};
    if (event.type === 'task.created' || event.type === 'task.status') {
      change.brief = event.data.task;
      delete change.progress;
    } else if (event.type === 'task.progress') {
      change.progress = event.data.progress;
    } else if (event.type === 'task.deleted') {
      change.deleted = true;
    } else {
      continue;
    }
    into.set(event.task_id, change);
  }
  return into;
}

// What events said last of each task that was heard of lately, with the number of the event. A reply that was made before an
// event may come behind it: what it says of the task is older, and must not stand.
interface Heard {
  brief?: { seq: number; value: TaskBrief };
  progress?: { seq: number; value: Progress };
}
const heardMost = 2000;
const heard = new Map<string, Heard>();

export function hear(events: TaskEvent[]): void {
  for (const event of events) {
    const known = heard.get(event.task_id) ?? {};
    if (event.type === 'task.created' || event.type === 'task.status') {
      known.brief = { seq: event.seq, value: event.data.task };
      known.progress = { seq: event.seq, value: event.data.task.progress };
    } else if (event.type === 'task.progress') {
      known.progress = { seq: event.seq, value: event.data.progress };
    } else {
      if (event.type === 'task.deleted') heard.delete(event.task_id);
      continue;
    }
    heard.delete(event.task_id); // The newest last: the first to go are those that were silent longest.
    heard.set(event.task_id, known);
  }
  forgetOldest(heard, heardMost);
}
// A task as it was read, or as it is known to be since.
export function upToDate(task: Task): Task {
  const known = heard.get(task.id);
  if (!known) return task;
  const brief = known.brief && known.brief.seq > task.seq ? known.brief.value : undefined;
  const progress = known.progress && known.progress.seq > task.seq ? known.progress.value : undefined;
  return patchTask(task, { ...(brief ? { brief } : {}), ...(progress ? { progress } : {}) });
}
export const readTasks = async (reply: Promise<TaskList>): Promise<TaskList> => {
  const list = await reply;
  return { ...list, tasks: list.tasks.map(upToDate) };
};

export function patchTask(task: Task, change: Change): Task {
  const patched = change.brief ? { ...task, ...change.brief } : task;
  return change.progress ? { ...patched, progress: change.progress } : patched;
}

// The same object where nothing of it changed.
export function patchList(list: TaskList, changes: Map<string, Change>): TaskList {
  let changed = false;
  const tasks = list.tasks.map((task) => {
    const change = changes.get(task.id);
    if (!change || (!change.brief && !change.progress)) return task;
    changed = true;
    return patchTask(task, change);
  });
  return changed ? { ...list, tasks } : list;
}

// How many tasks came since the list was last read from its top: for those who look further down.
export const arrivals = store(0);
// Set by the list: whether rows may move now.
export const listMayMove = store(true);

let waiting = new Map<string, Change>();
let reread = false;
let frame: ReturnType<typeof setTimeout> | undefined;
let throttle: ReturnType<typeof setTimeout> | undefined;

function rereadSoon(wait: number): void {
  if (throttle) {
    reread = true;
    return;
  }
  throttle = setTimeout(() => {
    throttle = undefined;
    // Further down no row may move: then only the counts are read again.
    const all = listMayMove.get();
    // Batches behind the rows: one whose rows are all gone is asked for no more.
    void queryClient
      .invalidateQueries({ queryKey: ['tasks'], predicate: ({ queryKey }) => all || queryKey[2] === 'head' })
      .then(() => queryClient.invalidateQueries({ queryKey: ['batch'] }));
    void queryClient.invalidateQueries({ queryKey: ['active'] });
    void queryClient.invalidateQueries({ queryKey: ['children'] });
    void queryClient.invalidateQueries({ queryKey: ['conversations'] });
    void queryClient.invalidateQueries({ queryKey: ['asking'] });
    void queryClient.invalidateQueries({ queryKey: ['inbox'] });
    if (reread) {
      reread = false;
      rereadSoon(1000);
    }
  }, wait);
}

function apply(): void {
  frame = undefined;
  const changes = waiting;
  waiting = new Map();
  for (const key of ['tasks', 'active', 'children', 'conversations'])
    queryClient.setQueriesData<TaskList>({ queryKey: [key] }, (list) => (list ? patchList(list, changes) : list));
  for (const [id, change] of changes) {
    queryClient.setQueryData<Task>(['task', id], (task) => (task ? patchTask(task, change) : task));
    if (change.deleted) void queryClient.invalidateQueries({ queryKey: ['task', id] });
  }
}

function receive(events: TaskEvent[]): void {
  hear(events);
  changesOf(events, waiting);
  frame ??= setTimeout(apply, 40);
  const created = events.filter((event) => event.type === 'task.created').length;
  if (created > 0 && !listMayMove.get()) arrivals.set(arrivals.get() + created);
  const moved = events.some((event) => event.type === 'task.status' || event.type === 'task.deleted');
  if (moved || created > 0) rereadSoon(120);
}

export function startQueries(): void {
  onEvents(receive);
  onReset(() => void queryClient.invalidateQueries());
  // What was refused while a phone opened its next session.
  onSession(() => void queryClient.invalidateQueries({ predicate: ({ state }) => state.status === 'error' }));
}

// What is at work: whose children there are, and which wait for a usage limit.
export const useActive = (enabled: boolean) =>
  useQuery({
    enabled,
    queryKey: ['active'],
    queryFn: ({ signal }) =>
      readTasks(call(api.GET('/api/tasks', { params: { query: { status: 'running,resumed', limit: 500 } }, signal }))),
    placeholderData: (old) => old,
  });

// How many tasks wait for a person, whatever the list shows.
export function useAsking(): number {
  const live = useStore(connection).state === 'live'; // The first rows do not wait for it.
  return (
    useQuery({
      enabled: live,
      queryKey: ['asking'],
      queryFn: ({ signal }) =>
        call(
          api.GET('/api/tasks', {
            params: { query: { waiting_for: 'permission,answer', archived: 'all', limit: 1, total: true } },
            signal,
          }),
        ),
      placeholderData: (old) => old,
    }).data?.total ?? 0
  );
}

// The newest conversations, for the list beside one.
export const useConversations = (enabled: boolean) =>
  useQuery({
    enabled,
    queryKey: ['conversations'],
    queryFn: ({ signal }) =>
      readTasks(
        call(api.GET('/api/tasks', { params: { query: { kind: 'agent', sort: 'updated', limit: 40 } }, signal })),
      ),
    placeholderData: (old) => old,
  });

// The tasks that a session launched, in the order in which it did.
export const childrenOf = (session: string | null) => ({
  queryKey: ['children', session],
  enabled: session !== null,
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    readTasks(
      call(
        api.GET('/api/tasks', {
          params: { query: { parent_session_id: session ?? '', sort: 'oldest', limit: 100 } },
          signal,
        }),
      ),
    ),
});
export const useChildren = (session: string | null): Task[] | undefined => useQuery(childrenOf(session)).data?.tasks;

export const useAgents = (enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['agents'],
    queryFn: ({ signal }) => call(api.GET('/api/agents', { signal })),
    staleTime: 60_000,
  });

export const useSettings = () =>
  useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => call(api.GET('/api/settings', { signal })),
    staleTime: 60_000,
    retry: false,
  }).data;

export const useTask = (id: string | undefined) =>
  useQuery({
    queryKey: ['task', id],
    enabled: id !== undefined,
    queryFn: async ({ signal }) =>
      upToDate(await call(api.GET('/api/tasks/{id}', { params: { path: { id: id ?? '' } }, signal }))),
  });
