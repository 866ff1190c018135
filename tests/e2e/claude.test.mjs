// Tasks of the agent `claude`: what is Claude Code's own beside the script for every agent (agents_script.test.mjs), with the real
// Claude Code, under the supervisor, against the scripted model (R2.2, R4.5, R4.6, R5, R6).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { call, claude_skip as skip, claude_world as world, errand, kill9, marked, marker, until } from './harness/index.mjs';

const within = 240_000;
const timeout = 900_000;
const only = { tools: true };

const parts_of = async (server, id) => (await server.get(`/api/tasks/${id}/messages`)).messages.flatMap((message) => message.parts);
const long_sleep = (mark) => call('Bash', { command: `echo begun; sleep ${mark}`, description: 'sleeps', timeout: 600_000 });

test('Found on PATH, asked without any setting: a prompt, its tools, its answer, what it used; then a further turn', { skip, timeout }, async (t) => {
  const { server, model, folder, work_dir } = await world(t);
  const { agents } = await server.get('/api/agents');
  assert.ok(agents.some((agent) => agent.id === 'claude' && agent.available !== false), JSON.stringify(agents));
  model.rule('count to two', [{ reasoning: 'Easy.', text: 'I count.', ...call('Bash', { command: 'echo one; echo two', description: 'count' }) }, { text: ['I have ', 'counted to two: 语.'], usage: { input: 40, output: 9 } }], only);
  const said = await errand(server, ['ask', '--agent', 'claude', 'count to two'], { within, cwd: work_dir, env: { ...server.env } });
  assert.equal(said.code, 0, said.err);
  const task = await server.at_rest(said.out.trim(), { within });
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.equal(task.result, 'I have counted to two: 语.');
  assert.equal(task.progress.tool_calls, 1);
  assert.ok(task.progress.usage.input_tokens > 0 && task.progress.usage.output_tokens > 0 && task.progress.usage.cost_usd > 0, JSON.stringify(task.progress));
  const parts = await parts_of(server, task.id);
  assert.deepEqual(parts.map((part) => part.type), ['text', 'reasoning', 'text', 'tool_call', 'tool_result', 'text']);
  assert.match(JSON.stringify(parts[4]), /one\\ntwo/);
  assert.ok(parts[4].ms > 0, JSON.stringify(parts[4]));

  model.rule('and now three', [{ text: 'three' }], only);
  await server.expect(202, 'POST', `/api/tasks/${task.id}/message`, { message: 'and now three' });
  const again = await server.when(task.id, (seen) => seen.turn === 2 && seen.status === 'completed', { within });
  assert.equal(again.result, 'three');
  const asked = model.requests().findLast((record) => record.body.tools?.length).body.messages;
  assert.match(JSON.stringify(asked), /count to two.*counted to two.*and now three/s, 'with the whole conversation');
  assert.ok(again.progress.usage.cost_usd < 3 * task.progress.usage.cost_usd, 'what was paid for is counted once');
  assert.equal(fs.readdirSync(path.join(folder, 'data/run')).filter((name) => name.includes('__claude_')).length, 1, 'what the turn before left is gone');
});

test('An edit is asked for, and done or not as it is answered; a question is one', { skip, timeout }, async (t) => {
  const { server, model, ask, work_dir, pids } = await world(t, { env: { ERRAND_WARM_S: '0' } });
  const file = path.join(work_dir, 'made.txt');
  model.rule('write it', [call('Write', { file_path: file, content: 'made\n' }), { text: 'after the write' }], only);
  const first = await ask('write it', { permission: 'ask' });
  const waiting = await server.when(first.id, (task) => task.waiting_for, { within });
  assert.equal(waiting.waiting_for.kind, 'permission');
  assert.match(waiting.waiting_for.text, /Write.*made\.txt/);
  assert.ok(!fs.existsSync(file));
  await server.expect(200, 'POST', `/api/tasks/${first.id}/answer`, { request_id: waiting.waiting_for.request_id, decision: 'deny', message: 'Not here, please.' });
  assert.equal((await server.at_rest(first.id, { within })).status, 'completed');
  assert.ok(!fs.existsSync(file));
  const denied = (await parts_of(server, first.id)).find((part) => part.type === 'tool_result');
  assert.equal(denied.is_error, true);
  assert.match(JSON.stringify(denied), /Not here, please/);

  const second = await ask('write it', { permission: 'ask' });
  const again = await server.when(second.id, (task) => task.waiting_for, { within });
  await server.expect(200, 'POST', `/api/tasks/${second.id}/answer`, { request_id: again.waiting_for.request_id, decision: 'allow' });
  assert.equal((await server.at_rest(second.id, { within })).result, 'after the write');
  assert.equal(fs.readFileSync(file, 'utf8'), 'made\n');

  fs.rmSync(file);
  const ruled = await ask('write it', { permission: [{ tool: 'write', decision: 'allow' }] });
  assert.equal((await server.at_rest(ruled.id, { within })).status, 'completed', 'a rule for errand’s own tools holds here too');
  assert.ok(fs.existsSync(file));

  fs.rmSync(file);
  const left = await ask('write it', { permission: 'ask' });
  await server.when(left.id, (task) => task.waiting_for, { within });
  await server.cancel(left.id);
  assert.equal((await server.at_rest(left.id, { within })).status, 'cancelled', 'also while it asks');
  assert.ok(!fs.existsSync(file) && pids().length === 0);

  const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options: [{ label: 'Red', description: 'warm' }, { label: 'Blue', description: 'cold' }] }];
  model.rule('ask me', [call('AskUserQuestion', { questions }), { text: 'thanks' }], only);
  const asks = await ask('ask me');
  const asked = await server.when(asks.id, (task) => task.waiting_for, { within });
  assert.deepEqual(asked.waiting_for.options, ['Red', 'Blue']);
  await server.expect(200, 'POST', `/api/tasks/${asks.id}/answer`, { request_id: asked.waiting_for.request_id, answer: 'Blue' });
  assert.equal((await server.at_rest(asks.id, { within })).result, 'thanks');
  assert.match(JSON.stringify(await parts_of(server, asks.id)), /Which colour\?.{1,12}Blue/);
});

test('A further turn goes on in the same program, as its task; also where errand is killed in it; none is left behind', { skip, timeout }, async (t) => {
  const { server, model, ask, pids } = await world(t);
  model.rule('the first turn', [{ text: 'one' }], only);
  model.rule('the second turn', [call('mcp__errand__background_list', {}), { text: 'two', wait: 'in the second' }], only);
  model.rule('the third turn', [{ text: 'three' }], only);
  const say = (message) => server.expect(202, 'POST', `/api/tasks/${id}/message`, { message });
  const turn = (number) => server.when(id, (task) => task.turn === number && ['completed', 'failed'].includes(task.status), { within });
  const { id } = await ask('the first turn', { enable_mcp: true, permission: 'allow' });
  assert.equal((await server.at_rest(id, { within })).result, 'one');
  const first = pids();
  assert.equal(first.length, 1, 'it waits');
  await say('the second turn');
  await model.waiting('in the second', { timeout_ms: within });
  await server.kill9();
  model.release('in the second');
  await server.start();
  const second = await turn(2);
  assert.equal(second.result, 'two', JSON.stringify(second.error));
  assert.deepEqual(pids(), first, 'the same program');
  const listed = (await parts_of(server, id)).find((part) => part.type === 'tool_result');
  assert.equal(listed?.is_error, false, `it reaches errand as its task: ${JSON.stringify(listed)}`);

  await server.kill9();
  await server.start();
  await until(() => pids().length === 0, { what: 'what waited when errand was killed is ended', within });
  await say('the third turn');
  const third = await turn(3);
  assert.equal(third.result, 'three', JSON.stringify(third.error));
  const asked = model.requests().findLast((record) => record.body.tools?.length).body.messages;
  assert.match(JSON.stringify(asked), /the first turn.*one.*the second turn.*two.*the third turn/s);
  assert.equal(pids().length, 1);
  await server.term();
  await until(() => pids().length === 0, { what: 'what waits when errand leaves is ended', within });
});

test('What waits is ended when there are too many, and with its task', { skip, timeout }, async (t) => {
  const { server, model, ask, pids } = await world(t, { env: { ERRAND_WARM_S: '86400', ERRAND_WARM_MAX: '2' } });
  model.rule('say it', [{ text: 'said' }], only);
  const ids = [];
  for (let i = 0; i < 3; i++) {
    ids.push((await ask('say it')).id);
    await server.at_rest(ids[i], { within });
  }
  await until(() => pids().length === 2, { what: 'two wait', within });
  await server.expect(204, 'DELETE', `/api/tasks/${ids[2]}`);
  await until(() => pids().length === 1, { what: 'the one of the deleted task is gone', within });
});

test('What has waited for long enough is ended', { skip, timeout }, async (t) => {
  const { server, model, ask, pids } = await world(t, { env: { ERRAND_WARM_S: '1' } });
  model.rule('say it', [{ text: 'said' }], only);
  const { id } = await ask('say it');
  await server.at_rest(id, { within });
  await until(() => pids().length === 0, { what: 'it is gone', within });
  await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'say it once more' });
  assert.equal((await server.when(id, (task) => task.turn === 2 && task.status === 'completed', { within })).result, 'said');
});

test('It has the MCP servers that the user has set up for errand, and their keys are in no process list', { skip, timeout }, async (t) => {
  const script = path.join(path.dirname(new URL(import.meta.url).pathname), 'agents/mcp_sums.mjs');
  const { server, model, ask, pids } = await world(t, { env: { SUMS_KEY: 'secret-of-sums' }, settings: `[mcp.sums]\ncommand = ["${process.execPath}", "${script}"]\npass_env = ["SUMS_KEY"]\n` });
  model.rule('add them', [call('mcp__sums__key', {}), { text: 'added' }], only);
  const { id } = await ask('add them', { enable_mcp: true, permission: 'allow' });
  const task = await server.at_rest(id, { within });
  assert.equal(task.result, 'added', JSON.stringify(task.error));
  assert.match(JSON.stringify((await parts_of(server, id)).find((part) => part.type === 'tool_result')), /secret-of-sums/);
  assert.equal(pids().length, 1);
  assert.doesNotMatch(fs.readFileSync(`/proc/${pids()[0]}/cmdline`, 'utf8'), /secret-of-sums/);
  const [file] = fs.readdirSync(path.join(server.data_dir, 'claude'));
  assert.equal(fs.statSync(path.join(server.data_dir, 'claude', file)).mode & 0o777, 0o600);
  await server.expect(204, 'DELETE', `/api/tasks/${id}`);
  await until(() => fs.readdirSync(path.join(server.data_dir, 'claude')).length === 0, { what: 'the file goes with its task' });
});

test('kill -9 of errand while it asks: the answer that the next one is given reaches the same program', { skip, timeout }, async (t) => {
  const { server, model, ask, work_dir, pids } = await world(t);
  const file = path.join(work_dir, 'late.txt');
  model.rule('late', [call('Write', { file_path: file, content: 'late' }), { text: 'written' }], only);
  const { id } = await ask('late', { permission: 'ask' });
  const waiting = await server.when(id, (task) => task.waiting_for, { within });
  const before = pids();
  await server.kill9();
  await server.start();
  assert.deepEqual(pids(), before);
  assert.equal((await server.task(id)).waiting_for.request_id, waiting.waiting_for.request_id);
  await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: waiting.waiting_for.request_id, decision: 'allow' });
  assert.equal((await server.at_rest(id, { within })).result, 'written');
  assert.equal(fs.readFileSync(file, 'utf8'), 'late');
});

test('kill -9 of Claude Code: failed with a code, its tools die with it, and a retry goes on with the conversation', { skip, timeout }, async (t) => {
  const { server, model, ask, folder, pids } = await world(t);
  const mark = marker();
  model.rule('hang', [long_sleep(mark), { text: 'done at last' }], only);
  const { id } = await ask('hang', { permission: 'allow' });
  await until(() => marked(mark).length > 0, { what: 'its tool runs', within });
  // Claude Code writes a call into its own record a moment after it began it. It resumes from that record alone.
  const records = path.join(folder, '.claude/projects');
  const recorded = () => fs.readdirSync(records, { recursive: true }).some((name) => name.endsWith('.jsonl') && fs.readFileSync(path.join(records, name), 'utf8').includes(String(mark)));
  await until(recorded, { what: 'its record has the call', within });
  for (const pid of pids()) kill9(pid);
  const task = await server.at_rest(id, { within });
  assert.equal(task.status, 'failed');
  assert.equal(task.error.code, 'agent_died');
  assert.match(task.error.message, /signal 9.*errand retry/);
  await until(() => marked(mark).length === 0, { what: 'its tool is gone', within: 60_000 });
  await server.expect(200, 'POST', `/api/tasks/${id}/retry`, {});
  await until(() => marked(mark).length > 0, { what: 'it works again', within });
  const asked = model.requests().findLast((record) => record.body.tools?.length).body.messages;
  assert.equal(JSON.stringify(asked).split('echo begun').length, 2, 'it knows of the call that was cut short');
  await server.cancel(id);
  assert.equal((await server.at_rest(id, { within })).status, 'cancelled');
});

test('A fork of a session that a person has in Claude Code; one that is not there is refused', { skip, timeout }, async (t) => {
  const { server, model, ask, work_dir, folder } = await world(t);
  const session = randomUUID();
  model.rule('remember this', [{ text: 'The colour is teal.' }], only);
  const own = spawn(path.join(folder, 'bin/claude'), ['-p', '--session-id', session, 'remember this colour'], { cwd: work_dir, env: { ...server.env, DISABLE_AUTOUPDATER: '1' }, stdio: 'ignore' });
  const [code] = await once(own, 'exit');
  assert.equal(code, 0);
  model.rule('which colour', [{ text: 'It was teal.' }], only);
  const fork = await ask('which colour', { fork: true, parent_session_id: session });
  assert.equal((await server.at_rest(fork.id, { within })).result, 'It was teal.');
  const asked = model.requests().findLast((record) => record.body.tools?.length).body.messages;
  assert.match(JSON.stringify(asked), /remember this colour.*The colour is teal.*which colour/s);
  const refused = await server.api('POST', '/api/tasks', { agent_id: 'claude', message: 'which colour', work_dir, fork: true, parent_session_id: randomUUID() });
  assert.ok(refused.status >= 400 && refused.status < 500, refused.text);
  assert.doesNotMatch(refused.text, /Claude/, 'it is nobody’s session, and not Claude Code’s to refuse');
});

test('A usage limit is waited for, and lifted by whoever knows better; other errors say what to do', { skip, timeout }, async (t) => {
  const { server, model, ask } = await world(t, { env: { CLAUDE_CODE_MAX_RETRIES: '1' } });
  model.rule('much work', [{ status: 429, times: 1, error: { type: 'rate_limit_error', message: 'This request would exceed your account’s rate limit.' }, retry_after: 3600, text: 'never' }], only);
  model.rule('The usage limit is over', [{ text: 'went on after the limit' }], only);
  const { id } = await ask('much work');
  const waiting = await server.when(id, (task) => task.waiting_for, { within });
  assert.equal(waiting.waiting_for.kind, 'quota');
  await server.expect(200, 'DELETE', '/api/quotas');
  assert.equal((await server.at_rest(id, { within })).result, 'went on after the limit');

  model.rule('bad request', [{ status: 400, error: { type: 'invalid_request_error', message: 'no such model' } }], only);
  const refused = await server.at_rest((await ask('bad request')).id, { within });
  assert.equal(refused.error.code, 'agent_error');
  assert.match(refused.error.message, /no such model/);
  model.rule('wrong key', [{ status: 401, error: { type: 'authentication_error', message: 'invalid x-api-key' } }], only);
  const key = await server.at_rest((await ask('wrong key')).id, { within });
  assert.equal(key.error.code, 'login_required');
  assert.match(key.error.message, /claude.*\/login.*ANTHROPIC_API_KEY.*errand retry/);
});

test('Without a login, and as root with permissions skipped, it says what to do', { skip, timeout }, async (t) => {
  const { server, ask, work_dir } = await world(t, { login: false });
  const task = await server.at_rest((await ask('hello')).id, { within });
  assert.equal(task.error.code, 'login_required');
  assert.match(task.error.message, /Not logged in.*\/login/);
  if (process.getuid() !== 0) return;
  await server.expect(201, 'POST', '/api/agents', { name: 'reckless', driver: 'claude', options: { permission_mode: 'bypassPermissions' } });
  const { agents } = await server.get('/api/agents');
  const reckless = agents.find((agent) => agent.name === 'reckless');
  const refused = await server.at_rest((await server.launch({ agent_id: reckless.id, message: 'hello', work_dir })).id, { within });
  assert.equal(refused.error.code, 'root_refused');
  assert.match(refused.error.message, /permission_mode/);
});
