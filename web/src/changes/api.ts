// What is asked of the server about a task's changes.
import { api, call } from '../api/client';
import type { Changes, CommitText, Isolation } from '../api/types';

export const readChanges = (id: string, signal: AbortSignal): Promise<Changes> =>
  call(api.GET('/api/tasks/{id}/changes', { params: { path: { id } }, signal })) as Promise<Changes>;

export const readCommitText = (id: string, signal: AbortSignal): Promise<CommitText> =>
  call(api.GET('/api/tasks/{id}/commit-text', { params: { path: { id } }, signal }));
// Asks the task's agent to write it: one more turn of the task.
export const askCommitText = (id: string) =>
  call(api.POST('/api/tasks/{id}/commit-text', { params: { path: { id } } }));

export type MergeMode = 'squash' | 'merge' | 'patch';
export type Order = 'merge' | 'merge/undo' | 'discard' | 'discard/undo';

// Resolves with what is then true of its worktree.
export async function order(
  id: string,
  what: Order,
  body: { mode?: MergeMode; message?: string } = {},
): Promise<Isolation | null> {
  const params = { path: { id } };
  if (what === 'merge') return (await call(api.POST('/api/tasks/{id}/merge', { params, body }))).task.isolation;
  return (await call(api.POST(`/api/tasks/{id}/${what}`, { params }))).isolation;
}
