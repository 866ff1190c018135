// Tasks of agents that speak the Agent Client Protocol: one made with the protocol's own SDK, and one that misbehaves
// (R1.6, R2.2, R4.6, R5.1, R6). The programs that people have are in agents_script.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { alive, kill9, marked, marker, Server, temporary_folder, tools_folder, until } from './harness/index.mjs';

const agents = path.join(path.dirname(fileURLToPath(import.meta.url)), 'agents');
const within = 60_000;

// `warm`: so long its process waits for a further turn, in seconds.
async function world(t, { fake = {}, toml = '', args = [], warm = 0 } = {}) {
  const folder = temporary_folder(t, 'acp');
  const [work_dir, state] = ['project', 'state'].map((name) => path.join(folder, name));
  for (const made of [work_dir, state, path.join(folder, 'data')]) fs.mkdirSync(made, { mode: 0o700 });
  const words = (...list) => JSON.stringify([process.execPath, ...list]);
  const bad = ['leaves', 'silent', 'half', 'cut', 'flood', 'long', 'odd', 'dies', 'deaf', 'future'];
  fs.writeFileSync(path.join(folder, 'data/errand.toml'), [
    `[agents.good]\ndriver = "acp"\ncommand = ${words(path.join(agents, 'acp_agent.mjs'), tools_folder, state)}\n${toml}`,
    ...bad.map((mode) => `[agents.${mode}]\ndriver = "acp"\ncommand = ${words(path.join(agents, 'acp_bad.mjs'), mode)}`),
  ].join('\n'));
  const server = await Server.start(t, { folder, env: { FAKE_AGENT: JSON.stringify(fake), ERRAND_WARM_S: String(warm) }, args });
  const ask = (message, more = {}) => server.launch({ agent_id: 'good', message: typeof message === 'string' ? message : JSON.stringify(message), work_dir, ...more });
  const pids = () => (fs.existsSync(path.join(state, 'pids')) ? fs.readFileSync(path.join(state, 'pids'), 'utf8').trim().split('\n').map(Number) : []);
  const at = (name) => until(() => fs.existsSync(path.join(state, `at-${name}`)), { what: `it waits at ${name}`, within });
  const go = (name) => fs.writeFileSync(path.join(state, name), '');
  const parts = async (id) => (await server.get(`/api/tasks/${id}/messages`)).messages.flatMap((message) => message.parts);
  const rest = (id) => server.at_rest(id, { within });
  return { server, folder, work_dir, state, ask, pids, at, go, parts, rest };
}

test('A prompt, its thoughts, its plan, its tools, its answer, what it used; and a further turn in the same session', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest, parts, pids } = await world(t);
  const { id } = await ask([{ think: 'hm' }, { say: 'I ' }, { say: 'look.' }, { plan: [['look', 'in_progress']] }, { run: 'echo one; echo 二' }, { say: 'Done: 二.' }]);
  const task = await rest(id);
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.equal(task.result, 'Done: 二.');
  assert.deepEqual([task.progress.usage.input_tokens, task.progress.usage.output_tokens], [40, 9]);
  const said = await parts(id);
  assert.deepEqual(said.filter((part) => part.type === 'tool_call').map((part) => part.name), ['todo_write', 'bash']);
  assert.equal(said.findLast((part) => part.type === 'tool_result').output, 'one\n二\n');
  assert.ok(said.some((part) => part.type === 'reasoning' && part.text === 'hm'));
  await until(() => pids().every((pid) => !alive(pid)), { what: 'its process is gone' });

  await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'and now' });
  const again = await server.when(id, (seen) => seen.turn === 2 && seen.status === 'completed', { within });
  assert.match(again.result, /^You said: and now; before it: .*I look\.Done: 二\.$/);
  assert.equal(pids().length, 2, 'a process for each turn');
});

test('A session that can only be loaded is loaded, and what it repeats is not said again', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest } = await world(t, { fake: { no_resume: true } });
  const { id } = await ask([{ say: 'the first answer' }]);
  await rest(id);
  await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'more' });
  const again = await server.when(id, (seen) => seen.turn === 2 && seen.status === 'completed', { within });
  assert.match(again.result, /^You said: more; before it: .*the first answer$/);
  const { messages } = await server.get(`/api/tasks/${id}/messages`);
  assert.deepEqual(messages.map((message) => message.role), ['user', 'assistant', 'user', 'assistant']);
});

test('An edit is asked for with its diff, and done where it is allowed; what is denied is not', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest, work_dir, state, parts } = await world(t);
  const file = path.join(work_dir, 'a.txt');
  fs.writeFileSync(file, 'one\ntwo\n');
  const { id } = await ask([{ edit: [file, 'one\nzwei\n'], ask: true }, { say: 'ok' }], { permission: 'ask' });
  const { waiting_for } = await server.when(id, (task) => task.waiting_for, { within });
  assert.equal(waiting_for.kind, 'permission');
  assert.match(waiting_for.text, /Scripted asks to use edit: Edit .*a\.txt/);
  assert.match(waiting_for.diff, /@@ -1,2 \+1,2 @@\n one\n-two\n\+zwei\n/);
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');
  await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: waiting_for.request_id, decision: 'allow' });
  assert.equal((await rest(id)).status, 'completed');
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\nzwei\n');

  const denied = await ask([{ run: `echo no > ${file}`, ask: true }, { say: 'then not' }], { permission: 'deny' });
  assert.equal((await rest(denied.id)).result, 'then not');
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\nzwei\n');
  assert.equal((await parts(denied.id)).find((part) => part.type === 'tool_result').is_error, true);
  // By rule, without anybody: every command of the script is looked at.
  const rules = [{ tool: 'bash', pattern: 'echo *', decision: 'allow' }, { tool: '*', pattern: '', decision: 'deny' }];
  const ruled = await ask([{ run: 'echo yes', ask: true }, { run: `echo x; rm ${file}`, ask: true }, { say: 'so' }], { permission: rules });
  await rest(ruled.id);
  assert.deepEqual((await parts(ruled.id)).filter((part) => part.type === 'tool_result').map((part) => part.is_error), [false, true]);
  assert.deepEqual(fs.readFileSync(path.join(state, 'outcomes'), 'utf8').trim().split('\n').map((line) => JSON.parse(line).optionId), ['yes', 'no', 'yes', 'no']);
});

test('A message while it works is its next prompt, in the same turn and process', { timeout: 300_000 }, async (t) => {
  const { server, ask, at, go, rest, pids } = await world(t);
  const { id } = await ask([{ wait: 'told' }, { say: 'first' }]);
  await at('told');
  await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'also this' });
  go('told');
  const task = await rest(id);
  assert.match(task.result, /^You said: also this; before it: .*first$/);
  assert.equal(task.turn, 1);
  assert.equal(pids().length, 1);
});

test('Cancel inside a tool ends the tool, the agent and nothing else', { timeout: 300_000 }, async (t) => {
  const { server, ask, pids, rest } = await world(t);
  const mark = marker();
  const { id } = await ask([{ run: `echo begun; sleep ${mark}` }, { say: 'never' }]);
  await until(() => marked(mark).length > 0, { what: 'its tool runs', within });
  await server.cancel(id);
  assert.equal((await rest(id)).status, 'cancelled');
  await until(() => marked(mark).length === 0 && pids().every((pid) => !alive(pid)), { what: 'all of it is gone', within });
});

test('Cancel while it asks: the question is answered as cancelled', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest, state } = await world(t);
  const { id } = await ask([{ run: 'mkdir -p made', ask: true }], { permission: 'ask' });
  await server.when(id, (task) => task.waiting_for, { within });
  await server.cancel(id);
  assert.equal((await rest(id)).status, 'cancelled');
  assert.equal(fs.readFileSync(path.join(state, 'outcomes'), 'utf8').trim(), '{"outcome":"cancelled"}');
});

test('kill -9 of errand in the middle of a turn: the turn goes on, nothing is lost or doubled', { timeout: 300_000 }, async (t) => {
  const { server, ask, at, go, rest, parts, pids } = await world(t);
  const { id } = await ask([{ say: 'one ' }, { run: 'echo tool' }, { wait: 'middle' }, { say: 'two ' }, { say: 'three' }, { run: 'echo again' }, { say: 'done' }]);
  await at('middle');
  await server.kill9();
  go('middle');
  await server.start();
  const task = await rest(id);
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.equal(task.result, 'done');
  assert.equal(task.progress.tool_calls, 2);
  assert.deepEqual((await parts(id)).filter((part) => part.type === 'text').slice(1).map((part) => part.text), ['one ', 'two three', 'done']);
  assert.equal(pids().length, 1, 'the same process');
});

test('A further turn goes on in the same process, also where errand is killed in it; none is left behind', { timeout: 300_000 }, async (t) => {
  const { server, ask, at, go, rest, pids } = await world(t, { warm: 86_400 });
  const say = (message) => server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: JSON.stringify(message) });
  const turn = (number) => server.when(id, (task) => task.turn === number && ['completed', 'failed'].includes(task.status), { within });
  const { id } = await ask([{ say: 'one' }]);
  assert.equal((await rest(id)).result, 'one');
  await say([{ say: 'two ' }, { wait: 'second' }, { run: 'echo tool' }, { say: 'and more' }]);
  await at('second');
  await server.kill9();
  go('second');
  await server.start();
  const second = await turn(2);
  assert.deepEqual([second.result, second.progress.tool_calls], ['and more', 1], JSON.stringify(second.error));
  assert.deepEqual([pids().length, alive(pids()[0])], [1, true], 'the same process, and it waits');
  await server.kill9();
  await server.start();
  await until(() => !alive(pids()[0]), { what: 'what waited when errand was killed is ended' });
  await say([{ say: 'three' }]);
  assert.equal((await turn(3)).result, 'three');
  assert.deepEqual([pids().length, alive(pids()[1])], [2, true]);
  // One that died while it waited is replaced. Where its death was not known yet when the message was given to it, nobody can
  // say whether it was read: then the turn fails with it, and a retry goes on.
  kill9(pids()[1]);
  await until(() => !alive(pids()[1]), { what: 'it is dead' });
  await say([{ say: 'four' }]);
  let fourth = await turn(4);
  if (fourth.status === 'failed') {
    assert.equal(fourth.error.code, 'signal');
    await server.expect(200, 'POST', `/api/tasks/${id}/retry`, {});
    fourth = await server.when(id, (task) => task.attempt === 2 && ['completed', 'failed'].includes(task.status), { within });
  }
  assert.equal(fourth.result, 'four', JSON.stringify(fourth.error));
  await server.term();
  await until(() => pids().every((pid) => !alive(pid)), { what: 'what waits when errand leaves is ended' });
});

test('kill -9 of errand while it asks: it asks still, and the answer reaches it once', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest, state } = await world(t);
  const { id } = await ask([{ run: 'mkdir -p made', ask: true }, { say: 'done' }], { permission: 'ask' });
  await server.when(id, (task) => task.waiting_for, { within });
  await server.kill9();
  await server.start();
  const { waiting_for } = await server.when(id, (task) => task.waiting_for, { within });
  await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: waiting_for.request_id, decision: 'allow' });
  const task = await rest(id);
  assert.deepEqual([task.status, task.result, task.progress.tool_calls], ['completed', 'done', 1]);
  assert.equal(fs.readFileSync(path.join(state, 'outcomes'), 'utf8').trim().split('\n').length, 1);
});

test('kill -9 of the agent: the task failed and says how; a retry goes on in its session', { timeout: 300_000 }, async (t) => {
  const { server, ask, at, rest, pids, go } = await world(t);
  const mark = marker();
  const { id } = await ask([{ say: 'begun' }, { wait: 'killed' }, { run: `sleep ${mark}` }]);
  await at('killed');
  for (const pid of pids()) kill9(pid);
  const task = await rest(id);
  assert.equal(task.status, 'failed');
  assert.equal(task.error.code, 'signal');
  assert.match(task.error.message, /Scripted ended in the middle of the turn\..*signal 9/);
  go('killed');
  await server.expect(200, 'POST', `/api/tasks/${id}/retry`, { message: 'are you there' });
  const again = await server.when(id, (seen) => seen.attempt === 2 && seen.status === 'completed', { within });
  assert.match(again.result, /^You said: .* \| are you there; before it: $/);
  assert.equal(pids().length, 2);
});

test('A fork of another conversation begins with it', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest } = await world(t);
  const parent = await ask([{ say: 'the word is quince' }]);
  const { session_id } = await rest(parent.id);
  const child = await ask('which word?', { fork: true, parent_session_id: session_id });
  const task = await rest(child.id);
  assert.equal(task.is_forked, true);
  assert.match(task.result, /^You said: .*the word is quince.*\| which word\?; before it: $/s);
});

test("errand's tools are handed over where the task has them; files are served within its folders", { timeout: 300_000 }, async (t) => {
  const { ask, rest, parts, work_dir, folder } = await world(t, { toml: 'options = { client_files = "true", mode = "b" }\n' });
  fs.writeFileSync(path.join(folder, 'secret'), 'no');
  fs.symlinkSync(path.join(folder, 'secret'), path.join(work_dir, 'link'));
  const steps = [{ servers: true }, { edit: [path.join(work_dir, 'new.txt'), 'text'], through: 'client' }, { say: '|' }, ...['new.txt', 'link', '../secret'].flatMap((name) => [{ read: `${work_dir}/${name}` }, { say: '|' }]), { env: 'ERRAND_TASK_ID' }];
  const { id } = await ask(steps, { enable_mcp: true });
  const task = await rest(id);
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.ok((await parts(id)).some((part) => part.type === 'text' && part.text === 'errand'), 'it was given errand’s server');
  const [, read, link, above, task_id] = task.result.split('|');
  assert.equal(read, 'text');
  assert.match(link, /^refused: /);
  assert.match(above, /^refused: /);
  assert.equal(task_id, id);
  assert.equal(fs.readFileSync(path.join(folder, 'state/mode'), 'utf8'), 'b', 'its mode was chosen');
});

test('How a prompt stopped is how the task ended; a missing login says what to type', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest } = await world(t);
  for (const [steps, code] of [[[{ stop: 'max_tokens' }], 'max_tokens'], [[{ stop: 'refusal' }], 'refused'], [[{ stop: 'max_turn_requests' }], 'budget'], [[{ error: 'the model says no' }], 'agent_error']]) {
    const task = await rest((await ask(steps)).id);
    assert.deepEqual([task.status, task.error?.code], ['failed', code]);
  }
  await server.kill9();
  server.env.FAKE_AGENT = JSON.stringify({ logged_out: true });
  await server.start();
  const task = await rest((await ask('hello')).id);
  assert.equal(task.error.code, 'login_required');
  assert.match(task.error.message, /Log in: Type `scripted login`\./);
});

test('An agent that misbehaves fails in words, or is understood where it can be; nothing of it is left', { timeout: 300_000 }, async (t) => {
  const { server, ask, rest } = await world(t);
  const one = async (agent_id) => rest((await ask('go', { agent_id })).id);
  const [half, odd, flood] = [await one('half'), await one('odd'), await one('flood')];
  assert.deepEqual([half.status, half.result], ['completed', 'in two']);
  assert.deepEqual([odd.status, odd.result], ['completed', 'still here']);
  assert.equal(flood.result, Array.from({ length: 20_000 }, (_, i) => `${i} `).join(''), 'however fast it comes');
  const left = await one('leaves');
  assert.deepEqual([left.status, left.error.code, left.exit_code], ['failed', 'exit', 7]);
  assert.match(left.error.message, /I am not well/);
  for (const name of ['cut', 'dies']) assert.equal((await one(name)).error.code, 'signal');
  const long = await one('long');
  assert.equal(long.error.code, 'agent_error');
  assert.match(long.error.message, /cannot be understood/);
  assert.match((await one('future')).error.message, /speaks version 3 of the Agent Client Protocol/);
  for (const agent_id of ['silent', 'deaf']) {
    const { id } = await ask('go', { agent_id });
    await server.when(id, ['running'], { within });
    await server.cancel(id);
    assert.equal((await rest(id)).status, 'cancelled');
  }
  await until(() => server.get('/api/tasks?status=running').then((page) => page.tasks.length === 0), { what: 'nothing is at work' });
});
