// The shortest way through everything: what the sanitizer build runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { demo, errand, Follower, marked, marker, patience, Server, until } from './harness/index.mjs';

test('A command, an agent, a stream, a cancel, kill -9, SIGTERM', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const ticking = await server.run(`: ${mark}; i=0; while :; do echo $i; i=$((i+1)); sleep 0.05; done`);
  const follower = new Follower(server, `/api/tasks/${ticking.id}/stream`);
  const wide = new Follower(server, `/api/stream?tasks=${ticking.id}`, { dense: false, end_on: 'never' });
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const quick = await server.run('echo hello', { parent_session_id: session.id });
  assert.equal((await server.at_rest(quick.id)).status, 'completed');
  const agent = await server.ask(demo.tools);
  assert.equal((await server.at_rest(agent.id, { within: 20_000 * patience })).status, 'completed');
  await server.expect(202, 'POST', `/api/tasks/${agent.id}/message`, { message: 'help' });
  await server.restart();
  assert.equal((await server.at_rest(agent.id, { within: 20_000 * patience })).status, 'completed');
  assert.equal((await server.get(`/api/sessions/${session.id}/notices`)).notices.length, 1);
  assert.equal((await errand(server, ['list', '--json'])).code, 0);
  assert.equal((await server.term()).code, 0, server.log_tail());
  await server.start();
  await until(() => follower.received > 10, { what: 'output flows' });
  await server.cancel(ticking.id);
  await follower.done;
  await wide.stop();
  assert.deepEqual(follower.books(), { gaps: 0, repeats: 0, malformed: 0, resets: 0 });
  assert.equal(wide.repeats, 0);
  await until(() => marked(mark).length === 0, { what: 'no process is left' });
  for (const body of ['{', '{"kind":"command","command":1}', '[]']) assert.equal((await server.api('POST', '/api/tasks', body)).status, 400);
  await server.expect(204, 'DELETE', `/api/tasks/${agent.id}`);
  assert.equal((await server.term()).code, 0, 'no sanitizer report');
  assert.doesNotMatch(server.log_tail(1000), /Sanitizer|runtime error/);
});
