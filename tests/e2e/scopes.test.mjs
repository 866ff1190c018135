// Tokens with scopes: what each may do, over REST, the tools and MCP; that they end; that nobody can read them back.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, Server } from './harness/index.mjs';

const ask = (server, token, method, target, body) =>
  fetch(`${server.url}${target}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

async function make(server, scopes, more = {}) {
  const reply = await ask(server, server.token, 'POST', '/api/tokens', { name: scopes.join(' '), scopes, ...more });
  assert.equal(reply.status, 201, await reply.clone().text());
  return reply.json();
}

test('Each scope lets its holder do what it says and no more', async (t) => {
  const server = await Server.start(t);
  const task = { agent_id: 'demo', message: 'permission' };
  const command = { kind: 'command', command: 'true' };
  const { id } = await (await ask(server, server.token, 'POST', '/api/tasks', task)).json();
  const tool = (name, args) => ['POST', `/api/tools/${name}`, { arguments: args }];
  const may = {
    read: { list: 200, agent: 403, command: 403, cancel: 403, tokens: 403, settings: 200, codes: 403 },
    tasks: { list: 200, agent: 201, command: 403, cancel: 409, tokens: 403, settings: 200, codes: 403 },
    exec: { list: 200, agent: 403, command: 201, cancel: 403, tokens: 403, settings: 200, codes: 403 },
    'tasks exec': { list: 200, agent: 201, command: 201, cancel: 409, tokens: 403, settings: 200, codes: 403 },
    admin: { list: 200, agent: 201, command: 201, cancel: 409, tokens: 200, settings: 200, codes: 201 },
  };
  const ended = await (await ask(server, server.token, 'POST', '/api/tasks', command)).json();
  await server.at_rest(ended.id);
  for (const [scopes, expected] of Object.entries(may)) {
    const { token } = await make(server, scopes.split(' '));
    const got = {
      list: (await ask(server, token, 'GET', '/api/tasks')).status,
      agent: (await ask(server, token, 'POST', '/api/tasks', { agent_id: 'demo', message: 'text' })).status,
      command: (await ask(server, token, 'POST', '/api/tasks', command)).status,
      cancel: (await ask(server, token, 'POST', `/api/tasks/${ended.id}/cancel`, {})).status,
      tokens: (await ask(server, token, 'GET', '/api/tokens')).status,
      settings: (await ask(server, token, 'GET', '/api/settings')).status,
      codes: (await ask(server, token, 'POST', '/api/login/codes')).status,
    };
    assert.deepEqual(got, expected, scopes);
    const ran = await (await ask(server, token, ...tool('background_execute', { command: 'true' }))).json();
    assert.equal(ran.is_error, expected.command !== 201, `${scopes}: ${ran.text}`);
    assert.equal((await (await ask(server, token, ...tool('background_list', {}))).json()).is_error, false, scopes);
  }
  // What a task may do is for `approve`.
  const asking = (await (await ask(server, server.token, 'GET', `/api/tasks/${id}`)).json()).waiting_for;
  const answer = { request_id: asking?.request_id ?? 'x', decision: 'allow' };
  const tasks = await make(server, ['tasks']);
  const refused = await ask(server, tasks.token, 'POST', `/api/tasks/${id}/answer`, answer);
  assert.equal(refused.status, 403);
  assert.equal((await refused.json()).reason, 'scope');
  // A command that prepares an agent's work tree is a command.
  const prepared = await ask(server, tasks.token, 'POST', '/api/tasks', { agent_id: 'demo', message: 'text', isolate: 'worktree', isolate_setup: 'true' });
  assert.equal(prepared.status, 403);
  assert.match((await prepared.json()).detail, /lacks the scope `exec`/);
});

test('A token is kept as its hash, lives across a restart, and ends when it is removed or its time is over', async (t) => {
  const server = await Server.start(t);
  const made = await make(server, ['read']);
  assert.match(made.token, /^errand_[A-Za-z0-9_-]{43}$/);
  await server.restart();
  assert.equal((await ask(server, made.token, 'GET', '/api/tasks')).status, 200);
  for (const file of fs.readdirSync(server.data_dir)) {
    const whole = path.join(server.data_dir, file);
    if (fs.statSync(whole).isFile()) assert.ok(!fs.readFileSync(whole).includes(made.token.slice(7)), `${file} has the token in it`);
  }
  const { tokens } = await (await ask(server, server.token, 'GET', '/api/tokens')).json();
  assert.deepEqual(tokens.map((token) => [token.id, token.scopes, token.token]), [[made.id, ['read'], undefined]]);
  assert.equal((await ask(server, server.token, 'DELETE', `/api/tokens/${made.id}`)).status, 204);
  assert.equal((await ask(server, made.token, 'GET', '/api/tasks')).status, 401);
  assert.equal((await ask(server, server.token, 'DELETE', `/api/tokens/${made.id}`)).status, 404);
  const short = await make(server, ['read'], { expires_in_s: 0.001 });
  assert.equal((await ask(server, short.token, 'GET', '/api/tasks')).status, 401);
  for (const wrong of [{}, { name: 'x' }, { name: 'x', scopes: [] }, { name: 'x', scopes: ['root'] }])
    assert.equal((await ask(server, server.token, 'POST', '/api/tokens', wrong)).status, 400, JSON.stringify(wrong));
});

test('errand token creates, lists and revokes them', async (t) => {
  const server = await Server.start(t);
  const added = await errand(server, ['token', 'create', 'ci', '--scope', 'tasks,exec', '--expires', '30d']);
  assert.equal(added.code, 0, added.err);
  const token = added.out.trim();
  assert.equal((await ask(server, token, 'POST', '/api/tasks', { kind: 'command', command: 'true' })).status, 201);
  const list = await errand(server, ['token', 'list']);
  assert.match(list.out, /tok_\w+ +tasks,exec +ci +until/);
  const id = /tok_\w+/.exec(list.out)[0];
  assert.equal((await errand(server, ['token', 'revoke', id])).code, 0);
  assert.equal((await ask(server, token, 'GET', '/api/tasks')).status, 401);
});
