// The set-up command of a task's own work tree: a part of its preparation that is seen, can fail, is cancelled with the task, and
// goes on when the server is killed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, marked, marker, Server, until } from './harness/index.mjs';
import { Repository } from './harness/repository.mjs';

const log_of = (server, id, query = '') => server.get(`/api/tasks/${id}/log?setup=true${query}`);
const states = async (server, id) => (await server.events(id)).filter((event) => event.type === 'task.status').map((event) => event.data.task.isolation?.state ?? null);

test('It runs in the new work tree before the task does, once, and what it changed is not the task’s', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t);
  repo.write('.gitignore', 'deps\n');
  repo.commit();
  const before = repo.user_state();
  const setup = 'pwd; echo "$WHO" >&2; mkdir deps; echo dep > deps/d; echo set-up >> b.txt; echo ran >> deps/count';
  const task = await server.run('cat deps/d b.txt; echo task > t.txt', { work_dir: repo.top, isolate: 'worktree', isolate_setup: setup, env: { WHO: 'me' } });
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  assert.equal(await server.get(`/api/tasks/${task.id}/log`), 'dep\nb\nset-up\n');
  assert.equal(await log_of(server, task.id), `${done.isolation.path}\nme\n`);
  assert.equal(await log_of(server, task.id, '&stream=stderr'), 'me\n');
  assert.equal(await log_of(server, task.id, '&tail=1'), 'me\n');
  assert.deepEqual((await server.get(`/api/tasks/${task.id}/changes`)).files.map((file) => file.path), ['t.txt']);
  assert.ok(done.isolation.bytes > 0, 'its size is known');
  repo.assert_untouched(before);
  await server.expect(200, 'POST', `/api/tasks/${task.id}/merge`);
  assert.equal(repo.read('b.txt'), 'b\n');
  assert.equal(repo.read('t.txt'), 'task\n');

  const cli = (words) => errand(server, words, { cwd: repo.top });
  assert.equal((await cli(['logs', '--setup', task.id])).out, `${done.isolation.path}\nme\n`);
  const ran = await cli(['run', '--isolate-setup', 'echo from the command line', '--wait', '--json', '--', 'true']);
  assert.equal(ran.code, 0, ran.err);
  assert.equal((await cli(['logs', '--setup', ran.json.id])).out, 'from the command line\n');
  const none = await server.at_rest((await server.run('true', { work_dir: repo.top, isolate: 'worktree' })).id);
  assert.equal((await server.expect(404, 'GET', `/api/tasks/${none.id}/log?setup=true`)).reason, 'no_log');
  await server.expect(400, 'GET', `/api/tasks/${task.id}/log?setup=true&run=1`);
  await server.expect(400, 'GET', `/api/tasks/${task.id}/log?setup=true&follow=true`);
  // The log goes with the task.
  await server.expect(204, 'DELETE', `/api/tasks/${task.id}`);
  await until(() => !fs.readdirSync(path.join(server.data_dir, 'run')).some((name) => name.startsWith(`${task.id}__setup_`)), { what: 'nothing is kept of it' });
});

test('It is seen while it works; where it fails the task fails, is not run in the folder, and a retry tries again', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_ISOLATE_SETUP: 'echo the server’s' } });
  const repo = new Repository(t);
  const before = repo.user_state();
  const go = path.join(repo.folder, 'go');
  const setup = `echo working; while [ ! -e ${go} ]; do sleep 0.05; done; cat ${go}; echo "no such package" >&2; exit $(cat ${go})`;
  const task = await server.run('touch ran', { work_dir: repo.top, isolate: 'worktree', isolate_setup: setup });
  await until(async () => (await server.api('GET', `/api/tasks/${task.id}/log?setup=true`)).text === 'working\n', { what: 'its log is read while it works' });
  const seen = await server.task(task.id);
  assert.equal(seen.status, 'running');
  assert.equal(seen.isolation.state, 'preparing');
  assert.ok(fs.existsSync(seen.isolation.path));
  fs.writeFileSync(go, '7');
  const failed = await server.at_rest(task.id);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.reason, 'isolation');
  assert.match(failed.error.message, /set-up command.*exited with code 7.*errand logs --setup/s);
  assert.equal(failed.isolation, null);
  assert.ok(!repo.has('ran'));
  assert.deepEqual(repo.branches(), ['main']);
  repo.assert_untouched(before);
  assert.match(await log_of(server, task.id), /no such package/, 'its log says why');
  assert.deepEqual((await states(server, task.id)).filter((state, i, all) => state !== all[i - 1]), [null, 'preparing', null]);

  fs.writeFileSync(go, '0');
  await server.expect(200, 'POST', `/api/tasks/${task.id}/retry`);
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  assert.equal(done.isolation.state, 'ready');
  // What the launch does not say is the server's.
  const other = await server.at_rest((await server.run('true', { work_dir: repo.top, isolate: 'worktree' })).id);
  assert.equal(await log_of(server, other.id), 'the server’s\n');
});

test('It is cancelled with its task: nothing of it runs, and nothing of the work tree is left', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t);
  const mark = marker();
  const task = await server.run('touch ran', { work_dir: repo.top, isolate: 'worktree', isolate_setup: `echo begun; sleep ${mark}` });
  await until(async () => (await server.api('GET', `/api/tasks/${task.id}/log?setup=true`)).text === 'begun\n', { what: 'it works' });
  await server.cancel(task.id);
  const rest = await server.at_rest(task.id);
  assert.equal(rest.status, 'cancelled');
  assert.equal(rest.isolation, null);
  assert.deepEqual(marked(mark), []);
  assert.deepEqual(repo.branches(), ['main']);
});

test('It goes on when the server is killed, is not begun a second time, and the task begins behind it', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t);
  const go = path.join(repo.folder, 'go');
  const task = await server.run('cat count', { work_dir: repo.top, isolate: 'worktree', isolate_setup: `echo x >> count; echo begun; while [ ! -e ${go} ]; do sleep 0.05; done; echo over` });
  await until(async () => (await server.api('GET', `/api/tasks/${task.id}/log?setup=true`)).text === 'begun\n', { what: 'it works' });
  await server.kill9();
  await server.start();
  assert.equal((await server.task(task.id)).isolation.state, 'preparing');
  fs.writeFileSync(go, '');
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  assert.equal(done.result, 'x\n');
  assert.equal(await log_of(server, task.id), 'begun\nover\n');
  // And where it ends while no server runs.
  const second = path.join(repo.folder, 'second');
  const late = await server.run('cat count', { work_dir: repo.top, isolate: 'worktree', isolate_setup: `echo y >> count; echo begun; while [ ! -e ${second} ]; do sleep 0.05; done` });
  await until(async () => (await server.api('GET', `/api/tasks/${late.id}/log?setup=true`)).text === 'begun\n', { what: 'it works' });
  await server.kill9();
  fs.writeFileSync(second, '');
  await server.start();
  const ended = await server.at_rest(late.id);
  assert.equal(ended.status, 'completed', JSON.stringify(ended.error));
  assert.equal(ended.result, 'y\n');
});

test('An agent can have one, and a subtask works in its parent’s work tree without', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t);
  const agent = await server.expect(201, 'POST', '/api/agents', { name: 'prepared', driver: 'demo', isolate: 'worktree', isolate_setup: 'echo of the agent' });
  assert.equal(agent.isolate_setup, 'echo of the agent');
  const task = await server.launch({ agent_id: 'prepared', message: 'short', work_dir: repo.top });
  const done = await server.at_rest(task.id);
  assert.equal(done.isolation.state, 'ready', JSON.stringify(done.error));
  assert.equal(await log_of(server, task.id), 'of the agent\n');
});
