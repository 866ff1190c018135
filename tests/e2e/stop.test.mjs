// T21: SIGTERM drains. It stops taking work, commits, tells the streams, leaves children to the supervisor, exits 0.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assert_within, demo, Follower, marked, marker, patience, request, Server, until } from './harness/index.mjs';

test('T21: SIGTERM under load exits 0 within 5 s, tells every stream, loses nothing, and tasks go on', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '4'] });
  const mark = marker();
  const ticking = await server.run(`: ${mark}; i=0; while :; do echo $i; i=$((i+1)); sleep 0.02; done`);
  const agent = await server.ask(demo.long);
  const follower = new Follower(server, `/api/tasks/${ticking.id}/stream`);
  const streams = [server.stream(`/api/tasks/${ticking.id}/stream`), server.stream('/api/stream'), server.stream(`/api/tasks/${agent.id}/stream`)];
  await Promise.all(streams.map((stream) => stream.opened));
  const acked = [];
  let stopped = false;
  const writers = Array.from({ length: 10 }, async () => {
    while (!stopped) {
      try {
        const reply = await request({ port: server.port, method: 'POST', path: '/api/tasks', headers: { authorization: `Bearer ${server.token}` }, body: { kind: 'command', command: 'true' } });
        if (reply.status === 201) acked.push(reply.json.id);
        else assert.equal(reply.status, 503, reply.text);
      } catch {
        return;
      }
    }
  });
  await until(() => acked.length > 50, { what: 'there is load' });
  await until(() => marked(mark).length > 0, { what: 'the command runs' });
  const blocked = server.api('GET', `/api/tasks/${ticking.id}/result?block=true`).catch((error) => error);
  const exit = await server.term();
  stopped = true;
  await Promise.all([...writers, ...streams.map((stream) => stream.closed), blocked]);
  assert.equal(exit.code, 0, JSON.stringify(exit));
  assert_within(exit.ms, 5_000 * patience, 'the stop');
  t.diagnostic(`left after ${exit.ms.toFixed()} ms; ${acked.length} tasks were acknowledged`);
  for (const stream of streams) assert.equal(stream.types().at(-1), 'server.stopping');
  assert.ok(marked(mark).length > 0, 'the command goes on');
  await server.start();
  for (const id of acked) assert.equal((await server.api('GET', `/api/tasks/${id}`, undefined, { check: false })).status, 200);
  assert.equal((await server.task(ticking.id)).status, 'running');
  assert.ok(['running', 'pending'].includes((await server.task(agent.id)).status), 'the demo agent goes on');
  await server.cancel(ticking.id);
  await server.cancel(agent.id);
  await follower.done;
  assert.deepEqual(follower.books(), { gaps: 0, repeats: 0, malformed: 0, resets: 0 });
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'no process is left' });
});

test('An idle server leaves at once, twice asked or not; SIGINT is the same', async (t) => {
  const server = await Server.start(t);
  const once = await server.term();
  assert.equal(once.code, 0);
  assert_within(once.ms, 2_000 * patience, 'the stop of an idle one');
  await server.start();
  server.child.kill('SIGTERM');
  assert.equal((await server.term()).code, 0);
  await server.start();
  server.child.kill('SIGINT');
  assert.equal((await server.exited).code, 0);
});
