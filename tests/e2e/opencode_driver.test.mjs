// Tasks of the agent `opencode`: the real OpenCode, under the supervisor, against the scripted model (R2.2, R4.6, R5).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { call, marked, marker, opencode_binary, opencode_config, opencode_env, opencode_skip as skip, processes, Server, temporary_folder, until } from './harness/index.mjs';

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
