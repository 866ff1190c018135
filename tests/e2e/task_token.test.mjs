// A task's own token (ERRAND_TOKEN): what runs inside a task speaks as that task, reaches what it launched and nothing
// else, on every way in, and no longer than its work lasts.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { binary, Server, until } from './harness/index.mjs';

// One request over TCP or, with `socket`, over the unix socket.
function ask(server, token, method, target, { body, socket = false } = {}) {
  const where = socket ? { socketPath: path.join(server.data_dir, 'errand.sock') } : { host: '127.0.0.1', port: server.port };
  const headers = { host: socket ? 'localhost' : `127.0.0.1:${server.port}` };
  if (token) headers.authorization = `Bearer ${token}`;
  const bytes = body === undefined ? undefined : JSON.stringify(body);
  if (bytes) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) });
  return new Promise((resolve, reject) => {
    const call = http.request({ ...where, method, path: target, headers }, (reply) => {
      let text = '';
      reply.on('data', (chunk) => (text += chunk));
      reply.on('end', () => resolve({ status: reply.statusCode, json: text ? JSON.parse(text) : undefined }));
    });
    call.on('error', reject);
    call.end(bytes);
  });
}

// A command that writes what it prints to files of the test, does `script`, and stays until it is told to go.
async function inside(server, name, script, more = {}) {
  const folder = path.join(server.folder, name);
  fs.mkdirSync(folder);
  const task = await server.run(`${script}\nprintf %s "$ERRAND_TOKEN" > token.part && mv token.part token; while [ ! -e go ]; do sleep 0.05; done`, {
    work_dir: folder,
    ...more,
  });
  const read = (file) => fs.readFileSync(path.join(folder, file), 'utf8');
  await until(() => fs.existsSync(path.join(folder, 'token')), { what: 'the token is written' });
  return { task, read, token: read('token'), go: () => fs.writeFileSync(path.join(folder, 'go'), '') };
}

test('A command reaches errand as its own task, by the CLI and by MCP, and its token dies with it', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '6'] });
  const other = await server.run('sleep 600');
  const messages = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'background_list', arguments: {} } },
  ];
  const work = await inside(
    server,
    'a',
    `"${binary}" run --json -- sleep 600 > child.json
"${binary}" list --json > list.json
"${binary}" show ${other.id} > other.txt 2>&1; echo $? > other.code
"${binary}" token list > tokens.txt 2>&1; echo $? > tokens.code
"${binary}" open --print > open.txt 2>&1; echo $? > open.code
(printf '%s\\n' '${JSON.stringify(messages[0])}'; printf '%s\\n' '${JSON.stringify(messages[1])}'; sleep 2) | "${binary}" mcp > mcp.txt 2> mcp.err`,
  );
  const child = JSON.parse(work.read('child.json'));
  assert.equal(child.parent_session_id, work.task.session_id);
  assert.deepEqual(JSON.parse(work.read('list.json')).tasks.map((one) => one.id), [child.id]);
  for (const file of ['other', 'tokens', 'open']) assert.notEqual(work.read(`${file}.code`).trim(), '0', work.read(`${file}.txt`));
  assert.match(work.read('other.txt'), /This token belongs to a task/);
  const said = work.read('mcp.txt');
  assert.match(said, new RegExp(child.id), work.read('mcp.err'));
  assert.doesNotMatch(said, new RegExp(other.id));

  for (const socket of [false, true]) {
    const status = async (...args) => (await ask(server, work.token, ...args)).status;
    assert.equal(await status('GET', `/api/tasks/${child.id}`, { socket }), 200);
    assert.equal(await status('GET', `/api/tasks/${other.id}`, { socket }), 403);
    assert.equal(await status('POST', `/api/tasks/${other.id}/cancel`, { socket }), 403);
    assert.equal(await status('POST', '/api/login/codes', { socket }), 403);
    assert.equal(await status('POST', '/api/tokens', { body: { name: 'x', scopes: ['read'] }, socket }), 403);
    const forged = work.token.replace(work.task.id, other.id);
    assert.equal((await ask(server, forged, 'GET', '/api/tasks', { socket })).status, 401);
  }
  // It lives on when the server is restarted in the middle of the run,
  await server.restart();
  assert.equal((await ask(server, work.token, 'GET', `/api/tasks/${child.id}`)).status, 200);
  // and dies with it.
  work.go();
  await server.at_rest(work.task.id);
  for (const socket of [false, true]) assert.equal((await ask(server, work.token, 'GET', `/api/tasks/${child.id}`, { socket })).status, 401);
  assert.equal((await server.task(other.id)).status, 'running');
});

test('The token is nowhere that others read: not in the task, its events, the database or the log of the server', async (t) => {
  const server = await Server.start(t);
  const work = await inside(server, 'a', 'true');
  work.go();
  await server.at_rest(work.task.id);
  const secret = work.token.split('.').at(-1);
  assert.ok(secret.length >= 40, work.token);
  assert.ok(!JSON.stringify(await server.task(work.task.id)).includes(secret));
  assert.ok(!JSON.stringify(await server.events(work.task.id)).includes(secret));
  assert.ok(!fs.readFileSync(server.log_path, 'utf8').includes(secret));
  for (const file of fs.readdirSync(server.data_dir)) {
    const whole = path.join(server.data_dir, file);
    if (fs.statSync(whole).isFile()) assert.ok(!fs.readFileSync(whole).includes(secret), `${file} has the token in it`);
  }
});

test('A launch that names another server for itself gets no token of this one', async (t) => {
  const server = await Server.start(t);
  const named = await inside(server, 'a', 'true', { env: { ERRAND_DATA_DIR: '/nonexistent' } });
  assert.equal(named.token, '');
  named.go();
});
