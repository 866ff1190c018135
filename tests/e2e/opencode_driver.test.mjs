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
  // The tasks whose sessions errand's OpenCode has: it is asked as errand asks it.
  const sessions = async () => {
    const { run, password } = JSON.parse(fs.readFileSync(path.join(server.data_dir, 'opencode/serve.json'), 'utf8'));
    const log = fs.readdirSync(path.join(server.data_dir, 'run', `opencode__serve.${run}`), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
      .join('\n');
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(log);
    const reply = await fetch(`${url}/session?directory=${encodeURIComponent(work_dir)}`, { headers: { authorization: `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}` } });
    return (await reply.json()).map((session) => session.metadata?.errand_task);
  };
  return { server, model, folder, work_dir, ask, sessions };
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

test('kill -9 of OpenCode: the task is interrupted, its tools die with it, the next one works', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask, folder } = await world(t);
  const mark = marker();
  model.rule('hang', [call('bash', { command: `echo begun; sleep ${mark}`, description: 'x', timeout: 3600000 })], { tools: true });
  model.rule('work', [{ text: 'worked' }], { tools: true });
  const first = await ask('hang');
  await until(() => marked(mark).length > 0, { what: 'its tool runs', within });
  for (const pid of serve_pids(folder)) kill9(pid);
  const task = await server.at_rest(first.id, { within });
  assert.equal(task.status, 'failed');
  assert.equal(task.error.code, 'interrupted');
  await until(() => marked(mark).length === 0, { what: 'its tool is gone', within: 60_000 });
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

test('kill -9 of errand while it asks: it asks still, and the answer reaches it', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask } = await world(t, { config: { permission: { bash: 'ask' } } });
  model.rule('may I', [call('bash', { command: 'echo allowed', description: 'x' }), { text: 'done' }], { tools: true });
  const { id } = await ask('may I', { permission: 'ask' });
  await server.when(id, (task) => task.waiting_for, { within });
  await server.kill9();
  await server.start();
  const waiting = await server.when(id, (task) => task.waiting_for, { within });
  await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: waiting.waiting_for.request_id, decision: 'allow' });
  const task = await server.at_rest(id, { within });
  assert.deepEqual([task.status, task.result, task.progress.tool_calls], ['completed', 'done', 1]);
});

test('20 tasks at once, in one OpenCode', { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask, folder } = await world(t, { args: ['--max-concurrent', '20'] });
  const names = Array.from({ length: 20 }, (_, n) => `piece ${n} of twenty`);
  for (const name of names) model.rule(name, [call('bash', { command: `echo ${name}`, description: 'x' }), { text: `done: ${name}`, wait: 'all' }], { tools: true });
  const tasks = await Promise.all(names.map((name) => ask(name)));
  await until(() => model.requests().filter((record) => record.body.tools?.length).length >= 40, { what: 'all are at their second step', within });
  for (const _ of names) model.release('all');
  for (const [n, { id }] of tasks.entries()) {
    const task = await server.at_rest(id, { within });
    assert.deepEqual([task.status, task.result, task.progress.tool_calls], ['completed', `done: ${names[n]}`, 1], JSON.stringify(task.error));
  }
  assert.equal(serve_pids(folder).length, 1);
});

test("A removed task's session goes from OpenCode, also where it has to be started for that", { skip, timeout: 900_000 }, async (t) => {
  const { server, model, ask, folder, sessions } = await world(t);
  model.rule('say it', [{ text: 'said' }], { tools: true });
  const [kept, removed] = [await ask('say it'), await ask('say it')];
  for (const { id } of [kept, removed]) assert.equal((await server.at_rest(id, { within })).status, 'completed');
  for (const pid of serve_pids(folder)) kill9(pid);
  await until(() => serve_pids(folder).length === 0, { what: 'OpenCode is gone', within });
  await server.expect(204, 'DELETE', `/api/tasks/${removed.id}`);
  const left = () => fs.readdirSync(path.join(server.data_dir, 'opencode/tasks'));
  await until(() => left().length === 1, { what: 'its session is deleted', within });
  assert.deepEqual(left(), [kept.id]);
  model.rule('once more', [{ text: 'again' }], { tools: true });
  await server.expect(202, 'POST', `/api/tasks/${kept.id}/message`, { message: 'once more' });
  assert.equal((await server.when(kept.id, (task) => task.turn === 2 && task.status === 'completed', { within })).result, 'again');
  assert.deepEqual(await sessions(), [kept.id], 'the one that is kept is there');
});
