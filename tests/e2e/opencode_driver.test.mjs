// Tasks of the agent `opencode`: the real OpenCode, under the supervisor, against the scripted model (R2.2, R4.6, R5).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { call, kill9, marked, marker, opencode_binary, opencode_config, opencode_env, opencode_skip as skip, processes, Server, temporary_folder, until } from './harness/index.mjs';

const within = 240_000;

async function world(t, { config = {}, args = [] } = {}) {
  assert.ok(opencode_binary, 'OpenCode is installed by scripts/test (tests/e2e/package.json)');
  const model = await start_model();
  t.after(() => model.close());
  const folder = temporary_folder(t, 'ocd');
  const bin = path.join(folder, 'bin');
  const work_dir = path.join(folder, 'project');
  for (const made of [bin, work_dir]) fs.mkdirSync(made);
  fs.symlinkSync(opencode_binary, path.join(bin, 'opencode'));
  const env = opencode_env(folder, { PATH: `${bin}:${process.env.PATH}`, OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...opencode_config(model), ...config }) });
  const server = await Server.start(t, { folder, env, args });
  const ask = (message, more = {}) => server.launch({ agent_id: 'opencode', message, work_dir, ...more });
  return { server, model, folder, work_dir, ask };
}

const serve_pids = (folder) => processes().filter((p) => p.state !== 'Z' && p.argv.includes('serve') && p.argv[0].startsWith(folder)).map((p) => p.pid);

test('A prompt, its tools, its answer, what it used; and a further one in the same conversation', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask, folder } = await world(t);
  assert.ok((await server.get('/api/agents')).agents.some((agent) => agent.id === 'opencode' && agent.available !== false), 'it is found on PATH');
  model.rule('count to two', [call('bash', { command: 'echo one; echo two', description: 'count' }), { text: ['I have ', 'counted to two: 语.'], usage: { input: 40, output: 9 } }], { tools: true });
  const { id } = await ask('count to two');
  const task = await server.at_rest(id, { within });
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.equal(task.result, 'I have counted to two: 语.');
  assert.equal(task.progress.tool_calls, 1);
  assert.ok(task.progress.usage.input_tokens > 0 && task.progress.usage.output_tokens > 0);
  const { messages } = await server.get(`/api/tasks/${id}/messages`);
  const parts = messages.flatMap((message) => message.parts);
  assert.equal(parts.find((part) => part.type === 'tool_call').name, 'bash');
  assert.match(parts.find((part) => part.type === 'tool_result').text ?? parts.find((part) => part.type === 'tool_result').output, /one\ntwo/);

  model.rule('and now three', [{ text: 'three' }], { tools: true });
  await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'and now three' });
  const again = await server.when(id, (seen) => seen.turn === 2 && seen.status === 'completed', { within });
  assert.equal(again.result, 'three');
  const asked = model.requests().findLast((record) => record.body.tools?.length).body.messages;
  assert.match(JSON.stringify(asked), /count to two.*counted to two.*and now three/s, 'with the whole conversation');
  const roles = (await server.get(`/api/tasks/${id}/messages`)).messages.map((message) => message.role);
  assert.deepEqual(roles, ['user', 'assistant', 'assistant', 'user', 'assistant']);
  assert.equal(serve_pids(folder).length, 1, 'one OpenCode');
});

test('A message while it works reaches it in that turn; cancel ends its tools', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask } = await world(t);
  const mark = marker();
  model.rule('begin', [{ ...call('bash', { command: 'echo first', description: 'x' }), wait: 'told' }, { text: 'after the first' }], { tools: true });
  model.rule('also this', [call('bash', { command: `echo begun; sleep ${mark}`, description: 'y', timeout: 3600000 })], { tools: true });
  const { id } = await ask('begin');
  await model.waiting('told', { timeout_ms: within });
  await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'also this' });
  await server.when(id, async () => (await server.get(`/api/tasks/${id}/messages`)).messages.filter((m) => m.role === 'user' && m.completed_at).length === 2, { within });
  model.release('told');
  await until(() => marked(mark).length > 0, { what: 'its second tool runs', within });
  assert.equal((await server.task(id)).turn, 1);
  await server.cancel(id);
  assert.equal((await server.at_rest(id, { within })).status, 'cancelled');
  await until(() => marked(mark).length === 0, { what: 'its tool is gone', within: 30_000 });
});

test('kill -9 of errand in the middle of a turn: the next one takes it up, nothing is lost or doubled', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask, folder } = await world(t);
  model.rule('three steps', [call('bash', { command: 'echo one', description: 'x' }), { ...call('bash', { command: 'echo two', description: 'y' }), wait: 'in the middle' }, { text: 'all done' }], { tools: true });
  const { id } = await ask('three steps');
  await model.waiting('in the middle', { timeout_ms: within });
  const [pid] = serve_pids(folder);
  await server.kill9();
  model.release('in the middle');
  await server.start();
  const task = await server.at_rest(id, { within });
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.equal(task.result, 'all done');
  assert.equal(task.progress.tool_calls, 2);
  const { messages } = await server.get(`/api/tasks/${id}/messages`);
  assert.equal(messages.filter((message) => message.role === 'user').length, 1);
  const said = messages.flatMap((message) => message.parts).filter((part) => part.type === 'text' && part.text === 'all done');
  assert.equal(said.length, 1);
  assert.deepEqual(serve_pids(folder), [pid], 'the same OpenCode');
});

test('What it asks is asked, and the answer reaches it', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask } = await world(t, { config: { permission: { bash: 'ask' } } });
  model.rule('may I', [call('bash', { command: 'echo allowed', description: 'x' }), { text: 'done' }], { tools: true });
  const { id } = await ask('may I', { permission: 'ask' });
  const waiting = await server.when(id, (task) => task.waiting_for, { within });
  assert.equal(waiting.waiting_for.kind, 'permission');
  assert.match(waiting.waiting_for.text, /echo allowed/);
  await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: waiting.waiting_for.request_id, decision: 'allow' });
  assert.equal((await server.at_rest(id, { within })).result, 'done');
  const denied = await ask('may I', { permission: 'deny' });
  assert.equal((await server.at_rest(denied.id, { within })).status, 'completed');
  const parts = (await server.get(`/api/tasks/${denied.id}/messages`)).messages.flatMap((message) => message.parts);
  assert.equal(parts.find((part) => part.type === 'tool_result').is_error, true, 'denied by the rule, and it goes on');
});

test('kill -9 of OpenCode: the task is interrupted, the next one works', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask, folder } = await world(t);
  model.rule('hang', [{ text: 'never', wait: 'never' }], { tools: true });
  model.rule('work', [{ text: 'worked' }], { tools: true });
  const first = await ask('hang');
  await model.waiting('never', { timeout_ms: within });
  for (const pid of serve_pids(folder)) kill9(pid);
  const task = await server.at_rest(first.id, { within });
  assert.equal(task.status, 'failed');
  assert.equal(task.error.code, 'interrupted');
  assert.equal((await server.at_rest((await ask('work')).id, { within })).result, 'worked');
});

test('A failure of the model is a failure that says why', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask } = await world(t);
  model.rule('break', [{ status: 400, error: { message: 'the model says no' } }], { tools: true });
  const task = await server.at_rest((await ask('break')).id, { within });
  assert.equal(task.status, 'failed');
  assert.equal(task.error.code, 'agent_error');
  assert.match(task.error.message, /the model says no/);
});
