// The first hour: where a task works, how long it may, what is asked and how far an answer goes, and what needs a person
// (R14.1, R14.2, R14.3, R15.2).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { alive, binary, errand, Server, temporary_folder, tools_folder, until } from './harness/index.mjs';

const agents = path.join(path.dirname(fileURLToPath(import.meta.url)), 'agents');
const within = 60_000;

// A server with a scripted agent, in a home of its own with a project in it.
async function world(t, { toml = '', args = [] } = {}) {
  const folder = temporary_folder(t, 'hour');
  const [project, state, data] = ['project', 'state', 'data'].map((name) => path.join(folder, name));
  for (const made of [project, state, data]) fs.mkdirSync(made, { mode: 0o700 });
  const words = JSON.stringify([process.execPath, path.join(agents, 'acp_agent.mjs'), tools_folder, state]);
  fs.writeFileSync(path.join(data, 'errand.toml'), `${toml}\n[agents.good]\ndriver = "acp"\ncommand = ${words}\n`);
  const server = await Server.start(t, { folder, args });
  const ask = (steps, more = {}) => server.launch({ agent_id: 'good', message: JSON.stringify(steps), work_dir: project, permission: 'ask', ...more });
  const asked = async (id, not) => (await server.when(id, (task) => task.waiting_for?.request_id && task.waiting_for.request_id !== not, { within })).waiting_for;
  const answer = (id, waiting, more) => server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: waiting.request_id, decision: 'allow', ...more });
  return { server, folder, project, state, ask, asked, answer };
}

test('R14.1: a launch works where its caller is, ~ is understood, and every answer names the folder', { timeout: 300_000 }, async (t) => {
  const { server, folder, project } = await world(t, { toml: 'default_work_dir = "~/state"' });
  const home = await server.launch({ kind: 'command', command: 'pwd' });
  assert.equal(home.work_dir, path.join(folder, 'state'), 'the setting, where nobody is anywhere');
  const tilde = await server.launch({ kind: 'command', command: 'pwd', work_dir: '~/project' });
  assert.equal(tilde.work_dir, project);
  assert.equal((await server.at_rest(tilde.id)).result.trim(), project);
  assert.match((await server.expect(400, 'POST', '/api/tasks', { kind: 'command', command: 'pwd', work_dir: 'project' })).detail, /absolute/);

  const run = await errand(server, ['run', '--', 'pwd'], { cwd: project });
  assert.match(run.err, /it works in ~\/project$/m);
  assert.match(run.out, /^task_[a-z0-9]+\n$/, 'standard output has the id alone');
  assert.match((await errand(server, ['run', '-C', '~/state', '--', 'pwd'], { cwd: project })).err, /in ~\/state$/m);
  assert.match((await errand(server, ['show', run.out.trim()])).out, /^folder +~\/project$/m);

  const found = await server.get('/api/folders?path=~/pro');
  assert.deepEqual(found.folders, [{ path: project, shown: '~/project' }]);
  assert.ok(found.recent.some((each) => each.path === project));
  assert.deepEqual(found.default, { path: path.join(folder, 'state'), shown: '~/state' });
  assert.deepEqual((await server.get('/api/folders?path=/no/such/')).folders, []);
  fs.writeFileSync(path.join(project, 'prompt.md'), 'x');
  assert.deepEqual((await server.get('/api/folders?path=~/project/pro')).files, [], 'files only where they are asked for');
  const files = await server.get('/api/folders?path=~/project/pro&files=true');
  assert.deepEqual(files.files, [{ path: path.join(project, 'prompt.md'), shown: '~/project/prompt.md' }]);
});

test('R14.2: a person has no time limit, agents and REST have; when it ends is said, and which option is longer', { timeout: 300_000 }, async (t) => {
  const { server } = await world(t, { toml: 'command_timeout_s = 100', args: ['--max-concurrent', '20'] });
  const deadline = async (body) => {
    const task = await server.launch({ kind: 'command', command: 'sleep 300', ...body });
    await server.when(task.id, (seen) => seen.started_at);
    const { deadline_at, started_at } = await server.get(`/api/tasks/${task.id}`);
    await server.cancel(task.id);
    assert.equal((await server.get(`/api/tasks/${task.id}`)).deadline_at, null, 'what has ended has no end to come');
    return deadline_at && Date.parse(deadline_at) - Date.parse(started_at);
  };
  assert.equal(await deadline({}), 100_000);
  assert.equal(await deadline({ surface: 'cli' }), null);
  assert.equal(await deadline({ surface: 'page' }), null);
  assert.equal(await deadline({ surface: 'page', timeout_s: 7 }), 7_000);
  const by_cli = await errand(server, ['run', '--json', '--', 'sleep', '300']);
  assert.equal(by_cli.json.deadline_at, null);
  await server.cancel(by_cli.json.id);
  const by_tool = await errand(server, ['tool', 'background_execute', '{"command":"sleep 300"}']);
  assert.match(by_tool.out, /Its time ends at .* \(100 s/);

  for (const [option, end] of [
    ['--timeout', async () => (await errand(server, ['run', '--json', '--timeout', '1', '--', 'sleep', '300'])).json.id],
    ['timeout_s', async () => (await server.launch({ kind: 'command', command: 'sleep 300', timeout_s: 1 })).id],
    ['timeout', async () => /task_[a-z0-9]+/.exec((await errand(server, ['tool', 'background_execute', '{"command":"sleep 300","timeout":1}'])).out)[0]],
  ]) {
    const task = await server.at_rest(await end(), { within });
    assert.equal(task.error.code, 'timeout');
    assert.match(task.error.message, new RegExp(`; set ${option} to give it longer`));
  }
});

test('R14.3: what only reads is not asked for; who is asked sees the command, the folder and what may be allowed', { timeout: 300_000 }, async (t) => {
  const { server, project, ask, asked, answer } = await world(t);
  const steps = [{ run: 'ls; cat none 2>/dev/null', ask: true }, { run: 'npm test -- a', ask: true }, { run: 'npm test -- b', ask: true }, { run: 'npm publish', ask: true }, { run: 'mkdir made', ask: true }, { say: 'done' }];
  const { id } = await ask(steps);
  const first = await asked(id);
  assert.match(first.text, /npm test -- a/);
  assert.equal(first.work_dir, project);
  assert.deepEqual(first.patterns.map((each) => each.pattern), ['npm test *', 'npm *']);
  await server.expect(400, 'POST', `/api/tasks/${id}/answer`, { request_id: first.request_id, decision: 'allow', scope: 'pattern', pattern: '*' });
  await server.expect(400, 'POST', `/api/tasks/${id}/answer`, { request_id: first.request_id, decision: 'deny', scope: 'task' });
  const shown = await errand(server, ['answer', id]);
  assert.match(shown.out, /npm test -- a[^]*1 allow[^]*4 allow commands that begin with `npm test` in this task[^]*task[^]*agent/);
  assert.equal((await errand(server, ['answer', id, '--json'])).json.request_id, first.request_id);
  assert.equal((await errand(server, ['answer', id, '4'])).code, 0);
  // The pattern lets the second through, and not the third.
  const second = await asked(id, first.request_id);
  assert.match(second.text, /npm publish/);
  await answer(id, second, { scope: 'task' });
  const task = await server.at_rest(id, { within });
  assert.deepEqual([task.status, task.result], ['completed', 'done']);
  assert.ok(fs.existsSync(path.join(project, 'made')), 'everything in this task');
  const events = await server.events(id);
  assert.equal(events.filter((event) => event.type === 'ask.created').length, 4, 'what only reads was not asked for');
  assert.deepEqual(events.filter((event) => event.type === 'ask.answered').map((event) => [event.data.by, event.data.scope]), [['user', 'pattern'], ['rule', undefined], ['user', 'task'], ['rule', undefined]]);
});

test('R14.3: what a rule denies stays denied, whatever was allowed beside it', { timeout: 300_000 }, async (t) => {
  const { server, project, ask, asked, answer } = await world(t);
  const steps = [{ run: 'mkdir one', ask: true }, { run: 'mkdir two; rm -r one', ask: true }, { say: 'done' }];
  const { id } = await ask(steps, { permission: [{ tool: 'bash', pattern: 'rm *', decision: 'deny' }] });
  await answer(id, await asked(id), { scope: 'task' });
  await server.at_rest(id, { within });
  assert.ok(fs.existsSync(path.join(project, 'one')) && !fs.existsSync(path.join(project, 'two')));
});

test('R14.3: for the agent from now on: the owner alone, over a restart, until it is taken back', { timeout: 300_000 }, async (t) => {
  const { server, ask, asked, answer } = await world(t);
  const steps = [{ run: 'mkdir -p made', ask: true }, { say: 'done' }];
  const { id } = await ask(steps);
  const waiting = await asked(id);
  const { token } = await server.expect(201, 'POST', '/api/tokens', { name: 'helper', scopes: ['read', 'tasks', 'approve'] });
  const helper = await server.api('POST', `/api/tasks/${id}/answer`, { request_id: waiting.request_id, decision: 'allow', scope: 'agent' }, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(helper.status, 403, helper.text);
  await answer(id, waiting, { scope: 'agent' });
  await server.at_rest(id, { within });
  const granted = async () => (await server.get('/api/agents/good')).granted.map((rule) => rule.pattern);
  assert.deepEqual(await granted(), ['mkdir -p made']);
  await server.kill9();
  await server.start();
  assert.deepEqual(await granted(), ['mkdir -p made']);
  const again = await ask(steps);
  assert.equal((await server.at_rest(again.id, { within })).result, 'done', 'nobody was asked');
  await server.expect(200, 'DELETE', '/api/agents/good/granted');
  assert.deepEqual(await granted(), []);
  const third = await ask(steps);
  await asked(third.id);
  await server.cancel(third.id);
});

test('R14.3: --follow shows the diff in colours and takes the answer where it was asked', { timeout: 300_000 }, async (t) => {
  const { server, project } = await world(t);
  const file = path.join(project, 'a.txt');
  fs.writeFileSync(file, 'one\ntwo\n');
  const words = ['ask', '--agent', 'good', '--permission', 'ask', '--follow', ' ' + JSON.stringify([{ edit: [file, 'one\nzwei\n'], ask: true }, { say: 'changed' }])];
  const line = [binary, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const env = { ...server.env, ERRAND_DATA_DIR: server.data_dir, TERM: 'xterm-256color' };
  const terminal = spawn('script', ['-qefc', line, '/dev/null'], { cwd: project, env, stdio: ['pipe', 'pipe', 'ignore'] });
  t.after(() => terminal.kill('SIGKILL'));
  let screen = '';
  terminal.stdout.on('data', (piece) => (screen += piece));
  await until(() => /type your answer/.test(screen), { what: 'it asks in the terminal', within });
  assert.match(screen, /\x1b\[31m-two/);
  assert.match(screen, /\x1b\[32m\+zwei/);
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\ntwo\n');
  terminal.stdin.write('perhaps\r');
  await until(() => /Answer allow, always/.test(screen), { what: 'a wrong word is explained', within });
  terminal.stdin.write('allow\r');
  await new Promise((resolve) => terminal.once('exit', resolve));
  assert.match(screen, /told it: allow\./);
  assert.match(screen, /changed/);
  assert.equal(fs.readFileSync(file, 'utf8'), 'one\nzwei\n');
});

test('R15.2: the inbox has every open question with its diff and folder, and failures until they are looked at', { timeout: 300_000 }, async (t) => {
  const { server, project, ask, asked, answer } = await world(t);
  assert.match((await errand(server, ['inbox'])).out, /Nothing needs you/);
  const file = path.join(project, 'a.txt');
  const { id } = await ask([{ edit: [file, 'new\n'], ask: true }, { say: 'ok' }]);
  const waiting = await asked(id);
  const failed = await server.launch({ kind: 'command', command: 'exit 3' });
  await server.at_rest(failed.id);
  const inbox = await server.get('/api/inbox');
  assert.deepEqual(inbox.questions.map((each) => [each.task.id, each.request_id, each.work_dir, each.diff]), [[id, waiting.request_id, project, `--- ${file}\n+++ ${file}\n@@ -1,0 +1,1 @@\n+new\n`]]);
  assert.deepEqual(inbox.failures.map((task) => task.id), [failed.id]);
  assert.equal(inbox.more, false);
  const said = await errand(server, ['inbox']);
  assert.match(said.out, /~\/project[^]*\+new[^]*errand answer[^]*failed \(exit\)[^]*errand retry/);
  await answer(id, waiting, {});
  await server.at_rest(id, { within });
  await server.get(`/api/tasks/${failed.id}/result`);
  const empty = await server.get('/api/inbox');
  assert.deepEqual([empty.questions, empty.failures], [[], []]);
});

test('stop, status and restart: what runs goes on without the server', { timeout: 300_000 }, async (t) => {
  const server = await Server.start(t);
  const { id } = await server.launch({ kind: 'command', command: 'echo begun; while [ ! -e go ]; do sleep 0.1; done; echo over', work_dir: server.folder, timeout_s: 0 });
  await server.when(id, (task) => task.progress.output_lines > 0);
  const status = await errand(server, ['status', '--json']);
  assert.deepEqual([status.json.running, status.json.at_work, status.json.data_dir], [true, 1, server.data_dir]);
  const stopped = await errand(server, ['stop']);
  assert.equal(stopped.code, 0, stopped.err);
  assert.match(stopped.err, /1 task at work goes on without it/);
  assert.equal(alive(status.json.pid), false);
  assert.equal((await errand(server, ['status'])).code, 5);
  assert.equal((await errand(server, ['status', '--json'])).json.running, false);
  assert.match((await errand(server, ['stop'])).err, /no server runs/);
  fs.writeFileSync(path.join(server.folder, 'go'), '');
  const again = await errand(server, ['restart', '--json']);
  assert.equal(again.code, 0, again.err);
  assert.notEqual(again.json.pid, status.json.pid);
  assert.equal((await errand(server, ['output', '--wait', id])).out, 'begun\nover\n');
  // What people type out of habit.
  assert.match((await errand(server, ['ps'])).out, new RegExp(id));
  assert.match((await errand(server, ['tail', id])).out, /over/);
  assert.match((await errand(server, ['kill', id])).err, /completed/);
  assert.equal((await errand(server, ['rm', id])).code, 0);
  assert.equal((await errand(server, ['stop'])).code, 0);
});
