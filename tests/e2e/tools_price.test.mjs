// What an agent pays for the list of errand's tools, before it has done anything: counted by real tokenizers over the
// answers that clients get (issue 16, item 10).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

import { binary, Server, tools_folder } from './harness/index.mjs';

const price_max = 3_500;
const modules = path.join(tools_folder, 'node_modules');
const skip = fs.existsSync(path.join(modules, 'gpt-tokenizer')) ? false : 'the tokenizers are not installed: scripts/test does it';

function tokenizers() {
  const load = createRequire(path.join(modules, 'x'));
  const claude = load('@anthropic-ai/tokenizer').getTokenizer();
  return {
    o200k: (text) => load('gpt-tokenizer/encoding/o200k_base').encode(text).length,
    cl100k: (text) => load('gpt-tokenizer/encoding/cl100k_base').encode(text).length,
    claude: (text) => claude.encode(text.normalize('NFKC'), 'all').length,
  };
}

async function over_http(server, session) {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...session };
  const ask = async (body, more = {}) => {
    const reply = await fetch(`${server.url}/mcp`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }) });
    return { reply, body: await reply.json() };
  };
  const opened = await ask({ method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'price', version: '1' } } });
  return (await ask({ method: 'tools/list' }, { 'mcp-session-id': opened.reply.headers.get('mcp-session-id'), 'mcp-protocol-version': '2025-11-25' })).body.result.tools;
}

async function over_stdio(t, server, env = {}) {
  const child = spawn(binary, ['mcp'], { cwd: server.folder, env: { ...server.env, ERRAND_DATA_DIR: server.data_dir, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const answers = createInterface({ input: child.stdout });
  const send = (body) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...body })}\n`);
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'price', version: '1' } } });
  for await (const line of answers) {
    const message = JSON.parse(line);
    if (message.id === 1) {
      send({ method: 'notifications/initialized' });
      send({ id: 2, method: 'tools/list' });
    }
    if (message.id === 2) return message.result.tools;
  }
  throw new Error('errand mcp left');
}

const task_tool = (tools) => tools.find((tool) => tool.name === 'background_task').inputSchema.properties;

test(`The list of tools costs an agent less than ${price_max} tokens, over HTTP and by errand mcp`, { skip }, async (t) => {
  const server = await Server.start(t);
  const count = tokenizers();
  for (const [way, tools] of [
    ['HTTP', await over_http(server)],
    ['errand mcp', await over_stdio(t, server)],
    // With everything in it: a conversation that can be forked.
    ['errand mcp in Claude Code', await over_stdio(t, server, { CLAUDE_CODE_SESSION_ID: '6c8b1a54-7f0e-4c7b-9d0e-0a1b2c3d4e5f' })],
  ]) {
    const text = JSON.stringify(tools);
    const prices = Object.fromEntries(Object.entries(count).map(([name, of]) => [name, of(text)]));
    t.diagnostic(`${way}: ${text.length} characters, ${JSON.stringify(prices)} tokens`);
    for (const [name, price] of Object.entries(prices)) assert.ok(price < price_max, `${way}: ${price} tokens by ${name}`);
    // None of it is bought by leaving tools or arguments out.
    const rest = (await server.get('/api/tools')).tools;
    for (const tool of rest) {
      const listed = tools.find((one) => one.name === tool.name);
      const left_out = Object.keys(tool.input_schema.properties).filter((name) => !(name in listed.inputSchema.properties));
      assert.deepEqual(left_out.filter((name) => name !== 'fork'), [], tool.name);
      assert.equal(listed.outputSchema, undefined);
      assert.ok(tool.output_schema, 'who reads answers by a program finds their schema in the API');
    }
  }
});

test('The list names the agents that are here and the usual one, and fork only where it can work', async (t) => {
  const server = await Server.start(t);
  await server.expect(201, 'POST', '/api/agents', { name: 'reviewer', driver: 'demo' });
  const plain = task_tool(await over_http(server));
  assert.match(plain.agent.description, /^One of demo, reviewer\.$/, 'nobody is the default: the demonstration does no work');
  assert.equal(plain.fork, undefined, 'a session of MCP is no conversation that errand could copy');
  await server.expect(200, 'PATCH', '/api/settings', { default_agent: 'reviewer' });
  assert.match(task_tool(await over_stdio(t, server)).agent.description, /Default: reviewer\.$/);
  assert.ok(task_tool(await over_stdio(t, server, { CLAUDE_CODE_SESSION_ID: '6c8b1a54-7f0e-4c7b-9d0e-0a1b2c3d4e5f' })).fork);
  assert.equal(task_tool(await over_stdio(t, server, { CLAUDE_CODE_SESSION_ID: 'my-own-name' })).fork, undefined);
  const call = (args) => server.expect(200, 'POST', '/api/tools/background_task', { session_id: 'ses_price', arguments: args });
  assert.equal((await call({ prompt: 'text' })).data.agent, 'reviewer');
  await server.expect(200, 'PATCH', '/api/settings', { default_agent: 'auto' });
  const nobody = await call({ prompt: 'text' });
  assert.equal(nobody.is_error, true);
  assert.match(nobody.text, /errand setup/);
  assert.match(nobody.text, /`agent` may be one of demo, reviewer/);
});
