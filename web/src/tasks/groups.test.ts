import { describe, expect, it } from 'vitest';

import type { Task } from '../api/types';
import { groupsOf } from './groups';

const task = (id: string, more: Partial<Task> = {}): Task =>
  ({
    id,
    status: 'completed',
    work_dir: null,
    batch_id: null,
    parent_session_id: null,
    waiting_for: null,
    ...more,
  }) as Task;

describe('groups of tasks', () => {
  const tasks = [
    task('a', { work_dir: '/p', status: 'running', waiting_for: { kind: 'permission' } }),
    task('b', { work_dir: '/q', status: 'failed', batch_id: 'batch_1' }),
    task('c', { work_dir: '/p', status: 'running', batch_id: 'batch_1' }),
    task('d', { parent_session_id: 'ses_1' }),
  ];
  it('stand in the order of their first task, which keeps its place', () => {
    expect(groupsOf(tasks, 'folder').map(({ key, tasks: all }) => [key, all.map(({ id }) => id)])).toEqual([
      ['/p', ['a', 'c']],
      ['/q', ['b']],
      ['', ['d']],
    ]);
    expect(groupsOf(tasks, 'batch').map(({ key }) => key)).toEqual(['', 'batch_1']);
    expect(groupsOf(tasks, 'session').map(({ key }) => key)).toEqual(['', 'ses_1']);
  });
  it('count what a person looks for', () => {
    const [first, second] = groupsOf(tasks, 'folder');
    expect(first).toMatchObject({ asking: 1, running: 1, failed: 0 });
    expect(second).toMatchObject({ asking: 0, running: 0, failed: 1 });
  });
  it('are none of no tasks', () => expect(groupsOf([], 'batch')).toEqual([]));
});
