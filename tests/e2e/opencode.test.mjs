// The plugin in a real OpenCode, with a model that calls errand's tools: what is told to a session, when and how often;
// what ends one; what a server that is not there, is killed or comes back changes (R3.5, R5.5, R8).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { call, opencode_skip as skip, opencode_world as world, task_id, turn, until } from './harness/index.mjs';

const asked = (model) => model.requests().filter((record) => record.body.tools?.length).length;

test('An idle session is told at once, once, without a call of the model; a toast says it', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t);
  const { server, opencode, model } = all;
  const watching = opencode.watch();
  await watching.ready;
  t.after(() => watching.close());
  const session = await opencode.session();
  const { output } = await turn(all, session, [call('background_execute', { command: 'cat', description: 'wait for it' })]);
  const id = task_id(output);
  const task = await server.task(id);
  assert.equal(task.parent_session_id, session);
  const launched = (await opencode.messages(session)).find(({ parts }) => parts.some((part) => part.type === 'tool'));
  assert.equal(task.parent_message_id, launched.info.id, 'the message that called');
  assert.equal(task.work_dir, opencode.project, 'the project is the default');
  await server.at_rest(id);
  await opencode.idle(session);
  const before = asked(model);
  const [notice] = await until(async () => (await opencode.notices(session)).length && opencode.notices(session), { what: 'the notice is there' });
  assert.match(notice.text, new RegExp(id));
  assert.equal(notice.synthetic, true);
  await until(async () => (await server.get(`/api/sessions/${session}/notices`)).notices.length === 0, { what: 'it is taken' });
  assert.equal((await opencode.notices(session)).length, 1);
  assert.equal(asked(model), before, 'the model was not asked');
  await until(() => watching.events.some((event) => event.type === 'tui.toast.show'), { what: 'a toast' });
  // The model sees it with the next word.
  await turn(all, session, []);
  assert.match(JSON.stringify(model.requests().filter((record) => record.body.tools?.length).at(-1).body.messages), new RegExp(`<notification>[^<]*${id}`));
});

test('The tool that starts agents names those that are here now', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t);
  const { server, model } = all;
  await server.expect(201, 'POST', '/api/agents', { name: 'reviewer', driver: 'demo' });
  const session = await all.opencode.session();
  await turn(all, session, [call('background_list')]);
  const { tools } = model.requests().filter((record) => record.body.tools?.length).at(-1).body;
  assert.match(JSON.stringify(tools.find((tool) => JSON.stringify(tool).includes('"background_task"'))), /One of [^"]*reviewer/);
});

test('A busy session is told when it is idle, and its model is asked no more than it would have been', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t);
  const { server, opencode, model } = all;
  const session = await opencode.session();
  const words = 'start two things.';
  model.rule(words, [call('background_execute', { command: 'true' }), { ...call('background_list'), wait: 'the middle' }, { text: 'the end', wait: 'the end' }], { tools: true });
  await opencode.prompt_async(session, words);
  await model.waiting('the middle');
  const { id } = (await server.get(`/api/tasks?parent_session_id=${session}`)).tasks[0];
  await server.at_rest(id);
  model.release('the middle');
  await model.waiting('the end');
  assert.equal((await opencode.notices(session)).length, 0, 'not while it works');
  assert.equal((await server.get(`/api/sessions/${session}/notices`)).notices.length, 1);
  model.release('the end');
  await until(async () => (await opencode.notices(session)).length === 1, { what: 'the notice is there', within: 120_000 });
  await until(async () => (await server.get(`/api/sessions/${session}/notices`)).notices.length === 0, { what: 'it is taken' });
  assert.equal(asked(model), 3, 'three steps, and no answer to the notice');
});

test('A result that background_output gave is not told again', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t);
  const { server, opencode } = all;
  const session = await opencode.session();
  const gate = path.join(all.folder, 'go');
  const command = `until [ -e ${gate} ]; do sleep 0.2; done; echo the answer`;
  const id = task_id((await turn(all, session, [call('background_execute', { command, timeout: 0 })])).output);
  const reading = turn(all, session, [call('background_output', { task_id: id, block: true, timeout: 600 })]);
  await until(async () => (await opencode.calls(session)).at(-1)?.state.status === 'running', { what: 'the call waits', within: 120_000 });
  fs.writeFileSync(gate, '');
  assert.match((await reading).output, /the answer/);
  assert.equal((await server.get(`/api/sessions/${session}/notices`)).notices.length, 0, 'it was taken by the call');
  await turn(all, session, []);
  assert.equal((await opencode.notices(session)).length, 0);
});

test('With --wake the agent answers the notice', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t, { install: ['--wake'] });
  const { opencode, model } = all;
  const session = await opencode.session();
  model.rule('<notification>', [{ text: 'I have seen it.' }], { tools: true });
  await turn(all, session, [call('background_execute', { command: 'true' })]);
  await until(async () => (await opencode.messages(session)).at(-1).parts.some((part) => part.text === 'I have seen it.'), { what: 'its answer', within: 120_000 });
  assert.equal((await opencode.notices(session)).length, 1);
});

test('Only its deletion ends a session: an abort, an idle, a closed OpenCode do not', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t);
  const { server, opencode, model } = all;
  const session = await opencode.session();
  const { output } = await turn(all, session, [call('background_execute', { command: 'sleep 3600', timeout: 0 })]);
  const id = task_id(output);
  model.rule('wait for it', [call('background_output', { task_id: id, block: true, timeout: 600 })], { tools: true });
  await opencode.prompt_async(session, 'wait for it');
  await until(async () => (await opencode.calls(session)).at(-1)?.state.status === 'running', { what: 'the call waits', within: 120_000 });
  await opencode.api('POST', `/session/${session}/abort`);
  await opencode.idle(session);
  assert.equal((await server.task(id)).status, 'running', 'an abort gives up the wait alone');
  await opencode.kill9();
  await opencode.start();
  await turn(all, session, [call('background_list')]);
  assert.equal((await server.task(id)).status, 'running');
  await opencode.api('DELETE', `/session/${session}`);
  await until(async () => (await server.api('GET', `/api/tasks/${id}`)).status === 404, { what: 'its tasks are gone', within: 120_000 });
  await until(async () => (await server.api('GET', `/api/sessions/${session}`)).status === 404, { what: 'so is the session' });
});

test('The errand command in the session\'s shell starts tasks of the session', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t);
  const { server, opencode } = all;
  const session = await opencode.session();
  await turn(all, session, [call('bash', { command: `${process.env.ERRAND_BIN ?? 'build/release/errand'} run --json -- echo from the shell`, description: 'errand' })]);
  const { tasks } = await server.get(`/api/tasks?parent_session_id=${session}`);
  assert.equal(tasks.length, 1);
  await until(async () => (await opencode.notices(session)).length === 1, { what: 'the notice is there', within: 120_000 });
});

test('The first call starts the server; nothing runs before it', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t, { started: false });
  const { server, opencode } = all;
  const session = await opencode.session();
  await turn(all, session, []);
  assert.equal(server.card(), undefined, 'a word alone starts nothing');
  const { output } = await turn(all, session, [call('background_execute', { command: 'echo hello' })]);
  const card = server.card();
  t.after(() => process.kill(card.pid, 'SIGTERM'));
  await until(async () => (await opencode.notices(session)).length === 1, { what: 'the notice is there', within: 120_000 });
  assert.match((await opencode.notices(session))[0].text, new RegExp(task_id(output)));
});
