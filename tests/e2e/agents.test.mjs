// Agents of one's own, settings that change while the server runs, and tasks that tasks launch.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, patience, Server, until } from './harness/index.mjs';

const reviewer = {
  name: 'reviewer', driver: 'demo', description: 'Reviews.', permission: [{ tool: 'bash', pattern: 'git *', decision: 'allow' }],
  limits: { open_files: 64, memory_bytes: 1 << 30 }, budget: { tool_calls: 50 }, enable_skills: true, options: { effort: 'high' },
};

test('An agent is made, used at once, kept over a kill, changed and removed', async (t) => {
  const server = await Server.start(t);
  const made = await server.api('POST', '/api/agents', reviewer);
  assert.equal(made.status, 201, made.text);
  assert.match(made.json.id, /^agent_/);
  assert.equal(made.json.builtin, false);
  await server.kill9();
  await server.start();
  const { agents } = await server.get('/api/agents');
  assert.deepEqual(agents.find((agent) => agent.name === 'reviewer'), made.json);
  const task = (await server.api('POST', '/api/tasks', { agent_id: 'reviewer', message: 'noop' })).json;
  assert.equal(task.agent_id, made.json.id);
  assert.equal(task.agent, 'reviewer');
  assert.equal(task.budget.tool_calls, 50);
  for (const who of ['reviewer', made.json.id]) {
    assert.deepEqual((await server.get(`/api/tasks?agent_id=${who}`)).tasks.map((one) => one.id), [task.id], who);
    assert.match((await errand(server, ['list', '--agent', who])).out, /reviewer/, who);
  }
  await server.at_rest(task.id, { within: 20_000 * patience });
  assert.equal((await server.api('POST', '/api/agents', reviewer)).status, 409);
  assert.equal((await server.api('PUT', '/api/agents/demo', reviewer)).status, 409);
  const changed = await server.api('PUT', '/api/agents/reviewer', { ...reviewer, permission: 'deny' });
  assert.equal(changed.json.permission, 'deny');
  assert.equal((await server.api('POST', '/api/agents', { ...reviewer, name: 'b', options: { api_key: 'x' } })).status, 400);
  assert.equal((await server.api('DELETE', '/api/agents/reviewer')).status, 204);
  assert.equal((await server.api('GET', '/api/agents/reviewer')).status, 404);
});

test('Settings change while the server runs, and lose to the file', async (t) => {
  const server = await Server.start(t);
  const changed = await server.api('PATCH', '/api/settings', { max_concurrent: 6, ask_timeout_s: 60, tools_family: 'bgagent' });
  assert.equal(changed.status, 200, changed.text);
  assert.equal(changed.json.max_concurrent, 6);
  const narrow = await server.api('PATCH', '/api/settings', { max_per_model: { gpt: 2 } });
  assert.deepEqual(narrow.json.max_per_model, { gpt: 2 }, narrow.text);
  for (const wrong of [3, { gpt: 0 }, { gpt: 'two' }]) assert.equal((await server.api('PATCH', '/api/settings', { max_per_model: wrong })).status, 400);
  assert.equal((await server.get('/api/tools')).family, 'bgagent');
  await server.kill9();
  await server.start();
  assert.equal((await server.get('/api/settings')).max_concurrent, 6);
  assert.equal((await server.get('/api/settings')).ask_timeout_s, 60);
  assert.equal((await server.get('/api/tools')).family, 'bgagent');
  await server.term();
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), [
    'max_concurrent = 2', '[agents.filed]', 'driver = "demo"', 'permission = [{ tool = "*", decision = "deny" }]', 'budget = { tokens = 9 }', '',
  ].join('\n'));
  await server.start();
  assert.equal((await server.get('/api/settings')).max_concurrent, 2);
  assert.equal((await server.get('/api/settings')).ask_timeout_s, 60);
  const pinned = await server.api('PATCH', '/api/settings', { max_concurrent: 4 });
  assert.equal(pinned.status, 409);
  assert.match(pinned.json.detail, /errand\.toml/);
  const filed = await server.get('/api/agents/filed');
  assert.equal(filed.budget.tokens, 9);
  assert.equal((await server.api('DELETE', '/api/agents/filed')).status, 409);
});

test('A cancel takes what the task launched, which may do no more than it', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '9'] });
  const parent = (await server.api('POST', '/api/tasks', { agent_id: 'demo', message: 'long 600', work_dir: server.data_dir })).json;
  const under = (more) => server.api('POST', '/api/tasks', { kind: 'command', command: 'sleep 600', parent_session_id: parent.session_id, ...more });
  const child = await under({});
  assert.equal(child.status, 201, child.text);
  assert.equal(child.json.work_dir, server.data_dir);
  const outside = await server.api('POST', '/api/tools/background_execute', { session_id: parent.session_id, arguments: { command: 'true', work_dir: '/' } });
  assert.match(outside.text, /outside the folders of the launching task/);
  await server.api('POST', `/api/tasks/${parent.id}/cancel`);
  await until(async () => (await server.task(child.json.id)).reason === 'cancelled_by_parent');
  assert.equal((await under({})).status, 409);
});

test('errand agents and errand settings do the same from the terminal', async (t) => {
  const server = await Server.start(t);
  const ok = async (words, options) => {
    const reply = await errand(server, words, options);
    assert.equal(reply.code, 0, `${words.join(' ')}: ${reply.err}`);
    return reply.out;
  };
  assert.match(await ok(['agents', 'add', JSON.stringify(reviewer)]), /^added reviewer \(agent_/);
  assert.match(await ok(['agents']), /^reviewer\tdemo\t/m);
  assert.match(await ok(['agents', 'edit', 'reviewer', '-'], { input: JSON.stringify({ ...reviewer, model: 'm2' }) }), /^changed reviewer/);
  assert.match(await ok(['agents']), /^reviewer\tdemo\tm2\t/m);
  assert.match(await ok(['agents', 'remove', 'reviewer']), /^removed reviewer/);
  assert.doesNotMatch(await ok(['agents']), /reviewer/);
  assert.match(await ok(['settings']), /^max_concurrent\t3$/m);
  assert.match(await ok(['settings', 'max_concurrent=5', 'wake=true', 'tools_family=bgagent']), /^max_concurrent\t5$/m);
  assert.match(await ok(['settings']), /^wake\ttrue$/m);
  assert.equal(await ok(['settings', 'tools.family=background']), 'tools.family\tbackground\n', 'only what was changed, by its name in errand.toml');
  for (const words of [['agents', 'add'], ['agents', 'rename', 'x'], ['settings', 'colour=red'], ['settings', 'x']]) {
    assert.notEqual((await errand(server, words)).code, 0, words.join(' '));
  }
});
