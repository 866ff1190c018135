// The scenarios of seeds 000, 003 and 004 as they are written, each in a real OpenCode session whose model makes the calls.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { call, demo, opencode_skip as skip, opencode_world, suite_scope, task_id, turn, until } from './harness/index.mjs';

const patience = { timeout: 600_000 }; // A busy machine makes OpenCode slow to start.
const suite = { skip, timeout: 1_800_000 };

// One OpenCode for a seed; a session for a scenario.
function shared(options) {
  const all = {};
  const scope = suite_scope();
  before(async () => Object.assign(all, await opencode_world(scope, options)), { timeout: 300_000 });
  return all;
}

const told = (all, session, count) =>
  until(async () => (await all.opencode.notices(session)).length >= count && all.opencode.notices(session), { what: `${count} notices`, within: 120_000 });

describe('Seed 000', suite, () => {
  const all = shared({ args: ['--max-concurrent', '20'] });
  const launch = async (session, prompt, more = {}) => {
    const { output } = await turn(all, session, [call('background_task', { description: 'a scenario', prompt, agent: 'demo', ...more })]);
    return { id: task_id(output), output };
  };

  test('Launch background task', patience, async () => {
    const session = await all.opencode.session();
    const { id, output } = await launch(session, demo.long);
    assert.match(output, /running/);
    const task = await all.server.task(id);
    assert.equal(task.status, 'running');
    assert.equal(task.parent_session_id, session);
    const calling = (await all.opencode.messages(session)).find(({ parts }) => parts.some((part) => part.tool === 'background_task'));
    assert.equal(task.parent_message_id, calling.info.id);
    await all.server.cancel(id);
  });

  test('Track task completion', patience, async () => {
    const session = await all.opencode.session();
    const { id } = await launch(session, demo.short);
    const task = await all.server.at_rest(id);
    assert.equal(task.status, 'completed');
    assert.ok(task.completed_at);
    assert.ok(task.result.length > 0);
    const [notice] = await told(all, session, 1);
    assert.match(notice.text, /completed/i);
  });

  test('Handle task errors', patience, async () => {
    const session = await all.opencode.session();
    const { id } = await launch(session, demo.failure);
    const task = await all.server.at_rest(id);
    assert.equal(task.status, 'failed');
    const { output } = await turn(all, session, [call('background_output', { task_id: id })]);
    assert.match(output, /error/);
    assert.ok(output.includes(task.error.message), 'the details are there for debugging');
  });

  test('Cancel running tasks', patience, async () => {
    const session = await all.opencode.session();
    const { id } = await launch(session, demo.long);
    const { output } = await turn(all, session, [call('background_cancel', { task_id: id })]);
    assert.match(output, /cancelled/i);
    assert.equal((await all.server.at_rest(id)).status, 'cancelled');
    const again = await turn(all, session, [call('background_cancel', { task_id: id })]);
    assert.equal(again.calls[0].state.status, 'error', 'one that has ended cannot be cancelled');
  });

  test('Retrieve completed task results', patience, async () => {
    const session = await all.opencode.session();
    const { id } = await launch(session, demo.short);
    const { result, retrieved_at } = await all.server.at_rest(id);
    assert.equal(retrieved_at, null);
    const { output } = await turn(all, session, [call('background_output', { task_id: id.slice(0, 20) })]);
    assert.ok(output.includes(result), 'by a beginning of its id');
    assert.ok((await all.server.task(id)).retrieved_at);
  });

  test('Handle expired results', patience, async () => {
    const session = await all.opencode.session();
    const { id } = await launch(session, demo.short, { retention_s: 1 });
    await told(all, session, 1);
    await until(async () => (await all.server.api('GET', `/api/tasks/${id}`)).status === 404, { what: 'it is removed by itself', within: 120_000 });
    const { calls } = await turn(all, session, [call('background_output', { task_id: id })]);
    assert.equal(calls[0].state.status, 'error');
    assert.match(calls[0].state.error, /expired|retention/i);
  });

  test('Monitor task progress', patience, async () => {
    const session = await all.opencode.session();
    const { id } = await launch(session, demo.busy);
    await all.server.when(id, (task) => task.progress.tool_calls >= 2, { within: 120_000 });
    const { output } = await turn(all, session, [call('background_output', { task_id: id })]);
    assert.match(output, /tool calls?/i);
    assert.match(output, /recent/i);
    assert.match(output, /last update|updated/i);
    await all.server.cancel(id);
  });

  test('Group related tasks', patience, async () => {
    const session = await all.opencode.session();
    const first = await launch(session, demo.long, { batch_id: 'new' });
    const { batch_id } = await all.server.task(first.id);
    assert.ok(first.output.includes(batch_id));
    const second = await launch(session, demo.long, { batch_id });
    assert.equal((await all.server.task(second.id)).batch_id, batch_id);
    const { output } = await turn(all, session, [call('background_list', { batch_id })]);
    assert.ok(output.includes(first.id) && output.includes(second.id));
    await turn(all, session, [call('background_cancel', { batch_id })]);
    for (const { id } of [first, second]) assert.equal((await all.server.at_rest(id)).status, 'cancelled');
    await turn(all, session, [call('background_clear', { batch_id })]);
    assert.equal((await all.server.api('GET', `/api/tasks/${first.id}`)).status, 404);
  });

  test('The model is offered the tools with what is required and what is not', patience, async () => {
    const session = await all.opencode.session();
    await turn(all, session, []);
    const offered = all.model.requests().findLast((record) => record.body.tools?.length).body.tools.map(({ function: f }) => f);
    const listed = (await all.server.get('/api/tools')).tools;
    for (const { name, input_schema } of listed) {
      const tool = offered.find((other) => other.name === name);
      assert.ok(tool, name);
      assert.deepEqual(tool.parameters.required ?? [], input_schema.required ?? [], name);
      assert.deepEqual(Object.keys(tool.parameters.properties), Object.keys(input_schema.properties), name);
    }
  });
});

describe('Seed 003', suite, () => {
  const all = shared({ args: ['--max-concurrent', '20'], install: ['--family', 'superagents'] });
  const use = async (session, name, input) => {
    const { calls, output } = await turn(all, session, [call(`superagents_${name}`, input)]);
    return { output, failed: calls[0].state.status === 'error' };
  };
  const launch = async (session, prompt, more = {}) => task_id((await use(session, 'task', { description: 'a scenario', prompt, agent: 'demo', ...more })).output);
  const completed = async (session) => {
    const id = await launch(session, demo.short);
    await all.server.at_rest(id);
    return id;
  };

  test('Retrieve completed task results', patience, async () => {
    const session = await all.opencode.session();
    const id = await completed(session);
    const { output } = await use(session, 'output', { task_id: id });
    const task = await all.server.task(id);
    assert.ok(output.includes(task.result));
    assert.ok(task.retrieved_at);
  });

  test('Check running task status', patience, async () => {
    const session = await all.opencode.session();
    const id = await launch(session, demo.long);
    const { output } = await use(session, 'output', { task_id: id });
    assert.match(output, /running/);
    assert.equal((await all.server.task(id)).status, 'running', 'it was not waited for');
    await use(session, 'cancel', { all: true });
  });

  test('Task persistence', patience, async () => {
    const session = await all.opencode.session();
    const [cleared, kept] = [await completed(session), await completed(session)];
    await use(session, 'clear', { task_id: cleared });
    assert.equal((await all.server.api('GET', `/api/tasks/${cleared}`)).status, 404);
    assert.equal((await all.server.task(kept)).status, 'completed');
    await all.opencode.api('DELETE', `/session/${session}`);
    await until(async () => (await all.server.api('GET', `/api/tasks/${kept}`)).status === 404, { what: 'it goes with its session' });
  });

  test('Resume completed task with follow-up prompt; Resume completion notification', patience, async () => {
    const session = await all.opencode.session();
    const id = await completed(session);
    await told(all, session, 1);
    const { output, failed } = await use(session, 'task', { resume: id, prompt: 'help' });
    assert.ok(!failed && output.includes(id));
    const task = await all.server.at_rest(id);
    assert.equal(task.status, 'completed');
    assert.equal(task.resume_count, 1);
    const notices = await told(all, session, 2);
    assert.equal(notices.length, 2);
    assert.ok(notices[1].text.includes(task.result.trim().split('\n')[0]), 'with the full response');
    const { messages } = await all.server.get(`/api/tasks/${id}/messages`);
    assert.equal(messages.filter((message) => message.role === 'user').length, 2, 'in the same conversation');
  });

  test('Wait for resume response', patience, async () => {
    const session = await all.opencode.session();
    const id = await completed(session);
    const { calls } = await turn(all, session, [call('superagents_task', { resume: id, prompt: 'help' }), call('superagents_output', { task_id: id, block: true })]);
    const task = await all.server.task(id);
    assert.equal(task.turn, 2);
    assert.ok(calls[1].state.output.includes(task.result));
  });

  test('Reject resume of non-completed task', patience, async () => {
    const session = await all.opencode.session();
    const id = await launch(session, demo.long);
    const { output, failed } = await use(session, 'task', { resume: id, prompt: 'go on' });
    assert.ok(failed);
    assert.match(output, /[Oo]nly completed tasks can be resumed/);
    await use(session, 'cancel', { task_id: id });
  });

  test('Reject concurrent resume', patience, async () => {
    const session = await all.opencode.session();
    const id = await completed(session);
    const { calls } = await turn(all, session, [call('superagents_task', { resume: id, prompt: demo.long }), call('superagents_task', { resume: id, prompt: 'and this' })]);
    assert.equal(calls[0].state.status, 'completed');
    assert.match(calls[1].state.error, /currently being resumed/);
    await use(session, 'cancel', { task_id: id });
  });

  test('Handle expired session on resume', patience, async () => {
    const session = await all.opencode.session();
    const id = await completed(session);
    await use(session, 'clear', {});
    const { output, failed } = await use(session, 'task', { resume: id, prompt: 'go on' });
    assert.ok(failed);
    assert.match(output, /start a new superagents_task/);
  });

  test('Show resumed indicator; No indicator for new tasks', patience, async () => {
    const session = await all.opencode.session();
    const [fresh, resumed] = [await completed(session), await completed(session)];
    await turn(all, session, [call('superagents_task', { resume: resumed, prompt: 'help' }), call('superagents_output', { task_id: resumed, block: true })]);
    const { output } = await use(session, 'list', {});
    assert.ok(output.includes(`${resumed} (resumed)`), output);
    assert.ok(output.includes(fresh) && !output.includes(`${fresh} (`), output);
  });

  test('Reject fork with resume', patience, async () => {
    const session = await all.opencode.session();
    const { output, failed } = await use(session, 'task', { fork: true, resume: 'task_00000000000000000000000000', prompt: 'x', agent: 'demo' });
    assert.ok(failed);
    assert.match(output, /mutually exclusive/);
    assert.equal((await all.server.get(`/api/tasks?parent_session_id=${session}`)).tasks.length, 0, 'no task is created');
  });

  test('Filter by parent session; Empty list for no children', patience, async () => {
    const [mine, other] = [await all.opencode.session(), await all.opencode.session()];
    const id = await completed(mine);
    assert.ok((await use(mine, 'list', {})).output.includes(id));
    assert.equal((await use(other, 'list', {})).output.trim(), 'No background tasks found');
  });
});

describe('Seed 004', suite, () => {
  const all = shared({ args: ['--max-concurrent', '20'] });

  test('Validate mutually exclusive modes', patience, async () => {
    const session = await all.opencode.session();
    const { calls } = await turn(all, session, [call('background_task', { fork: true, resume: 'task_00000000000000000000000000', prompt: 'x', agent: 'demo' })]);
    assert.match(calls[0].state.error, /mutually exclusive/);
    assert.equal((await all.server.get(`/api/tasks?parent_session_id=${session}`)).tasks.length, 0);
  });

  test('Filter by parent session; Empty list for no children; No indicator for new tasks', patience, async () => {
    const [mine, other] = [await all.opencode.session(), await all.opencode.session()];
    const { output } = await turn(all, mine, [call('background_task', { prompt: demo.short, agent: 'demo' })]);
    const id = task_id(output);
    await all.server.at_rest(id);
    const list = await turn(all, mine, [call('background_list')]);
    assert.ok(list.output.includes(id) && !list.output.includes(`${id} (`));
    assert.equal((await turn(all, other, [call('background_list')])).output.trim(), 'No background tasks found');
  });
});
