// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest';

import type { TaskBrief } from '../api/types';
import { news, titleWith } from './notify';

const task = (more: Partial<TaskBrief>) =>
  ({ status: 'running', waiting_for: null, stopping: false, parent_session_id: null, ...more }) as TaskBrief;

describe('news', () => {
  it('tells ends and questions, and nothing else', () => {
    expect(news(task({}))).toBeNull();
    expect(news(task({ status: 'completed' }))).toBe('completed');
    expect(news(task({ status: 'failed' }))).toBe('failed');
    expect(news(task({ status: 'cancelled' }))).toBeNull();
    expect(news(task({ waiting_for: { kind: 'permission' } }))).toBe('needsInput');
    expect(news(task({ waiting_for: { kind: 'quota' } }))).toBeNull();
  });
  it('leaves the ends of subtasks to their parent, but not their questions', () => {
    expect(news(task({ status: 'completed', parent_session_id: 's' }))).toBeNull();
    expect(news(task({ waiting_for: { kind: 'answer' }, parent_session_id: 's' }))).toBe('needsInput');
  });
});

it('the title says once what there is', () => {
  expect(titleWith('Tasks', 0, false)).toBe('Tasks');
  expect(titleWith('Tasks', 2, false)).toBe('(2) Tasks');
  expect(titleWith('(2) Tasks', 3, true)).toBe('● (3) Tasks');
  expect(titleWith('● (3) Tasks', 0, false)).toBe('Tasks');
  expect(titleWith('● Tasks', 0, true)).toBe('● Tasks');
});
