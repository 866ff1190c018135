import { describe, expect, it } from 'vitest';

import type { Task, StoredEvent } from '../api/types';
import { pieces, plain } from './ansi';
import { isDiff } from './Diff';
import { spansOf, ticksOf } from './timeline';
import { shares } from './Usage';
import { mayHaveLaunched, spentBy } from './useSpent';

describe('ansi', () => {
  it('keeps colours and drops what a terminal would obey', () => {
    expect(pieces('\u001b[31mred\u001b[0m plain')).toEqual([
      { text: 'red', className: 'text-(--ansi-1)' },
      { text: ' plain', className: '' },
    ]);
    expect(plain('\u001b]0;title\u0007\u001b[2J\u001b[1;1Hx\u0007y')).toBe('xy');
    expect(plain('10%\r50%\r100%\r')).toBe('100%');
    expect(plain('<b>&amp;')).toBe('<b>&amp;');
  });
});

describe('isDiff', () => {
  it('knows a diff from other text', () => {
    expect(isDiff('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n')).toBe(true);
    expect(isDiff('--- not a diff\n+++ really')).toBe(false);
  });
});

describe('spansOf', () => {
  const at = (s: number) => `2026-01-01T00:00:${String(s).padStart(2, '0')}.000Z`;
  const status = (s: number, value: string, turn = 1, attempt = 1) =>
    ({
      type: 'task.status',
      at: at(s),
      data: { task: { status: value, turn, attempt, stopping: false } },
    }) as unknown as StoredEvent;
  it('shows waiting, turns, tools and questions', () => {
    const spans = spansOf([
      status(0, 'pending'),
      status(2, 'running'),
      { type: 'tool.started', at: at(3), data: { call_id: 'c', name: 'run' } } as unknown as StoredEvent,
      { type: 'tool.completed', at: at(5), data: { call_id: 'c', is_error: true } } as unknown as StoredEvent,
      { type: 'ask.created', at: at(6), data: { request_id: 'q', text: 'Which?' } } as unknown as StoredEvent,
      { type: 'ask.answered', at: at(8), data: { request_id: 'q' } } as unknown as StoredEvent,
      status(9, 'completed'),
      status(12, 'resumed', 2),
    ]);
    expect(spans.map(({ kind, from, to }) => [kind, (from / 1000) % 60, to && (to / 1000) % 60])).toEqual([
      ['queue', 0, 2],
      ['turn', 2, 9],
      ['tool', 3, 5],
      ['ask', 6, 8],
      ['turn', 12, null],
    ]);
    expect(spans[2]?.failed).toBe(true);
  });
  it('says of each which attempt it is of, and shows a restart as work of its own', () => {
    const restart = { type: 'task.warning', at: at(4), data: { code: 'restart', text: 'again' } } as StoredEvent;
    const spans = spansOf([
      status(0, 'running'),
      { type: 'tool.started', at: at(1), data: { call_id: 'c', name: 'run' } } as unknown as StoredEvent,
      restart,
      status(6, 'failed'),
      status(8, 'pending', 1, 2),
      status(9, 'running', 1, 2),
    ]);
    expect(
      spans.map(({ kind, attempt, restarts, failed, to }) => [kind, attempt, restarts, failed, to && (to / 1000) % 60]),
    ).toEqual([
      ['turn', 1, undefined, true, 4],
      ['tool', 1, undefined, false, 4],
      ['turn', 1, 1, true, 6],
      ['queue', 2, undefined, false, 9],
      ['turn', 2, undefined, false, null],
    ]);
  });
  it('keeps a call and the question about it apart, though they have one name', () => {
    const spans = spansOf([
      status(0, 'running'),
      { type: 'tool.started', at: at(1), data: { call_id: 'c', name: 'bash' } } as unknown as StoredEvent,
      { type: 'ask.created', at: at(2), data: { request_id: 'c', text: 'Run: a\nIn /b' } } as unknown as StoredEvent,
      { type: 'ask.answered', at: at(4), data: { request_id: 'c', by: 'user' } } as unknown as StoredEvent,
      { type: 'tool.completed', at: at(5), data: { call_id: 'c', is_error: false } } as unknown as StoredEvent,
      { type: 'tool.started', at: at(6), data: { call_id: 'd', name: 'edit' } } as unknown as StoredEvent,
      { type: 'ask.created', at: at(6), data: { request_id: 'd', text: 'Change a?' } } as unknown as StoredEvent,
      { type: 'ask.answered', at: at(6), data: { request_id: 'd', by: 'rule' } } as unknown as StoredEvent,
      { type: 'tool.completed', at: at(7), data: { call_id: 'd', is_error: false } } as unknown as StoredEvent,
    ]);
    expect(
      spans.map(({ kind, detail, from, to }) => [kind, detail, (from / 1000) % 60, to && (to / 1000) % 60]),
    ).toEqual([
      ['turn', undefined, 0, null],
      ['tool', '', 1, 5],
      ['ask', 'Run: a', 2, 4],
      ['tool', '', 6, 7],
    ]);
  });
});

describe('ticksOf', () => {
  it('marks a scale at round times, at most six of them', () => {
    expect(ticksOf(721)).toEqual([0, 200, 400, 600]);
    expect(ticksOf(33_600)).toEqual([0, 10_000, 20_000, 30_000]);
    expect(ticksOf(1)).toEqual([0]);
    for (let width = 1; width < 1e12; width = Math.ceil(width * 1.7)) expect(ticksOf(width).length).toBeLessThan(8);
  });
});

describe('shares of a budget', () => {
  const task = (more: object) =>
    ({
      status: 'running',
      started_at: '2026-01-01T00:00:00.000Z',
      completed_at: null,
      budget: { tokens: 1000, cost_usd: 2, turns: null, tool_calls: null, wall_s: 60 },
      progress: { usage: { input_tokens: 300, output_tokens: 100, cost_usd: 0.5 }, turns: 1, tool_calls: 3 },
      ...more,
    }) as unknown as Task;
  const now = Date.parse('2026-01-01T00:00:30.000Z');
  it('are of what is bounded, and time stands still when it ended', () => {
    expect(shares(task({}), spentBy([task({})]), now).map(({ key, used, most }) => [key, used, most])).toEqual([
      ['tokens', 400, 1000],
      ['cost_usd', 0.5, 2],
      ['wall_s', 30, 60],
    ]);
    const ended = task({ status: 'completed', completed_at: '2026-01-01T00:00:12.000Z' });
    expect(shares(ended, spentBy([ended]), now).at(-1)).toMatchObject({ key: 'wall_s', used: 12 });
    expect(shares(task({ budget: null }), spentBy([]), now)).toEqual([]);
  });
  it('are of what the task and its subtasks used together', () => {
    const both = spentBy([task({}), task({ budget: null })]);
    expect(both).toEqual({ tokens: 800, cost_usd: 1, turns: 2, tool_calls: 6 });
    expect(shares(task({}), both, now)[0]).toEqual({ key: 'tokens', used: 800, most: 1000 });
  });
  it('ask for the subtasks of those that may have launched some', () => {
    const still = { usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0 }, turns: 1, tool_calls: 0 };
    const ids = [task({ session_id: 'a' }), task({ session_id: null }), task({ session_id: 'b', progress: still })];
    expect(mayHaveLaunched(ids)).toEqual(['a']);
    expect(mayHaveLaunched(Array.from({ length: 50 }, () => task({ session_id: 'a' }))).length).toBe(20);
  });
});
