// Every sentence of seeds 000, 003 and 004 that the built-in agent can show, by its name: a parent that is a built-in agent
// calls the tools, its children are built-in agents too.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { call, Puppet, start_builtin, task_in } from './harness/builtin.mjs';
import { until } from './harness/index.mjs';

async function parent(t, options = {}) {
  const own = await start_builtin(t, options);
  own.model.rule('say yes', [{ text: 'Yes.' }]);
  own.model.rule('say more', [{ text: 'More.' }]);
  own.model.rule('take your time', [{ text: 'At last.', wait: 'time' }]);
  const puppet = await new Puppet(own).start();
  const child = (input) => puppet.call('background_task', { description: 'a child', agent: 'builtin', work_dir: own.work, ...input });
  return { ...own, puppet, child };
}

describe('Background Task Creation', () => {
  test('Launch background task: a unique id, running, with parent session and message context', async (t) => {
    const { server, puppet, child } = await parent(t);
    const ids = [task_in(await child({ prompt: 'take your time' })), task_in(await child({ prompt: 'take your time' }))];
    assert.equal(new Set(ids).size, 2);
    const task = await server.task(ids[0]);
    assert.equal(task.status, 'running');
    assert.equal(task.parent_session_id, puppet.task.session_id);
    assert.match(task.parent_message_id, /^msg_/);
    assert.equal(task.description, 'a child');
    assert.equal(task.agent, 'builtin');
  });
});

describe('Task Status Management', () => {
  test('Track task completion: completed, its time recorded, its result stored', async (t) => {
    const { server, child } = await parent(t);
    const task = await server.at_rest(task_in(await child({ prompt: 'say yes' })));
    assert.deepEqual([task.status, task.result, Boolean(task.completed_at)], ['completed', 'Yes.', true]);
  });

  test('Handle task errors: error, with its details captured and preserved', async (t) => {
    const { server, model, puppet, child } = await parent(t);
    model.rule('fail now', [{ text: 'I will not.', stop: 'refusal' }]);
    const id = task_in(await child({ prompt: 'fail now' }));
    const task = await server.at_rest(id);
    assert.equal(task.status, 'failed');
    assert.equal(task.error.code, 'refused');
    const told = await puppet.call('background_output', { task_id: id });
    assert.match(told, /error/);
    assert.match(told, /I will not\./);
    await server.restart();
    assert.deepEqual((await server.task(id)).error, task.error);
  });

  test('Cancel running tasks: cancelled, and the execution is terminated', async (t) => {
    const { server, model, puppet, child } = await parent(t);
    const id = task_in(await child({ prompt: 'take your time' }));
    await model.waiting('time');
    await puppet.call('background_cancel', { task_id: id });
    assert.equal((await server.at_rest(id)).status, 'cancelled');
    const asked = model.requests().find((record) => record.step?.wait === 'time');
    await until(() => asked.state === 'gone', { what: 'the model is no longer asked' });
  });
});

describe('Task Result Retrieval', () => {
  test('Retrieve completed task results: the stored data at once, marked as retrieved with a timestamp', async (t) => {
    const { server, puppet, child } = await parent(t);
    const id = task_in(await child({ prompt: 'say yes' }));
    await server.at_rest(id);
    assert.equal((await server.task(id)).retrieved_at, null);
    assert.match(await puppet.call('background_output', { task_id: id }), /Yes\./);
    assert.ok((await server.task(id)).retrieved_at);
  });

  test('Check running task status: progress, without blocking', async (t) => {
    const { model, puppet, child } = await parent(t);
    const id = task_in(await child({ prompt: 'take your time' }));
    await model.waiting('time');
    assert.match(await puppet.call('background_output', { task_id: id }), /running/);
  });

  test('Task persistence: until cleared', async (t) => {
    const { server, puppet, child } = await parent(t);
    const id = task_in(await child({ prompt: 'say yes' }));
    await server.at_rest(id);
    await server.restart();
    await puppet.own.model.waiting(puppet.steps[1].wait); // The parent goes on too.
    assert.match(await puppet.call('background_output', { task_id: id }), /Yes\./);
    await puppet.call('background_clear', { task_id: id });
    assert.equal((await server.api('GET', `/api/tasks/${id}`)).status, 404);
    assert.match(await puppet.call('background_output', { task_id: id }), /cleared|no longer|not found/i);
  });

  test('Handle expired results: cleaned up, and a later retrieval is not found', async (t) => {
    const { server, launch } = await parent(t);
    const { id } = await launch('say yes', { retention_s: 1 });
    await server.at_rest(id);
    await until(async () => (await server.api('GET', `/api/tasks/${id}/result`)).status === 404, { within: 20_000, what: 'it expires' });
    assert.match((await server.api('GET', `/api/tasks/${id}/result`)).json.detail, /expired|retention/i);
  });
});

test('Task Progress Tracking: tool call count, recent tools and the last update', async (t) => {
  const { server, model, puppet, child } = await parent(t);
  model.rule('use tools', [call('glob', { pattern: '*' }), call('list', { path: '.' }), { text: 'Used.', wait: 'used' }]);
  const id = task_in(await child({ prompt: 'use tools' }));
  await model.waiting('used');
  const { progress } = await server.task(id);
  assert.equal(progress.tool_calls, 2);
  assert.deepEqual(progress.recent_tools.map((tool) => tool.name), ['glob', 'list']);
  assert.ok(progress.last_update && progress.idle_s >= 0);
  const told = await puppet.call('background_output', { task_id: id });
  assert.match(told, /2 tool calls|tool calls: 2|Tool calls: 2/i);
  assert.match(told, /glob[^]*list/);
});

test('Batch Task Management: tasks of one operation share a batch, and operations on it reach all', async (t) => {
  const { server, puppet, child } = await parent(t);
  const first = await child({ prompt: 'say yes', batch_id: 'new' });
  const { batch_id } = await server.task(task_in(first));
  assert.match(batch_id, /^batch_/);
  const second = task_in(await child({ prompt: 'say yes', batch_id }));
  const told = await puppet.call('background_output', { batch_id, block: true, timeout: 30 });
  assert.match(told, /Yes\.[^]*Yes\./);
  assert.equal((await server.get(`/api/batches/${batch_id}`)).total ?? 2, 2);
  await puppet.call('background_clear', { batch_id });
  assert.equal((await server.api('GET', `/api/tasks/${second}`)).status, 404);
});

describe('Task Conversation Resumption', () => {
  test('Resume completed task with follow-up prompt: at once, with the full conversation history', async (t) => {
    const { server, model, child, puppet } = await parent(t);
    const id = task_in(await child({ prompt: 'say yes' }));
    await server.at_rest(id);
    const told = await puppet.call('background_task', { resume: id, prompt: 'say more', description: 'x', agent: 'builtin' });
    assert.match(told, /resum/i);
    const task = await server.when(id, (seen) => seen.resume_count === 1 && seen.status === 'completed');
    assert.equal(task.result, 'More.');
    const asked = model.requests().findLast((record) => JSON.stringify(record.body.messages.at(-1)).includes('say more'));
    assert.match(JSON.stringify(asked.body.messages), /say yes.*Yes\..*say more/);
  });

  test('Resume completion notification: the parent is told with the full response, the status is completed again', async (t) => {
    const { server, child, puppet } = await parent(t);
    const id = task_in(await child({ prompt: 'say yes' }));
    await server.at_rest(id);
    await puppet.call('background_task', { resume: id, prompt: 'say more', description: 'x', agent: 'builtin' });
    await server.when(id, (seen) => seen.resume_count === 1 && seen.status === 'completed');
    // In the parent's own conversation, at its next step: one notice a turn, each once.
    await puppet.call('background_list', {});
    const told = puppet.told();
    assert.equal(told.split('<notice>').length - 1, 2);
    assert.match(told, /<notice>[^]*Yes\.[^]*<notice>[^]*More\./);
    assert.equal((await server.task(id)).status, 'completed');
    const { notices } = await server.get(`/api/sessions/${puppet.task.session_id}/notices`);
    assert.equal(notices.filter((n) => !n.taken_at).length, 0);
  });

  test('Wait for resume response: background_output with block waits until it is received', async (t) => {
    const { server, model, child, puppet } = await parent(t);
    const id = task_in(await child({ prompt: 'say yes' }));
    await server.at_rest(id);
    await puppet.call('background_task', { resume: id, prompt: 'take your time', description: 'x', agent: 'builtin' });
    await model.waiting('time');
    model.release('time');
    assert.match(await puppet.call('background_output', { task_id: id, block: true, timeout: 30 }), /At last\./);
  });

  test('Reject resume of a non-completed task, and of one that is being resumed', async (t) => {
    const { server, model, child, puppet } = await parent(t);
    const id = task_in(await child({ prompt: 'take your time' }));
    await model.waiting('time');
    const resume = () => puppet.call('background_task', { resume: id, prompt: 'say more', description: 'x', agent: 'builtin' });
    assert.match(await resume(), /[Oo]nly completed tasks can be resumed/);
    model.release('time');
    await server.at_rest(id);
    model.rule('slowly now', [{ text: 'Slow.', wait: 'slow' }]);
    await puppet.call('background_task', { resume: id, prompt: 'slowly now', description: 'x', agent: 'builtin' });
    assert.match(await resume(), /being resumed/);
  });

  test('Handle expired session on resume: an error that suggests a new task', async (t) => {
    const { server, child, puppet } = await parent(t);
    const id = task_in(await child({ prompt: 'say yes' }));
    await server.at_rest(id);
    await server.expect(204, 'DELETE', `/api/tasks/${id}`);
    assert.match(await puppet.call('background_task', { resume: id, prompt: 'say more', description: 'x', agent: 'builtin' }), /new|start/i);
  });
});

describe('Task List', () => {
  test('Show resumed indicator after the id, none for new tasks, and only direct children', async (t) => {
    const { server, launch, child, puppet } = await parent(t);
    assert.match(await puppet.call('background_list', {}), /No background tasks found/);
    const plain = task_in(await child({ prompt: 'say yes' }));
    const other = await launch('say yes');
    await server.at_rest(plain);
    let list = await puppet.call('background_list', {});
    assert.match(list, new RegExp(plain));
    assert.doesNotMatch(list, /\(resumed\)|\(forked\)/);
    assert.doesNotMatch(list, new RegExp(other.id));
    await puppet.call('background_task', { resume: plain, prompt: 'say more', description: 'x', agent: 'builtin' });
    await server.when(plain, (seen) => seen.resume_count === 1 && seen.status === 'completed');
    list = await puppet.call('background_list', {});
    assert.match(list, new RegExp(`${plain} \\(resumed\\)`));
  });
});

test('Validate mutually exclusive modes: fork with resume is refused at once, and no task is created', async (t) => {
  const { server, child, puppet } = await parent(t);
  const id = task_in(await child({ prompt: 'say yes' }));
  await server.at_rest(id);
  const told = await puppet.call('background_task', { resume: id, fork: true, prompt: 'x', description: 'x', agent: 'builtin' });
  assert.match(told, /mutually exclusive/);
  const { tasks } = await server.get(`/api/tasks?parent_session_id=${puppet.task.session_id}`);
  assert.equal(tasks.length, 1);
  assert.equal((await server.task(id)).resume_count, 0);
});

describe('Fork Context Inheritance', () => {
  test('Launch forked background task: inherited history, a preamble, is_forked, an id at once', async (t) => {
    const { server, model, child, puppet } = await parent(t);
    await child({ prompt: 'say yes', description: 'before the fork' });
    model.rule('go on from here', [{ text: 'I know it all.' }]);
    const id = task_in(await child({ prompt: 'go on from here', fork: true }));
    const task = await server.at_rest(id);
    assert.equal(task.result, 'I know it all.', JSON.stringify(task.error));
    assert.equal(task.is_forked, true);
    const asked = model.requests().findLast((record) => JSON.stringify(record.body.messages).includes('go on from here') && record.step.text === 'I know it all.');
    const said = JSON.stringify(asked.body.messages);
    assert.match(said, /do as I say.*before the fork.*go on from here/);
    // Preamble content: context may be cut; read again what is needed whole.
    assert.match(said, /may be cut.*read the file/);
    // The call that launched it is settled in the copy, not left dangling: the strict server took the request.
    assert.equal(asked.status, undefined);
    const preamble = (await puppet.own.messages(id)).filter((m) => m.role === 'system');
    assert.equal(preamble.length, 1);
  });

  test('Fork with context truncation: long tool results are cut to 1500 characters with their length, the calls stay whole', async (t) => {
    const { server, model, child, puppet } = await parent(t);
    puppet.own.write('long.txt', 'Zeile für Zeile.\n'.repeat(1000));
    const whole = await puppet.call('read', { path: 'long.txt' });
    assert.ok(whole.length > 10_000);
    model.rule('go on from here', [{ text: 'Cut.' }]);
    const id = task_in(await child({ prompt: 'go on from here', fork: true }));
    await server.at_rest(id);
    const asked = model.requests().findLast((record) => record.step.text === 'Cut.');
    const blocks = asked.body.messages.flatMap((m) => m.content);
    const called = blocks.find((b) => b.type === 'tool_use' && b.name === 'read');
    assert.deepEqual(called.input, { path: 'long.txt' });
    const result = blocks.find((b) => b.type === 'tool_result' && b.tool_use_id === called.id);
    const text = JSON.stringify(result.content);
    assert.ok(text.length < 2_500, `${text.length}`);
    assert.match(text, /characters|16,|17,|1[0-9]{4}/);
  });

  test('Fork indicator in task list, with the resumed one beside it', async (t) => {
    const { server, model, child, puppet } = await parent(t);
    model.rule('go on from here', [{ text: 'Forked.' }]);
    const id = task_in(await child({ prompt: 'go on from here', fork: true }));
    await server.at_rest(id);
    assert.match(await puppet.call('background_list', {}), new RegExp(`${id} \\(forked\\)`));
    await puppet.call('background_task', { resume: id, prompt: 'say more', description: 'x', agent: 'builtin' });
    await server.when(id, (seen) => seen.resume_count === 1 && seen.status === 'completed');
    assert.match(await puppet.call('background_list', {}), new RegExp(`${id} \\(resumed\\) \\(forked\\)`));
  });
});
