// What errand knows of the programs that agents run in: version, login, memory, what a start costs; max_memory, which holds further
// ones back (R1.7); terminals that they ask errand for; and their usage limits (R4.5).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { alive, clean_env, errand, marked, marker, Server, temporary_folder, tools_folder, until } from './harness/index.mjs';

const scripted = path.join(path.dirname(fileURLToPath(import.meta.url)), 'agents/acp_agent.mjs');
const within = 60_000;
const timeout = 300_000;

// The SDK's agent in the place of `gemini`, as npm puts it on PATH.
async function world(t, { env = {}, settings = {}, toml = '' } = {}) {
  const folder = temporary_folder(t, 'prog');
  const [work_dir, state, bin, data] = ['project', 'state', 'bin', 'data'].map((name) => path.join(folder, name));
  for (const made of [work_dir, state, bin, data]) fs.mkdirSync(made, { mode: 0o700 });
  const home = path.join(folder, 'lib/node_modules/@google/gemini-cli');
  fs.mkdirSync(path.join(home, 'bundle'), { recursive: true });
  const made = (version) => fs.writeFileSync(path.join(home, 'package.json'), JSON.stringify({ name: '@google/gemini-cli', version }));
  made('9.8.7');
  const program = path.join(home, 'bundle/gemini.sh');
  fs.writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${scripted}' '${tools_folder}' '${state}'\n`, { mode: 0o755 });
  fs.symlinkSync(program, path.join(bin, 'gemini'));
  const words = JSON.stringify([process.execPath, scripted, tools_folder, state]);
  fs.writeFileSync(path.join(data, 'errand.toml'), `[agents.own]\ndriver = "acp"\ncommand = ${words}\noptions = { client_terminals = "true" }\n${toml}`);
  const server = await Server.start(t, { folder, env: clean_env(folder, { PATH: `${bin}:/usr/bin:/bin`, ...env }), args: Object.entries(settings).flat().map(String) });
  const ask = (steps, more = {}) => server.launch({ agent_id: 'gemini', message: JSON.stringify(steps), work_dir, permission: 'allow', ...more });
  const agent = (name = 'gemini') => server.get(`/api/agents/${name}`);
  const at = (name) => until(() => fs.existsSync(path.join(state, `at-${name}`)), { what: `it waits at ${name}`, within });
  const go = (name) => fs.writeFileSync(path.join(state, name), '');
  const rest = (id) => server.at_rest(id, { within });
  return { server, folder, work_dir, state, data, made, program, ask, agent, at, go, rest };
}

test('An agent shows its version, its login, what it can do and what its start costs, without being started for it', { timeout }, async (t) => {
  const { server, folder, state, made, program, ask, agent, at, go, rest } = await world(t);
  const before = await agent();
  assert.deepEqual([before.program.name, before.program.version, before.program.logged_in], ['Gemini CLI', '9.8.7', false]);
  assert.match(before.program.log_in, /GEMINI_API_KEY/);
  assert.deepEqual([before.program.start_ms, before.program.memory_bytes, before.program.running], [null, null, 0]);
  assert.deepEqual(before.capabilities, { message_while_running: true, resume: true, fork: true, reattach: true, permissions: true });
  assert.ok(!fs.existsSync(path.join(state, 'pids')), 'nothing was started');
  const { agents } = await server.get('/api/agents');
  assert.deepEqual(agents.find((one) => one.id === 'gemini'), before);
  assert.equal(agents.find((one) => one.id === 'demo').program, null);
  assert.equal(agents.find((one) => one.name === 'own').program.logged_in, null, 'nobody knows where that one keeps a login');

  // What changes on the disk is seen.
  fs.mkdirSync(path.join(folder, '.gemini'));
  fs.writeFileSync(path.join(folder, '.gemini/oauth_creds.json'), '{}');
  made('9.9.0');
  fs.utimesSync(program, new Date(), new Date(Date.now() + 5000));
  const later = await agent();
  assert.deepEqual([later.program.version, later.program.logged_in], ['9.9.0', true]);
  assert.match(later.program.login, /with a login in .*\.gemini/);

  const { id } = await ask([{ wait: 'measured' }, { say: 'done' }]);
  await at('measured');
  const running = await until(async () => (await agent()).program.memory_bytes && agent(), { what: 'its memory is measured', within });
  assert.deepEqual([running.program.running, running.program.waiting], [1, 0]);
  assert.ok(running.program.start_ms > 0 && running.program.memory_bytes > 1e6, JSON.stringify(running.program));
  assert.equal(running.program.version, '1', 'what it says itself goes before what its package says');
  await server.when(id, (task) => task.progress.memory_bytes > 1e6, { within }); // The task shows its own.
  go('measured');
  await rest(id);
  const warm = await until(async () => (await agent()).program.waiting === 1 && agent(), { what: 'its process waits', within });
  assert.ok(warm.program.waiting_memory_bytes > 1e6);
  const { programs } = await server.get('/api/health');
  assert.deepEqual([programs.running, programs.waiting, programs.max_memory_bytes], [0, 1, 0]);
  const metrics = await server.get('/metrics');
  assert.match(metrics, /errand_programs\{state="waiting"\} 1\n/);

  const ok = async (words) => (await errand(server, words)).out;
  assert.match(await ok(['agents']), /^gemini\tacp\t\t1\tyes\t/m);
  const shown = await ok(['agents', 'show', 'gemini']);
  assert.match(shown, /version +1\n/);
  assert.match(shown, /start +\d+\.\d s/);
  assert.match(shown, /now +0 at work, 1 waiting for a further turn \(/);
  assert.match(await ok(['status']), /agents +0 programs at work use 0 B, 1 waits for a further turn with [\d.]+ MB/);
  const doctor = await ok(['doctor']);
  assert.match(doctor, /Gemini CLI +version 1; with a login in/);
  assert.match(doctor, /agents' memory +0 programs at work/);
});

test('max_memory holds further programs back, says why, and lets the others work', { timeout }, async (t) => {
  const { server, state, ask, at, go, rest } = await world(t);
  // A program that only waits is ended for one that wants to begin.
  const warm = await ask([{ say: 'first' }]);
  await rest(warm.id);
  const [pid] = fs.readFileSync(path.join(state, 'pids'), 'utf8').trim().split('\n').map(Number);
  assert.ok(alive(pid), 'its process waits for a further turn');
  await server.expect(200, 'PATCH', '/api/settings', { max_memory: 1 });
  const one = await ask([{ wait: 'one' }, { say: 'one' }]);
  await at('one');
  await until(() => !alive(pid), { what: 'what only waited is ended', within });
  const two = await ask([{ say: 'two' }]);
  const held = await server.when(two.id, (task) => task.queue_reason, { within });
  assert.equal(held.status, 'pending');
  assert.match(held.queue_reason, /^The agents' programs use \d+ MiB, and max_memory is 1 MiB: it begins when one of them has ended\.$/);
  assert.match((await errand(server, ['show', two.id])).out, /max_memory/);
  // What starts no program is not held.
  const command = await server.launch({ command: 'echo free' });
  assert.equal((await rest(command.id)).status, 'completed');
  const free = await server.launch({ agent_id: 'demo', message: 'hello' });
  await server.at_rest(free.id, { within });
  assert.equal((await server.task(two.id)).status, 'pending');
  go('one');
  assert.equal((await rest(one.id)).result, 'one');
  assert.equal((await rest(two.id)).result, 'two', 'when one has ended, the next begins');
  // And without the limit they work side by side.
  const three = await ask([{ wait: 'three' }, { say: 'three' }]);
  await at('three');
  const four = await ask([{ wait: 'four' }, { say: 'four' }]);
  await server.when(four.id, (task) => task.queue_reason, { within });
  await server.expect(200, 'PATCH', '/api/settings', { max_memory: 0 });
  await at('four');
  go('three');
  go('four');
  for (const task of [three, four]) assert.equal((await rest(task.id)).status, 'completed');
});

test('An agent that may runs its commands in terminals of errand’s, and none of them outlives its turn', { timeout }, async (t) => {
  const { server, work_dir, ask, at, go, rest } = await world(t);
  const parts = async (id) => (await server.get(`/api/tasks/${id}/messages`)).messages.flatMap((message) => message.parts);
  const own = (steps) => ask(steps, { agent_id: 'own' });
  const first = await own([{ terminal: 'pwd; echo "$STEP"; echo 语 >&2; exit 3' }]);
  const task = await rest(first.id);
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.deepEqual(task.result.split('\n').slice(0, 2), [work_dir, 'of the terminal']);
  assert.match(task.result, /语.*\(3\)$/s);
  const result = (await parts(first.id)).find((part) => part.type === 'tool_result');
  assert.ok(result.output.includes('of the terminal') && result.is_error, JSON.stringify(result));
  // The limit that it asks for is held, and a kill reaches the whole tree.
  const [killed, left] = [marker(), marker()];
  const second = await own([{ terminal: 'seq 100000', with: { outputByteLimit: 12 } }, { terminal: `echo x; sleep ${killed}`, kill: true }, { terminal: `sleep ${left}`, leave: true }, { wait: 'left' }, { say: 'end' }]);
  await at('left');
  assert.deepEqual([marked(killed).length > 0, marked(left).length > 0], [false, true]);
  // The server may die: what runs in a terminal goes on, and is known to the next one.
  await server.kill9();
  assert.ok(marked(left).length > 0);
  await server.start();
  go('left');
  const ended = await rest(second.id);
  assert.equal(ended.status, 'completed', JSON.stringify(ended.error));
  const texts = (await parts(second.id)).filter((part) => part.type === 'text').map((part) => part.text).slice(1).join('');
  assert.match(texts, /^9999\n100000 \(0, cut\)x \(SIG(TERM|KILL)\)\s*end$/);
  await until(() => marked(left).length === 0, { what: 'what was left is ended with the turn', within });
  // Outside of the task's folders, and for an agent that may not: refused in words.
  const outside = await rest((await own([{ terminal: 'ls', with: { cwd: '/etc' } }])).id);
  assert.match(outside.error.message, /outside of the task's folders/);
  const other = await rest((await ask([{ terminal: 'ls' }])).id);
  assert.match(other.error.message, /does not serve terminal\/create/);
});

test('A usage limit that an agent names in its error is waited for, and can be ended', { timeout }, async (t) => {
  const { server, ask, rest } = await world(t);
  const { id } = await ask([{ say: 'so far' }, { error: 'Usage limit reached', data: { error: { type: 'rate_limit_error' }, resets_in_seconds: 3600 } }]);
  const { waiting_for, error } = await server.when(id, (task) => task.waiting_for || task.error, { within });
  assert.equal(waiting_for?.kind, 'quota', JSON.stringify(error));
  const wait = Date.parse(waiting_for.until) - Date.now();
  assert.ok(wait > 3_000_000 && wait < 3_700_000, waiting_for.until);
  const { quotas } = await server.get('/api/quotas');
  assert.deepEqual(quotas.map((quota) => [quota.driver, quota.waiting]), [['acp', 1]]);
  const queued = await ask([{ say: 'next' }]);
  const held = await server.when(queued.id, (task) => task.queue_reason, { within });
  assert.match(held.queue_reason, /usage limit/);
  await server.kill9();
  await server.start();
  assert.equal((await server.when(id, (task) => task.waiting_for, { within })).waiting_for.kind, 'quota', 'also after a restart');
  await server.expect(200, 'DELETE', '/api/quotas');
  const task = await rest(id);
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.match(task.result, /^You said: The usage limit is over/);
  assert.equal((await rest(queued.id)).result, 'next');
});
