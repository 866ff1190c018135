// Subtasks inside the list: behind a row that is opened stand the rows of the tasks that it launched. The list itself is
// read by offset and may have 100,000 rows, so it is never made whole: only the few places where rows are put in are known.
import type { Task } from '../api/types';
import { isLaunch } from '../lib/families';

export interface Child {
  task: Task;
  depth: number;
}
export interface Insert {
  flat: number; // Behind this row of the list,
  rows: Child[]; // these.
}
export type Place = { flat: number; child?: never } | { flat?: never; child: Child };

// Inserts are in the order of the list.
export function place(index: number, inserts: Insert[]): Place {
  let before = 0; // Rows put in so far.
  for (const { flat, rows } of inserts) {
    if (index <= flat + before) break;
    const inside = index - before - flat - 1;
    if (inside < rows.length) return { child: rows[inside]! };
    before += rows.length;
  }
  return { flat: index - before };
}
export const inserted = (inserts: Insert[]): number => inserts.reduce((sum, { rows }) => sum + rows.length, 0);

// The rows below a session: its tasks, and those of each that is opened too. No deeper than anybody looks.
export function rowsBelow(
  session: string,
  open: ReadonlySet<string>,
  read: (session: string) => Task[] | undefined,
  depth = 1,
): Child[] {
  if (depth > 8) return [];
  return (read(session) ?? []).flatMap((task) => [
    { task, depth },
    ...(task.session_id && open.has(task.session_id) ? rowsBelow(task.session_id, open, read, depth + 1) : []),
  ]);
}

// Whether a task launched others, as far as that can be seen without asking: one of them is here, or it uses the tools.
export const hasChildren = (task: Task, parents: ReadonlySet<string>): boolean =>
  task.session_id !== null &&
  (parents.has(task.session_id) ||
    task.waiting_for?.kind === 'children' ||
    task.progress.recent_tools.some(({ name }) => isLaunch(name)));
