// The endpoints of a task, of batches, sessions and the server itself, one behaviour a test (R3, R4, R5, R7, R10.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { demo, marked, marker, patience, Server, until } from './harness/index.mjs';

test('A result never blocks unless asked, and the first reading is remembered (R3.1, R3.2)', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`echo begun; sleep ${mark}`);
  const running = await server.get(`/api/tasks/${task.id}/result`);
  assert.equal(running.result, null);
  assert.equal(running.retrieved_at, null);
  assert.ok(running.progress);
  const began = performance.now();
  const late = await server.get(`/api/tasks/${task.id}/result?block=true&timeout_s=1`);
  assert.ok(performance.now() - began >= 900, 'it waited');
  assert.ok(['pending', 'running'].includes(late.status), 'the time being up is no error');
  await server.cancel(task.id);

  const quick = await server.run('sleep 0.2; echo done');
  const whole = await server.get(`/api/tasks/${quick.id}/result?block=true`);
  assert.equal(whole.status, 'completed');
  assert.match(whole.result, /done/);
  assert.ok(whole.retrieved_at);
  assert.equal((await server.get(`/api/tasks/${quick.id}/result`)).retrieved_at, whole.retrieved_at);
  const unread = await server.run('true');
  await server.at_rest(unread.id);
  assert.equal((await server.get('/api/tasks')).tasks[0].retrieved_at, null, 'a list is no reading');
});

test('Cancel is final at once, ends the processes, keeps what was produced; twice is a conflict (R1.6)', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`echo before; trap '' TERM; sleep ${mark}`);
  await until(async () => (await server.get(`/api/tasks/${task.id}/log`)) === 'before\n', { what: 'it printed' });
  const cancelled = await server.cancel(task.id);
  assert.equal(cancelled.status, 'cancelled');
  assert.equal(cancelled.reason, 'cancelled_by_user');
  const again = await server.expect(409, 'POST', `/api/tasks/${task.id}/cancel`);
  assert.match(again.detail, /cancelled/);
  await until(() => marked(mark).length === 0, { within: 5_000 * patience, what: 'its processes are gone' });
  const rest = await server.at_rest(task.id);
  assert.equal(rest.status, 'cancelled');
  assert.equal(await server.get(`/api/tasks/${task.id}/log`), 'before\n');
  const waiting = await Promise.all([1, 2, 3, 4].map(() => server.run(`sleep ${mark}`)));
  const queued = await server.when(waiting[3].id, ['pending']);
  assert.equal((await server.cancel(queued.id)).status, 'cancelled', 'a pending one too');
  for (const one of waiting.slice(0, 3)) await server.cancel(one.id);
});

test('A timeout ends a command with its tree and says so (R4.3)', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`setsid sleep ${mark} & sleep ${mark}`, { timeout_s: 1 });
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'failed');
  assert.equal(done.error.code, 'timeout');
  assert.equal(done.reason, 'timeout');
  await until(() => marked(mark).length === 0, { within: 5_000, what: 'its processes are gone' });
});

test('A silent task is warned of and then fails as hung (R4.2)', async (t) => {
  const server = await Server.start(t);
  const task = await server.run(`sleep ${marker()}`, { idle_timeout_s: 2 });
  const done = await server.at_rest(task.id, { within: 10_000 * patience });
  assert.equal(done.error.code, 'hung');
  const events = await server.events(task.id);
  assert.ok(events.some((event) => event.type === 'task.warning'), 'a warning came first');
});

test('Logs are read by offset, tail and search, as text or as lines of JSON', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo bad >&2');
  await server.at_rest(task.id);
  const log = (query) => server.get(`/api/tasks/${task.id}/log${query}`);
  assert.equal((await log('')).split('\n').length, 11);
  assert.equal(await log('?tail=2'), 'line 9\nbad\n');
  assert.equal(await log('?offset=7&limit=7'), 'line 2\n');
  assert.equal(await log('?grep=line%203'), 'line 3\n');
  const lines = (await log('?format=jsonl')).trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines.map((line) => line.text).join(''), await log(''));
  assert.ok(lines.some((line) => line.stream === 'stderr'));
});

test('Output past the limit keeps head and tail and says so (R9.3)', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('echo the very first; head -c 2000000 /dev/zero | tr "\\0" x; echo; echo the very last', { limits: { output_bytes: 100_000 } });
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed');
  assert.equal(done.progress.output_bytes, 15 + 2_000_000 + 1 + 14);
  const log = await server.get(`/api/tasks/${task.id}/log`);
  assert.ok(log.startsWith('the very first\n'));
  assert.ok(log.endsWith('the very last\n'));
  assert.ok(log.length < 150_000);
});

test('Retry is a new attempt on the same id that keeps the earlier log (R1.9)', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('if [ -e again ]; then echo second; else touch again; echo first; exit 1; fi', { work_dir: server.folder });
  assert.equal((await server.at_rest(task.id)).status, 'failed');
  const retried = await server.expect(200, 'POST', `/api/tasks/${task.id}/retry`, {});
  assert.equal(retried.attempt, 2);
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed');
  assert.equal(done.error, null);
  assert.equal(await server.get(`/api/tasks/${task.id}/log`), 'second\n');
  assert.equal(await server.get(`/api/tasks/${task.id}/log?attempt=1`), 'first\n');
  assert.match((await server.expect(409, 'POST', `/api/tasks/${task.id}/retry`, {})).detail, /completed|failed|cancelled/);
});

test('The demo agent streams a conversation and completes; an empty prompt or help says what it can show', async (t) => {
  const server = await Server.start(t);
  const task = await server.ask('help');
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed');
  assert.equal(done.agent_id, 'demo');
  assert.match(done.result, /demo/i);
  const { messages, seq } = await server.get(`/api/tasks/${task.id}/messages`);
  assert.equal(messages[0].role, 'user');
  assert.equal(messages[0].parts[0].text, 'help');
  assert.equal(messages.at(-1).role, 'assistant');
  assert.deepEqual(messages.map((message) => message.seq), messages.map((_, i) => i + 1));
  assert.equal(seq, (await server.events(task.id)).at(-1).seq);
  assert.deepEqual((await server.get(`/api/tasks/${task.id}/messages?after=1`)).messages[0].seq, 2);
  assert.deepEqual((await server.get(`/api/tasks/${task.id}/messages?before=2`)).messages.map((m) => m.seq), [1]);
});

test('A tool call is an event pair, a part of the message and a line of progress (R4.1)', async (t) => {
  const server = await Server.start(t);
  const task = await server.ask(demo.tools);
  const done = await server.at_rest(task.id, { within: 20_000 * patience });
  assert.equal(done.status, 'completed');
  assert.ok(done.progress.tool_calls >= 1);
  assert.ok(done.progress.recent_tools.length >= 1 && done.progress.recent_tools.length <= 10);
  const events = await server.events(task.id);
  const started = events.filter((event) => event.type === 'tool.started');
  const completed = events.filter((event) => event.type === 'tool.completed');
  assert.equal(started.length, done.progress.tool_calls);
  assert.deepEqual(new Set(completed.map((e) => e.data.call_id)), new Set(started.map((e) => e.data.call_id)));
  const { messages } = await server.get(`/api/tasks/${task.id}/messages`);
  const parts = messages.flatMap((message) => message.parts);
  assert.ok(parts.some((part) => part.type === 'tool_call') && parts.some((part) => part.type === 'tool_result'));
});

test('A question puts the task in waiting; the answer lets it go on (R4.6)', async (t) => {
  const server = await Server.start(t);
  const task = await server.ask(demo.question);
  const waiting = await server.when(task.id, (seen) => seen.waiting_for);
  assert.equal(waiting.waiting_for.kind, 'answer');
  const request_id = waiting.waiting_for.request_id;
  await server.expect(404, 'POST', `/api/tasks/${task.id}/answer`, { request_id: 'req_nobody', answer: 'x' });
  await server.restart();
  assert.equal((await server.task(task.id)).waiting_for?.request_id, request_id, 'a question survives kill -9');
  await server.expect(200, 'POST', `/api/tasks/${task.id}/answer`, { request_id, answer: 'blue' });
  const done = await server.at_rest(task.id, { within: 20_000 * patience });
  assert.equal(done.status, 'completed');
  assert.equal(done.waiting_for, null);
  const types = (await server.events(task.id)).map((event) => event.type);
  assert.ok(types.indexOf('ask.created') < types.indexOf('ask.answered'));
});

test('A permission is asked for, and what a person decides is done (R4.6)', async (t) => {
  const server = await Server.start(t);
  for (const [permission, decision] of [['ask', 'allow'], ['ask', 'deny'], ['allow', null], ['deny', null]]) {
    const task = await server.ask(demo.permission, { permission });
    if (permission === 'ask') {
      const waiting = await server.when(task.id, (seen) => seen.waiting_for);
      assert.equal(waiting.waiting_for.kind, 'permission');
      await server.expect(200, 'POST', `/api/tasks/${task.id}/answer`, { request_id: waiting.waiting_for.request_id, decision });
    }
    const done = await server.at_rest(task.id, { within: 20_000 * patience });
    assert.ok(['completed', 'failed'].includes(done.status));
    if (permission !== 'ask') assert.ok(!(await server.events(task.id)).some((event) => event.type === 'ask.created') || done.waiting_for === null);
  }
});

test('A waiting task holds no slot (R1.10)', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '1'] });
  const task = await server.ask(demo.question);
  await server.when(task.id, (seen) => seen.waiting_for);
  const other = await server.run('true');
  assert.equal((await server.at_rest(other.id)).status, 'completed');
});

test('A failing agent leaves a code, a message and its details (R1.5)', async (t) => {
  const server = await Server.start(t);
  const done = await server.at_rest((await server.ask(demo.failure)).id, { within: 20_000 * patience });
  assert.equal(done.status, 'failed');
  assert.equal(done.reason, done.error.code);
  assert.ok(done.error.message.length > 5);
  const refused = await server.expect(409, 'POST', `/api/tasks/${done.id}/message`, { message: 'go on' });
  assert.match(refused.detail, /retry/);
});

test('A message reaches a task at work, and resumes a completed one with the conversation in place (R5.1, R5.2)', async (t) => {
  const server = await Server.start(t);
  const task = await server.ask(demo.short);
  await server.at_rest(task.id, { within: 20_000 * patience });
  const taken = await server.expect(202, 'POST', `/api/tasks/${task.id}/message`, { message: 'help' });
  assert.equal(taken.task.status, 'resumed');
  assert.equal(taken.turn, 2);
  assert.equal(taken.task.resume_count, 1);
  const done = await server.at_rest(task.id, { within: 20_000 * patience });
  assert.equal(done.status, 'completed');
  assert.equal(done.turn, 2);
  const { messages } = await server.get(`/api/tasks/${task.id}/messages`);
  assert.deepEqual(messages.filter((m) => m.role === 'user').map((m) => m.parts[0].text), [demo.short, 'help']);

  const busy = await server.ask(demo.long);
  await server.when(busy.id, ['running']);
  const steered = await server.expect(202, 'POST', `/api/tasks/${busy.id}/message`, { message: 'and another thing' });
  assert.equal(steered.turn, 1);
  await until(async () => {
    const page = await server.get(`/api/tasks/${busy.id}/messages`);
    const mine = page.messages.filter((m) => m.role === 'user' && m.parts[0].text === 'and another thing');
    return mine.length === 1 && mine[0].completed_at;
  }, { within: 20_000 * patience, what: 'the agent took it, once' });
  await server.cancel(busy.id);
});

test('Resume is explicit: only completed tasks (R5.3)', async (t) => {
  const server = await Server.start(t);
  const task = await server.ask(demo.short);
  const early = await server.api('POST', `/api/tasks/${task.id}/resume`, { message: 'more' });
  if (early.status !== 202) assert.match(early.json.detail, /completed/);
  await server.at_rest(task.id, { within: 20_000 * patience });
  const resumed = await server.expect(202, 'POST', `/api/tasks/${task.id}/resume`, { message: 'help' });
  assert.equal(resumed.task.status, 'resumed');
  await server.at_rest(task.id, { within: 20_000 * patience });
});

test('A batch is listed, waited for, cancelled, retried, cleared and deleted as one (R7.2)', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
  const batch_id = (await server.run('echo a', { batch_id: 'new' })).batch_id;
  await server.run('if [ -e retried ]; then echo ok; else touch retried; exit 1; fi', { batch_id, work_dir: server.folder });
  const all = await server.get(`/api/batches/${batch_id}/results?block=all&timeout_s=20`);
  assert.equal(all.total, 2);
  assert.equal(all.counts.completed, 1);
  assert.equal(all.counts.failed, 1);
  assert.equal(all.results.length, 2);
  const retried = await server.expect(200, 'POST', `/api/batches/${batch_id}/retry`, {});
  assert.equal(Object.values(retried).find(Number.isInteger), 1);
  assert.equal((await server.get(`/api/batches/${batch_id}/results?block=all&timeout_s=20`)).counts.completed, 2);

  const mark = marker();
  const slow = await server.run(`sleep ${mark}`, { batch_id });
  await server.run(`sleep ${mark}`, { batch_id });
  const first = await server.get(`/api/batches/${batch_id}/results?block=first&timeout_s=20`);
  assert.equal(first.done ?? first.counts.completed > 0, first.done ?? true);
  await server.expect(200, 'POST', `/api/batches/${batch_id}/cancel`, {});
  await server.at_rest(slow.id);
  assert.equal((await server.get(`/api/batches/${batch_id}`)).counts.cancelled, 2);
  await until(() => marked(mark).length === 0, { what: 'no process is left' });
  await server.expect(200, 'POST', `/api/batches/${batch_id}/clear`, {});
  assert.equal((await server.get(`/api/tasks?batch_id=${batch_id}`)).tasks.length, 0);
  const other = (await server.run('true', { batch_id: 'new' })).batch_id;
  assert.ok([200, 204].includes((await server.api('DELETE', `/api/batches/${other}`)).status));
  assert.equal((await server.get(`/api/tasks?batch_id=${other}`)).tasks.length, 0);
  await server.expect(404, 'GET', '/api/batches/batch_00000000000000000000000000');
  for (const act of ['/cancel', '/retry', '/clear']) await server.expect(404, 'POST', `/api/batches/batch_00000000000000000000000000${act}`, {});
  const unknown = await server.expect(404, 'POST', '/api/tasks/clear', { batch_id: 'batch_00000000000000000000000000' });
  assert.equal(unknown.reason, 'unknown_batch');
  assert.match(unknown.detail, /batch_id/, 'and says where to look');
  await server.expect(404, 'DELETE', '/api/batches/batch_00000000000000000000000000');
});

test('A session that ends takes its tasks with it; a closed connection is no end (R3.5)', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', { title: 'mine' });
  assert.match(session.id, /^ses_/);
  assert.equal((await server.get(`/api/sessions/${session.id}`)).title, 'mine');
  const mark = marker();
  const task = await server.run(`sleep ${mark}`, { parent_session_id: session.id });
  const foreign = await server.run(`sleep ${mark}`, { parent_session_id: 'foreign-session-7' });
  const stream = server.stream(`/api/sessions/${session.id}/stream`);
  await stream.opened;
  assert.equal(stream.status, 200);
  stream.cut();
  assert.deepEqual((await server.get(`/api/tasks?parent_session_id=${session.id}`)).tasks.map((x) => x.id), [task.id]);
  assert.equal((await server.when(task.id, ['running'])).parent_session_id, session.id);
  const ended = await server.api('DELETE', `/api/sessions/${session.id}`);
  assert.ok([200, 204].includes(ended.status), ended.text);
  const gone = await server.expect(404, 'GET', `/api/tasks/${task.id}`);
  assert.match(JSON.stringify(gone), /session_ended|session ended|parent session/i);
  assert.equal((await server.task(foreign.id)).status, 'running');
  await server.cancel(foreign.id);
  await until(() => marked(mark).length === 0, { what: 'no process is left' });
  const launch = { kind: 'command', command: 'true', parent_session_id: session.id };
  const paths = ['', '/messages', '/notices', '/notices?after=1', '/stream'].map((path) => ['GET', `/api/sessions/${session.id}${path}`]);
  for (let life = 0; life < 2; life++) {
    for (const [method, path, body] of [...paths, ['DELETE', `/api/sessions/${session.id}`], ['POST', '/api/tasks', launch]]) {
      const problem = await server.expect(404, method, path, body);
      assert.equal(problem.reason, 'session_ended', `${method} ${path} says why (R3.6)`);
    }
    assert.equal((await server.expect(404, 'GET', '/api/sessions/ses_never')).reason ?? null, null, 'one that was never there is another matter');
    await server.restart();
  }
  await server.expect(201, 'POST', '/api/sessions', { id: session.id });
  assert.equal((await server.run('true', { parent_session_id: session.id })).parent_session_id, session.id, 'who opens it anew means it');
});

test('A task\'s own session shows its conversation', async (t) => {
  const server = await Server.start(t);
  const task = await server.ask(demo.short);
  await server.at_rest(task.id, { within: 20_000 * patience });
  const { messages } = await server.get(`/api/sessions/${task.session_id}/messages`);
  assert.deepEqual(messages, (await server.get(`/api/tasks/${task.id}/messages`)).messages);
});

test('Agents, settings, metrics and health say what there is', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '5'] });
  const { agents } = await server.get('/api/agents');
  assert.ok(agents.some((agent) => agent.id === 'command'));
  assert.ok(agents.some((agent) => agent.id === 'demo'));
  assert.equal((await server.get('/api/settings')).max_concurrent, 5);
  await server.at_rest((await server.run('true')).id);
  const metrics = await server.get('/metrics');
  assert.match(metrics, /^# TYPE errand_/m);
  assert.match(metrics, /^errand_[a-z_]+(\{[^}]*\})? [0-9.e+]+$/m);
  const health = await server.get('/api/health');
  assert.ok(health.status);
});
