// The built-in agent's tools over the real server: files and who is asked, MCP servers (a program, and errand's own /mcp),
// skills, and that nothing of them is left behind.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, results_told, start_builtin, system_told, tools_told } from './harness/builtin.mjs';
import { Server, until } from './harness/index.mjs';

const folder_of = (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'errand-tools-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
};

// A small MCP server on standard input and output.
const mcp_server = `
const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 't', version: '1' } } });
  if (method === 'tools/list') send({ id, result: { tools: ['add', 'die', 'who'].map((name) => ({ name, description: name + ' it', inputSchema: { type: 'object', properties: {} } })) } });
  if (method !== 'tools/call') return;
  if (params.name === 'die') { console.error('out of order'); process.exit(4); }
  const text = params.name === 'who' ? process.env.SECRET + ' ' + process.pid : String(params.arguments.a + params.arguments.b);
  send({ id, result: { content: [{ type: 'text', text }] } });
});`;

const runs_in = (server) => (fs.existsSync(path.join(server.data_dir, 'run')) ? fs.readdirSync(path.join(server.data_dir, 'run')).filter((name) => !name.startsWith('.')) : []);

// R10.9
describe('MCP servers of the settings', () => {
  async function with_program(t) {
    const script = path.join(folder_of(t), 'server.cjs');
    fs.writeFileSync(script, mcp_server);
    return start_builtin(t, {
      settings: `[mcp.sums]\ncommand = ["${process.execPath}", "${script}"]\npass_env = ["SECRET"]\n[mcp.broken]\ncommand = ["/nonexistent/program"]\n`,
      env: { SECRET: 's3cr3t', OTHER: 'x' },
    });
  }

  test('give their tools where the launch enables them, are told of where they cannot be used, and end with the turn', async (t) => {
    const { server, model, launch } = await with_program(t);
    model.rule('add', [call('mcp__sums__add', { a: 2, b: 40 }), call('mcp__sums__who'), { text: 'Added.' }]);
    const plain = await launch('add');
    await server.at_rest(plain.id);
    assert.ok(!tools_told(model.requests()[0]).some((name) => name.startsWith('mcp__')));
    const before = model.requests().length;
    const { id } = await launch('add', { enable_mcp: true });
    const task = await server.at_rest(id);
    assert.equal(task.result, 'Added.', JSON.stringify(task.error));
    assert.ok(tools_told(model.requests()[before]).includes('mcp__sums__add'));
    const [sum, who] = results_told(model.requests().at(-1));
    assert.equal(sum, '42');
    const [secret, pid] = who.split(' ');
    assert.equal(secret, 's3cr3t');
    assert.ok(!fs.existsSync(`/proc/${pid}`));
    const events = await server.events(id);
    assert.match(events.find((e) => e.type === 'task.warning').data.text, /MCP server broken: It could not be started/);
    await until(() => runs_in(server).length === 0, { what: 'the folders of their runs are gone' });
  });

  test('one that dies is said, and begun again by the next call', async (t) => {
    const { server, model, launch } = await with_program(t);
    model.rule('try', [call('mcp__sums__die'), call('mcp__sums__add', { a: 1, b: 1 }), { text: 'Tried.' }]);
    const { id } = await launch('try', { enable_mcp: true });
    assert.equal((await server.at_rest(id)).result, 'Tried.');
    const [died, sum] = results_told(model.requests().at(-1));
    assert.match(died, /The MCP server sums: It ended with code 4: out of order/);
    assert.equal(sum, '2');
  });

  test('a server that is killed leaves none behind: the next one ends it and begins its own', async (t) => {
    const { server, model, launch, file } = await with_program(t);
    model.rule('wait', [call('mcp__sums__who'), call('bash', { command: 'touch begun; while [ ! -e go ]; do sleep 0.02; done' }), call('mcp__sums__who'), { text: 'Waited.' }]);
    const { id } = await launch('wait', { enable_mcp: true });
    await until(() => fs.existsSync(file('begun')), { what: 'the command runs' });
    await server.kill9();
    await server.start();
    fs.writeFileSync(file('go'), '');
    assert.equal((await server.at_rest(id)).result, 'Waited.');
    const [first, , second] = results_told(model.requests().at(-1)).map((text) => text.split(' ')[1]);
    assert.notEqual(first, second);
    await until(() => !fs.existsSync(`/proc/${first}`) && !fs.existsSync(`/proc/${second}`), { what: 'both are gone' });
  });

  test('over HTTP: errand\'s own tools of another server, with a header from the environment', async (t) => {
    const other = await Server.start(t);
    const { server, model, launch } = await start_builtin(t, {
      settings: `[mcp.other]\nurl = "${other.url}/mcp"\n[mcp.other.headers_env]\nAuthorization = "OTHER_AUTH"\n[mcp.closed]\nurl = "${other.url}/mcp"\n`,
      env: { OTHER_AUTH: `Bearer ${other.token}` },
    });
    model.rule('run there', [
      call('mcp__other__background_execute', { command: 'echo from afar', description: 'afar' }),
      call('mcp__other__background_list'),
      { text: 'Started.' },
    ]);
    const { id } = await launch('run there', { enable_mcp: true });
    const task = await server.at_rest(id);
    assert.equal(task.result, 'Started.', JSON.stringify(task.error));
    const [started, list] = results_told(model.requests().at(-1));
    const child = /task_[0-9a-z]{26}/.exec(started)[0];
    assert.ok(list.includes(child));
    assert.equal((await other.at_rest(child)).result, 'from afar\n');
    // Without the token it is refused, and said.
    const warning = (await server.events(id)).find((e) => e.type === 'task.warning');
    assert.match(warning.data.text, /MCP server closed: It refused the request \(HTTP 401\)/);
    assert.doesNotMatch(JSON.stringify(await server.events(id)) + server.log_tail(1000), new RegExp(other.token));
  });
});

// R9.4
test('What an agent puts into its artifact folder, and what the launch names, are its artifacts', async (t) => {
  const { server, model, launch, write } = await start_builtin(t);
  model.rule('leave', [call('bash', { command: 'echo all is well > $ERRAND_ARTIFACTS/report.txt; echo 1 > out.csv' }), { text: 'Left.' }]);
  const parent_session_id = 'ses_e2e_parent';
  const { id } = await launch('leave', { artifacts: ['*.csv'], parent_session_id });
  assert.equal((await server.at_rest(id)).status, 'completed');
  const list = await server.get(`/api/tasks/${id}/artifacts`);
  assert.deepEqual(list.artifacts.map((one) => [one.name, one.source, one.size]).sort(), [['out.csv', 'glob', 2], ['report.txt', 'folder', 12]]);
  assert.ok(list.gathered_at && list.artifacts.every((one) => one.sha256));
  write('out.csv', 'changed later');
  assert.equal(await server.get(`/api/tasks/${id}/artifacts/out.csv`), '1\n', 'as it was when the turn ended');
  assert.equal(await server.get(`/api/tasks/${id}/artifacts/report.txt`), 'all is well\n');
  const [notice] = (await server.get(`/api/sessions/${parent_session_id}/notices`)).notices;
  assert.match(notice.text, /Artifacts: 2 files/);
  const looked = await server.expect(200, 'POST', '/api/tools/look_at', { session_id: parent_session_id, arguments: { task_id: id, path: 'report.txt' } });
  assert.equal(looked.text, 'all is well\n');
  await server.expect(204, 'DELETE', `/api/tasks/${id}`);
  const folder = path.join(server.data_dir, 'artifacts');
  await until(() => fs.readdirSync(folder).length === 0, { what: 'they go with the task' });
});

// R4.4
test('A budget in dollars holds by the prices of the agent; where there are none it is warned of', async (t) => {
  const { server, model, launch } = await start_builtin(t);
  model.rule('spend', [call('list', {}), { text: 'Spent.' }]);
  const warned = async (id) => (await server.events(id)).filter((e) => e.type === 'task.warning' && e.data.code === 'no_price').map((e) => e.data.text);
  const free = await launch('spend', { model: 'unknown-model', budget: { cost_usd: 0.001 } });
  assert.equal((await server.at_rest(free.id)).status, 'completed');
  assert.match((await warned(free.id)).join(), /The price of unknown-model is not known.*budget of tokens/);
  const plain = await launch('spend', { model: 'unknown-model' });
  await server.at_rest(plain.id);
  assert.deepEqual(await warned(plain.id), []);
  await server.expect(201, 'POST', '/api/agents', { name: 'dear', driver: 'builtin', model: 'unknown-model', options: { input_usd: '1000', output_usd: '1000' } });
  const dear = await launch('spend', { agent_id: 'dear', budget: { cost_usd: 0.001 } });
  assert.equal((await server.at_rest(dear.id)).reason, 'budget');
  assert.deepEqual(await warned(dear.id), []);
});

// R10.9
test('Skills are listed and loaded where the launch enables them, and their files can be read', async (t) => {
  const { server, model, launch, work } = await start_builtin(t);
  const folder = path.join(work, '.claude/skills/release');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'SKILL.md'), '---\nname: release\ndescription: How we release.\n---\nFollow steps.md.\n');
  fs.writeFileSync(path.join(folder, 'steps.md'), 'Tag it.\n');
  model.rule('release', [call('skill', { name: 'release' }), call('read', { path: '.claude/skills/release/steps.md' }), { text: 'Released.' }]);
  await server.at_rest((await launch('release', { permission: 'deny' })).id);
  assert.doesNotMatch(system_told(model.requests()[0]), /How we release/);
  const before = model.requests().length;
  const { id } = await launch('release', { enable_skills: true, permission: 'deny' });
  assert.equal((await server.at_rest(id)).result, 'Released.');
  assert.match(system_told(model.requests()[before]), /- release: How we release\./);
  const [skill, steps] = results_told(model.requests().at(-1));
  assert.match(skill, /Follow steps\.md\./);
  assert.match(steps, /Tag it\./);
});

// R4.6: every part of a command is asked for by itself.
test('Leave for one command is none for what stands behind a semicolon', async (t) => {
  const { server, model, launch, asking, answer, file } = await start_builtin(t);
  model.rule('try', [call('bash', { command: 'echo fine' }), call('bash', { command: 'echo fine; touch evil' }), call('bash', { command: 'echo fine > evil' }), call('bash', { command: 'rm -f x' }), { text: 'Tried.' }]);
  const rules = [{ tool: 'bash', pattern: 'rm *', decision: 'deny' }, { tool: 'bash', pattern: 'echo *', decision: 'allow' }];
  const { id } = await launch('try', { permission: rules });
  let last = '';
  for (let i = 0; i < 2; ++i) {
    const { waiting_for } = await server.when(id, (task) => task.waiting_for?.request_id && task.waiting_for.request_id !== last);
    last = waiting_for.request_id;
    await answer(id, { request_id: last, decision: 'deny' });
  }
  assert.equal((await server.at_rest(id)).result, 'Tried.');
  const told = results_told(model.requests().at(-1));
  assert.equal(told[0], 'fine\n');
  for (const denied of told.slice(1)) assert.match(denied, /Denied/);
  assert.ok(!fs.existsSync(file('evil')));
  const asked = (await server.events(id)).filter((e) => e.type === 'ask.answered');
  assert.deepEqual(asked.map((e) => e.data.decision), ['allow', 'deny', 'deny', 'deny']);
});

describe('Files', () => {
  // R4.6, R12.2
  test('outside of the task\'s folders are asked for by their real path, also behind a link', async (t) => {
    const { server, model, launch, asking, answer, work } = await start_builtin(t);
    const outside = folder_of(t);
    fs.writeFileSync(path.join(outside, 'secret'), 'the secret\n');
    fs.symlinkSync(path.join(outside, 'secret'), path.join(work, 'link'));
    model.rule('look', [call('read', { path: 'link' }), call('read', { path: 'link' }), { text: 'Seen.' }]);
    const { id } = await launch('look', { permission: 'ask' });
    const first = await asking(id);
    assert.match(first.waiting_for.text, new RegExp(`Read ${fs.realpathSync(outside)}/secret \\(outside`));
    await answer(id, { request_id: first.waiting_for.request_id, decision: 'deny' });
    const second = await server.when(id, (task) => task.waiting_for?.request_id && task.waiting_for.request_id !== first.waiting_for.request_id);
    await answer(id, { request_id: second.waiting_for.request_id, decision: 'allow' });
    await server.at_rest(id);
    const [denied, read] = results_told(model.requests().at(-1));
    assert.match(denied, /Denied/);
    assert.match(read, /the secret/);
  });

  test('of add_dirs are inside', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const more = folder_of(t);
    fs.writeFileSync(path.join(more, 'a.txt'), 'more\n');
    model.rule('look', [call('grep', { pattern: 'more', path: more }), { text: 'Seen.' }]);
    const { id } = await launch('look', { permission: 'deny', add_dirs: [more] });
    assert.equal((await server.at_rest(id)).result, 'Seen.');
    assert.match(results_told(model.requests().at(-1))[0], /a\.txt:1:more/);
  });

  test('what an agent\'s processes may use is the agent\'s to say', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    await server.expect(201, 'POST', '/api/agents', { name: 'frugal', driver: 'builtin', limits: { open_files: 77 } });
    model.rule('how many', [call('bash', { command: 'ulimit -n' }), { text: 'Few.' }]);
    const { id } = await launch('how many', { agent_id: 'frugal' });
    await server.at_rest(id);
    assert.match(results_told(model.requests().at(-1))[0], /^77$/m);
  });

  test('of a long output the whole can be read by its task, and goes with it', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('count', [call('bash', { command: 'seq 1 50000' }), { text: 'Counted.' }]);
    const { id } = await launch('count');
    await server.at_rest(id);
    const log = /the whole output is in (\S+);/.exec(results_told(model.requests().at(-1))[0])[1];
    model.rule('read it', [call('grep', { pattern: '^31337$', path: log }), { text: 'Found.' }]);
    await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'read it' });
    await server.when(id, (task) => task.turn === 2 && task.status === 'completed');
    assert.match(results_told(model.requests().at(-1)).at(-1), /:31337:31337/);
    assert.equal(runs_in(server).length, 1);
    await server.expect(204, 'DELETE', `/api/tasks/${id}`);
    await until(() => runs_in(server).length === 0, { what: 'the log is gone with its task' });
  });
});

// R2.3
test('A command whose task was deleted while no server ran is ended by the next one', async (t) => {
  const { server, model, launch, file } = await start_builtin(t);
  model.rule('start', [call('bash', { command: 'echo $$ > pid; exec sleep 600', timeout: 600 })]);
  const { id } = await launch('start');
  const pid = await until(() => fs.existsSync(file('pid')) && fs.readFileSync(file('pid'), 'utf8').trim(), { what: 'the command runs' });
  await server.expect(204, 'DELETE', `/api/tasks/${id}`);
  await server.kill9();
  await server.start();
  await until(() => !fs.existsSync(`/proc/${pid}`), { what: 'the command is gone' });
  await until(() => runs_in(server).length === 0, { what: 'its folder is gone' });
});
