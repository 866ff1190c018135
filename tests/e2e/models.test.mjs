// Which models an agent can be asked for, as its provider or program lists them (issue 16, item 11).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { start_builtin } from './harness/builtin.mjs';
import { errand, opencode_skip, opencode_world, Server, until } from './harness/index.mjs';

for (const api of ['anthropic', 'chat', 'responses'])
  test(`The provider is asked once however often people look (${api})`, async (t) => {
    const { server, model } = await start_builtin(t, { api });
    const replies = await Promise.all(Array.from({ length: 5 }, () => server.get('/api/agents/builtin/models')));
    for (const reply of replies) assert.deepEqual(reply, { models: [{ id: 'scripted', name: null }], source: 'provider' });
    const cli = await errand(server, ['agents', 'models', 'builtin']);
    assert.equal(cli.out, 'scripted\t\n', cli.err);
    assert.equal(model.listings(), 1);
    assert.equal((await server.api('GET', '/api/agents/nobody/models')).status, 404);
    assert.equal((await server.api('GET', '/api/agents/builtin/models?x=1')).status, 400);
  });

test('Models of another place have its name before them, and a place that is away hides no other', async (t) => {
  const other = await start_model();
  t.after(() => other.close());
  const settings = `[models.local]\nbase_url = "${other.url}/v1"\n[models.away]\nbase_url = "http://127.0.0.1:1/v1"\n`;
  const { server } = await start_builtin(t, { settings });
  const { models } = await server.get('/api/agents/builtin/models');
  assert.deepEqual(models.map(({ id }) => id), ['scripted', 'local/scripted']);
  // An agent with an address of its own has those alone.
  await server.expect(201, 'POST', '/api/agents', { name: 'mine', driver: 'builtin', options: { base_url: `${other.url}/v1`, api: 'openai_chat' } });
  assert.deepEqual((await server.get('/api/agents/mine/models')).models.map(({ id }) => id), ['scripted']);
});

test('Who lists none has none, and a provider that refuses is told with what to do', async (t) => {
  const { server } = await start_builtin(t, { keys: ['another-key'] });
  const refused = await server.api('GET', '/api/agents/builtin/models');
  assert.equal(refused.status, 503);
  assert.match(refused.json.detail, /refuses the key.*Check the key/);
  for (const agent of ['command', 'demo']) assert.deepEqual(await server.get(`/api/agents/${agent}/models`), { models: [], source: null });
  const none = await errand(server, ['agents', 'models', 'demo']);
  assert.equal(none.code, 0);
  assert.match(none.err, /demo lists no models.*--model NAME/);
  const nobody = await errand(server, ['agents', 'models', 'nobody']);
  assert.equal(nobody.code, 3);
  assert.match(nobody.err, /No agent has the name "nobody": errand agents lists them\./);
});

test('An address where nobody answers is named, with what to check', async (t) => {
  const server = await Server.start(t, { env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } });
  const reply = await server.api('GET', '/api/agents/builtin/models');
  assert.equal(reply.status, 503);
  assert.match(reply.json.detail, /cannot be reached.*Check the address \(http:\/\/127\.0\.0\.1:1\/v1\)/);
});

test('A server without a model says what to do', async (t) => {
  const server = await Server.start(t);
  const reply = await server.api('GET', '/api/agents/builtin/models');
  assert.equal(reply.status, 503);
  assert.match(reply.json.detail, /errand setup/);
});

test("OpenCode's models are those of its providers", { skip: opencode_skip, timeout: 900_000 }, async (t) => {
  const { server } = await opencode_world(t, { agent: true });
  const reply = await until(async () => {
    const one = await server.api('GET', '/api/agents/opencode/models');
    return one.status === 200 && one.json;
  }, { what: 'OpenCode lists its models', within: 300_000 });
  assert.equal(reply.source, 'program');
  assert.ok(reply.models.length > 0);
  for (const { id } of reply.models) assert.match(id, /^[^/]+\/.+$/);
});
