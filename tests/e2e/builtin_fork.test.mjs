// Seeds 003 and 004, "Fork Context Inheritance" and "Fork Preamble Injection", by the names of their scenarios: a built-in
// agent forks itself by its own tool, and what counts is what the child's model is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Puppet, start_builtin, task_in } from './harness/builtin.mjs';

async function forking(t, options = {}) {
  const own = await start_builtin(t, options);
  own.model.rule('the second half', [{ text: 'The second half is done.' }]);
  const puppet = await new Puppet(own).start();
  const fork = async (more = {}) => {
    const told = await puppet.call('background_task', { description: 'half', agent: 'builtin', prompt: 'Do the second half.', work_dir: own.work, fork: true, ...more });
    const id = task_in(told);
    assert.ok(id, told);
    return id;
  };
  // What the child's model was asked, as text.
  const asked = () => JSON.stringify(own.model.requests().findLast((record) => JSON.stringify(record.body).includes('Do the second half.') && record.step?.text === 'The second half is done.').body);
  return { ...own, puppet, fork, asked };
}

test('Launch forked background task: inherited history, preamble, isForked, the id at once', async (t) => {
  const { server, puppet, fork, asked, messages } = await forking(t);
  await puppet.call('write', { path: 'notes.txt', content: 'the plan is seventeen' });
  const id = await fork();
  const task = await server.at_rest(id);
  assert.deepEqual([task.status, task.result, task.is_forked], ['completed', 'The second half is done.', true]);
  assert.equal(task.parent_session_id, puppet.task.session_id);
  assert.match(asked(), /do as I say/, 'what the parent was asked');
  assert.match(asked(), /the plan is seventeen/, 'what it did');
  assert.match(asked(), /you are that fork/, 'the call that launched it is settled');
  const copied = (await messages(id)).filter((message) => message.turn === 0);
  assert.ok(copied.length >= 4);
  assert.equal(copied.at(-1).role, 'system');
});

test('Fork with context truncation: results over 1,500 characters are cut, the call stays whole, the length is said', async (t) => {
  const { server, puppet, fork, asked, write, messages } = await forking(t);
  write('long.txt', `${'é'.repeat(60)}\n`.repeat(100));
  await puppet.call('read', { path: 'long.txt' });
  const id = await fork();
  await server.at_rest(id);
  const result = (await messages(id)).flatMap((m) => m.parts).find((part) => part.type === 'tool_result' && /\[Cut to 1,500 of/.test(part.text ?? part.output));
  assert.ok(result, 'the result is cut');
  const call = (await messages(id)).flatMap((m) => m.parts).find((part) => part.type === 'tool_call' && part.call_id === result.call_id);
  assert.deepEqual([call.name, call.input], ['read', { path: 'long.txt' }]);
  assert.match(asked(), /\[Cut to 1,500 of [0-9],[0-9]{3} characters/);
});

test('Fork with token limit enforcement: the oldest messages go, the newest stay', async (t) => {
  const { server, puppet, fork, asked, write, messages } = await forking(t, { env: { ERRAND_FORK_TOKENS: '4000', ERRAND_FORK_TOOL_RESULT_CHARS: '3000' } });
  for (let i = 0; i < 6; i++) {
    write(`part${i}.txt`, `number ${i} `.repeat(400));
    await puppet.call('read', { path: `part${i}.txt` });
  }
  const id = await fork();
  await server.at_rest(id);
  assert.doesNotMatch(asked(), /number 0 /);
  assert.match(asked(), /number 5 /);
  assert.match(asked(), /oldest [0-9]+ messages were left out/, 'and the preamble says so');
  const parts = (await messages(id)).flatMap((m) => m.parts);
  const ids = (type) => parts.filter((part) => part.type === type).map((part) => part.call_id).sort();
  assert.deepEqual(ids('tool_result'), ids('tool_call'), 'a call and its result go together');
});

test('Preamble content: the context may be truncated, and files are to be read again', async (t) => {
  const { server, fork, asked, messages } = await forking(t);
  const id = await fork();
  await server.at_rest(id);
  const preamble = (await messages(id)).find((message) => message.role === 'system');
  assert.match(preamble.parts[0].text, /may be cut/);
  assert.match(preamble.parts[0].text, /read the file/);
  assert.match(asked(), /may be cut/, 'the model is told, without having to answer it');
});

test('Fork indicator in task list', async (t) => {
  const { server, puppet, fork } = await forking(t);
  const id = await fork();
  await server.at_rest(id);
  assert.match(await puppet.call('background_list'), new RegExp(`${id} \\(forked\\)`));
});

test('A fork goes on after kill -9 with the conversation that it inherited', async (t) => {
  const { server, model, fork, messages } = await forking(t);
  model.rule('slowly', [{ text: 'At last.', wait: 'slow' }]);
  const id = await fork({ prompt: 'Do it slowly.' });
  await model.waiting('slow');
  const before = (await messages(id)).filter((message) => message.turn === 0);
  await server.kill9();
  await server.start();
  model.release('slow');
  assert.equal((await server.at_rest(id, { within: 30_000 })).result, 'At last.');
  assert.deepEqual((await messages(id)).filter((message) => message.turn === 0), before);
});
