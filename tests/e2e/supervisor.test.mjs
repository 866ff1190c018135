// kill -9 of the supervisor: its tasks end `failed: interrupted`, no process is left, and the server goes on (R2.2, P3, P7).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { alive, binary, kill9, marked, marker, patience, Server, until } from './harness/index.mjs';

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

// As an upgrade and a cleaned cache leave it.
test('Its binary was removed or replaced and it died: what runs is interrupted, and new work runs', async (t) => {
  const server = new Server(t);
  const copy = path.join(server.folder, 'errand');
  fs.copyFileSync(binary, copy);
  server.wrapper = ['/bin/sh', '-c', 'shift; exec "$0" "$@"', copy];
  await server.start();
  for (const [name, change] of [['removed', () => fs.rmSync(copy)], ['replaced', () => fs.writeFileSync(copy, 'another version', { mode: 0o755 })]]) {
    const mark = marker();
    const task = await server.run(`echo printed; sleep ${mark}`);
    await until(async () => (await server.get(`/api/tasks/${task.id}/log`)) === 'printed\n', { what: 'it printed' });
    change();
    server.kill9_supervisor();
    const done = await server.at_rest(task.id, { within: 20_000 * patience });
    assert.equal(done.error?.code, 'interrupted', name);
    assert.equal(await server.get(`/api/tasks/${task.id}/log`), 'printed\n', 'what it printed is kept');
    const next = await server.at_rest((await server.run('echo works')).id, { within: 30_000 * patience });
    assert.deepEqual([next.status, next.result], ['completed', 'works\n'], `${name}: ${JSON.stringify(next.error)}`);
    const [pid] = server.supervisor_pids();
    assert.equal(fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), 'errand', 'ps shows what it is');
  }
});

test('None can be started: whoever waits is told so, and when that is mended work runs again', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '5'] });
  const mark = marker();
  const at_work = await server.run(`echo printed; sleep ${mark}`);
  await until(async () => (await server.get(`/api/tasks/${at_work.id}/log`)) === 'printed\n', { what: 'it printed' });
  const lock = path.join(server.data_dir, 'supervisor.lock');
  fs.rmSync(lock);
  fs.mkdirSync(lock);
  server.kill9_supervisor();
  const waits = await server.run('echo later');
  const failed = await server.at_rest(waits.id, { within: 60_000 * patience });
  assert.deepEqual([failed.status, failed.error?.code], ['failed', 'supervisor_unavailable']);
  assert.match(failed.error.message, /supervisor\.log/, 'it says where to look');
  const lost = await server.at_rest(at_work.id, { within: 60_000 * patience });
  assert.equal(lost.error?.code, 'interrupted', JSON.stringify(lost.error));
  assert.equal(await server.get(`/api/tasks/${at_work.id}/log`), 'printed\n', 'what it printed is kept');
  assert.equal(marked(mark).length, 0, 'and nothing of it is left');
  const again = await server.run('echo soon');
  assert.equal((await server.at_rest(again.id, { within: 60_000 * patience })).error?.code, 'supervisor_unavailable');
  fs.rmdirSync(lock);
  await until(() => server.supervisor_pids().length > 0, { within: 60_000 * patience, what: 'a supervisor runs' });
  await server.expect(200, 'POST', `/api/tasks/${waits.id}/retry`, {});
  const done = await server.at_rest(waits.id, { within: 60_000 * patience });
  assert.deepEqual([done.status, done.result], ['completed', 'later\n']);
});
