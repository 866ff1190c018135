// MCP over Streamable HTTP and by `errand mcp`, as a client of the protocol versions of 2025 speaks it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { binary, errand, patience, Server, tool, until } from './harness/index.mjs';

class Client {
  constructor(server, headers = {}) {
    this.server = server;
    this.headers = headers;
    this.last = 0;
  }
  async post(message, headers = {}) {
    return fetch(`${this.server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.server.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(this.session ? { 'mcp-session-id': this.session } : {}),
        ...(this.version ? { 'mcp-protocol-version': this.version } : {}),
        ...this.headers,
        ...headers,
      },
      body: typeof message === 'string' ? message : JSON.stringify(message),
      signal: AbortSignal.timeout(60_000),
    });
  }
  async ask(method, params = {}) {
    const id = ++this.last;
    const reply = await this.post({ jsonrpc: '2.0', id, method, params });
    assert.equal(reply.status, 200, await reply.clone().text());
    this.session ??= reply.headers.get('mcp-session-id') ?? undefined;
    const message = await reply.json();
    assert.equal(message.id, id);
    assert.equal(message.jsonrpc, '2.0');
    return message;
  }
  async open(version = '2025-11-25') {
    const { result } = await this.ask('initialize', { protocolVersion: version, capabilities: { roots: {} }, clientInfo: { name: 'e2e', version: '1' } });
    this.version = result.protocolVersion;
    const taken = await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    assert.equal(taken.status, 202);
    return result;
  }
  async call(name, args = {}) {
    const { result, error } = await this.ask('tools/call', { name, arguments: args });
    assert.ok(result, JSON.stringify(error));
    return { ...result, text: result.content[0].text };
  }
}

test('A client initializes, lists and calls; schemas fit; a restart of the server changes nothing', async (t) => {
  const server = await Server.start(t);
  const client = new Client(server);
  const opened = await client.open();
  assert.equal(opened.serverInfo.name, 'errand');
  assert.match(client.session, /^[\x21-\x7e]+$/);
  const { tools } = (await client.ask('tools/list')).result;
  // Over MCP the list has no output schemas: agents pay for it. The data are as the API says all the same.
  const { tools: schemas } = await server.get('/api/tools');
  assert.deepEqual(tools.map((one) => one.name), schemas.map((one) => one.name));
  const ajv = await tool('ajv/dist/2020.js');
  const check = (name, data) => {
    if (!ajv) return;
    const { notices, ...rest } = data;
    if (notices) assert.ok(notices.every((notice) => typeof notice === 'string'));
    const validate = new ajv.Ajv2020({ strict: false }).compile(schemas.find((one) => one.name === name).output_schema);
    assert.ok(validate(rest), `${name}: ${JSON.stringify(validate.errors)}`);
  };
  const made = await client.call('background_execute', { command: 'sleep 1; echo well done', description: 'A job' });
  check('background_execute', made.structuredContent);
  const { task_id } = made.structuredContent;
  assert.equal((await server.get(`/api/tasks/${task_id}`)).parent_session_id, client.session);
  await server.restart();
  const ended = await client.call('background_output', { task_id, block: true, timeout: 30 });
  check('background_output', ended.structuredContent);
  assert.match(ended.text, /well done/);
  assert.equal(ended.content.length, 1, 'whoever waited is not told again');
  const second = (await client.call('background_execute', { command: 'true', description: 'Quick' })).structuredContent.task_id;
  await server.at_rest(second);
  const list = await client.call('background_list');
  check('background_list', list.structuredContent);
  assert.match(list.content[1].text, /### Background Task Completed: Quick/, 'the notice comes with the next answer');
  assert.equal((await client.call('background_list')).content.length, 1, 'once');
});

test('Versions, sessions and mistakes are answered as the protocol says', async (t) => {
  const server = await Server.start(t);
  for (const version of ['2025-11-25', '2025-06-18', '2025-03-26']) assert.equal((await new Client(server).open(version)).protocolVersion, version);
  const client = new Client(server);
  assert.equal((await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).status, 400, 'no session');
  assert.equal((await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'mcp-session-id': 'ses_mcp_never' })).status, 404);
  const newer = await client.post({ jsonrpc: '2.0', id: 'probe', method: 'server/discover' }, { 'mcp-protocol-version': '2099-01-01' });
  assert.equal(newer.status, 400);
  assert.equal((await newer.json()).error.code, -32022);
  assert.equal((await client.post('{')).status, 400);
  await client.open();
  assert.equal((await client.ask('no/such')).error.code, -32601);
  assert.equal((await client.ask('tools/call', { name: 'nothing' })).error.code, -32602);
  const wrong = await client.call('background_execute', {});
  assert.equal(wrong.isError, true);
  assert.match(wrong.text, /`command` must be given/);
  const stranger = await fetch(`${server.url}/mcp`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
  assert.equal(stranger.status, 401);
  const forgotten = await fetch(`${server.url}/mcp`, { method: 'DELETE', headers: { authorization: `Bearer ${server.token}`, 'mcp-session-id': client.session } });
  assert.equal(forgotten.status, 204);
  assert.equal((await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status, 404);
});

test('The stream of a session shows its notices', async (t) => {
  const server = await Server.start(t);
  const client = new Client(server);
  await client.open();
  const stream = await fetch(`${server.url}/mcp`, {
    headers: { authorization: `Bearer ${server.token}`, accept: 'text/event-stream', 'mcp-session-id': client.session, 'mcp-protocol-version': client.version },
    signal: AbortSignal.timeout(60_000 * patience),
  });
  assert.equal(stream.status, 200);
  assert.match(stream.headers.get('content-type'), /text\/event-stream/);
  await client.call('background_execute', { command: 'true', description: 'Told' });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream.body) {
    text += decoder.decode(chunk, { stream: true });
    if (/^data: .*notifications\/message.*\n\n/m.test(text)) break;
  }
  const message = JSON.parse(/^data: (.*notifications\/message.*)$/m.exec(text)[1]);
  assert.equal(message.method, 'notifications/message');
  assert.equal(message.params.data.kind, 'turn_ended');
});

// A client that starts a program.
class Program {
  constructor(t, server, args = [], { cwd, roots } = {}) {
    this.child = spawn(binary, ['mcp', ...args], { cwd, env: { ...server.env, ERRAND_DATA_DIR: server.data_dir }, stdio: ['pipe', 'pipe', 'inherit'] });
    this.roots = roots;
    this.answers = new Map();
    this.last = 0;
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.method === 'roots/list') this.send({ jsonrpc: '2.0', id: message.id, result: { roots: this.roots } });
      else this.answers.set(message.id, message);
    });
    this.exited = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
    t.after(() => this.child.kill('SIGKILL'));
  }
  send(message) {
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }
  async answer(id, within = 30_000 * patience) {
    await until(() => this.answers.has(id), { what: `the answer to ${id}`, within });
    return this.answers.get(id);
  }
  async ask(method, params = {}) {
    const id = ++this.last;
    this.send({ jsonrpc: '2.0', id, method, params });
    return this.answer(id);
  }
  async open() {
    const capabilities = this.roots ? { roots: { listChanged: true } } : {};
    const { result } = await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'stdio', version: '1' } });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return result;
  }
}

test('errand mcp: the same over standard input and output, also across a kill -9 of the server', async (t) => {
  const server = await Server.start(t);
  const client = new Program(t, server, ['--session', 'ses_stdio']);
  assert.equal((await client.open()).serverInfo.name, 'errand');
  assert.ok((await client.ask('tools/list')).result.tools.length >= 9);
  const made = (await client.ask('tools/call', { name: 'background_execute', arguments: { command: 'sleep 2; echo through the pipe', description: 'Piped' } })).result;
  const { task_id } = made.structuredContent;
  assert.equal((await server.get(`/api/tasks/${task_id}`)).parent_session_id, 'ses_stdio');
  client.send({ jsonrpc: '2.0', id: 'waits', method: 'tools/call', params: { name: 'background_output', arguments: { task_id, block: true, timeout: 40 } } });
  assert.deepEqual((await client.ask('ping')).result, {}, 'a call that waits holds nobody up');
  await server.restart();
  const ended = (await client.answer('waits')).result;
  assert.equal(ended.isError, false, ended.content[0].text);
  assert.match(ended.content[0].text, /through the pipe/);
  client.send('this is no message');
  await until(() => client.answers.has(null), { what: 'a line that is no JSON is answered' });
  assert.equal(client.answers.get(null).error.code, -32700);
  client.child.stdin.end();
  assert.equal(await client.exited, 0, 'it leaves with its client');
});

test('R14.1: what an agent starts by errand mcp works where the agent is: its first root, else its folder', async (t) => {
  const server = await Server.start(t);
  const folder = (name) => {
    fs.mkdirSync(path.join(server.folder, name), { recursive: true });
    return fs.realpathSync(path.join(server.folder, name));
  };
  const [here, project, other] = [folder('here'), folder('a project, 项目'), folder('other')];
  folder('here/below');
  const execute = async (client, args = {}) => {
    const { result } = await client.ask('tools/call', { name: 'background_execute', arguments: { command: 'pwd', ...args } });
    assert.equal(result.isError, false, result.content[0].text);
    const { task_id, work_dir } = result.structuredContent;
    assert.ok(result.content[0].text.includes(`Folder: ${work_dir}`), 'the answer names the folder');
    const done = await server.get(`/api/tasks/${task_id}/result?block=true&timeout_s=30`);
    assert.equal(done.result.trim(), work_dir);
    return work_dir;
  };

  const plain = new Program(t, server, [], { cwd: here });
  await plain.open();
  assert.equal(await execute(plain), here);
  assert.equal(await execute(plain, { work_dir: 'below' }), path.join(here, 'below'), 'a relative folder is below its own');
  assert.equal(await execute(plain, { work_dir: other }), other);

  const rooted = new Program(t, server, [], { cwd: here, roots: [{ uri: 'https://elsewhere.example/' }, { uri: pathToFileURL(project).href }] });
  await rooted.open();
  assert.equal(await execute(rooted), project);
  rooted.roots = [{ uri: pathToFileURL(other).href }];
  rooted.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
  assert.equal(await execute(rooted), other);

  // The same by `errand tool`; a caller that says nothing of where it is gets the server's own default.
  const typed = await errand(server, ['tool', 'background_execute', '{"command":"pwd"}', '--json'], { cwd: here });
  assert.equal(JSON.parse(typed.out).data.work_dir, here);
  const { default_work_dir } = await server.get('/api/settings');
  const rest = await server.expect(200, 'POST', '/api/tools/background_execute', { arguments: { command: 'pwd' } });
  assert.equal(rest.data.work_dir, default_work_dir);
  await server.expect(400, 'POST', '/api/tools/background_execute', { arguments: { command: 'pwd' }, work_dir: 'here' });
});
