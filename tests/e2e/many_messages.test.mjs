// Very many messages to one busy task: as many wait as may, the rest is refused with what to do, and nobody else is slowed down.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assert_within, errand, patience, percentile, Server, until } from './harness/index.mjs';

test('A busy task takes 1,000 messages that wait; more are 429, and others are served as before', { timeout: 300_000 }, async (t) => {
  const server = await Server.start(t);
  const task = await server.ask('silent 600');
  await until(async () => (await server.task(task.id)).status === 'running', { what: 'it runs' });
  const total = 4000;
  const counts = { 202: 0, 429: 0 };
  const lists = [];
  let sent = 0;
  let refused;
  let done = false;
  const sender = async () => {
    while (sent < total) {
      sent++;
      const reply = await server.api('POST', `/api/tasks/${task.id}/message`, { message: `message ${sent}`, when: 'queue' }, { check: false });
      counts[reply.status] = (counts[reply.status] ?? 0) + 1;
      if (reply.status === 429) refused = reply;
    }
  };
  const watcher = (async () => {
    while (!done) {
      const began = performance.now();
      assert.equal((await server.api('GET', '/api/tasks?limit=20', undefined, { check: false })).status, 200);
      lists.push(performance.now() - began);
    }
  })();
  const began = performance.now();
  await Promise.all(Array.from({ length: 32 }, sender));
  const rate = total / ((performance.now() - began) / 1000);
  done = true;
  await watcher;
  t.diagnostic(`${JSON.stringify(counts)}, ${rate.toFixed(0)}/s; a list meanwhile p99 ${percentile(lists, 0.99).toFixed(1)} ms`);
  assert.deepEqual(counts, { 202: 1000, 429: total - 1000 });
  assert.equal(refused.json.reason, 'too_many_messages');
  assert.match(refused.json.detail, /1000 messages already wait/);
  assert_within(percentile(lists, 0.99), 300 * patience, 'p99 of a list meanwhile');
  // Held to the API's document, once; and the same from a terminal.
  assert.equal((await server.api('POST', `/api/tasks/${task.id}/message`, { message: 'more' })).status, 429);
  const cli = await errand(server, ['send', task.id, 'more']);
  assert.notEqual(cli.code, 0);
  assert.match(cli.err, /1000 messages already wait/);
  // It is told of each of the thousand, in order, when its turn comes to it.
  const waiting = await server.get(`/api/tasks/${task.id}/messages?limit=500`);
  assert.equal(waiting.messages.length, 500);
  assert.equal((await server.api('POST', `/api/tasks/${task.id}/cancel`)).status, 200);
});
