// Streams (R10.3, P5, T6): cut anywhere and resumed, a reader sees every event once and in order.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { demo, Follower, long, patience, percentile, Server, until } from './harness/index.mjs';

// Streams of numbers that are the same in every run, so that a failure can be repeated. The seed is printed.
function dice(seed) {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

test('A stream replays what was, goes on live, and closes with the end', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('for i in 1 2 3 4 5; do echo $i; sleep 0.1; done');
  const stream = server.stream(`/api/tasks/${task.id}/stream`);
  await stream.closed;
  assert.equal(stream.status, 200);
  assert.match(stream.headers['content-type'], /^text\/event-stream/);
  assert.match(stream.headers['cache-control'], /no-(store|cache)/);
  assert.deepEqual(stream.events.map((event) => Number(event.id)), stream.events.map((_, i) => i + 1));
  assert.equal(stream.events[0].event, 'task.created');
  assert.equal(stream.events.at(-1).event, 'end');
  assert.deepEqual(stream.events.at(-1).data.data, { status: 'completed' });
  const output = stream.events.filter((event) => event.event === 'output');
  assert.equal(output.map((event) => event.data.data.text).join(''), '1\n2\n3\n4\n5\n');
  let offset = 0;
  for (const { data } of output) {
    assert.equal(data.data.offset, offset);
    offset += Buffer.byteLength(data.data.text);
  }
  assert.deepEqual(stream.events.map((event) => event.data), await server.events(task.id), 'what is stored is what was shown');

  const after = server.stream(`/api/tasks/${task.id}/stream`, { after: stream.events.at(-1).id });
  await after.closed;
  assert.equal(after.status, 204, 'after the end there is nothing more');
  const again = server.stream(`/api/tasks/${task.id}/stream?after=3`);
  await again.closed;
  assert.deepEqual(again.events.map((e) => e.id), stream.events.slice(3).map((e) => e.id));
  const wins = server.stream(`/api/tasks/${task.id}/stream?after=1`, { after: 4 });
  await wins.closed;
  assert.equal(wins.events[0].id, '5', 'Last-Event-ID wins over ?after=');
});

test('A snapshot and the stream after its seq join without a gap (R5.6)', async (t) => {
  const server = await Server.start(t);
  const task = await server.ask(demo.short);
  await until(async () => (await server.events(task.id)).length > 4, { what: 'it has begun' });
  const page = await server.get(`/api/tasks/${task.id}/messages`);
  const rest = server.stream(`/api/tasks/${task.id}/stream?after=${page.seq}`);
  await rest.closed;
  const first = rest.events[0];
  if (first) assert.equal(Number(first.id), page.seq + 1);
  // The snapshot's open message plus the deltas that follow is the whole message.
  const texts = new Map(page.messages.map((m) => [m.id, m.parts.filter((p) => p.type === 'text').map((p) => p.text).join('')]));
  for (const { event, data } of rest.events) {
    if (event === 'message.delta') texts.set(data.data.message_id, (texts.get(data.data.message_id) ?? '') + data.data.text);
  }
  const whole = (await server.get(`/api/tasks/${task.id}/messages`)).messages.filter((m) => m.role === 'assistant');
  for (const message of whole) {
    if (message.parts.every((part) => part.type === 'text')) assert.equal(texts.get(message.id), message.parts.map((p) => p.text).join(''));
  }
});

// All that an `output` event names. Its own text is at most 32 KiB of it, the rest is in the log: where much was printed while no
// server was there, one event names it all. What is printed here is ASCII, so that bytes are characters.
function whole_text({ offset, length, text }, log) {
  const named = log.slice(offset, offset + length);
  if (text.length === length) return text;
  assert.equal(text.length, 32 * 1024, `a text is cut at 32 KiB and nowhere else: ${text.length} of ${length}`);
  assert.ok(named.startsWith(text));
  return named;
}

test('T6: clients that are cut anywhere, with kill -9 in between, see each event once and in order', async (t) => {
  const seed = Number(process.env.ERRAND_TEST_SEED ?? 20261115);
  const roll = dice(seed);
  const clients = 200;
  const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
  const tasks = [];
  for (let i = 0; i < 4; i++) tasks.push(await server.run(`i=0; while [ $i -lt ${long ? 6000 : 900} ]; do echo "$i some text to carry"; i=$((i+1)); sleep 0.03; done`));
  for (let i = 0; i < 4; i++) tasks.push(await server.ask(demo.busy));
  const texts = new Map(tasks.map((task) => [task.id, []]));
  const followers = [];
  for (let i = 0; i < clients; i++) {
    const task = tasks[i % tasks.length];
    const heard = [];
    texts.get(task.id).push(heard);
    followers.push(new Follower(server, `/api/tasks/${task.id}/stream`, {
      cut_after: () => (i % 4 === 0 ? Infinity : 200 + roll(i % 4 === 1 ? 400 : 60_000)),
      on_event: ({ event, data }) => event === 'output' && heard.push(data.data),
    }));
  }
  const busy = () => followers.filter((follower) => !follower.ended).length;
  for (const share of [0.2, 0.5]) {
    await until(() => followers.reduce((sum, f) => sum + f.received, 0) > clients * 400 * share || busy() === 0, { within: 60_000 * patience, what: 'events flow' });
    if (busy() === 0) break;
    await server.restart();
  }
  await Promise.race([Promise.all(followers.map((f) => f.done)), until(() => busy() === 0, { within: (long ? 900_000 : 180_000) * patience, what: 'all streams end' })]);
  await Promise.all(followers.map((f) => f.done));
  const sum = (name) => followers.reduce((total, follower) => total + follower[name], 0);
  const delays = followers.flatMap((follower) => follower.delays.slice(-50));
  t.diagnostic(`seed ${seed}: ${sum('received')} events to ${clients} clients over ${sum('connections')} connections; delay p50 ${percentile(delays, 0.5)} ms, p99 ${percentile(delays, 0.99)} ms`);
  assert.deepEqual({ gaps: sum('gaps'), repeats: sum('repeats'), malformed: sum('malformed'), resets: sum('resets') }, { gaps: 0, repeats: 0, malformed: 0, resets: 0 });
  assert.ok(sum('connections') > clients, 'some were cut');
  for (const task of tasks) {
    const stored = await server.events(task.id);
    for (const follower of followers.filter((_, i) => tasks[i % tasks.length].id === task.id)) assert.equal(follower.last, stored.at(-1).seq);
    if (task.kind !== 'command') continue;
    const log = await server.get(`/api/tasks/${task.id}/log`);
    for (const heard of texts.get(task.id)) assert.equal(heard.map((event) => whole_text(event, log)).join(''), log);
  }
});

test('The store-wide stream shows every change once, in order, over cuts and kill -9', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '4'] });
  const roll = dice(7);
  const states = new Map();
  const gone = new Set();
  const transcript = [];
  // A stream begins with what comes after it: the first line waits for the reader.
  const go = path.join(server.folder, 'go');
  const watched = await server.run(`until [ -e '${go}' ]; do sleep 0.05; done; for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done`);
  const follower = new Follower(server, `/api/stream?tasks=${watched.id}`, {
    dense: false,
    end_on: 'never',
    cut_after: () => 500 + roll(20_000),
    on_event: ({ event, data }) => {
      if (data.data?.task) states.set(data.data.task.id, data.data.task.status);
      if (event === 'output') transcript.push(data.data.text);
      if (/gone|deleted|removed/.test(event)) gone.add(data.task_id ?? data.data?.task_id ?? data.data?.id);
    },
  });
  await until(() => follower.stream?.status === 200, { what: 'the reader is there' });
  fs.writeFileSync(go, '');
  const tasks = [];
  for (let i = 0; i < 30; i++) {
    tasks.push(await server.run(`exit ${i % 2}`));
    if (i === 15) await server.restart();
  }
  for (const [i, task] of tasks.entries()) {
    const done = await server.at_rest(task.id);
    await until(() => states.get(task.id) === done.status, { what: `the stream tells ${task.id} ${done.status}` });
    assert.equal(done.status, i % 2 ? 'failed' : 'completed');
  }
  await server.at_rest(watched.id);
  await until(() => transcript.join('') === '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n', { what: 'the named task\'s transcript is whole' });
  await server.expect(204, 'DELETE', `/api/tasks/${tasks[0].id}`);
  await until(() => gone.has(tasks[0].id), { what: 'a deletion is told' });
  await follower.stop();
  assert.deepEqual(follower.books(), { gaps: 0, repeats: 0, malformed: 0, resets: 0 });
});
