// Launching, listing, searching, reading, deleting and clearing tasks (R1.3, R1.4, R1.8, R3.4, R3.6, R10.1, R10.2, R10.4).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { marked, marker, patience, Server, until } from './harness/index.mjs';

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test('A launched command answers at once and completes with its output as the result', async (t) => {
  const server = await Server.start(t);
  // What it waits for comes only after the answer.
  const go = path.join(server.folder, 'go');
  const work = `until [ -e '${go}' ]; do sleep 0.05; done; echo hello; echo oops >&2`;
  const task = await server.run(work, { description: 'say hello', labels: { team: 'a b' } });
  fs.writeFileSync(go, '');
  assert.match(task.id, /^task_[0-9a-z]{26}$/);
  assert.match(task.session_id, /^ses_/);
  assert.ok(['pending', 'running'].includes(task.status));
  assert.equal(task.kind, 'command');
  assert.equal(task.title, 'say hello');
  assert.match(task.created_at, time);
  assert.deepEqual(task.labels, { team: 'a b' });

  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed');
  assert.equal(done.reason, 'finished');
  assert.equal(done.exit_code, 0);
  assert.equal(done.signal, null);
  assert.equal(done.error, null);
  assert.match(done.result, /hello/);
  for (const name of ['created_at', 'started_at', 'completed_at', 'updated_at']) assert.match(done[name], time);
  assert.ok(done.created_at <= done.started_at && done.started_at <= done.completed_at);
  assert.equal(done.progress.output_bytes, 11);
  assert.equal(done.progress.output_lines, 2);
});

test('A command may be a list of words, and then no shell reads them', async (t) => {
  const server = await Server.start(t);
  const task = await server.run(['printf', '%s|', 'a b', '$HOME', ';', '*']);
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed');
  assert.equal(await server.get(`/api/tasks/${task.id}/log`), 'a b|$HOME|;|*|');
});

test('A failing command keeps its exit code, a killed one its signal, one that cannot start its reason (R1.5, P9)', async (t) => {
  const server = await Server.start(t);
  const exits = await server.at_rest((await server.run('echo why >&2; exit 7')).id);
  assert.equal(exits.status, 'failed');
  assert.equal(exits.exit_code, 7);
  assert.equal(exits.reason, exits.error.code);
  assert.match(JSON.stringify(exits.error), /7/);
  const dies = await server.at_rest((await server.run('kill -SEGV $$')).id);
  assert.equal(dies.status, 'failed');
  assert.equal(dies.signal, 11);
  const absent = await server.at_rest((await server.run(['/no/such/program'])).id);
  assert.equal(absent.status, 'failed');
  assert.equal(absent.reason, 'spawn_failed');
  assert.match(absent.error.message, /\/no\/such\/program.*[^.]\.$/);
});

test('A title is the launch\'s own, else the description, else the first line, cut at 80 characters', async (t) => {
  const server = await Server.start(t);
  const cases = [
    [{ title: 'own', description: 'd', command: 'true' }, 'own'],
    [{ description: 'described', command: 'true' }, 'described'],
    [{ command: 'true # first\ntrue # second' }, 'true # first'],
    [{ command: `true ${'字'.repeat(100)}` }, `true ${'字'.repeat(74)}…`],
  ];
  for (const [launch, title] of cases) assert.equal((await server.launch({ kind: 'command', ...launch })).title, title);
});

test('Work dir and environment are the launch\'s; the environment is never shown (R12.2)', async (t) => {
  const server = await Server.start(t, { env: { FROM_SERVER: 'passed', SECRET_TOKEN: 'canary-one' } });
  const task = await server.run('pwd; echo "${#GIVEN} $FROM_SERVER [$SECRET_TOKEN]"', {
    work_dir: '/usr',
    env: { GIVEN: 'canary-two' },
    pass_env: ['FROM_SERVER'],
  });
  await server.at_rest(task.id);
  assert.equal(await server.get(`/api/tasks/${task.id}/log`), '/usr\n10 passed []\n');
  for (const target of [`/api/tasks/${task.id}`, '/api/tasks', `/api/tasks/${task.id}/events`, `/api/tasks/${task.id}/messages`]) {
    assert.ok(!(await server.api('GET', target)).text.includes('canary'), target);
  }
  assert.ok(!server.log_tail(1000).includes('canary'), 'nothing of it is in the log');
});

test('At most three work at once, the rest wait in line with their place shown (R1.7)', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const tasks = [];
  for (let i = 0; i < 5; i++) tasks.push(await server.run(`sleep ${mark}`));
  await until(async () => (await server.get('/api/tasks/running/count')).count === 3, { what: 'three run' });
  assert.equal((await server.task(tasks[3].id)).queue_position, 1);
  assert.equal((await server.task(tasks[4].id)).queue_position, 2);
  assert.equal((await server.task(tasks[4].id)).status, 'pending');
  await server.cancel(tasks[0].id);
  await server.when(tasks[3].id, ['running']);
  assert.equal((await server.task(tasks[4].id)).queue_position, 1);
  for (const task of tasks.slice(1)) await server.cancel(task.id);
  await until(() => marked(mark).length === 0, { what: 'no process is left' });
});

test('A launch over the limit is refused unless the server allows it (R1.7)', async (t) => {
  const server = await Server.start(t);
  const refused = await server.expect(403, 'POST', '/api/tasks', { kind: 'command', command: 'true', authorize_over_limit: true });
  assert.match(refused.detail, /allow_over_limit/);
  assert.equal((await server.get('/api/tasks')).tasks.length, 0);
});

test('Creating with an Idempotency-Key happens once (P2)', async (t) => {
  const server = await Server.start(t);
  const headers = { 'idempotency-key': 'key-1' };
  const body = { kind: 'command', command: 'echo once' };
  const [first, ...more] = await Promise.all(Array.from({ length: 8 }, () => server.api('POST', '/api/tasks', body, { headers })));
  assert.ok([200, 201].includes(first.status));
  for (const other of more) assert.equal(other.json.id, first.json.id);
  await server.restart();
  assert.equal((await server.api('POST', '/api/tasks', body, { headers })).json.id, first.json.id, 'also after kill -9');
  const other = await server.api('POST', '/api/tasks', { kind: 'command', command: 'echo twice' }, { headers });
  assert.ok([409, 422].includes(other.status), 'the same key for another request is refused');
  assert.equal((await server.get('/api/tasks?total=true')).total, 1);
});

test('Lists filter, search, count and page while tasks are added (R10.2)', async (t) => {
  const server = await Server.start(t);
  const batch = (await server.run('true', { batch_id: 'new', title: '数据库迁移任务' })).batch_id;
  assert.match(batch, /^batch_/);
  await server.run('exit 1', { batch_id: batch, title: 'a failing needle in hay' });
  for (let i = 0; i < 23; i++) await server.run('true', { title: `filler ${i}`, labels: { n: `${i % 2}` } });
  await server.ask('help', { title: 'an agent task' });
  await until(async () => (await server.get('/api/tasks?status=pending,running')).tasks.length === 0, { what: 'all are at rest' });

  const ids = (reply) => reply.tasks.map((task) => task.title);
  assert.deepEqual(ids(await server.get('/api/tasks?status=failed')), ['a failing needle in hay']);
  assert.deepEqual(ids(await server.get('/api/tasks?kind=agent')), ['an agent task']);
  assert.deepEqual(ids(await server.get('/api/tasks?agent_id=demo')), ['an agent task']);
  assert.deepEqual(ids(await server.get(`/api/tasks?batch_id=${batch}&sort=oldest`)), ['数据库迁移任务', 'a failing needle in hay']);
  assert.equal((await server.get('/api/tasks?label=n:1&limit=100')).tasks.length, 11);
  for (const [q, title] of [['needle', 'a failing needle in hay'], ['eedl', 'a failing needle in hay'], ['迁移', '数据库迁移任务']]) {
    const found = await until(async () => {
      const reply = await server.get(`/api/tasks?q=${encodeURIComponent(q)}`);
      return reply.tasks.length > 0 && reply;
    }, { what: `a search for ${q} finds it` });
    assert.deepEqual(ids(found), [title]);
  }
  assert.deepEqual(ids(await server.get('/api/tasks?q=nowhere')), []);

  const whole = await server.get('/api/tasks?total=true&counts=true&limit=5');
  assert.equal(whole.total, 26);
  assert.equal(whole.counts.failed, 1);
  assert.equal(whole.counts.completed, 25);
  assert.equal(whole.tasks[0].title, 'an agent task', 'newest first');

  // Pages stay right while tasks are added.
  const seen = [];
  let cursor = '';
  do {
    const page = await server.get(`/api/tasks?limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    seen.push(...page.tasks.map((task) => task.id));
    cursor = page.next_cursor;
    await server.run('true', { title: 'late' });
  } while (cursor);
  assert.equal(seen.length, 26);
  assert.equal(new Set(seen).size, 26);
  const jumped = await server.get('/api/tasks?offset=20&limit=3&sort=oldest');
  assert.equal(jumped.tasks.length, 3);
  const middle = (await server.task(seen[10])).created_at;
  const after = await server.get(`/api/tasks?created_after=${middle}&limit=100`);
  assert.ok(after.tasks.every((task) => task.created_at > middle));
});

test('Delete ends a running task with its processes and removes it; not-found then says why (R1.8, R3.6)', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`sleep ${mark}`);
  await until(() => marked(mark).length > 0, { what: 'it runs' });
  const reply = await server.api('DELETE', `/api/tasks/${task.id}`);
  assert.equal(reply.status, 204);
  assert.equal(reply.text, '');
  const gone = await server.expect(404, 'GET', `/api/tasks/${task.id}`);
  assert.match(JSON.stringify(gone), /deleted/);
  for (const rest of ['/events', '/messages', '/log', '/result', '/stream']) {
    assert.equal((await server.api('GET', `/api/tasks/${task.id}${rest}`)).status, 404, rest);
  }
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'its processes are gone' });
  const never = await server.expect(404, 'GET', '/api/tasks/task_00000000000000000000000000');
  assert.ok(!/deleted/.test(never.detail));
});

test('Clear removes what is at rest and says how many it left (R3.4)', async (t) => {
  const server = await Server.start(t);
  const batch = (await server.run('true', { batch_id: 'new' })).batch_id;
  const one = await server.run('true', { batch_id: batch });
  const busy = await server.run(`sleep ${marker()}`, { batch_id: batch });
  const outside = await server.run('true');
  for (const id of [one.id, outside.id]) await server.at_rest(id);
  await until(async () => (await server.get(`/api/batches/${batch}`)).counts?.completed === 2, { what: 'two of the batch are done' });
  assert.deepEqual(await server.expect(200, 'POST', '/api/tasks/clear', { batch_id: batch }), { removed: 2, left: 1 });
  const gone = await server.expect(404, 'GET', `/api/tasks/${one.id}`);
  assert.match(JSON.stringify(gone), /cleared/);
  assert.equal((await server.task(busy.id)).status, 'running');
  assert.deepEqual(await server.expect(200, 'POST', '/api/tasks/clear', { task_id: outside.id }), { removed: 1, left: 0 });
  assert.deepEqual(await server.expect(200, 'POST', '/api/tasks/clear', { task_id: busy.id }), { removed: 0, left: 1 });
});

test('Retention removes a task by itself, and not-found says that it expired (R3.3)', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('true', { retention_s: 1 });
  const done = await server.at_rest(task.id);
  assert.ok(done.expires_at > done.completed_at);
  const gone = await until(async () => {
    const reply = await server.api('GET', `/api/tasks/${task.id}`);
    return reply.status === 404 && reply;
  }, { within: 6_000 * patience, what: 'it expires' });
  assert.match(gone.text, /expired/);
});
