// kill -9 of errand, of OpenCode and of both while a session's tasks are at work: nothing is lost, nothing is told twice.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { call, kill9, opencode_skip as skip, opencode_world, task_id, turn, until } from './harness/index.mjs';

// The server that the plugin started in place of the one that was killed.
async function adopt(t, server, old) {
  const card = await until(() => server.card()?.pid !== old && server.card(), { what: 'another server runs', within: 180_000 });
  t.after(() => kill9(card.pid));
  server.port = Number(new URL(card.url).port);
  return card.pid;
}

// Each of these tasks has told the session once, and nothing is owed any more.
async function told_once({ server, opencode }, session, ids) {
  const counts = async () => {
    const seen = new Map(ids.map((id) => [id, 0]));
    for (const part of await opencode.notices(session)) seen.set(part.metadata.errand_task, (seen.get(part.metadata.errand_task) ?? 0) + 1);
    return seen;
  };
  await until(async () => [...(await counts()).values()].every((count) => count > 0), { what: 'all are told', within: 120_000 });
  await until(async () => (await server.get(`/api/sessions/${session}/notices`)).notices.length === 0, { what: 'all are taken', within: 180_000 });
  assert.deepEqual([...(await counts())], ids.map((id) => [id, 1]), 'each once');
}

// A command that ends when it is let go: nothing here depends on how fast the machine is.
const gate = (folder, n) => path.join(folder, `go-${n}`);
const gated = ({ folder }, n) => ({
  name: 'background_execute',
  input: { command: `until [ -e ${gate(folder, n)} ]; do sleep 0.2; done; echo result ${n}`, timeout: 0 },
});
const let_go = ({ folder }, ...numbers) => numbers.forEach((n) => fs.writeFileSync(gate(folder, n), ''));

const ids_of = (calls) => calls.map((part) => task_id(part.state.output));

test('kill -9 of errand while a call waits: the plugin starts it again, the call gets its answer, the rest is told once', { skip, timeout: 900_000 }, async (t) => {
  const all = await opencode_world(t);
  const { server, opencode, model } = all;
  const session = await opencode.session();
  const { calls } = await turn(all, session, [
    { tools: [1, 2, 3].map((n) => gated(all, n)) },
  ]);
  const ids = ids_of(calls);
  model.rule('wait for the last', [call('background_output', { task_id: ids[2], block: true, timeout: 120 }), { text: 'I have it' }], { tools: true });
  await opencode.prompt_async(session, 'wait for the last');
  await until(async () => (await opencode.calls(session)).at(-1)?.state.status === 'running', { what: 'the call waits', within: 120_000 });
  const old = server.pid;
  await server.kill9();
  await adopt(t, server, old);
  let_go(all, 1, 2, 3);
  await opencode.idle(session, { within: 180_000 });
  const last = (await opencode.calls(session)).at(-1);
  assert.match(last.state.output ?? last.state.error, /result 3/);
  await told_once(all, session, ids.slice(0, 2));
  const { tasks } = await server.get(`/api/tasks?parent_session_id=${session}`);
  assert.deepEqual(tasks.map((task) => task.status), ['completed', 'completed', 'completed'], 'nothing ran twice, nothing was lost');
});

test('kill -9 of OpenCode: what ended meanwhile is told by the next one, unasked', { skip, timeout: 900_000 }, async (t) => {
  const all = await opencode_world(t);
  const { server, opencode } = all;
  const session = await opencode.session();
  const { calls } = await turn(all, session, [{ tools: [1, 2, 3].map((n) => gated(all, n)) }]);
  const ids = ids_of(calls);
  await opencode.kill9();
  let_go(all, 1, 2, 3);
  for (const id of ids) await server.at_rest(id);
  await opencode.start();
  await told_once(all, session, ids);
});

test('kill -9 of both', { skip, timeout: 900_000 }, async (t) => {
  const all = await opencode_world(t);
  const { server, opencode } = all;
  const session = await opencode.session();
  const { calls } = await turn(all, session, [{ tools: [1, 2, 3].map((n) => gated(all, n)) }]);
  const ids = ids_of(calls);
  const old = server.pid;
  await Promise.all([opencode.kill9(), server.kill9()]);
  await opencode.start();
  await opencode.notices(session);
  await adopt(t, server, old);
  let_go(all, 1, 2, 3);
  await told_once(all, session, ids);
});

test('20 tasks at once, OpenCode killed again and again while it is told: each is told once', { skip, timeout: 1_500_000 }, async (t) => {
  const all = await opencode_world(t, { args: ['--max-concurrent', '20'] });
  const { opencode } = all;
  const session = await opencode.session();
  const tools = Array.from({ length: 20 }, (_, n) => gated(all, n));
  const { calls } = await turn(all, session, [{ tools }]);
  assert.equal(calls.length, 20);
  const ids = ids_of(calls);
  const numbers = [...Array(20).keys()];
  for (const told of [1, 6, 11]) {
    let_go(all, ...numbers.splice(0, 5));
    await until(async () => (await opencode.notices(session)).length >= told, { what: `${told} are told`, within: 180_000 });
    await opencode.kill9();
    await opencode.start();
  }
  let_go(all, ...numbers);
  await told_once(all, session, ids);
});
