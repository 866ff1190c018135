// The API document is valid OpenAPI 3.1 and describes every route (R10.1). That it is true of every reply is checked by
// all other suites as they go (harness/contract.mjs).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { request, Server, tool } from './harness/index.mjs';

// What programs outside this repository rely on, and this server serves.
const routes = `
GET /api/tasks
POST /api/tasks
GET /api/tasks/running/count
POST /api/tasks/clear
GET /api/tasks/{id}
DELETE /api/tasks/{id}
POST /api/tasks/{id}/cancel
POST /api/tasks/{id}/message
POST /api/tasks/{id}/retry
POST /api/tasks/{id}/answer
GET /api/tasks/{id}/result
GET /api/tasks/{id}/messages
GET /api/tasks/{id}/events
GET /api/tasks/{id}/stream
GET /api/tasks/{id}/log
GET /api/tasks/{id}/artifacts
POST /api/tasks/{id}/artifacts
GET /api/tasks/{id}/artifacts/{name}
GET /api/tasks/{id}/changes
GET /api/tasks/{id}/changes/{name}
POST /api/tasks/{id}/merge
POST /api/tasks/{id}/merge/undo
POST /api/tasks/{id}/discard
POST /api/tasks/{id}/discard/undo
GET /api/stream
GET /api/batches/{id}
DELETE /api/batches/{id}
POST /api/batches/{id}/cancel
POST /api/batches/{id}/retry
POST /api/batches/{id}/clear
GET /api/batches/{id}/results
POST /api/sessions
GET /api/sessions/{id}
DELETE /api/sessions/{id}
GET /api/sessions/{id}/messages
GET /api/sessions/{id}/notices
GET /api/sessions/{id}/stream
POST /api/sessions/{id}/notices/{notice}/taken
GET /api/agents
POST /api/agents
PUT /api/agents/{id}
DELETE /api/agents/{id}
GET /api/tools
POST /api/tools/{name}
GET /api/tokens
POST /api/tokens
DELETE /api/tokens/{id}
GET /api/settings
PATCH /api/settings
POST /api/login
GET /api/health
GET /api/openapi.json
GET /metrics
POST /mcp
GET /mcp
DELETE /mcp
`.trim().split('\n');

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const operations = (document) => Object.entries(document.paths).flatMap(([path, item]) => methods.filter((m) => item[m]).map((m) => ({ method: m.toUpperCase(), path, operation: item[m] })));

test('The document validates', async (t) => {
  const module = await tool('@seriousme/openapi-schema-validator');
  if (!module) return t.skip('the pinned tools are not installed: run scripts/test');
  const server = await Server.start(t);
  const document = await server.get('/api/openapi.json');
  const result = await new module.Validator().validate(structuredClone(document));
  assert.ok(result.valid, JSON.stringify(result.errors)?.slice(0, 2000));
  assert.match(document.openapi, /^3\.1\./);
});

test('It describes every route that others rely on', async (t) => {
  const server = await Server.start(t);
  const document = await server.get('/api/openapi.json');
  const plain = (route) => route.replace(/\{[^}]+\}/g, '{}');
  const described = new Set(operations(document).map(({ method, path }) => plain(`${method} ${path}`)));
  const missing = routes.filter((route) => !described.has(plain(route)));
  assert.deepEqual(missing, []);
});

test('Every operation that it describes is served, needs the token unless it says otherwise, and is described whole', async (t) => {
  const server = await Server.start(t);
  const document = await server.get('/api/openapi.json');
  for (const { method, path, operation } of operations(document)) {
    const target = path.replace(/\{[^}]+\}/g, 'x');
    const what = `${method} ${path}`;
    const open = Array.isArray(operation.security) && operation.security.length === 0;
    const stranger = await request({ port: server.port, method, path: target, body: method === 'GET' || method === 'DELETE' ? undefined : {} });
    if (open) assert.notEqual(stranger.status, 404, what);
    else assert.ok([401, 429].includes(stranger.status), `${what} without a token: ${stranger.status}`);
    const owner = await server.api(method, target, method === 'GET' || method === 'DELETE' ? undefined : {}, { timeout: 5_000 }).catch((error) => ({ status: 0, text: error.message, stream: /no answer/.test(error.message) }));
    assert.notEqual(owner.status, 405, what);
    if (owner.status === 404) assert.doesNotMatch(owner.json?.detail ?? '', /no such route|route|path/i, what);
    assert.ok(operation.operationId, `${what} has an operationId`);
    assert.ok(operation.summary || operation.description, `${what} says what it does`);
    for (const [, name] of path.matchAll(/\{([^}]+)\}/g)) {
      const parameters = [...(operation.parameters ?? []), ...(document.paths[path].parameters ?? [])].map((p) => (p.$ref ? p.$ref.split('/').slice(1).reduce((node, key) => node[key], document) : p));
      assert.ok(parameters.some((p) => p.name === name && p.in === 'path'), `${what} describes {${name}}`);
    }
  }
  const ids = operations(document).map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length, 'operationIds are unique');
});
