// Turns that an agent begins by itself, after its turn (decision 28): Claude Code when a command that it left in the background has
// ended, and an agent over ACP that speaks without a prompt. And a server with a poorer PATH, which goes on with agents' turns.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { call, claude_skip as skip, claude_world, Server, temporary_folder, tools_folder, until } from './harness/index.mjs';

const within = 240_000;
const timeout = 900_000;
const only = { tools: true };

const messages_of = async (server, id) => (await server.get(`/api/tasks/${id}/messages`)).messages;
const said_in = (messages, turn) => messages.filter((message) => message.role === 'assistant' && message.turn === turn).flatMap((message) => message.parts).filter((part) => part.type === 'text').map((part) => part.text).join('');
const ended = (server, id, turn) => server.when(id, (task) => task.turn === turn && ['completed', 'failed', 'cancelled'].includes(task.status), { within });

// A turn of Claude Code's that leaves a command running until `go` is written, and ends.
async function left_running(t, { permission = 'allow', ...options } = {}) {
  const all = await claude_world(t, options);
  const { server, model, folder, ask } = all;
  const go = path.join(folder, 'go');
  const command = `until [ -e ${go} ]; do sleep 0.1; done; echo built`;
  model.rule('build it', [call('Bash', { command, description: 'builds', run_in_background: true }), { text: 'It builds.' }], only);
  const { id } = await ask('build it', { permission });
  const first = await ended(server, id, 1);
  assert.equal(first.result, 'It builds.', JSON.stringify(first.error));
  return { ...all, id, first, ends: () => fs.writeFileSync(go, '') };
}

test('A command in the background ends after its turn: Claude Code goes on, as a turn of the task', { skip, timeout }, async (t) => {
  const { server, model, id, first, ends, pids } = await left_running(t, { env: { ERRAND_WARM_S: '1' } });
  model.rule('task-notification', [{ text: 'It is built.', usage: { input: 70, output: 9 } }], only);
  const program = pids();
  assert.equal(program.length, 1);
  ends();
  const second = await ended(server, id, 2);
  assert.equal(second.result, 'It is built.', JSON.stringify(second.error));
  assert.ok(second.progress.usage.input_tokens >= first.progress.usage.input_tokens + 70, 'what it used is counted');
  const messages = await messages_of(server, id);
  const note = messages.find((message) => message.turn === 2 && message.role === 'user');
  assert.equal(note.parts[0].type, 'notice');
  assert.equal(note.parts[0].name, 'began');
  assert.match(note.parts[0].text, /builds|completed/, 'why it goes on');
  assert.ok(note.completed_at, 'it is taken');
  assert.equal(said_in(messages, 2), 'It is built.', 'said once');

  model.rule('and then', [{ text: 'Nothing more.' }], only);
  await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'and then' });
  const third = await ended(server, id, 3);
  assert.equal(third.result, 'Nothing more.', JSON.stringify(third.error));
});

test('It asks in such a turn, and errand is killed in it: the answer reaches it, and nothing is said twice', { skip, timeout }, async (t) => {
  const { server, model, work_dir, id, ends, pids } = await left_running(t, { permission: [{ tool: 'bash', decision: 'allow' }] });
  const file = path.join(work_dir, 'made.txt');
  model.rule('task-notification', [call('Write', { file_path: file, content: 'made' }), { text: 'Written.', wait: 'the end' }], only);
  const program = pids();
  ends();
  const asked = await server.when(id, (task) => task.waiting_for?.kind === 'permission', { within });
  assert.equal(asked.turn, 2);
  await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: asked.waiting_for.request_id, decision: 'allow' });
  await model.waiting('the end', { timeout_ms: within });
  assert.equal(fs.readFileSync(file, 'utf8'), 'made');
  await server.kill9();
  model.release('the end');
  await server.start();
  const second = await ended(server, id, 2);
  assert.equal(second.result, 'Written.', JSON.stringify(second.error));
  assert.deepEqual(pids(), program, 'the same program');
  assert.equal(said_in(await messages_of(server, id), 2), 'Written.');
});

test('Where no slot is free the program is ended, and what it was about begins the turn when one is', { skip, timeout }, async (t) => {
  const { server, model, ask, id, ends, pids } = await left_running(t, { args: ['--max-concurrent', '1'] });
  model.rule('hold the slot', [{ text: 'held', wait: 'the slot' }], only);
  model.rule('task-notification', [{ text: 'unseen', wait: 'nobody' }], only);
  model.rule('<notice>', [{ text: 'I was told.' }], only);
  const other = await ask('hold the slot');
  await model.waiting('the slot', { timeout_ms: within });
  const holder = pids().length;
  ends();
  await server.when(id, (task) => task.turn === 2 && task.status === 'resumed', { within });
  await until(() => pids().length < holder, { what: 'what works without a slot is ended', within });
  model.release('the slot');
  await ended(server, other.id, 1);
  const second = await ended(server, id, 2);
  assert.equal(second.result, 'I was told.', JSON.stringify(second.error));
  assert.doesNotMatch(JSON.stringify(await messages_of(server, id)), /unseen/);
});

test('An agent over ACP that speaks without a prompt: a turn of the task, also where errand is killed in it', { timeout }, async (t) => {
  const folder = temporary_folder(t, 'begins');
  const [work_dir, state] = ['project', 'state'].map((name) => path.join(folder, name));
  for (const made of [work_dir, state, path.join(folder, 'data')]) fs.mkdirSync(made, { mode: 0o700 });
  const words = [process.execPath, path.join(path.dirname(fileURLToPath(import.meta.url)), 'agents/acp_agent.mjs'), tools_folder, state];
  fs.writeFileSync(path.join(folder, 'data/errand.toml'), `[agents.good]\ndriver = "acp"\ncommand = ${JSON.stringify(words)}\n`);
  const server = await Server.start(t, { folder });
  const go = (name) => fs.writeFileSync(path.join(state, name), '');
  const later = [{ mumble: 'begun' }, { run: `echo asked > ${path.join(work_dir, 'x')}`, ask: true }, { wait: 'killed' }, { say: 'It is built.' }];
  const { id } = await server.launch({ agent_id: 'good', work_dir, permission: 'ask', message: JSON.stringify([{ say: 'It builds.' }, { later }]) });
  assert.equal((await ended(server, id, 1)).result, 'It builds.');
  await server.when(id, (task) => task.turn === 2 && task.status === 'resumed', { within });
  go('begun');
  const asked = await server.when(id, (task) => task.waiting_for?.kind === 'permission', { within });
  await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: asked.waiting_for.request_id, decision: 'allow' });
  await until(() => fs.existsSync(path.join(state, 'at-killed')), { what: 'it goes on', within });
  await server.kill9();
  go('killed');
  await server.start();
  const second = await ended(server, id, 2);
  assert.match(second.result, /It is built\.$/, JSON.stringify(second));
  assert.ok(fs.existsSync(path.join(work_dir, 'x')));
  const messages = await messages_of(server, id);
  assert.match(said_in(messages, 2), /^\.+It is built\.$/, 'said once');
  assert.equal(messages.flatMap((message) => message.parts).filter((part) => part.type === 'tool_call').length, 1);
});

test('A server with a poorer PATH goes on with the turn, and starts further ones', { skip, timeout }, async (t) => {
  const { server, model, ask, pids } = await claude_world(t);
  model.rule('at work', [{ text: 'goes on', wait: 'the kill' }], only);
  model.rule('another', [{ text: 'found' }], only);
  const { id } = await ask('at work');
  await model.waiting('the kill', { timeout_ms: within });
  const program = pids();
  await server.kill9();
  server.env.PATH = '/usr/bin:/bin';
  model.release('the kill');
  await server.start();
  const task = await ended(server, id, 1);
  assert.equal(task.result, 'goes on', JSON.stringify(task.error));
  assert.deepEqual(pids(), program);
  const further = await server.at_rest((await ask('another')).id, { within });
  assert.equal(further.result, 'found', JSON.stringify(further.error));
});
