import { describe, expect, it } from 'vitest';

import type { Message, StoredEvent } from '../api/types';
import { makeSplitter } from './blocks';
import { apply, applyAll, empty, rowsOf } from './transcript';

const message = (id: string, seq: number, role: Message['role'], more: Partial<Message> = {}): Message => ({
  id,
  session_id: 's',
  seq,
  role,
  turn: 1,
  created_at: '2026-01-01T00:00:00.000Z',
  completed_at: null,
  interrupted: false,
  parts: [],
  ...more,
});
let seq = 0;
const event = <T extends StoredEvent['type']>(type: T, data: unknown): StoredEvent =>
  ({ seq: ++seq, pos: seq, task_id: 't', type, at: '', data }) as StoredEvent;

function life(): StoredEvent[] {
  seq = 0;
  return [
    event('message.created', { message: message('u', 1, 'user', { parts: [{ type: 'text', text: 'hi' }] }) }),
    event('message.completed', {
      message: message('u', 1, 'user', { completed_at: 'x', parts: [{ type: 'text', text: 'hi' }] }),
    }),
    event('message.created', { message: message('a', 2, 'assistant') }),
    event('message.delta', { message_id: 'a', part: 0, type: 'reasoning', text: 'hm' }),
    event('message.delta', { message_id: 'a', part: 1, type: 'text', text: 'One ' }),
    event('message.delta', { message_id: 'a', part: 2, type: 'text', text: 'two.\n' }),
    event('tool.started', { message_id: 'a', call_id: 'c', name: 'run', input: { command: 'make' } }),
    event('tool.completed', { call_id: 'c', output: 'ok', truncated: false, size: 2, is_error: false, ms: 5 }),
    event('message.delta', { message_id: 'a', part: 9, type: 'text', text: 'Before.\n\n' }),
    event('ask.created', { request_id: 'q', kind: 'answer', text: 'Which?', options: ['x'] }),
    event('ask.answered', { request_id: 'q', decision: 'x', by: 'user' }),
    event('message.delta', { message_id: 'a', part: 10, type: 'text', text: 'After.' }),
  ];
}

describe('transcript', () => {
  it('puts pieces together as the server stores them', () => {
    const state = applyAll(empty, life());
    expect(state.messages).toHaveLength(2);
    expect(state.messages[0]?.completed_at).toBe('x');
    expect(state.messages[1]?.parts).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'One two.\n' },
      { type: 'tool_call', call_id: 'c', name: 'run', input: { command: 'make' } },
      { type: 'tool_result', call_id: 'c', output: 'ok', truncated: false, size: 2, is_error: false, ms: 5 },
      { type: 'text', text: 'Before.\n\nAfter.' },
    ]);
  });

  it('is the same after a snapshot anywhere and the events behind it, with repeats', () => {
    const events = life();
    const whole = applyAll(empty, events);
    for (let cut = 0; cut <= events.length; cut++) {
      const snapshot = applyAll(empty, events.slice(0, cut));
      expect(applyAll(snapshot, events)).toEqual(whole);
      expect(applyAll(applyAll(snapshot, events), events)).toEqual(whole);
    }
  });

  it('keeps every place when the whole message comes in other pieces', () => {
    const events = life();
    const before = rowsOf(applyAll(empty, events), makeSplitter(), true);
    const pieces = ['Before.\n\n', 'After.'].map((text) => ({ type: 'text' as const, text }));
    const parts = [...(applyAll(empty, events).messages[1]?.parts.slice(0, -1) ?? []), ...pieces];
    const after = rowsOf(
      applyAll(empty, [...events, event('message.completed', { message: message('a', 2, 'assistant', { parts }) })]),
      makeSplitter(),
      true,
    );
    expect(after.map((row) => row.key)).toEqual(before.map((row) => row.key));
  });

  it('leaves what it has alone when an older event comes', () => {
    const state = applyAll(empty, life());
    expect(apply(state, life()[3]!)).toBe(state);
  });

  it('shows a question where it was asked, between the texts', () => {
    const rows = rowsOf(applyAll(empty, life()), makeSplitter(), true);
    expect(rows.map((row) => row.kind)).toEqual(['user', 'reasoning', 'block', 'tool', 'block', 'ask', 'block']);
    const last = rows.at(-1);
    expect(last?.kind === 'block' && last.text).toBe('After.');
    expect(last?.kind === 'block' && last.live).toBe(true);
    const tool = rows.find((row) => row.kind === 'tool');
    expect(tool?.kind === 'tool' && tool.result?.output).toBe('ok');
  });

  it('marks a message that the agent has not read', () => {
    seq = 0;
    const state = applyAll(empty, [event('message.created', { message: message('u', 1, 'user') })]);
    const row = rowsOf(state, makeSplitter(), true)[0];
    expect(row?.kind === 'user' && row.pending).toBe(true);
  });

  it('draws a line where a new turn begins', () => {
    seq = 0;
    const state = applyAll(empty, [
      event('message.created', { message: message('u', 1, 'user') }),
      event('message.created', { message: message('v', 2, 'user', { turn: 2 }) }),
    ]);
    expect(rowsOf(state, makeSplitter(), false).map((row) => row.kind)).toEqual(['user', 'turn', 'user']);
  });
  it('shows what no person said as a note, and leaves out what a rule decided', () => {
    seq = 0;
    const state = applyAll(empty, [
      event('message.created', {
        message: message('u', 1, 'user', { parts: [{ type: 'notice', name: 'x', text: '### Done: a subtask\nAll.' }] }),
      }),
      event('message.created', {
        message: message('v', 2, 'user', {
          parts: [
            { type: 'text', text: 'And?' },
            { type: 'notice', text: 'b' },
          ],
        }),
      }),
      event('ask.created', { request_id: 'c', kind: 'permission', text: 'Run: a' }),
      event('ask.answered', { request_id: 'c', decision: 'allow', by: 'rule' }),
      event('ask.created', { request_id: 'd', kind: 'permission', text: 'Run: b' }),
      event('ask.answered', { request_id: 'd', decision: 'allow', by: 'user' }),
    ]);
    expect(
      rowsOf(state, makeSplitter(), true).map((row) => (row.kind === 'ask' ? `ask ${row.ask.text}` : row.kind)),
    ).toEqual(['system', 'user', 'system', 'ask Run: b']);
  });
});
