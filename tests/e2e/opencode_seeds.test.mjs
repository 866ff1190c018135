// Scenarios of seed 000 as they are written, each in a real OpenCode session whose model makes the calls.
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
});
