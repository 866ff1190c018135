// What the server tells of a task's changes, and what is asked of it.
import { fetchText } from '../api/client';

export type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'type_changed';
export interface ChangedFile {
  path: string;
  old_path: string | null;
  name: string; // For its address: it may have bytes that JSON cannot hold.
  status: FileStatus;
  added: number;
  removed: number;
  binary: boolean;
  size: number | null;
  old_mode: string;
  mode: string;
  generated: boolean;
  certain: boolean;
}
export interface Isolation {
  kind: string;
  state: 'preparing' | 'ready' | 'merging' | 'conflict' | 'merged' | 'kept' | 'discarded' | 'lost';
  path: string | null;
  branch: string | null;
  base: string | null;
  repo: string | null;
  target: string | null;
}
export interface Listing {
  state: 'live' | 'final' | 'unknown';
  why: string | null;
  files_total: number;
  added: number;
  removed: number;
  files: ChangedFile[];
  shared_with: string[];
  left_out: { path: string; why: 'large' | 'many' | 'repository' | 'submodule' }[];
  left_out_more: number;
  isolation: Isolation | null;
}
export interface FilePatch {
  path: string;
  patch: string | null;
  why: string | null;
}

export const readChanges = async (id: string, signal: AbortSignal): Promise<Listing> =>
  (await (await fetchText(`/api/tasks/${id}/changes`, signal)).json()) as Listing;

export type Order = 'merge' | 'merge/undo' | 'discard' | 'discard/undo';
export async function order(id: string, what: Order, body: object = {}): Promise<void> {
  await fetchText(`/api/tasks/${id}/${what}`, undefined, body);
}
