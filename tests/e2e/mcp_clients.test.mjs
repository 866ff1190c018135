// MCP with the other side written by others: the official clients of both eras, over HTTP and by `errand mcp`.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { binary, patience, Server, tools_folder, until } from './harness/index.mjs';

const there = fs.existsSync(path.join(tools_folder, 'node_modules/@modelcontextprotocol/sdk'));
const skip = there ? false : 'the pinned clients are not installed: scripts/test does it';
const load = (file) => import(pathToFileURL(path.join(tools_folder, 'node_modules/@modelcontextprotocol', file)));

const v1 = async () => {
  const [{ Client }, { StreamableHTTPClientTransport }, { StdioClientTransport }, types] = await Promise.all(
    ['client/index.js', 'client/streamableHttp.js', 'client/stdio.js', 'types.js'].map((file) => load(`sdk/dist/esm/${file}`)),
  );
  return { Client, StreamableHTTPClientTransport, StdioClientTransport, types };
};
const v2 = async () => ({ ...(await load('client/dist/index.mjs')), ...(await load('client/dist/stdio.mjs')) });

const http = (server, Transport) => new Transport(new URL(`${server.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${server.token}` } } });
const stdio = (server, Transport, env = {}) =>
  new Transport({ command: binary, args: ['mcp'], env: { ...server.env, ERRAND_DATA_DIR: server.data_dir, ...env }, stderr: 'inherit' });

const text_of = (result) => result.content.map((block) => block.text).join('\n');

// What a new user does: three tasks, go on, list, read one, cancel another, resume the third, and be told.
async function a_day_of_work(server, client) {
  const call = async (name, args = {}) => client.callTool({ name, arguments: args });
  const { tools } = await client.listTools();
  assert.equal(tools.length, (await server.get('/api/tools')).tools.length);
  const quick = (await call('background_execute', { command: 'echo found it', description: 'Quick' })).structuredContent.task_id;
  const long = (await call('background_execute', { command: 'sleep 300', description: 'Long' })).structuredContent.task_id;
  const agent = (await call('background_task', { agent: 'demo', prompt: 'text', description: 'Talk' })).structuredContent.task_id;
  const list = await call('background_list');
  for (const id of [quick, long, agent]) assert.ok(text_of(list).includes(id));
  const read = await call('background_output', { task_id: quick, block: true, timeout: 30 });
  assert.match(text_of(read), /found it/);
  assert.equal((await call('background_cancel', { task_id: long })).structuredContent.cancelled[0], long);
  await server.at_rest(agent);
  const resumed = await call('background_task', { resume: agent, prompt: 'and now?' });
  assert.notEqual(resumed.isError, true, text_of(resumed));
  let told = '';
  await until(
    async () => {
      told += text_of(await call('background_list'));
      return told.includes('Background Task Completed: Talk');
    },
    { what: 'the notice of the resumed task', within: 30_000 * patience },
  );
  assert.match(text_of(await call('look_at', { task_id: quick })), /found it/);
  assert.match(text_of(await call('session_manager', { action: 'keep', key: 'a', value: 'b' })), /a/);
  const wrong = await call('background_execute', {});
  assert.equal(wrong.isError, true);

  const { resources } = await client.listResources();
  const uris = resources.map((resource) => resource.uri);
  assert.ok(uris.includes(`task://${quick}/log`), uris.join(' '));
  for (const uri of uris) assert.equal((await client.readResource({ uri })).contents[0].uri, uri);
  assert.match((await client.readResource({ uri: `task://${quick}/log` })).contents[0].text, /found it/);
  await assert.rejects(client.readResource({ uri: 'task://nothing/log' }));
  assert.ok((await client.listResourceTemplates()).resourceTemplates.length >= 5);
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: prompts[0].name, arguments: { task: 'Build it.' } });
  assert.match(prompt.messages[0].content.text, /Build it\.$/);
  const completion = await client.complete({ ref: { type: 'ref/resource', uri: 'task://{id}/log' }, argument: { name: 'id', value: quick.slice(0, 10) } });
  assert.ok(completion.completion.values.includes(quick));
  assert.equal((await call('background_clear')).isError ?? false, false);
}

test('The SDK of 2025 does a day of work over HTTP', { skip }, async (t) => {
  const { Client, StreamableHTTPClientTransport } = await v1();
  const server = await Server.start(t);
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(http(server, StreamableHTTPClientTransport));
  t.after(() => client.close());
  await a_day_of_work(server, client);
});

test('The SDK of 2025 does the same by errand mcp, and hears what it subscribed to', { skip }, async (t) => {
  const { Client, StdioClientTransport, types } = await v1();
  const server = await Server.start(t);
  const client = new Client({ name: 'v1', version: '1' });
  const updated = [], logged = [];
  client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (message) => updated.push(message.params.uri));
  client.setNotificationHandler(types.LoggingMessageNotificationSchema, (message) => logged.push(message.params.data));
  await client.connect(stdio(server, StdioClientTransport));
  t.after(() => client.close());
  await a_day_of_work(server, client);
  const made = await client.callTool({ name: 'background_execute', arguments: { command: 'for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.3; done', description: 'Counting' } });
  const uri = `task://${made.structuredContent.task_id}/log`;
  await client.subscribeResource({ uri });
  await until(() => updated.includes(uri), { what: 'an update of the log' });
  await until(() => logged.some((notice) => notice.task_id === made.structuredContent.task_id), { what: 'the notice on the stream', within: 30_000 * patience });
  await client.unsubscribeResource({ uri });
});

test('The SDK of 2025 runs a tool as a task', { skip }, async (t) => {
  const { Client, StreamableHTTPClientTransport, types } = await v1();
  const server = await Server.start(t);
  const client = new Client({ name: 'v1', version: '1' });
  await client.connect(http(server, StreamableHTTPClientTransport));
  t.after(() => client.close());
  await client.listTools();
  const tasks = client.experimental.tasks;
  const seen = [];
  let id, result;
  for await (const message of tasks.callToolStream({ name: 'background_execute', arguments: { command: 'sleep 1; echo as a task' } }, types.CallToolResultSchema, { task: { ttl: 60_000 } })) {
    seen.push(message.type);
    if (message.type === 'taskCreated') id = message.task.taskId;
    if (message.type === 'result') result = message.result;
    assert.notEqual(message.type, 'error', JSON.stringify(message.error));
  }
  assert.equal(seen[0], 'taskCreated');
  assert.match(text_of(result), /as a task/);
  assert.equal((await tasks.getTask(id)).status, 'completed');
  assert.ok((await tasks.listTasks()).tasks.some((task) => task.taskId === id));
  const second = tasks.callToolStream({ name: 'background_execute', arguments: { command: 'sleep 300' } }, types.CallToolResultSchema, { task: {} });
  const { value: created } = await second.next();
  assert.equal((await tasks.cancelTask(created.task.taskId)).status, 'cancelled');
  await second.return();
  await server.restart();
  const later = new Client({ name: 'v1', version: '1' });
  await later.connect(http(server, StreamableHTTPClientTransport));
  t.after(() => later.close());
  assert.equal((await later.experimental.tasks.getTask(id)).status, 'completed', 'after a kill -9 too');
});

for (const [name, mode] of [
  ['that finds out', 'auto'],
  ['pinned to 2026-07-28', { pin: '2026-07-28' }],
]) {
  test(`The client of 2026 ${name} does a day of work over HTTP and by errand mcp`, { skip }, async (t) => {
    const { Client, StreamableHTTPClientTransport, StdioClientTransport } = await v2();
    const server = await Server.start(t);
    for (const transport of [http(server, StreamableHTTPClientTransport), stdio(server, StdioClientTransport)]) {
      const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(transport);
      assert.equal(client.getProtocolEra(), 'modern');
      await a_day_of_work(server, client);
      await client.close();
    }
  });
}

test('A person is asked through the client whether a task may', { skip }, async (t) => {
  const { Client, StreamableHTTPClientTransport } = await v2();
  const server = await Server.start(t);
  const client = new Client({ name: 'v2', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } } });
  const asked = [];
  client.setRequestHandler('elicitation/create', async (request) => {
    asked.push(request.params);
    return { action: 'accept', content: { decision: 'allow' } };
  });
  await client.connect(http(server, StreamableHTTPClientTransport));
  t.after(() => client.close());
  const { task_id } = (await client.callTool({ name: 'background_task', arguments: { agent: 'demo', prompt: 'permission' } })).structuredContent;
  const result = await client.callTool({ name: 'background_output', arguments: { task_id, block: true, timeout: 30 } });
  assert.equal(asked.length, 1);
  assert.match(asked[0].message, /notes\.txt/);
  assert.equal(result.structuredContent.tasks[0].status, 'completed', text_of(result));
});

test('The tasks extension drives a tool to its end', { skip }, async (t) => {
  const { Client, StreamableHTTPClientTransport } = await v2();
  const { createTaskSessionFromClient, resultFromTaskOutcome } = await load('ext-tasks/dist/client/index.js');
  const server = await Server.start(t);
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: { form: {} } };
  const info = { name: 'tasks', version: '1' };
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities });
  await client.connect(http(server, StreamableHTTPClientTransport));
  t.after(() => client.close());
  let last = 0;
  const raw = async (message) => {
    const params = message.params ?? {};
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${server.token}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method };
    const name = params.name ?? params.uri ?? params.taskId;
    if (name) headers['mcp-name'] = name;
    const reply = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: ++last, ...message }) });
    const { result, error } = await reply.json();
    return error ? { kind: 'error', error } : { kind: 'result', result };
  };
  const session = createTaskSessionFromClient(client, {
    endpointId: 'errand',
    rawDispatch: raw,
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo: info, clientCapabilities: capabilities },
  });
  t.after(() => session.close());
  const execution = await session.callTool('background_execute', { command: 'sleep 1; echo by the extension' });
  const { outcome } = await execution.settle();
  assert.match(text_of(resultFromTaskOutcome(outcome)), /by the extension/);
});
