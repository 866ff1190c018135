// Seed 004 (and 003's fork) in a real OpenCode session: OpenCode copies the session, errand makes a fork of the copy (R6).
// What counts is what the child's model is told.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { call, opencode_skip as skip, opencode_world, suite_scope, task_id, turn, until } from './harness/index.mjs';

const patience = { timeout: 600_000 };
const suite = { skip, timeout: 1_800_000 };
const within = 240_000;

function shared(options) {
  const all = {};
  const scope = suite_scope();
  before(async () => Object.assign(all, await opencode_world(scope, { args: ['--max-concurrent', '20'], agent: true, ...options })), { timeout: 300_000 });
  return all;
}

let number = 0;
// The words of a child's prompt, and a model that answers them.
function half(all, steps) {
  const prompt = `Do half number ${++number} now.`;
  all.model.rule(prompt, steps ?? [{ text: `Done with ${number}.` }], { tools: true });
  return prompt;
}

const fork = (prompt, more = {}) => call('background_task', { description: 'half', agent: 'opencode', prompt, fork: true, ...more });
// What the model was asked by the child, first: all of its conversation.
const asked = (all, prompt) => all.model.requests().filter((record) => record.body.tools?.length && JSON.stringify(record.body.messages.at(-1)).includes(prompt));
const sessions_of = async (all, id) => (await all.opencode.api('GET', '/session')).filter((session) => session.metadata?.errand_task === id);
const ended = async (all, id, status = 'completed') => {
  const task = await all.server.at_rest(id, { within });
  assert.equal(task.status, status, JSON.stringify(task.error));
  return task;
};

describe('Seed 004', suite, () => {
  const all = shared({});

  test('Launch forked background task', patience, async () => {
    const { opencode, server } = all;
    const session = await opencode.session({ title: 'the parent' });
    await turn(all, session, [call('bash', { command: 'echo the plan is seventeen', description: 'x' })]);
    const gate = `gate ${number}`;
    const prompt = half(all, [{ text: 'The half is done.', wait: gate }]);
    const { output, calls } = await turn(all, session, [fork(prompt)]);
    const id = task_id(output);
    assert.equal(calls.at(-1).state.status, 'completed', 'the call has returned, the child has not even answered');
    await all.model.waiting(gate, { timeout_ms: within });
    all.model.release(gate);
    const task = await ended(all, id);
    assert.deepEqual([task.is_forked, task.result, task.parent_session_id], [true, 'The half is done.', session]);
    const told = JSON.stringify(asked(all, prompt)[0].body.messages);
    assert.match(told, /echo the plan is seventeen/, 'what the parent did');
    assert.match(told, /you are that fork/, 'the call that launched it is settled');
    assert.doesNotMatch(told, new RegExp(id), 'what the parent was told of the launch is not in it');
    const [copy, ...more] = await sessions_of(all, id);
    assert.equal(more.length, 0);
    assert.notEqual(copy.id, session);
    assert.equal(copy.title, 'half');
    const parent = (await opencode.calls(session)).at(-1);
    assert.match(parent.state.output, new RegExp(id), 'the parent is as it was');
    const errands = (await server.get(`/api/tasks/${id}/messages`)).messages;
    assert.deepEqual(errands.map((message) => message.role).slice(0, 3).sort(), ['assistant', 'system', 'user']);
    assert.match(errands.find((message) => message.role === 'system').parts[0].text, new RegExp(`messages of the session ${session}`));
  });

  test('Fork with context truncation', patience, async () => {
    const session = await all.opencode.session();
    await turn(all, session, [call('bash', { command: 'seq -f "line %g é" 1 700', description: 'long' })]);
    const prompt = half(all);
    const id = task_id((await turn(all, session, [fork(prompt)])).output);
    await ended(all, id);
    const messages = asked(all, prompt)[0].body.messages;
    const result = messages.find((message) => message.role === 'tool' && /line 1 é/.test(JSON.stringify(message.content)));
    assert.match(JSON.stringify(result.content), /\[Cut to 1,500 of [0-9,]+ characters/, 'the original length is said');
    assert.doesNotMatch(JSON.stringify(result.content), /line 700 é/);
    const made = messages.flatMap((message) => message.tool_calls ?? []).find((each) => each.id === result.tool_call_id);
    assert.equal(made.function.name, 'bash');
    assert.equal(JSON.parse(made.function.arguments).command, 'seq -f "line %g é" 1 700', 'the call is whole');
    assert.match((await all.opencode.calls(session))[0].state.output, /line 700 é/, "the parent's is whole");
  });

  test('Preamble content', patience, async () => {
    const session = await all.opencode.session();
    await turn(all, session, []);
    const prompt = half(all);
    const words = `launch it, number ${number}.`;
    all.model.rule(words, [fork(prompt), { text: 'launched' }], { tools: true });
    await all.opencode.prompt(session, words, { agent: 'plan' });
    const id = task_id((await all.opencode.calls(session)).at(-1).state.output);
    await ended(all, id);
    const [copy] = await sessions_of(all, id);
    const users = (await all.opencode.messages(copy.id)).filter(({ info }) => info.role === 'user');
    const preamble = users.at(-2);
    assert.equal(users.at(-1).parts[0].text, prompt, 'then the prompt');
    assert.equal(preamble.parts[0].synthetic, true);
    assert.match(preamble.parts[0].text, /may be cut/);
    assert.match(preamble.parts[0].text, /read the file/);
    assert.deepEqual(users.slice(-2).map(({ info }) => info.agent), ['plan', 'plan'], "the parent's agent");
    assert.equal(preamble.info.model.modelID, 'm1');
    assert.equal(asked(all, 'may be cut').length, 0, 'nobody was asked for an answer to it');
    assert.equal(asked(all, prompt).length, 1);
  });

  test('Fork indicator in task list; Show forked indicator; Show resumed indicator', patience, async () => {
    const session = await all.opencode.session();
    const id = task_id((await turn(all, session, [fork(half(all))])).output);
    await ended(all, id);
    assert.ok((await turn(all, session, [call('background_list')])).output.includes(`${id} (forked)`));
    const prompt = half(all);
    await turn(all, session, [call('background_task', { resume: id, prompt })]);
    await all.server.when(id, (task) => task.turn === 2 && task.status === 'completed', { within });
    assert.ok((await turn(all, session, [call('background_list')])).output.includes(`${id} (resumed) (forked)`));
    assert.match(JSON.stringify(asked(all, prompt)[0].body.messages), /you are that fork/, 'in the same conversation');
  });

  test('Several forks from one message: each is its own', patience, async () => {
    const session = await all.opencode.session();
    const prompts = [half(all), half(all)];
    const { calls } = await turn(all, session, [{ tools: prompts.map((prompt) => fork(prompt).tool) }]);
    for (const part of calls) await ended(all, task_id(part.state.output));
    for (const prompt of prompts) {
      const settled = asked(all, prompt)[0].body.messages.filter((message) => /you are that fork/.test(JSON.stringify(message)));
      assert.equal(settled.length, 1);
      const made = asked(all, prompt)[0].body.messages.flatMap((message) => message.tool_calls ?? []).find((each) => each.id === settled[0].tool_call_id);
      assert.equal(JSON.parse(made.function.arguments).prompt, prompt);
    }
  });

  test('A message that the parent does not have: the fork fails, and says so', patience, async () => {
    const session = await all.opencode.session();
    await turn(all, session, [call('background_execute', { command: 'true' })]);
    const task = await all.server.launch({ agent_id: 'opencode', message: 'x', fork: true, parent_session_id: session, parent_message_id: 'msg_never', work_dir: all.opencode.project });
    assert.equal((await ended(all, task.id, 'failed')).error.code, 'fork_failed');
    assert.equal((await sessions_of(all, task.id)).length, 0);
  });

  test('Its session goes with the task, and only its', patience, async () => {
    const session = await all.opencode.session();
    const id = task_id((await turn(all, session, [fork(half(all))])).output);
    await ended(all, id);
    assert.equal((await sessions_of(all, id)).length, 1);
    await all.server.expect(204, 'DELETE', `/api/tasks/${id}`);
    await until(async () => (await sessions_of(all, id)).length === 0, { what: 'the copy is gone', within });
    assert.ok((await all.opencode.messages(session)).length > 0);
  });
});

describe('Across agents', suite, () => {
  const all = shared({});

  test('A built-in child of an OpenCode session has its transcript, cut and settled', patience, async () => {
    const session = await all.opencode.session();
    await turn(all, session, [call('bash', { command: 'seq -f "line %g é" 1 700', description: 'long' })]);
    const prompt = half(all);
    const { output } = await turn(all, session, [fork(prompt, { agent: 'builtin' })]);
    const task = await ended(all, task_id(output));
    assert.equal(task.is_forked, true);
    const record = all.model.requests().findLast((each) => each.api === 'anthropic');
    const told = JSON.stringify(record.body.messages);
    assert.match(told, /\[Cut to 1,500 of/);
    assert.match(told, /you are that fork/);
    assert.match(told, /seq -f/);
    assert.match(told, /may be cut/);
    const copied = (await all.server.get(`/api/tasks/${task.id}/messages`)).messages.filter((message) => message.turn === 0);
    assert.ok(copied.length >= 4);
  });

  test('An OpenCode child of a built-in parent has its transcript; what it is asked comes behind it', patience, async () => {
    all.model.rule('the answer is forty-two', [{ text: 'I will remember it.' }]);
    const parent = await all.server.launch({ agent_id: 'builtin', message: 'the answer is forty-two', work_dir: all.opencode.project, permission: 'allow' });
    await ended(all, parent.id);
    const prompt = half(all);
    const child = await all.server.launch({ agent_id: 'opencode', message: prompt, fork: true, parent_session_id: (await all.server.task(parent.id)).session_id, work_dir: all.opencode.project });
    const task = await ended(all, child.id);
    assert.equal(task.is_forked, true);
    const requests = asked(all, prompt);
    assert.equal(requests.length, 1, 'asked once');
    const told = JSON.stringify(requests[0].body.messages);
    assert.match(told, /## user.*the answer is forty-two.*## assistant.*I will remember it.*may be cut.*Do half/s);
  });

  test('An agent that there is not: that is what is said', patience, async () => {
    const session = await all.opencode.session();
    const { calls } = await turn(all, session, [fork('x', { agent: 'nobody' })]);
    assert.match(calls[0].state.error, /no agent "nobody"/i);
  });
});

describe('Seed 004, over the limit', suite, () => {
  const all = shared({ settings: { ERRAND_FORK_TOKENS: '6000', ERRAND_FORK_TOOL_RESULT_CHARS: '3000' } });
  const long = async () => {
    const session = await all.opencode.session();
    for (let i = 0; i < 8; i++) await turn(all, session, [call('bash', { command: `seq -f "number ${i} is %g" 1 180`, description: 'long' })]);
    return session;
  };

  test('Fork with token limit enforcement', patience, async () => {
    const session = await long();
    const prompt = half(all);
    const id = task_id((await turn(all, session, [fork(prompt)])).output);
    await ended(all, id);
    const told = JSON.stringify(asked(all, prompt)[0].body.messages);
    assert.doesNotMatch(told, /number 0 is/, 'the oldest went');
    assert.match(told, /number 7 is/, 'the newest stayed');
    const [copy] = await sessions_of(all, id);
    assert.ok((await all.opencode.messages(copy.id)).length < (await all.opencode.messages(session)).length);
    assert.match(told, /The oldest [0-9]+ messages were left out/);
  });

  test('kill -9 of errand while it forks: it is done once, and no half copy stays', patience, async () => {
    const session = await long();
    const prompt = half(all);
    const known = (await all.opencode.api('GET', '/session')).length;
    const id = task_id((await turn(all, session, [fork(prompt)])).output);
    // From where the copy says whose it is; a kill in the moment before leaves one that nobody can tell from a person's own.
    await until(async () => (await sessions_of(all, id)).length > 0, { what: 'the copy is there', within });
    await all.server.kill9();
    await all.server.start();
    await ended(all, id);
    assert.equal(asked(all, prompt).length, 1);
    const users = (await all.opencode.messages((await sessions_of(all, id))[0].id)).filter(({ info }) => info.role === 'user');
    assert.equal(users.filter(({ parts }) => /may be cut/.test(parts[0]?.text)).length, 1, 'one preamble');
    await until(async () => (await all.opencode.api('GET', '/session')).length === known + 1, { what: 'one copy', within });
  });
});
