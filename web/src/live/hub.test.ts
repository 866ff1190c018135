import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Hub } from './hub';
import type { FromHub } from './protocol';

// A server whose stream is written by hand.
class Stream {
  controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.controller = controller) });
  say(text: string) {
    this.controller.enqueue(new TextEncoder().encode(text));
  }
  event(pos: number, type: string, task: string) {
    this.say(
      `id: ${pos}\nevent: ${type}\ndata: ${JSON.stringify({ seq: pos, pos, task_id: task, type, at: '', data: {} })}\n\n`,
    );
  }
}

interface Call {
  url: string;
  headers: Record<string, string>;
  stream: Stream;
}

let calls: Call[];
let answer: number;
let hub: Hub;

const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};
function tab() {
  const heard: FromHub[] = [];
  const port = { postMessage: (message: FromHub) => void heard.push(message) };
  const events = () =>
    heard.flatMap((message) => (message.kind === 'events' ? message.events.map((event) => event.pos) : []));
  const states = () => heard.flatMap((message) => (message.kind === 'connection' ? [message.connection.state] : []));
  return { port, heard, events, states };
}

const makeHub = (gatherMs: number) =>
  new Hub({
    gatherMs,
    random: () => 0.5,
    fetch: ((url: string, init: RequestInit) => {
      if (answer === 0) return Promise.reject(new TypeError('refused'));
      const stream = new Stream();
      calls.push({ url, headers: init.headers as Record<string, string>, stream });
      return Promise.resolve(new Response(answer === 200 ? stream.body : null, { status: answer }));
    }) as typeof fetch,
  });

beforeEach(() => {
  vi.useFakeTimers();
  calls = [];
  answer = 200;
  hub = makeHub(0);
});
afterEach(() => void vi.useRealTimers());

describe('Hub', () => {
  it('opens one stream for all tabs and tells each what it watches', async () => {
    const [a, b] = [tab(), tab()];
    hub.receive(a.port, { kind: 'hello', session: 's' });
    hub.receive(b.port, { kind: 'hello', session: 's' });
    await settle();
    expect(calls).toHaveLength(1);
    expect(calls[0]?.headers['X-Errand-Session']).toBe('s');
    hub.receive(b.port, { kind: 'watch', tasks: ['task_b'] });
    await vi.advanceTimersByTimeAsync(10);
    expect(calls).toHaveLength(2);
    expect(calls[1]?.url).toBe('/api/stream?tasks=task_b');
    expect(b.heard.some((message) => message.kind === 'watching')).toBe(true);
    calls[1]?.stream.event(1, 'task.status', 'task_x');
    calls[1]?.stream.event(2, 'message.delta', 'task_b');
    await settle();
    expect(a.events()).toEqual([1]);
    expect(b.events()).toEqual([1, 2]);
  });

  it('tells of many tasks together, a few times a second', async () => {
    hub = makeHub(40);
    const a = tab();
    hub.receive(a.port, { kind: 'hello', session: 's' });
    await settle();
    const before = a.heard.length;
    for (let pos = 1; pos <= 500; pos++) {
      calls[0]?.stream.event(pos, 'task.status', `task_${pos}`);
      calls[0]?.stream.say(`event: counts\ndata: {"type":"counts","data":{"counts":{},"running":${pos}}}\n\n`);
    }
    await vi.advanceTimersByTimeAsync(39);
    expect(a.events()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(a.events()).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
    expect(a.heard.slice(before)).toHaveLength(2); // All events, and the last counts.
    expect(a.heard.at(-1)).toMatchObject({ kind: 'counts', running: 500 });
  });

  it('lets what a tab looks at wait for nothing, behind what came before it', async () => {
    hub = makeHub(40);
    const a = tab();
    hub.receive(a.port, { kind: 'hello', session: 's' });
    hub.receive(a.port, { kind: 'watch', tasks: ['task_a'] });
    await vi.advanceTimersByTimeAsync(10);
    calls.at(-1)?.stream.event(1, 'task.status', 'task_x');
    calls.at(-1)?.stream.event(2, 'message.delta', 'task_a');
    await settle();
    expect(a.events()).toEqual([1, 2]);
  });

  it('goes on behind the last event after the connection broke', async () => {
    const a = tab();
    hub.receive(a.port, { kind: 'hello', session: 's' });
    await settle();
    expect(calls[0]?.headers['Last-Event-ID']).toBeUndefined();
    calls[0]?.stream.event(41, 'task.status', 't');
    await settle();
    answer = 0;
    calls[0]?.stream.controller.close();
    await settle();
    expect(a.states().at(-1)).toBe('broken');
    await vi.advanceTimersByTimeAsync(3000); // Refused several times, further and further apart.
    answer = 200;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(a.states().at(-1)).toBe('live');
    expect(calls[1]?.headers['Last-Event-ID']).toBe('41');
    expect(a.heard.filter((message) => message.kind === 'reset')).toHaveLength(1); // Only the first time, when nothing was known.
  });

  it('gives up a stream that is silent for longer than the server ever is', async () => {
    const a = tab();
    hub.receive(a.port, { kind: 'hello', session: 's' });
    await settle();
    await vi.advanceTimersByTimeAsync(30_000);
    calls[0]?.stream.say(': beat\n\n');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(calls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(12_000);
    expect(calls.length).toBeGreaterThan(1);
  });

  it('stops asking when the session is refused, and begins again with a new one', async () => {
    const a = tab();
    answer = 401;
    hub.receive(a.port, { kind: 'hello', session: 'old' });
    await settle();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toHaveLength(1);
    expect(a.states().at(-1)).toBe('unauthorized');
    answer = 200;
    hub.receive(a.port, { kind: 'hello', session: 'new' });
    await settle();
    expect(a.states().at(-1)).toBe('live');
  });

  it('passes counts and resets on', async () => {
    const a = tab();
    hub.receive(a.port, { kind: 'hello', session: 's' });
    await settle();
    calls[0]?.stream.say(
      'event: counts\ndata: {"type":"counts","data":{"counts":{"running":2},"running":2}}\n\nevent: reset\ndata: {"type":"reset","data":{}}\n\n',
    );
    await settle();
    expect(a.heard.some((message) => message.kind === 'counts' && message.running === 2)).toBe(true);
    const late = tab();
    hub.receive(late.port, { kind: 'hello', session: 's' });
    expect(late.heard.some((message) => message.kind === 'counts' && message.running === 2)).toBe(true);
  });

  it('closes the stream when the last tab leaves', async () => {
    const a = tab();
    hub.receive(a.port, { kind: 'hello', session: 's' });
    await settle();
    hub.receive(a.port, { kind: 'bye' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toHaveLength(1);
  });

  it('opens it again for a tab that comes after the last one left, as a reload does', async () => {
    const a = tab();
    hub.receive(a.port, { kind: 'hello', session: 's' });
    await settle();
    calls[0]?.stream.event(5, 'task.status', 't');
    await settle();
    hub.receive(a.port, { kind: 'bye' });
    const b = tab();
    hub.receive(b.port, { kind: 'hello', session: 's' });
    hub.receive(b.port, { kind: 'watch', tasks: ['task_b'] });
    await vi.advanceTimersByTimeAsync(10);
    expect(b.states()[0]).toBe('connecting');
    expect(b.states().at(-1)).toBe('live');
    expect(calls.at(-1)?.url).toBe('/api/stream?tasks=task_b');
    expect(b.heard.some((message) => message.kind === 'watching')).toBe(true);
    calls.at(-1)?.stream.event(6, 'message.delta', 'task_b');
    await settle();
    expect(b.events()).toEqual([6]);
  });

  it('opens one stream for two tabs that come at once', async () => {
    const [a, b] = [tab(), tab()];
    hub.receive(a.port, { kind: 'hello', session: 's' });
    await settle();
    hub.receive(b.port, { kind: 'hello', session: 's' });
    await settle();
    expect(calls).toHaveLength(1);
  });
});
