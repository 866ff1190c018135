// Tasks put together by what they share: the folder that they work in, their batch, the session that launched them. Pure.
import { needsInput, type Task } from '../api/types';
import type { Grouping } from '../search';

export interface Group {
  key: string; // The folder, the batch or the session; empty: those that have none.
  tasks: Task[]; // In the order of the list.
  asking: number;
  failed: number;
  running: number;
}

export const keyOf = (task: Task, by: Grouping): string =>
  (by === 'folder' ? task.work_dir : by === 'batch' ? task.batch_id : task.parent_session_id) ?? '';

// In the order of the first of each: where the list has what needs somebody first, so have the groups.
export function groupsOf(tasks: Task[], by: Grouping): Group[] {
  const groups = new Map<string, Group>();
  for (const task of tasks) {
    const key = keyOf(task, by);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = { key, tasks: [], asking: 0, failed: 0, running: 0 }));
    group.tasks.push(task);
    if (needsInput(task)) group.asking++;
    else if (task.status === 'running' || task.status === 'resumed') group.running++;
    if (task.status === 'failed') group.failed++;
  }
  return [...groups.values()];
}
