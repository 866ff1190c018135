// A server whose tasks are in PostgreSQL: the same server, and when PostgreSQL is away nothing untrue is said (R11.5).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { alive, binary, clean_env, Postgres, Server, temporary_folder, until } from './harness/index.mjs';

const with_store = (postgres) => ({ args: ['--store', postgres.url] });
const health = async (server) => (await server.api('GET', '/api/health')).json;

// A command that prints a line as often as it can be asked to, until its folder has a file `stop`.
const printing = 'n=0; while [ ! -e stop ]; do n=$((n+1)); echo line $n; echo $n > printed; sleep 0.05; done; echo "last $n"';
const printed = (server) => Number(fs.readFileSync(path.join(server.folder, 'printed'), 'utf8') || 0);

test('Tasks are kept in PostgreSQL, found again after kill -9, and nothing of them is in the data folder', async (t) => {
  const postgres = await Postgres.start(t);
  const server = await Server.start(t, with_store(postgres));
  const done = await server.run('echo 数据库; echo needle', { title: '迁移数据库', labels: { team: 'core' } });
  assert.equal((await server.at_rest(done.id)).status, 'completed');
  const told = await server.ask('say hello');
  await server.at_rest(told.id);
  const sleeper = await server.run('sleep 600', { timeout_s: 600 });
  await server.when(sleeper.id, ['running']);
  const before = await server.events(told.id);
  const { pid } = server;

  await server.kill9();
  await server.start();
  assert.notEqual(server.pid, pid);
  assert.deepEqual(await server.events(told.id), before);
  assert.equal((await server.task(sleeper.id)).status, 'running', 'its process goes on, and is taken up');
  assert.deepEqual((await server.get(`/api/tasks?q=${encodeURIComponent('数据')}`)).tasks.map((task) => task.id), [done.id], 'two Chinese characters');
  assert.deepEqual((await server.get('/api/tasks?label=team:core')).tasks.map((task) => task.id), [done.id]);
  assert.equal((await server.cancel(sleeper.id)).status, 'cancelled');
  assert.match((await health(server)).store, /^postgresql \d+/);
  assert.ok(!fs.existsSync(path.join(server.data_dir, 'errand.db')), 'there is no SQLite file');
  assert.equal(postgres.sql('SELECT count(*) FROM errand.tasks'), '3');
});

test('A second server on the same database is refused in plain words, and takes over where the first has left', async (t) => {
  const postgres = await Postgres.start(t);
  const first = await Server.start(t, with_store(postgres));
  const folder = temporary_folder(t);
  const serve = (...more) => spawnSync(binary, ['serve', '--listen', '127.0.0.1:0', '--data-dir', path.join(folder, 'data'), ...more], { env: clean_env(folder), encoding: 'utf8', timeout: 60_000 });
  const refused = serve('--store', postgres.url);
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, new RegExp(`Another errand server \\(process ${first.pid} on .*\\) uses this database`));
  const done = await first.run('true');
  await first.at_rest(done.id);
  await first.term();
  const second = await Server.start(t, { ...with_store(postgres), folder });
  assert.equal((await second.task(done.id)).status, 'completed');

  const wrong = serve('--store', 'mysql://localhost/x');
  assert.notEqual(wrong.status, 0);
  assert.match(wrong.stderr, /postgres:\/\//);
});

test('PostgreSQL is killed while a command runs: callers are told, the command goes on, and all of it is stored later', async (t) => {
  const postgres = await Postgres.start(t);
  const server = await Server.start(t, with_store(postgres));
  const task = await server.run(printing, { work_dir: server.folder, timeout_s: 600 });
  await until(async () => (await server.task(task.id)).progress.output_lines > 3, { what: 'it prints' });

  await postgres.kill9();
  await until(async () => (await health(server)).status === 'away', { what: 'health says so' });
  const state = await server.api('GET', '/api/health');
  assert.equal(state.status, 200, 'the server is there, and says what is not');
  assert.match(state.json.problem, /PostgreSQL/);
  const launch = await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' });
  assert.equal(launch.status, 503, launch.text);
  assert.equal(launch.json.reason, 'away');
  assert.equal(launch.headers['retry-after'], '1');
  const read = await server.api('GET', `/api/tasks?q=anything`);
  assert.equal(read.status, 503, read.text);
  assert.equal(read.headers['retry-after'], '1');
  const so_far = printed(server);
  await until(() => printed(server) > so_far + 5, { what: 'the command goes on' });
  assert.match((await server.api('GET', '/metrics')).text, /errand_store\{state="away"\} 1/);

  await postgres.start();
  await until(async () => (await health(server)).status === 'ok', { what: 'it is back' });
  await server.at_rest((await server.run('true')).id);
  fs.writeFileSync(path.join(server.folder, 'stop'), '');
  const ended = await server.at_rest(task.id);
  assert.equal(ended.status, 'completed');
  const log = await server.api('GET', `/api/tasks/${task.id}/log`);
  const lines = log.text.trimEnd().split('\n');
  const last = Number(/^last (\d+)$/.exec(lines.at(-1))[1]);
  assert.deepEqual(lines.slice(0, -1), Array.from({ length: last }, (_, i) => `line ${i + 1}`), 'every line, once, in order');
  const events = await server.events(task.id);
  assert.deepEqual(events.map((event) => event.seq), events.map((_, i) => i + 1), 'and no gap in what was stored');
  assert.equal((await server.get('/api/tasks?limit=500')).tasks.length, 2, 'what was refused was not stored');
});

test('Both are killed while a command runs: a server without its database does not start, and then takes the command up', async (t) => {
  const postgres = await Postgres.start(t);
  const server = await Server.start(t, with_store(postgres));
  const task = await server.run(printing, { work_dir: server.folder, timeout_s: 600 });
  await until(async () => (await server.task(task.id)).progress.output_lines > 3, { what: 'it prints' });
  await postgres.kill9();
  await server.kill9();
  await assert.rejects(() => server.start(), /PostgreSQL cannot be reached/);
  const so_far = printed(server);
  await until(() => printed(server) > so_far + 5, { what: 'the command goes on without either' });
  await postgres.start();
  await server.start();
  fs.writeFileSync(path.join(server.folder, 'stop'), '');
  const ended = await server.at_rest(task.id);
  assert.equal(ended.status, 'completed');
  assert.equal(ended.attempt, 1);
  const log = await server.api('GET', `/api/tasks/${task.id}/log`);
  assert.match(log.text, /^line 1\n[^]*\nlast \d+\n$/);
});

test('Under kills of both, every launch that was acknowledged runs once, and one that is repeated makes no second task', async (t) => {
  const postgres = await Postgres.start(t);
  const server = await Server.start(t, { args: ['--store', postgres.url, '--max-concurrent', '4'] });
  const witness = path.join(server.folder, 'witness');
  fs.mkdirSync(witness);
  const total = 60;
  const ids = new Map();
  // Each is asked for until it is acknowledged, always with its key.
  const launch = async (n) => {
    const body = { kind: 'command', command: `set -C; : > ${witness}/${n} && sleep 0.05` };
    await until(
      async () => {
        await server.ready;
        const reply = await server.api('POST', '/api/tasks', body, { headers: { 'idempotency-key': `n${n}` }, check: false });
        if (reply.status !== 201 && reply.status !== 200) return false;
        ids.set(n, reply.json.id);
        return true;
      },
      { within: 120_000, what: `launch ${n} is acknowledged` },
    );
  };
  const launching = (async () => {
    for (let from = 0; from < total; from += 6) await Promise.all([0, 1, 2, 3, 4, 5].map((i) => launch(from + i)));
  })();
  await until(() => ids.size >= 12, { what: 'some are launched' });
  await postgres.kill9();
  await until(async () => (await health(server)).status === 'away', { what: 'health says so' });
  await postgres.start();
  await until(() => ids.size >= 30, { within: 60_000, what: 'more are launched' });
  await server.kill9();
  await server.start();
  await until(() => ids.size >= 42, { within: 60_000, what: 'and more' });
  await postgres.kill9();
  await server.kill9();
  await postgres.start();
  await server.start();
  await launching;
  for (const [n, id] of ids) {
    const task = await server.at_rest(id, { within: 60_000 });
    assert.equal(task.status, 'completed', `${n}: ${JSON.stringify(task.error)}`);
  }
  assert.equal(fs.readdirSync(witness).length, total);
  const all = await server.get('/api/tasks?limit=500&total=true');
  assert.equal(all.total, total, 'no launch made two tasks');
  assert.equal(new Set(ids.values()).size, total);
  assert.ok(alive(server.pid));
});
