// Talking with tasks from a terminal: attach and fork, as a script and as a person use them (seeds 003 and 004, R6).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, describe, test } from 'node:test';

import { binary, demo, errand, Server, suite_scope, until } from './harness/index.mjs';

describe('Conversations on the command line', () => {
  const scope = suite_scope();
  let server;
  before(async () => {
    server = await Server.start(scope, { args: ['--max-concurrent', '12'] });
  });

  const ask = async (prompt) => (await server.ask(prompt)).id;
  const task = (id) => server.task(id);
  const messages = async (id) => (await server.get(`/api/tasks/${id}/messages`)).messages;
  const texts = (list) => list.map((message) => message.parts.map((part) => part.text ?? '').join('\n'));
  const at_rest = (id) => server.at_rest(id, { within: 30_000 });
  const waits = (id) => server.when(id, (one) => one.waiting_for !== null, { within: 20_000 });

  test('fork starts a task with the conversation of another, and says so', async () => {
    const parent = await ask(demo.tools);
    await at_rest(parent);
    const forked = await errand(server, ['fork', parent, 'text', '--wait']);
    assert.equal(forked.code, 0, forked.err);
    const id = /task_[0-9a-z]{26}/.exec(forked.err)[0];
    const child = await task(id);
    assert.equal(child.is_forked, true);
    assert.equal(child.parent_session_id, (await task(parent)).session_id);
    const [before, after] = [await messages(parent), await messages(id)];
    assert.deepEqual(after.slice(0, before.length).map((m) => m.parts), before.map((m) => m.parts), 'the conversation is there');
    assert.equal(after[before.length].role, 'system');
    assert.match(texts(after)[before.length], /may be cut[^]*read the file/);
    assert.equal(texts(after)[before.length + 1], 'text');
    assert.match(texts(after).at(-1), /2 messages in this conversation/, 'the agent has it');
    assert.match((await errand(server, ['show', id])).out, /forked/);
  });

  test('fork --at takes everything up to and with that message', async () => {
    const parent = await ask(demo.tools);
    await at_rest(parent);
    const [first] = await messages(parent);
    const forked = await errand(server, ['fork', parent, 'noop', '--at', first.id, '--json']);
    assert.equal(forked.json.is_forked, true);
    const copied = (await messages(forked.json.id)).filter((m) => m.turn === 0);
    assert.deepEqual(copied.map((m) => m.role), ['user', 'system']);
    const wrong = await errand(server, ['fork', parent, 'noop', '--at', 'msg_never']);
    assert.equal(wrong.code, 3, wrong.err);
    assert.match(wrong.err, /no message msg_never/);
  });

  test('fork of a task that works settles the call that is under way', async () => {
    const parent = await ask(`${demo.tools} ${demo.tools}`);
    await until(async () => (await messages(parent)).some((m) => m.parts.some((p) => p.type === 'tool_call')), { within: 20_000 });
    const forked = await errand(server, ['fork', parent, 'noop', '--json']);
    const parts = (await messages(forked.json.id)).flatMap((m) => m.parts);
    const calls = parts.filter((p) => p.type === 'tool_call').map((p) => p.call_id);
    assert.ok(calls.length > 0);
    assert.deepEqual(parts.filter((p) => p.type === 'tool_result').map((p) => p.call_id).sort(), calls.sort(), 'each call has its result');
  });

  test('a command, a session that is not there and one without messages cannot be forked', async () => {
    const command = await server.run('true');
    const refused = await errand(server, ['fork', command.id, 'go on']);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /no conversation/);
    const count = async () => (await server.get('/api/tasks?total=true')).total;
    const before = await count();
    const launch = { agent_id: 'demo', message: 'x', fork: true };
    const unknown = await server.expect(404, 'POST', '/api/tasks', { ...launch, parent_session_id: 'ses_never' });
    assert.equal(unknown.reason, 'unknown_session');
    const session = await server.expect(201, 'POST', '/api/sessions', { title: 'mine' });
    await server.expect(409, 'POST', '/api/tasks', { ...launch, parent_session_id: session.id });
    assert.equal(await count(), before, 'nothing was created');
  });

  test('attach shows what was said, sends lines as messages, and ends with the task', async () => {
    const id = await ask(demo.short);
    await at_rest(id);
    const attached = await errand(server, ['attach', id], { input: 'text\n' });
    assert.equal(attached.code, 0, attached.err);
    assert.match(attached.out, /> hello[^]*This is a demonstration[^]*> text[^]*2 messages in this conversation/);
    assert.equal((await task(id)).resume_count, 1);
  });

  test('attach without input shows a task until it is at rest', async () => {
    const id = await ask(demo.tools);
    const attached = await errand(server, ['attach', id]);
    assert.equal(attached.code, 0, attached.err);
    assert.match(attached.out, /● read README\.md/);
    assert.equal((await errand(server, ['attach', await ask(demo.failure)])).code, 1);
  });

  test('attach answers a permission and a question in place', async () => {
    const permission = await ask(demo.permission);
    await waits(permission);
    const allowed = await errand(server, ['attach', permission], { input: 'yes\n' });
    assert.equal(allowed.code, 0, allowed.err);
    assert.match(allowed.out, /You allowed it \(allow\)/);
    const question = await ask(demo.question);
    await waits(question);
    const chosen = await errand(server, ['attach', question], { input: '2\n' });
    assert.match(chosen.out, /You chose \*\*green\*\*/);
    const denied = await ask(demo.permission);
    await waits(denied);
    const said = await errand(server, ['attach', denied], { input: 'what?\n/deny not today\n' });
    assert.match(said.err, /allow, always, pattern, task, agent or deny/, 'another word is no answer');
    assert.match(said.out, /You did not allow it/);
  });

  test('/queue waits for the end of the turn, /interrupt does not, /cancel stops it', async () => {
    const queued = await ask('long 2');
    const after = await errand(server, ['attach', queued], { input: '/queue text\n' });
    assert.equal(after.code, 0, after.err);
    assert.match(after.out, /I worked for 2 s\.[^]*2 messages in this conversation/);
    const busy = await ask(demo.long);
    const instead = await errand(server, ['attach', busy], { input: '/interrupt text\n' });
    assert.equal(instead.code, 0, instead.err);
    assert.match(instead.out, /This is a demonstration/);
    const cancelled = await ask(demo.long);
    assert.equal((await errand(server, ['attach', cancelled], { input: '/cancel\n' })).code, 6);
    assert.equal((await task(cancelled)).status, 'cancelled');
    const failing = await ask(demo.failure);
    await at_rest(failing);
    const again = await errand(server, ['attach', failing], { input: '/nonsense\nhello?\n/retry fail once more\n' });
    assert.equal(again.code, 1, again.err);
    assert.match(again.err, /\/nonsense is not a command/);
    assert.match(again.err, /takes no messages; retry/, 'a message to a failed task is refused, and says what to do');
    assert.match(again.out, /> fail once more/);
    assert.equal((await task(failing)).attempt, 2);
  });

  test('Ctrl-C lets go of the task, which goes on, and says how to come back', async () => {
    const id = await ask(demo.long);
    const left = await errand(server, ['attach', id], { signal_after: (out) => /of 600 s/.test(out) });
    assert.equal(left.code, 130, left.err);
    assert.match(left.err, new RegExp(`errand attach ${id.slice(5, 13)}`));
    assert.equal((await task(id)).status, 'running');
    await server.cancel(id);
  });

  test('attach --json prints the events, one a line', async () => {
    const id = await ask(demo.short);
    await at_rest(id);
    const attached = await errand(server, ['attach', id, '--json']);
    const events = attached.out.trim().split('\n').map((line) => JSON.parse(line));
    assert.equal(events[0].type, 'task.created');
    assert.equal(events.at(-1).type, 'end');
    assert.deepEqual(events.map((e) => e.seq), events.map((_, i) => i + 1), 'each once');
  });

  test('on a terminal a person talks to it: typed lines, the answer, Ctrl-D', async () => {
    const id = await ask(demo.short);
    await at_rest(id);
    const child = spawn('script', ['-qec', `${binary} attach ${id}`, '/dev/null'], {
      cwd: server.folder,
      env: { ...server.env, ERRAND_DATA_DIR: server.data_dir, TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    const ended = new Promise((resolve) => child.on('close', resolve));
    await until(() => /it has answered. Type to go on with it/.test(out), { within: 20_000 });
    child.stdin.write('text\n');
    await until(() => /2 messages in this conversation[^]*it has answered. Type to go on with it/.test(out), { within: 20_000 });
    assert.doesNotMatch(out, /\[36m> text/, 'what was typed is not told again');
    child.stdin.write('\x04');
    assert.equal(await ended, 0, out);
    assert.match(out, /errand attach/);
  });
});
