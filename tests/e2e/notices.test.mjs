// T26: one notice per turn that ends, recorded in the same commit, kept until it is taken, over any number of kills (P6, R5.5).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { demo, Follower, long, patience, request, Server, until } from './harness/index.mjs';

test('A notice has seed 002\'s form, waits until it is taken, and is given once', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const waiting = server.get(`/api/sessions/${session.id}/notices?block=true&timeout_s=20`);
  const task = await server.run('echo the last line', { title: 'a small job', parent_session_id: session.id });
  const [notice] = (await waiting).notices;
  assert.equal(notice.task_id, task.id);
  assert.equal(notice.session_id, session.id);
  assert.equal(notice.turn, 1);
  assert.equal(notice.kind, 'turn_ended');
  assert.equal(notice.taken_at, null);
  for (const words of [/a small job/, /completed|success/i, /the last line/]) assert.match(notice.text, words);
  await server.restart();
  const again = await server.get(`/api/sessions/${session.id}/notices`);
  assert.deepEqual(again.notices.map((n) => n.id), [notice.id], 'it waits, also over kill -9');
  const taken = await server.expect(200, 'POST', `/api/sessions/${session.id}/notices/${notice.id}/taken`, {});
  assert.ok(taken.taken_at);
  assert.deepEqual((await server.get(`/api/sessions/${session.id}/notices`)).notices, []);
  const twice = await server.expect(200, 'POST', `/api/sessions/${session.id}/notices/${notice.id}/taken`, {});
  assert.equal(twice.taken_at, taken.taken_at, 'taking is safe to repeat');
  const types = (await server.events(task.id)).map((event) => event.type);
  assert.equal(types.filter((type) => type === 'notice.created').length, 1);
  assert.equal(types.filter((type) => type === 'notice.taken').length, 1);
});

test('Each turn has its own: first, resumed, retried; a question has one; a whole batch has one', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const kinds = async () => (await server.get(`/api/sessions/${session.id}/notices?limit=100`)).notices.map((n) => `${n.kind}:${n.turn}`);
  const task = await server.ask(demo.short, { parent_session_id: session.id });
  await server.at_rest(task.id, { within: 20_000 * patience });
  await server.expect(202, 'POST', `/api/tasks/${task.id}/message`, { message: 'help' });
  await server.at_rest(task.id, { within: 20_000 * patience });
  assert.deepEqual(await kinds(), ['turn_ended:1', 'turn_ended:2']);
  const asks = await server.ask(demo.question, { parent_session_id: session.id });
  const waiting = await server.when(asks.id, (seen) => seen.waiting_for);
  assert.ok((await kinds()).includes('ask:1'));
  await server.expect(200, 'POST', `/api/tasks/${asks.id}/answer`, { request_id: waiting.waiting_for.request_id, answer: 'yes' });
  await server.at_rest(asks.id, { within: 20_000 * patience });
  const batch_id = (await server.run('exit 1', { batch_id: 'new', parent_session_id: session.id })).batch_id;
  await server.run('sleep 0.3', { batch_id, parent_session_id: session.id });
  await server.get(`/api/batches/${batch_id}/results?block=all&timeout_s=20`);
  await until(async () => (await kinds()).filter((kind) => kind.startsWith('batch_ended')).length === 1, { what: 'the batch has its notice' });
  assert.equal((await kinds()).filter((kind) => kind.startsWith('turn_ended')).length, 5);
  const whole = (await server.get(`/api/sessions/${session.id}/notices`)).notices.find((notice) => notice.kind === 'batch_ended');
  assert.deepEqual(whole.data.failures.map((failure) => failure.code), ['exit'], 'and says which of them failed');
  assert.match(whole.text, new RegExp(`- Failed: ${whole.data.failures[0].task_id}`));
});

test('A command that is cancelled, hangs or runs out of its time tells its last lines, how it was ended and what it left', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const command = 'echo the first line; echo left > "$ERRAND_ARTIFACTS/left.txt"; echo the last line; sleep 600';
  const launch = (more) => server.run(command, { parent_session_id: session.id, ...more });
  const cancelled = await launch({ title: 'cancelled' });
  const hung = await launch({ title: 'hung', idle_timeout_s: 5 });
  const late = await launch({ title: 'late', timeout_s: 5 });
  await server.when(cancelled.id, (task) => task.progress.output_lines === 2);
  await server.expect(200, 'POST', `/api/tasks/${cancelled.id}/cancel`, {});
  const result = await server.get(`/api/tasks/${cancelled.id}/result?block=true&timeout_s=30`);
  assert.match(result.result, /the last line/, 'who waits for it has what it printed');
  for (const [task, reason] of [[cancelled, 'cancelled_by_user'], [hung, 'hung'], [late, 'timeout']]) {
    const notice = await until(async () => (await server.get(`/api/sessions/${session.id}/notices?limit=100`)).notices.find((one) => one.task_id === task.id), { within: 40_000 * patience, what: `the notice of ${reason}` });
    assert.equal(notice.data.reason, reason);
    assert.match(notice.text, /\n\nthe first line\nthe last line/, `${reason} has its last lines`);
    assert.match(notice.data.last_lines, /the last line/);
    assert.match(notice.text, /signal 15/, `${reason} says how it was ended`);
    assert.match(notice.text, /left\.txt/, `${reason} names what it left`);
    assert.equal((await server.get(`/api/tasks/${task.id}`)).stopping, false);
  }
  const all = (await server.get(`/api/sessions/${session.id}/notices?limit=100`)).notices;
  assert.equal(all.length, 3, 'one each');
});

test('Who waits with the tool for a task that is cancelled has its result, and is not told again', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const task = await server.run('trap "" TERM; echo the last line; sleep 600', { parent_session_id: session.id });
  await server.when(task.id, (seen) => seen.progress.output_lines === 1);
  const waits = server.api('POST', '/api/tools/background_output', { session_id: session.id, arguments: { task_id: task.id, block: true, timeout: 60 } });
  await server.expect(200, 'POST', `/api/tasks/${task.id}/cancel`, {});
  assert.match((await waits).json.text, /the last line/);
  assert.deepEqual((await server.get(`/api/sessions/${session.id}/notices`)).notices, []);
  const types = (await server.events(task.id)).map((event) => event.type);
  assert.equal(types.filter((type) => type === 'notice.created').length, 1);
  assert.equal(types.filter((type) => type === 'notice.taken').length, 1);
});

test('Asking with a later `after` takes the earlier ones', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  for (let i = 0; i < 3; i++) await server.at_rest((await server.run('true', { parent_session_id: session.id })).id);
  const page = await server.get(`/api/sessions/${session.id}/notices`);
  assert.equal(page.notices.length, 3);
  const after = page.notices[1].seq ?? page.next_after - 1;
  const rest = await server.get(`/api/sessions/${session.id}/notices?after=${after}`);
  assert.deepEqual(rest.notices.map((n) => n.id), [page.notices[2].id]);
  await until(async () => (await server.get(`/api/sessions/${session.id}/notices`)).notices.length === 1, { what: 'the earlier ones are taken' });
  assert.deepEqual((await server.get(`/api/sessions/${session.id}/notices`)).notices.map((n) => n.id), [page.notices[2].id]);
});

test('T26: exactly one notice per turn, over kills, each delivered to a parent that listens', { timeout: 1_800_000 }, async (t) => {
  const count = long ? 10_000 : 1_000;
  const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const streamed = new Map();
  const follower = new Follower(server, `/api/sessions/${session.id}/stream`, {
    dense: false,
    end_on: 'never',
    on_event: ({ data }) => {
      const notice = data.data?.notice ?? data.data ?? data;
      const id = notice.id ?? notice.notice_id;
      if (id) streamed.set(id, (streamed.get(id) ?? 0) + 1);
    },
  });
  const launched = new Set();
  let next = 0;
  let kills = 0;
  const launchers = Array.from({ length: 8 }, async () => {
    while (next < count) {
      const n = next++;
      for (;;) {
        try {
          const reply = await request({ port: server.port, method: 'POST', path: '/api/tasks', headers: { authorization: `Bearer ${server.token}`, 'idempotency-key': `n${n}` }, body: { kind: 'command', command: `exit ${n % 3 === 0 ? 1 : 0}`, parent_session_id: session.id } });
          assert.ok([200, 201].includes(reply.status), reply.text);
          launched.add(reply.json.id);
          break;
        } catch (error) {
          if (error.code === 'ERR_ASSERTION') throw error;
          await server.ready;
        }
      }
    }
  });
  const killer = (async () => {
    for (let at = count / 10; at < count; at += count / 10) {
      await until(() => launched.size >= at, { within: (long ? 600_000 : 120_000) * patience, what: `${at} are launched` });
      await server.restart();
      kills++;
    }
  })();
  await Promise.all([...launchers, killer]);
  assert.equal(launched.size, count);
  await until(async () => (await server.get('/api/tasks?status=pending,running&limit=1')).tasks.length === 0, { within: 300_000 * patience, what: 'all are at rest' });

  const notices = [];
  for (let after = 0; ; ) {
    const page = await server.get(`/api/sessions/${session.id}/notices?after=${after}&limit=100`, { check: false });
    if (page.notices.length === 0) break;
    notices.push(...page.notices);
    assert.ok(page.next_after > after);
    after = page.next_after;
  }
  t.diagnostic(`${count} tasks, ${kills} kills, ${notices.length} notices, ${streamed.size} streamed`);
  const per_task = new Map();
  for (const notice of notices) per_task.set(notice.task_id, (per_task.get(notice.task_id) ?? 0) + 1);
  assert.equal(notices.length, count, 'one per turn, no more');
  assert.equal(per_task.size, count);
  assert.ok([...per_task.values()].every((n) => n === 1));
  for (const notice of notices.slice(0, 20)) assert.equal((await server.api('GET', `/api/tasks/${notice.task_id}`)).status, 200, 'its task is there');
  await until(() => streamed.size === count, { within: 60_000 * patience, what: 'the stream delivered each' });
  assert.ok([...streamed.values()].every((n) => n === 1), 'and each once');
  await follower.stop();
});
