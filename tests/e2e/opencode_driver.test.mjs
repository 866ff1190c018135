// Tasks of the agent `opencode`: what is OpenCode's own beside the script for every agent (agents_script.test.mjs), with the real
// OpenCode, under the supervisor, against the scripted model (R2.2, R4.6, R5).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { call, kill9, opencode_binary, opencode_config, opencode_env, opencode_skip as skip, processes, Server, temporary_folder, until } from './harness/index.mjs';

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

// A program that OpenCode starts has its words for a moment, until it is executed: it is none of these.
const serve_pids = (folder) => {
  const all = processes().filter((p) => p.state !== 'Z' && p.argv.includes('serve') && p.argv[0].startsWith(folder));
  return all.filter((p) => !all.some((parent) => parent.pid === p.ppid)).map((p) => p.pid);
};

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
