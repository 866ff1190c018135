// The agents' tools over HTTP, as the OpenCode plugin calls them (R8), and from the command line.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { errand, patience, Server, tool, until } from './harness/index.mjs';

const parent = { session_id: 'ses_e2e_parent', message_id: 'msg_e2e' };

// Calls tools for one session; every answer is held to the tool's output schema where ajv is there.
class Agent {
  constructor(server, who = parent) {
    this.server = server;
    this.who = who;
  }
  async call(name, args = {}) {
    const reply = await this.server.expect(200, 'POST', `/api/tools/${encodeURIComponent(name)}`, { ...this.who, arguments: args });
    await this.check(name, reply);
    return reply;
  }
  async good(name, args) {
    const reply = await this.call(name, args);
    assert.equal(reply.is_error, false, reply.text);
    return reply;
  }
  async bad(name, args) {
    const reply = await this.call(name, args);
    assert.equal(reply.is_error, true, reply.text);
    assert.ok(reply.data.error.code && reply.data.error.message, JSON.stringify(reply.data));
    return reply;
  }
  async check(name, reply) {
    const ajv = await tool('ajv/dist/2020.js');
    if (!ajv || reply.is_error) return;
    this.tools ??= (await this.server.get('/api/tools')).tools;
    const plain = name.replace(':execute', '').replace(/^background_task$/, name.endsWith(':execute') ? 'background_execute' : name);
    const schema = this.tools.find((t) => t.name === plain)?.output_schema;
    assert.ok(schema, `${name} is listed`);
    const validate = new ajv.Ajv2020({ strict: false, allErrors: true }).compile(schema);
    assert.ok(validate(reply.data), `${name}: ${JSON.stringify(validate.errors)}`);
  }
}

test('Every tool is listed with schemas that compile, and its example fits', async (t) => {
  const server = await Server.start(t);
  const { tools, family } = await server.get('/api/tools');
  assert.equal(family, 'background');
  const names = tools.map((one) => one.name);
  for (const name of ['task', 'execute', 'output', 'list', 'message', 'cancel', 'retry', 'clear']) assert.ok(names.includes(`background_${name}`), name);
  for (const name of ['session_manager', 'look_at']) assert.ok(names.includes(name), name);
  const ajv = await tool('ajv/dist/2020.js');
  if (!ajv) return;
  for (const one of tools) {
    const strict = new ajv.Ajv2020({ strict: true, strictTypes: false, allErrors: true });
    const input = strict.compile(one.input_schema);
    strict.compile(one.output_schema);
    assert.ok(input(one.example), `${one.name}: ${JSON.stringify(input.errors)}`);
  }
});

test('Execute, list, wait, look at the log, cancel, clear', async (t) => {
  const server = await Server.start(t);
  const agent = new Agent(server);
  const build = await agent.good('background_task:execute', { command: 'for i in 1 2 3; do echo line $i; done; echo oops >&2; exit 3', description: 'A small build', timeout: 60 });
  const { task_id } = build.data;
  const record = await server.get(`/api/tasks/${task_id}`);
  assert.equal(record.parent_session_id, parent.session_id);
  assert.equal(record.parent_message_id, parent.message_id);
  const ended = await agent.good('background_output', { task_id, block: true, timeout: 30 });
  assert.equal(ended.data.timed_out, false);
  assert.equal(ended.data.tasks[0].status, 'error');
  assert.equal(ended.data.tasks[0].exit_code, 3);
  assert.match(ended.text, /Exit code: 3/);
  const left = await server.get(`/api/sessions/${parent.session_id}/notices`);
  assert.deepEqual(left.notices, [], 'whoever waited for the result is not told again');
  const server_task = await agent.good('background_execute', { command: ['sleep', '300'], description: 'A server' });
  const list = await agent.good('background_list', {});
  assert.match(list.text, new RegExp(`${task_id} \\[error \\(exit\\)\\] A small build`));
  assert.match(list.text, new RegExp(`${server_task.data.task_id} \\[(running|pending)`));
  const log = await agent.good('look_at', { task_id });
  assert.match(log.text, /line 1\nline 2\nline 3/);
  const matching = await agent.good('look_at', { task_id, grep: 'line 2' });
  assert.match(matching.text, /line 2/);
  assert.doesNotMatch(matching.text, /line 3/);
  const cancelled = await agent.good('background_cancel', { task_id: server_task.data.task_id.slice(0, 25) });
  assert.deepEqual(cancelled.data.cancelled, [server_task.data.task_id]);
  await agent.bad('background_cancel', { task_id: server_task.data.task_id });
  assert.deepEqual((await agent.good('background_clear', {})).data, { removed: 2, left: 0 });
  assert.equal((await agent.good('background_list', {})).text, 'No background tasks found');
  const gone = await agent.bad('background_output', { task_id });
  assert.match(gone.text, /cleared/);
});

test('Another session sees nothing of it, and a caller who leaves takes nothing', async (t) => {
  const server = await Server.start(t);
  const agent = new Agent(server);
  const other = new Agent(server, { session_id: 'ses_e2e_other' });
  const { task_id } = (await agent.good('background_task', { agent: 'demo', prompt: 'long 2', description: 'Mine' })).data;
  assert.equal((await other.good('background_list', {})).text, 'No background tasks found');
  for (const [name, more] of [['background_output', {}], ['background_cancel', {}], ['background_clear', {}], ['background_message', { message: 'x' }], ['look_at', {}]]) {
    const refused = await other.bad(name, { task_id, ...more });
    assert.match(refused.text, /another session/, name);
  }
  const leaving = new AbortController();
  const wait = fetch(`${server.url}/api/tools/background_output`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...parent, arguments: { task_id, block: true, timeout: 60 } }),
    signal: leaving.signal,
  });
  await until(async () => (await server.get(`/api/tasks/${task_id}`)).progress.turns === 1, { what: 'it works' });
  leaving.abort();
  await assert.rejects(wait);
  await server.at_rest(task_id, { within: 20_000 * patience });
  const record = await server.get(`/api/tasks/${task_id}`);
  assert.equal(record.status, 'completed');
  assert.equal(record.retrieved_at, null);
  assert.equal((await server.get(`/api/sessions/${parent.session_id}/notices`)).notices.length, 1);
});

test('A session\'s state and its waits outlive a kill -9 of the server', async (t) => {
  const server = await Server.start(t);
  const agent = new Agent(server);
  const { task_id } = (await agent.good('background_execute', { command: 'sleep 2; echo survived', description: 'Long' })).data;
  await agent.good('session_manager', { action: 'keep', key: 'nightly build', value: `${task_id}: 你好\nsecond line` });
  await agent.good('session_manager', { action: 'keep', key: 'gone', value: 'x' });
  await agent.good('session_manager', { action: 'drop', key: 'gone' });
  await server.restart();
  const kept = await agent.good('session_manager', { action: 'list' });
  assert.deepEqual(kept.data.entries.map((entry) => entry.key), ['nightly build']);
  const read = await agent.good('session_manager', { action: 'read', key: 'nightly build' });
  assert.equal(read.text, `${task_id}: 你好\nsecond line`);
  const ended = await agent.good('background_output', { task_id, block: true, timeout: 30 });
  assert.equal(ended.data.tasks[0].status, 'completed');
  assert.match(ended.text, /survived/);
  await server.expect(200, 'DELETE', `/api/sessions/${parent.session_id}`);
  assert.deepEqual((await agent.good('session_manager', { action: 'list' })).data.entries, [], 'it goes with the session');
});

test('Resume is explicit, tells the parent, and refuses what it must in the seed\'s words', async (t) => {
  const server = await Server.start(t);
  const agent = new Agent(server);
  const { task_id } = (await agent.good('background_task', { agent: 'demo', prompt: 'noop', description: 'First' })).data;
  await server.at_rest(task_id, { within: 20_000 * patience });
  assert.match((await agent.bad('background_task', { resume: task_id, fork: true, prompt: 'x' })).text, /mutually exclusive/);
  const resumed = await agent.good('background_task', { resume: task_id, prompt: 'long 2' });
  assert.equal(resumed.data.status, 'resumed');
  assert.match((await agent.bad('background_task', { resume: task_id, prompt: 'x' })).text, /currently being resumed/);
  assert.match((await agent.good('background_list', {})).text, new RegExp(`${task_id} \\(resumed\\) \\[`));
  const ended = await agent.good('background_output', { task_id, block: true, timeout: 30 });
  assert.equal(ended.data.tasks[0].status, 'completed');
  await agent.good('background_clear', { task_id });
  assert.match((await agent.bad('background_task', { resume: task_id, prompt: 'x' })).text, /start a new background_task/);
});

test('Of a long output the agent gets the head and the tail, the size, and how to read the rest (R3.7)', async (t) => {
  const server = await Server.start(t);
  const agent = new Agent(server);
  const { task_id } = (await agent.good('background_execute', { command: 'seq 1 20000; echo é >&2' })).data;
  const { text, data } = await agent.good('background_output', { task_id, block: true, timeout: 30 });
  const { result } = data.tasks[0];
  assert.deepEqual([data.tasks[0].result_truncated, data.tasks[0].result_bytes], [true, 108_897]);
  assert.match(result, /^1\n2\n3\n/);
  assert.match(result, /\n19999\n20000\né\n$/);
  assert.match(result, new RegExp(`the whole output has 20001 lines \\(108897 bytes\\)\\. Read the rest with look_at\\(task_id="${task_id}", offset=`));
  assert.ok([...result].length <= 16_000 && [...result].length > 15_900, `${[...result].length} characters`);
  assert.ok(text.includes(result));
  assert.match((await agent.good('look_at', { task_id, offset: 200_000 })).text, /has 108897 bytes: there is nothing behind offset 200000/);
  // Several share the room, and each says its own size.
  const two = (await agent.good('background_execute', { command: 'seq 1 5000' })).data.task_id;
  await server.at_rest(two);
  const both = (await agent.good('background_output', { task_ids: [task_id, two] })).data.tasks.map((task) => task.result);
  for (const one of both) assert.ok([...one].length <= 8_000 && one.startsWith('1\n2\n'), one.slice(0, 50));
  // A command is no conversation, and nobody is sent round in a circle.
  const refused = await agent.bad('background_message', { task_id: two, message: 'x' });
  assert.match(refused.text, /takes no messages.*background_execute/);
  assert.doesNotMatch(refused.text, /resume/);
});

test('Wrong calls are answered for the agent; only an unknown tool is a 404', async (t) => {
  const server = await Server.start(t);
  const agent = new Agent(server);
  assert.match((await agent.bad('background_execute', { comand: 'ls' })).text, /command.*\n?.*Example: background_execute/s);
  assert.match((await agent.bad('background_execute', { command: 'ls', comand: 'ls' })).text, /Unknown field `comand`/);
  assert.match((await agent.bad('background_output', { task_id: 'task_01k9z3s5x7e8' })).text, /background_list/);
  await server.expect(404, 'POST', '/api/tools/background_everything', { arguments: {} });
  await server.expect(400, 'POST', '/api/tools/background_list', { argument: {} });
  await server.expect(400, 'POST', '/api/tools/background_list', { session_id: 'a/b', arguments: {} });
  assert.match((await agent.bad('background_list', [1])).text, /must be a JSON object/);
});

test('The family that is listed is a setting; all are understood', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_TOOLS_FAMILY: 'superagents' } });
  const { tools, family } = await server.get('/api/tools');
  assert.equal(family, 'superagents');
  assert.ok(tools.some((one) => one.name === 'superagents_task'));
  assert.ok(!JSON.stringify(tools).includes('background_'));
  for (const name of ['background', 'superagents', 'asyncagents', 'bgagent']) {
    const reply = await server.expect(200, 'POST', `/api/tools/${name}_list`, parent);
    assert.equal(reply.text, 'No background tasks found');
  }
});

test('errand tools and errand tool', async (t) => {
  const server = await Server.start(t);
  const listed = await errand(server, ['tools']);
  assert.equal(listed.code, 0, listed.err);
  assert.match(listed.out, /^background_task\t/m);
  const made = await errand(server, ['tool', 'background_execute', '{"command":"echo from the shell"}', '--session', 'ses_cli', '--json']);
  assert.equal(made.code, 0, made.err);
  const id = made.json.data.task_id;
  const output = await errand(server, ['tool', 'background_output', '-', '--session', 'ses_cli'], { input: JSON.stringify({ task_id: id, block: true }) });
  assert.equal(output.code, 0, output.err);
  assert.match(output.out, /from the shell/);
  assert.equal((await errand(server, ['tool', 'background_output', '{}'])).code, 1);
  assert.equal((await errand(server, ['tool', 'background_output', '{'])).code, 2);
  assert.equal((await errand(server, ['tool', 'no_such_tool'])).code, 3);
});

test('The background task manager is listed, says why it cannot be used, and is not launched', async (t) => {
  const server = await Server.start(t);
  const { agents } = await server.get('/api/agents');
  const manager = agents.find((agent) => agent.id === 'background-task-manager');
  assert.equal(manager.available, false);
  assert.match(manager.unavailable_reason, /No model is configured/);
  assert.ok(manager.tools.includes('background_execute'));
  assert.match(manager.prompt, /### Background Task Completed: \[Task Name\]/);
  assert.ok(agents.filter((agent) => agent.driver !== 'builtin').every((agent) => agent.available));
  const refused = await server.expect(422, 'POST', '/api/tasks', { agent_id: manager.id, message: 'x' });
  assert.match(refused.detail, /is not available/);
  assert.match((await errand(server, ['agents'])).out, /^background-task-manager\tbuiltin\t/m);
  // Whoever names no agent gets one that works, and the demonstration is none: it says what to do.
  const asked = await errand(server, ['ask', 'noop']);
  assert.equal(asked.code, 3);
  assert.match(asked.err, /errand setup asks for a model[^]*claude, codex, gemini or opencode[^]*--agent demo/);
  assert.equal((await errand(server, ['ask', 'noop', '--agent', 'demo', '--json'])).json.agent_id, 'demo');
});
