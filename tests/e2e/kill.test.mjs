// T1: kill -9 of the server at any moment under load. Ten writers create, message and cancel; twenty readers follow; three
// commands run through all of it. What was acknowledged must be there, once; nothing may be stuck; nothing may be left.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { busy_factor, cpu_ms, Follower, long, marked, marker, patience, percentile, request, Server, until, window_of } from './harness/index.mjs';

const writers = 10;
const least_rate = 50; // Acknowledged operations a second, or the cycle says nothing.

// What the writers did and what they were told.
class Ledger {
  created = new Map(); // Key -> id, acknowledged.
  unsure = new Map(); // Key -> body, sent and never answered: to be repeated with the same key.
  cancelled = new Set(); // Ids whose cancel was acknowledged.
  messages = []; // {id, text}, acknowledged.
  acked = 0;
  refused = [];
}

// One client: creates (with a key), now and then cancels or messages what it created before.
async function write(server, ledger, name, state) {
  const headers = () => ({ authorization: `Bearer ${server.token}` });
  const call = (method, target, body, more) => request({ port: server.port, method, path: target, body, headers: { ...headers(), ...more }, agent: server.agent, timeout: 20_000 });
  while (!state.stopped) {
    const n = state.next++;
    try {
      const [again] = ledger.unsure;
      if (again) {
        ledger.unsure.delete(again[0]);
        await create(again[0], again[1]);
      } else if (n % 7 === 3 && state.own.length > 0) {
        const { id } = state.own.shift();
        const reply = await call('POST', `/api/tasks/${id}/cancel`);
        if (reply.status === 200) ledger.cancelled.add(id);
        else if (reply.status !== 409) ledger.refused.push(`cancel ${reply.status} ${reply.text}`);
        ledger.acked++;
      } else if (n % 11 === 5 && state.agents.length > 0) {
        const id = state.agents.at(-1);
        const text = `noop ${name}-${n}`;
        const reply = await call('POST', `/api/tasks/${id}/message`, { message: text, when: 'queue' });
        if (reply.status === 202) ledger.messages.push({ id, text });
        else if (reply.status !== 409) ledger.refused.push(`message ${reply.status} ${reply.text}`);
        ledger.acked++;
      } else {
        const key = `${name}-${n}`;
        const agent = n % 9 === 4;
        await create(key, agent ? { agent_id: 'demo', message: 'noop', labels: { key } } : { kind: 'command', command: `echo ${key} >>witness`, work_dir: server.folder, labels: { key } });
      }
    } catch {
      if (server.gone) return;
    }
  }

  async function create(key, body) {
    let reply;
    try {
      reply = await call('POST', '/api/tasks', body, { 'idempotency-key': key });
    } catch (error) {
      ledger.unsure.set(key, body);
      throw error;
    }
    if (reply.status !== 201 && reply.status !== 200) return ledger.refused.push(`create ${reply.status} ${reply.text}`);
    ledger.acked++;
    if (ledger.created.has(key) && ledger.created.get(key) !== reply.json.id) ledger.refused.push(`${key} was created twice`);
    ledger.created.set(key, reply.json.id);
    if (body.kind === 'command') state.own.push({ id: reply.json.id });
    else state.agents.push(reply.json.id);
  }
}

// Loads the server for `ms`, kills it in the middle of that load, and answers the acknowledged operations a second.
async function cycle(server, ledger, cycle_number, ms) {
  server.gone = false;
  const states = Array.from({ length: writers }, () => ({ stopped: false, next: cycle_number * 1000, own: [], agents: [] }));
  const before = ledger.acked;
  const began = performance.now();
  const clients = states.map((state, i) => write(server, ledger, `c${cycle_number}w${i}`, state));
  await window_of(ms);
  const rate = ((ledger.acked - before) * 1000) / (performance.now() - began);
  server.gone = true;
  await server.kill9();
  for (const state of states) state.stopped = true;
  await Promise.all(clients);
  return rate;
}

// Waits until nothing but the tickers is at work. Stuck is what does not move: as long as the number goes down, it may
// take its time.
async function all_ends(server) {
  for (let left = Infinity; left > 3; ) {
    const before = left;
    await until(async () => {
      const { counts } = await server.get('/api/tasks?limit=1&counts=true', { check: false });
      left = counts.pending + counts.running + counts.resumed;
      return left <= 3 || left < before;
    }, { within: 30_000 * patience, what: `one of ${before} tasks comes to its end` });
  }
}

async function all_tasks(server) {
  const tasks = [];
  let cursor = '';
  do {
    const reply = await server.api('GET', `/api/tasks?limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, undefined, { check: false });
    assert.equal(reply.status, 200);
    tasks.push(...reply.json.tasks);
    cursor = reply.json.next_cursor;
  } while (cursor);
  return tasks;
}

// Prints 0, 1, 2, ... until it is stopped.
const ticker = (mark) => `: ${mark}; i=0; while :; do echo $i; i=$((i+1)); sleep 0.02; done`;

test('T1: nothing acknowledged is lost or doubled, nothing is stuck, nothing is left', { timeout: long ? 10_800_000 : 3_600_000 }, async (t) => {
  const cycles = Number(process.env.ERRAND_KILL_CYCLES ?? (long ? 2000 : 100));
  const server = await Server.start(t, { args: ['--max-concurrent', '6'] });
  const mark = marker();
  const tickers = [];
  for (let i = 0; i < 3; i++) tickers.push(await server.run(ticker(mark), { timeout_s: 86_400, title: 'ticker' }));
  // A shell that has forked and not yet become `sleep` looks like its parent: only the parents count.
  const shells = () => {
    const all = marked(mark).filter((p) => p.argv[0].endsWith('sh'));
    return all.filter((p) => !all.some((parent) => parent.pid === p.ppid));
  };
  await until(() => shells().length === 3, { what: 'the three commands run' });
  const pids = new Set(shells().map((p) => p.pid));
  const heard = new Map();
  const followers = [];
  for (let i = 0; i < 18; i++) {
    const task = tickers[i % 3];
    heard.set(i, []);
    followers.push(new Follower(server, `/api/tasks/${task.id}/stream`, { on_event: ({ event, data }) => event === 'output' && heard.get(i).push(data.data.text) }));
  }
  const wide = [1, 2].map(() => new Follower(server, '/api/stream', { dense: false, end_on: 'never' }));
  const ledger = new Ledger();
  const ready = [];
  let void_cycles = 0;
  let number = 0;
  for (let done = 0; done < cycles; number++) {
    const rate = await cycle(server, ledger, number, 60 + ((number * 37) % 240));
    if (rate >= least_rate / patience) done++;
    else void_cycles++;
    assert.ok(void_cycles <= cycles, 'most cycles count');
    await server.start();
    ready.push(server.ready_ms);
    // The newest acknowledged ones are the ones most likely lost.
    for (const [key, id] of [...ledger.created].slice(-5)) {
      const reply = await server.api('GET', `/api/tasks/${id}`, undefined, { check: false });
      assert.equal(reply.status, 200, `${key} ${id} was acknowledged and is gone after kill ${number}`);
      assert.equal(reply.json.labels.key, key);
    }
    if (number % 10 === 9) {
      for (const task of tickers) assert.equal((await server.task(task.id)).status, 'running');
    }
  }
  t.diagnostic(`${number} cycles (${void_cycles} void), ${ledger.acked} acknowledged operations, ready p50 ${percentile(ready, 0.5).toFixed()} ms, p99 ${percentile(ready, 0.99).toFixed()} ms`);
  assert.deepEqual(ledger.refused, []);
  assert.ok(percentile(ready, 0.99) <= 1000 * patience * busy_factor(), `ready again within 1 s (p99 ${percentile(ready, 0.99)})`);
  for (const pid of pids) assert.ok(marked(mark).some((p) => p.pid === pid), 'the same three processes ran through all of it');

  // More room, so that what is in line comes to its end soon.
  server.args = ['--max-concurrent', '16'];
  await server.restart();
  // What was never answered is repeated with its key, and then it is there once.
  for (const [key, body] of ledger.unsure) {
    const reply = await server.api('POST', '/api/tasks', body, { headers: { 'idempotency-key': key }, check: false });
    assert.ok([200, 201].includes(reply.status));
    ledger.created.set(key, reply.json.id);
  }
  await all_ends(server);

  const tasks = await all_tasks(server);
  const by_key = new Map();
  for (const task of tasks) {
    if (!task.labels?.key) continue;
    assert.ok(!by_key.has(task.labels.key), `${task.labels.key} is there twice`);
    by_key.set(task.labels.key, task);
  }
  assert.equal(new Set(tasks.map((task) => task.id)).size, tasks.length);
  let lost = 0;
  for (const [key, id] of ledger.created) if (by_key.get(key)?.id !== id) lost++;
  assert.equal(lost, 0, 'acknowledged creations lost');
  for (const id of ledger.cancelled) assert.equal((await server.task(id)).status, 'cancelled', 'an acknowledged cancel is final');

  // Each command ran at most once; each that completed ran exactly once (P3).
  const runs = new Map();
  for (const key of fs.readFileSync(path.join(server.folder, 'witness'), 'utf8').split('\n')) runs.set(key, (runs.get(key) ?? 0) + 1);
  runs.delete('');
  const states = {};
  for (const [key, task] of by_key) {
    states[task.status] = (states[task.status] ?? 0) + 1;
    if (task.kind !== 'command') continue;
    assert.ok((runs.get(key) ?? 0) <= 1, `${key} ran ${runs.get(key)} times`);
    if (task.status === 'completed') assert.equal(runs.get(key), 1, `${key} completed without running`);
    if (task.status === 'failed') assert.fail(`${key} failed: ${JSON.stringify((await server.task(task.id)).error)}`);
  }
  t.diagnostic(`${by_key.size} tasks by state: ${JSON.stringify(states)}; ${ledger.messages.length} messages, ${ledger.cancelled.size} cancels`);
  for (const { id, text } of ledger.messages) {
    const { messages } = await server.get(`/api/tasks/${id}/messages?limit=500`, { check: false });
    assert.equal(messages.filter((m) => m.role === 'user' && m.parts[0].text === text).length, 1, `${text} is in the conversation once`);
  }

  // The three went on whole.
  for (const task of tickers) assert.equal((await server.cancel(task.id)).status, 'cancelled');
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'no process is left' });
  await Promise.all(followers.map((follower) => follower.done));
  for (const follower of wide) await follower.stop();
  for (const follower of [...followers, ...wide]) assert.deepEqual(follower.books(), { gaps: 0, repeats: 0, malformed: 0, resets: 0 });
  for (const [i, task] of tickers.entries()) {
    await server.at_rest(task.id);
    let log = '';
    for (let offset = 0; ; ) {
      const piece = await server.get(`/api/tasks/${task.id}/log?offset=${offset}`, { check: false });
      if (!piece) break;
      log += piece;
      offset += Buffer.byteLength(piece);
    }
    const lines = log.trimEnd().split('\n');
    assert.deepEqual(lines, lines.map((_, n) => String(n)), 'its output has no gap and no repeat');
    for (let reader = i; reader < 18; reader += 3) assert.equal(heard.get(reader).join(''), log, 'nor has what a reader was shown');
  }
});

test('T1 with 100,000 stored tasks: ready again within 1 s, nothing lost', { timeout: 1_800_000 }, async (t) => {
  const stored = Number(process.env.ERRAND_KILL_STORED ?? 100_000) / (patience > 1 ? 50 : 1);
  const cycles = long ? 100 : 8;
  const server = await Server.start(t);
  const mark = marker();
  for (let i = 0; i < 3; i++) await server.run(ticker(mark), { timeout_s: 86_400, title: 'ticker' });
  const began = performance.now();
  let next = 0;
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (next < stored) {
      const n = next++;
      const reply = await server.api('POST', '/api/tasks', { kind: 'command', command: 'true', title: `stored ${n}` }, { check: false });
      assert.equal(reply.status, 201, reply.text);
    }
  }));
  t.diagnostic(`${stored} tasks stored in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const readers = Array.from({ length: 20 }, () => new Follower(server, '/api/stream', { dense: false, end_on: 'never' }));
  const ledger = new Ledger();
  const ready = [];
  for (let i = 0; i < cycles; i++) {
    await cycle(server, ledger, i, 150);
    await server.start({ within: 30_000 * patience });
    ready.push(server.ready_ms);
    const counted = (await server.get('/api/tasks?limit=1&total=true', { check: false })).total;
    assert.ok(counted >= stored + 3 + ledger.created.size, `${counted} of at least ${stored + 3 + ledger.created.size}`);
  }
  t.diagnostic(`ready ${ready.map((ms) => ms.toFixed()).join(', ')} ms (the last took ${cpu_ms(server.child.pid)} ms of CPU); ${ledger.acked} operations acknowledged`);
  assert.deepEqual(ledger.refused, []);
  for (const id of ledger.created.values()) assert.equal((await server.api('GET', `/api/tasks/${id}`, undefined, { check: false })).status, 200);
  assert.ok(Math.max(...ready) <= 1000 * patience * busy_factor(), `ready within 1 s: ${Math.max(...ready)} (the machine is ${busy_factor().toFixed(1)} times too busy)`);
  for (const reader of readers) {
    await reader.stop();
    assert.equal(reader.repeats + reader.malformed, 0);
  }
});
