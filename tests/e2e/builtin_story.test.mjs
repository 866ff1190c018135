// What the built-in agent is for, as one story: with only a model address set, on a fresh machine, `errand ask` edits a
// file, runs a test, asks for a permission, is answered from another terminal, delegates two background tasks of a batch, is
// killed with the server and goes on, is resumed with a follow-up, forked, cancelled with its children; and everything is in
// the transcript.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { call, results_told, start_builtin, task_in } from './harness/builtin.mjs';
import { errand, patience, until } from './harness/index.mjs';

test('The story of one task', async (t) => {
  const own = await start_builtin(t);
  const { server, model, work, read, write, asking, transcript, file } = own;
  const cli = async (...words) => {
    const ran = await errand(server, words, { cwd: work });
    assert.equal(ran.code, 0, `errand ${words.join(' ')}: ${ran.err}${ran.out}`);
    return ran;
  };
  write('sum.sh', 'echo $((1 + 1))\n');
  const gather = { wait: 'gather', tools: [{ name: 'background_output', input: {} }] };
  const slow = (n) => ({ command: `while [ ! -e go ]; do sleep 0.05; done; echo part ${n}`, work_dir: work, description: `part ${n}` });
  const second = { wait: 'second', tools: [{ name: 'background_execute', input: slow(2) }] };
  model.rule('make the sum three', [
    call('read', { path: 'sum.sh' }),
    call('edit', { path: 'sum.sh', old_string: '1 + 1', new_string: '1 + 2' }),
    call('bash', { command: 'test "$(sh sum.sh)" = 3 && echo passed' }),
    call('background_execute', { ...slow(1), batch_id: 'new' }),
    second,
    gather,
    { text: 'The sum is three, its test passed, and both parts are done.' },
  ]);

  // It works in a session of its own; every step that is more than reading asks.
  const id = task_in((await cli('ask', 'make the sum three')).out);
  let asked = 0;
  const answer_next = async () => {
    const { waiting_for } = await asking(id);
    assert.equal(waiting_for.kind, 'permission');
    asked += 1;
    await cli('answer', id, 'allow'); // Another terminal.
    await server.when(id, (task) => task.waiting_for?.request_id !== waiting_for.request_id);
  };
  await answer_next(); // edit
  await until(() => read('sum.sh') === 'echo $((1 + 2))\n', { what: 'the file is edited' });
  await answer_next(); // bash

  // Killed with the server while it asks for the first background command; it goes on where it was.
  const before = (await asking(id)).waiting_for.request_id;
  await server.restart();
  assert.equal((await asking(id)).waiting_for.request_id, before);
  await answer_next(); // background_execute

  await model.waiting('second');
  const { session_id } = await server.task(id);
  const children = async () => (await server.get(`/api/tasks?parent_session_id=${session_id}`)).tasks;
  const [{ batch_id }] = await children();
  assert.match(batch_id, /^batch_/);
  second.tools[0].input.batch_id = gather.tools[0].input.batch_id = batch_id;
  Object.assign(gather.tools[0].input, { block: true, timeout: 60 });
  model.release('second');
  await answer_next(); // the second one
  await model.waiting('gather');
  model.release('gather');

  // It waits for its children without a slot, is killed again, and still waits.
  await server.when(id, (task) => task.waiting_for?.kind === 'children', { within: 20_000 * patience });
  await server.restart();
  await server.when(id, (task) => task.waiting_for?.kind === 'children', { within: 20_000 * patience });
  write('go', '');
  const done = await server.at_rest(id, { within: 30_000 * patience });
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  assert.equal(done.result, 'The sum is three, its test passed, and both parts are done.');
  assert.equal(asked, 4);
  const told = results_told(model.requests().at(-1));
  assert.match(told[2], /passed/);
  assert.match(told.at(-1), /part 1[^]*part 2/);

  // Resumed with a follow-up, with everything in place.
  model.rule('what did you change', [{ text: 'sum.sh, one plus two.' }]);
  await cli('resume', id, 'what did you change?');
  const resumed = await server.when(id, (task) => task.resume_count === 1 && task.status === 'completed');
  assert.equal(resumed.result, 'sum.sh, one plus two.');
  assert.match(JSON.stringify(model.requests().at(-1).body.messages), /make the sum three.*sum\.sh.*what did you change/);

  // Forked: the child knows what was said, and the parent goes on without it.
  model.rule('now make it four', [call('bash', { command: 'echo forked >> witness; exec sleep 600', timeout: 600 }), { text: 'never' }]);
  const fork = await server.launch({ agent_id: 'builtin', message: 'now make it four', fork: true, parent_session_id: session_id, work_dir: work, permission: 'allow' });
  assert.equal(fork.is_forked, true);
  await until(() => fs.existsSync(file('witness')), { what: 'the fork works' });
  assert.match(JSON.stringify(model.requests().at(-1).body.messages), /make the sum three.*one plus two.*may be cut.*now make it four/);

  // Cancelled with its children.
  model.rule('start and wait', [
    call('background_execute', { command: 'echo $$ > child.pid; exec sleep 600', work_dir: work }),
    call('bash', { command: 'echo $$ > own.pid; exec sleep 600', timeout: 600 }),
  ]);
  const tree = await own.launch('start and wait');
  const pids = await until(() => ['child.pid', 'own.pid'].every((name) => fs.existsSync(file(name)) && read(name)) && ['child.pid', 'own.pid'].map((name) => read(name).trim()), { what: 'both run' });
  const [grandchild] = (await server.get(`/api/tasks?parent_session_id=${(await server.task(tree.id)).session_id}`)).tasks;
  await cli('cancel', tree.id);
  await server.at_rest(tree.id, { within: 20_000 * patience });
  assert.equal((await server.at_rest(grandchild.id, { within: 20_000 * patience })).status, 'cancelled');
  for (const pid of pids) assert.ok(!fs.existsSync(`/proc/${pid}`) || / Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')), `process ${pid} is gone`);
  await cli('cancel', fork.id);
  await server.at_rest(fork.id);

  // Everything is in the transcript, in order, once.
  const lines = await transcript(id);
  assert.deepEqual(lines.filter((line) => line.startsWith('call ')), ['call read', 'call edit', 'call bash', 'call background_execute', 'call background_execute', 'call background_output']);
  assert.equal(lines.filter((line) => line.startsWith('user text: ')).length, 2);
  assert.equal(lines.at(-1), 'assistant text: sum.sh, one plus two.');
  const events = await server.events(id);
  assert.deepEqual(events.map((event) => event.seq), events.map((_, i) => i + 1));
  assert.equal(events.filter((event) => event.type === 'ask.created').length, 4);
  assert.equal(events.filter((event) => event.type === 'ask.answered' && event.data.decision === 'allow').length, 4);
});
