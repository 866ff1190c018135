import { describe, expect, it } from 'vitest';

import type { Task, TaskEvent, TaskList } from '../api/types';
import { changesOf, hear, patchList, upToDate } from '../queries';
import { chatSearch, taskQuery, taskSearch } from '../search';
import { isEmpty, nothing, toggle } from './selection';
import { askText, summary, wholeTitle } from './summary';
import { rowsBelow, hasChildren, inserted, place, type Insert } from './tree';
import { pagesFor } from './useTaskList';

const task = (id: string, more: Partial<Task> = {}): Task =>
  ({
    id,
    status: 'running',
    kind: 'agent',
    title: id,
    waiting_for: null,
    stopping: false,
    progress: { recent_tools: [], tool_calls: 0, output_lines: 0 },
    result: null,
    error: null,
    prompt: 'p',
    queue_position: null,
    ...more,
  }) as Task;

describe('pagesFor', () => {
  it('names only the pages on the screen, wherever that is', () => {
    expect(pagesFor(0, 30, 100_000)).toEqual([0]);
    expect(pagesFor(40, 70, 100_000)).toEqual([0, 1]);
    expect(pagesFor(74_990, 75_020, 100_000)).toEqual([1499, 1500]);
    expect(pagesFor(99_980, 100_020, 100_000)).toEqual([1999]);
    expect(pagesFor(0, 10, 0)).toEqual([0]);
  });
});

describe('the address', () => {
  it('takes what it knows and drops the rest', () => {
    expect(taskSearch({ q: 'x', status: 'failed', sort: 'oldest', evil: '1', kind: 'nope' })).toEqual({
      q: 'x',
      status: 'failed',
      sort: 'oldest',
    });
    expect(taskSearch({ status: '<script>', q: '  ' })).toEqual({});
    expect(chatSearch({ taskId: 'task_1', tab: 'log', agentId: 5 })).toEqual({ taskId: 'task_1', tab: 'log' });
  });
  it('becomes the API own words', () => {
    expect(taskQuery({ status: 'running', q: 'a', agent: 'demo', batch: 'b', parent: 's' })).toEqual({
      status: 'running,resumed',
      q: 'a',
      agent_id: 'demo',
      batch_id: 'b',
      parent_session_id: 's',
      sort: 'attention',
    });
    expect(taskQuery({})).toEqual({ sort: 'attention', fold_batches: true });
    expect(taskQuery({ show: 'archived', sort: 'newest', flat: '1' })).toEqual({ sort: 'newest', archived: 'true' });
    expect(taskQuery({ show: 'pinned' })).toEqual({ sort: 'attention', pinned: true, fold_batches: true });
  });
});

describe('selection', () => {
  const ids = (index: number) => (index < 10 ? `t${index}` : undefined);
  it('takes single rows and ranges', () => {
    let selection = toggle(nothing, 2, false, ids);
    selection = toggle(selection, 5, true, ids);
    expect([...selection.ids]).toEqual(['t2', 't3', 't4', 't5']);
    selection = toggle(selection, 3, false, ids);
    expect(selection.ids.has('t3')).toBe(false);
    selection = toggle(selection, 1, true, ids);
    expect(selection.ids.has('t1') && selection.ids.has('t3')).toBe(true);
    expect(isEmpty(nothing)).toBe(true);
  });
  it('leaves out rows that are not there', () => expect(toggle(nothing, 99, false, ids)).toBe(nothing));
});

describe('events', () => {
  const brief = (id: string, status: string) =>
    ({
      task_id: id,
      type: 'task.status',
      seq: 1,
      pos: 1,
      at: '',
      data: { task: { id, status } },
    }) as unknown as TaskEvent;
  it('change rows in place and leave the others as they are', () => {
    const list: TaskList = { tasks: [task('a'), task('b')], next_cursor: null };
    const patched = patchList(list, changesOf([brief('b', 'completed')]));
    expect(patched.tasks[0]).toBe(list.tasks[0]);
    expect(patched.tasks[1]).toMatchObject({ id: 'b', status: 'completed', prompt: 'p' });
    expect(patchList(list, changesOf([brief('z', 'failed')]))).toBe(list);
  });
});

describe('the whole title', () => {
  const words = { description: null, command: null, prompt: null };
  it('is what it was cut from', () => {
    const prompt = `${'Mend the login page '.repeat(5)}\nand more`;
    const title = `${prompt.slice(0, 79)}…`;
    expect(wholeTitle({ ...words, title, prompt })).toBe(prompt.trim());
    expect(wholeTitle({ ...words, title, prompt: 'x'.repeat(600), description: prompt })).toBe(prompt.trim());
    expect(wholeTitle({ ...words, title: `${'x'.repeat(79)}…`, prompt: 'x'.repeat(600) })).toHaveLength(501);
  });
  it('is the title where nothing was cut, or what it was cut from is not here', () => {
    expect(wholeTitle({ ...words, title: 'Mend it', prompt: 'Mend it, please' })).toBe('Mend it');
    expect(wholeTitle({ ...words, title: 'Mend it…', prompt: 'Break it' })).toBe('Mend it…');
  });
});

describe('summary', () => {
  it('says what matters most now', () => {
    expect(summary(task('a', { waiting_for: { kind: 'answer', text: 'Which?\nmore' } })).text).toBe('Which?');
    expect(
      summary(
        task('a', { progress: { ...task('a').progress, recent_tools: [{ name: 'run', summary: 'make', at: null }] } }),
      ),
    ).toEqual({ kind: 'tool', text: 'make' });
    expect(summary(task('a', { status: 'pending', queue_position: 3 }))).toEqual({ kind: 'queue', text: '3' });
    expect(summary(task('a', { status: 'failed', error: { code: 'x', message: 'No.' } })).kind).toBe('error');
    expect(summary(task('a', { status: 'completed', result: '**Done** it\nall' })).text).toBe('Done it');
    expect(
      summary(task('a', { kind: 'command', status: 'completed', result: 'a\n\u001b[32mok\u001b[0m\n' })).text,
    ).toBe('ok');
  });
});

describe('subtasks in the list', () => {
  const task = (id: string, session: string | null = null): Task =>
    ({ id, session_id: session, waiting_for: null, progress: { recent_tools: [] } }) as unknown as Task;
  const children: Record<string, Task[]> = {
    a: [task('a1', 'deep'), task('a2')],
    deep: [task('d1')],
    loop: [task('l', 'loop')],
  };
  const read = (session: string) => children[session];
  const row = (index: number, inserts: Insert[]) => {
    const at = place(index, inserts);
    return at.child ? `${at.child.task.id}:${at.child.depth}` : at.flat;
  };
  it('stand behind the row that was opened, and every other row keeps its order', () => {
    const inserts = [
      { flat: 1, rows: rowsBelow('a', new Set(['a', 'deep']), read) },
      { flat: 3, rows: rowsBelow('deep', new Set(), read) },
    ];
    expect(inserted(inserts)).toBe(4);
    expect(Array.from({ length: 9 }, (_, i) => row(i, inserts))).toEqual([
      0,
      1,
      'a1:1',
      'd1:2',
      'a2:1',
      2,
      3,
      'd1:1',
      4,
    ]);
    expect(row(100_000, inserts)).toBe(99_996);
    expect(row(5, [])).toBe(5);
  });
  it('end where a task is its own parent', () => {
    expect(rowsBelow('loop', new Set(['loop']), read).length).toBe(8);
  });
  it('are offered where a task has some', () => {
    expect(hasChildren(task('x', 's'), new Set(['s']))).toBe(true);
    expect(hasChildren(task('x', 's'), new Set())).toBe(false);
    expect(hasChildren(task('x'), new Set(['s']))).toBe(false);
  });
});

describe('what a task asks', () => {
  it('is said without the folder that it works in', () => {
    expect(askText('Change /src/app/a/b.ts?', '/src/app')).toBe('Change a/b.ts?');
    expect(askText('Run: make\nIn /src/app', '/src/app')).toBe('Run: make');
    expect(askText('Run: make\nIn /src/other', '/src/app')).toBe('Run: make\nIn /src/other');
    expect(askText('Change /src/apple.ts?', '/src/app')).toBe('Change /src/apple.ts?');
    expect(askText('Change /etc/hosts?', '/')).toBe('Change /etc/hosts?');
    expect(askText('Which colour?', null)).toBe('Which colour?');
  });
});

describe('a reply that was made before an event and comes behind it', () => {
  const read = (seq: number, more: object = {}) =>
    ({ id: 'late', seq, status: 'running', progress: { tool_calls: 0 }, ...more }) as unknown as Task;
  const event = (seq: number, type: string, data: object) =>
    ({ seq, pos: seq, task_id: 'late', type, at: '', data }) as unknown as TaskEvent;
  it('does not make what is shown older', () => {
    hear([
      event(5, 'task.status', { task: { id: 'late', status: 'completed', progress: { tool_calls: 1 } } }),
      event(7, 'task.progress', { progress: { tool_calls: 2 } }),
    ]);
    expect(upToDate(read(4))).toMatchObject({ status: 'completed', progress: { tool_calls: 2 } });
    // Newer than the state, older than the progress.
    expect(upToDate(read(6, { status: 'resumed' }))).toMatchObject({ status: 'resumed', progress: { tool_calls: 2 } });
    expect(upToDate(read(8, { status: 'failed' }))).toMatchObject({ status: 'failed', progress: { tool_calls: 0 } });
  });
});
