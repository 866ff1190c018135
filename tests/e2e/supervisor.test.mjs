// kill -9 of the supervisor: its tasks end `failed: interrupted`, no process is left, and the server goes on (R2.2, P3, P7).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { alive, kill9, marked, marker, patience, Server, until } from './harness/index.mjs';

test('Its tasks are interrupted, their processes gone within 5 s, and new work runs', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const tasks = [];
  for (const command of [`sleep ${mark}`, `setsid sleep ${mark} & sleep ${mark}`, `trap '' TERM; sleep ${mark} & wait`]) tasks.push(await server.run(command));
  await until(() => marked(mark).length >= 4, { what: 'all run' });
  const waiting = await server.run('echo later');
  server.kill9_supervisor();
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'no process is left' });
  for (const { id } of tasks) {
    const done = await server.at_rest(id);
    assert.equal(done.status, 'failed');
    assert.equal(done.error.code, 'interrupted');
    assert.ok(done.error.message.length > 10);
  }
  assert.equal((await server.at_rest(waiting.id)).status, 'completed', 'what was waiting runs under a new supervisor');
  const again = await server.expect(200, 'POST', `/api/tasks/${tasks[0].id}/retry`, {});
  assert.equal(again.attempt, 2);
  await until(() => marked(mark).length > 0, { what: 'a retry runs' });
  await server.cancel(tasks[0].id);
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'no process is left' });
});

test('Server and supervisor killed together: interrupted after the restart, nothing ran twice', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`echo ran >>witness; echo printed; sleep ${mark}`, { work_dir: server.folder });
  await until(async () => (await server.get(`/api/tasks/${task.id}/log`)) === 'printed\n', { what: 'it printed' });
  const supervisor = server.supervisor_pids()[0];
  kill9(server.child.pid);
  kill9(supervisor);
  await server.exited;
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'no process is left' });
  await server.start();
  const done = await server.at_rest(task.id);
  assert.equal(done.error?.code, 'interrupted');
  assert.equal(await server.get(`/api/tasks/${task.id}/log`), 'printed\n', 'what it printed is kept');
  const witness = await server.at_rest((await server.run('cat witness', { work_dir: server.folder })).id);
  assert.equal(witness.result.trim(), 'ran');
});

test('A keeper that is killed leaves no stray, and its task tells the truth (P9)', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`setsid sleep ${mark} & sleep ${mark}`);
  await until(() => marked(mark).length >= 2, { what: 'it runs' });
  const [supervisor, ...keepers] = server.supervisor_pids();
  assert.ok(supervisor && keepers.length >= 1, 'a keeper per run');
  kill9(keepers[0]);
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'no process is left' });
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'failed');
  assert.ok(alive(supervisor), 'the supervisor goes on');
});

test('Without runs and without a server the supervisor leaves by itself', { timeout: 60_000 }, async (t) => {
  const server = await Server.start(t);
  await server.at_rest((await server.run('true')).id);
  await server.kill9();
  await until(() => server.supervisor_pids().length === 0, { within: 20_000 * patience, what: 'it leaves' });
});
