// The scenarios by which the foundation is called done, word for word, through the command line alone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { demo, errand, kill9, patience, Server, until } from './harness/index.mjs';

test('Run three lines, kill -9 the server in the middle, then any verb: all three lines and one notice', async (t) => {
  const server = new Server(t); // Not started: the command line does that.
  const run = await errand(server, ['run', '--json', '--', 'sh', '-c', 'for i in 1 2 3; do echo $i; sleep 1; done']);
  assert.equal(run.code, 0, run.err);
  assert.equal(run.held, false, 'the server in the background does not hold the terminal');
  const id = run.json.id;
  await until(async () => (await errand(server, ['logs', id])).out.includes('1\n'), { what: 'the first line' });
  const first = server.card().pid;
  kill9(first);
  const list = await errand(server, ['list', '--json']);
  assert.equal(list.code, 0, list.err);
  assert.notEqual(server.card().pid, first, 'a new server was started');
  const waited = await errand(server, ['wait', id]);
  assert.equal(waited.code, 0, waited.err);
  assert.equal((await errand(server, ['logs', id])).out, '1\n2\n3\n');
  const token = fs.readFileSync(path.join(server.data_dir, 'token'), 'utf8').trim();
  Object.assign(server, { token, port: Number(new URL(server.card().url).port) });
  const task = await server.task(id);
  assert.equal(task.status, 'completed');
  assert.equal((await server.events(id)).filter((event) => event.type === 'notice.created').length, 1);
});

test('Ask the demo agent: it streams, is cancelled, retried, resumed', async (t) => {
  const server = await Server.start(t);
  const ask = await errand(server, ['ask', '--agent', 'demo', '--json', demo.long]);
  assert.equal(ask.code, 0, ask.err);
  const id = ask.json.id;
  const stream = server.stream(`/api/tasks/${id}/stream`);
  await stream.seen((event) => event.event === 'message.delta', { within: 20_000 * patience });
  assert.equal((await errand(server, ['cancel', id])).code, 0);
  await stream.closed;
  assert.equal(stream.types().at(-1), 'end');
  assert.equal((await server.at_rest(id)).status, 'cancelled');

  assert.equal((await errand(server, ['retry', id])).code, 0);
  await server.when(id, (task) => task.attempt === 2 && task.status === 'running');
  assert.equal((await errand(server, ['cancel', id])).code, 0);

  const quick = await errand(server, ['ask', '--agent', 'demo', '--wait', '--json', demo.short], { within: 60_000 });
  assert.equal(quick.code, 0, quick.err);
  const done = quick.json.id ?? quick.json.task_id;
  const resumed = await errand(server, ['resume', done, 'help']);
  assert.equal(resumed.code, 0, resumed.err);
  const task = await server.at_rest(done, { within: 20_000 * patience });
  assert.equal(task.status, 'completed');
  assert.equal(task.resume_count, 1);
  assert.equal(task.turn, 2);
});
