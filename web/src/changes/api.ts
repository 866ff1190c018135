// What is asked of the server about a task's changes.
import { api, call, fetchText } from '../api/client';
import type { Changes, CommitText } from '../api/types';

export const readChanges = (id: string, signal: AbortSignal): Promise<Changes> =>
  call(api.GET('/api/tasks/{id}/changes', { params: { path: { id } }, signal })) as Promise<Changes>;

export const readCommitText = (id: string, signal: AbortSignal): Promise<CommitText> =>
  call(api.GET('/api/tasks/{id}/commit-text', { params: { path: { id } }, signal }));
// Asks the task's agent to write it: one more turn of the task.
export const askCommitText = (id: string) =>
  call(api.POST('/api/tasks/{id}/commit-text', { params: { path: { id } } }));

export type MergeMode = 'squash' | 'merge' | 'patch';
export type Order = 'merge' | 'merge/undo' | 'discard' | 'discard/undo';

export interface Merge {
  mode?: MergeMode;
  message?: string;
  with_later?: boolean;
}
// Resolves with the files of the worktree that a merge left out.
export async function order(id: string, what: Order, body: Merge = {}): Promise<string[]> {
  const params = { path: { id } };
  if (what === 'merge')
    return (await call(api.POST('/api/tasks/{id}/merge', { params, body }))).merge?.not_merged ?? [];
  await call(api.POST(`/api/tasks/{id}/${what}`, { params }));
  return [];
}

export const readSetUpLog = async (id: string, signal: AbortSignal): Promise<string> =>
  (await fetchText(`/api/tasks/${id}/log?setup=true&tail=200`, signal)).text();
