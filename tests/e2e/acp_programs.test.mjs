// The agents that people have, over the Agent Client Protocol, as npm has them, against the scripted model: OpenCode,
// Claude Code through claude-agent-acp, Codex through codex-acp, Gemini. A row for each program, a test for each thing
// that errand promises of an agent; where a program cannot do it or cannot be had, the test says why.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { alive, call, clean_env, kill9, marked, marker, opencode_binary, opencode_config, opencode_env, processes, Server, temporary_folder, tools_folder, until } from './harness/index.mjs';

const within = 180_000;
const packaged = (file) => path.join(tools_folder, 'node_modules', file);
const claude_binary = packaged('@anthropic-ai/claude-code-linux-x64/claude');
const codex_binary = packaged('@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex');

// A program of npm's that is a script: what `npm install -g` puts on PATH, for this Node.
const script = (file) => (bin, name) => {
  fs.writeFileSync(path.join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`, { mode: 0o755 });
};
const program = (file) => (bin, name) => fs.symlinkSync(file, path.join(bin, name));

const programs = {
  'acp:opencode': {
    needs: [opencode_binary ?? 'opencode'],
    install: { opencode: program(opencode_binary) },
    env: (folder, model, { asks }) => opencode_env(folder, { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...opencode_config(model), ...(asks ? { permission: { bash: 'ask' } } : {}) }) }),
    own: (name) => call(`errand_${name}`),
    shell: (command) => call('bash', { command, description: 'x', timeout: 3_600_000 }),
  },
  'acp:claude': {
    needs: [packaged('@agentclientprotocol/claude-agent-acp/dist/index.js'), claude_binary],
    install: { 'claude-agent-acp': script(packaged('@agentclientprotocol/claude-agent-acp/dist/index.js')) },
    env: (folder, model) =>
      clean_env(folder, {
        ...model.env('anthropic'),
        CLAUDE_CODE_EXECUTABLE: claude_binary,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      }),
    own: (name) => call(`mcp__errand__${name}`),
    shell: (command) => call('Bash', { command, description: 'x', timeout: 600_000 }),
  },
  codex: {
    needs: [packaged('@agentclientprotocol/codex-acp/dist/index.js'), codex_binary],
    install: { 'codex-acp': script(packaged('@agentclientprotocol/codex-acp/dist/index.js')) },
    env: (folder, model) => {
      const home = path.join(folder, 'codex');
      fs.mkdirSync(home);
      fs.writeFileSync(path.join(home, 'config.toml'), [
        'model = "scripted"',
        'model_provider = "local"',
        'check_for_update_on_startup = false',
        '[model_providers.local]',
        'name = "Scripted"',
        `base_url = "${model.url}/v1"`,
        'wire_api = "responses"',
        'env_key = "LOCAL_KEY"',
        'request_max_retries = 2',
        'stream_max_retries = 2',
        '[analytics]',
        'enabled = false',
        '[features]',
        'plugins = false',
        'remote_plugin = false',
        'apps = false',
      ].join('\n'));
      return clean_env(folder, { CODEX_HOME: home, LOCAL_KEY: 'x', CODEX_PATH: codex_binary });
    },
    own: (name) => ({ tool: { name, namespace: 'mcp__errand', input: {} } }),
    // Of a command that its sandbox could not start, Codex tells its client nothing (tests/fixtures/acp/codex_silent.jsonl).
    shell: (command) => call('exec_command', { cmd: command }),
    // Inside of its folder it asks nobody.
    asking: (command) => call('exec_command', { cmd: command, sandbox_permissions: 'require_escalated', justification: 'x' }),
    // What it says of a model that it does not know stands before its first word.
    result: (text) => text?.replace(/^Warning: Model metadata for `scripted` not found.*\n\n/, ''),
  },
};

const missing = ({ needs }) =>
  process.arch !== 'x64' ? 'the programs are pinned for x64' : needs.filter((file) => !fs.existsSync(file)).map((file) => `${file} is not installed (tests/e2e/package.json)`)[0] ?? false;

// What the model was told of its calls: where no call was reported, this says whether one ran.
const results = (model) => `the model was told: ${JSON.stringify(model.requests().flatMap(({ body }) => body.input ?? body.messages ?? []).filter((item) => /output|tool/.test(item.type ?? item.role)).slice(-3))}`;

async function world(t, id, options = {}) {
  const row = programs[id];
  const model = await start_model({ strict: false });
  t.after(() => model.close());
  const folder = temporary_folder(t, 'acpp');
  const [bin, work_dir] = ['bin', 'project'].map((name) => path.join(folder, name));
  for (const made of [bin, work_dir]) fs.mkdirSync(made);
  for (const [name, install] of Object.entries(row.install)) install(bin, name);
  const env = row.env(folder, model, options);
  const server = await Server.start(t, { folder, env: { ...env, PATH: `${bin}:${process.env.PATH}` } });
  const permission = options.permission ?? 'allow';
  const ask = (message, more = {}) => server.launch({ agent_id: id, message, work_dir, permission, ...more });
  const said = (task) => ({ ...task, result: row.result ? row.result(task.result) : task.result });
  const rest = async (task) => said(await server.at_rest(task, { within }));
  const rule = (words, steps) => model.rule(words, steps, { tools: true });
  const parts = async (task) => (await server.get(`/api/tasks/${task}/messages`)).messages.flatMap((message) => message.parts);
  // The processes of the agent of this test, whatever they are called: what the supervisor's keepers have started.
  const agent_pids = () => {
    const all = processes().filter((one) => one.state !== 'Z');
    const keepers = server.supervisor_pids();
    return all.filter((one) => keepers.includes(one.ppid) && !keepers.includes(one.pid)).map((one) => one.pid);
  };
  return { server, model, folder, work_dir, ask, rest, said, rule, parts, agent_pids };
}

for (const [id, row] of Object.entries(programs)) {
  const skip = missing(row);
  const can = (name, work) => test(`${id}: ${name}`, { skip, timeout: 900_000 }, work);

  can('found on PATH; a prompt, its tool, its answer, what it used; and a further turn in the same session', async (t) => {
    const { server, model, ask, rest, said, rule, parts } = await world(t, id);
    assert.ok((await server.get('/api/agents')).agents.some((agent) => agent.id === id && agent.available), 'without a setting');
    rule('count to two', [row.shell('echo one; echo two'), { text: ['I have ', 'counted: 语.'], usage: { input: 40, output: 9 } }]);
    const { id: task_id } = await ask('count to two');
    const task = await rest(task_id);
    assert.equal(task.status, 'completed', JSON.stringify(task.error));
    assert.equal(task.result, 'I have counted: 语.');
    assert.equal(task.progress.tool_calls, 1, results(model));
    assert.ok(task.progress.usage.input_tokens > 0 && task.progress.usage.output_tokens > 0, JSON.stringify(task.progress.usage));
    assert.match((await parts(task_id)).find((part) => part.type === 'tool_result').output, /one\s+two/);

    rule('and now three', [{ text: 'three' }]);
    await server.expect(202, 'POST', `/api/tasks/${task_id}/message`, { message: 'and now three' });
    const again = await server.when(task_id, (seen) => seen.turn === 2 && ['completed', 'failed'].includes(seen.status), { within });
    assert.equal(said(again).result, 'three', JSON.stringify(again.error));
    const asked = model.requests().findLast((record) => record.body.tools?.length).body;
    assert.match(JSON.stringify(asked.messages ?? asked.input), /count to two.*counted: 语.*and now three/s, 'with the whole conversation');
    const roles = (await server.get(`/api/tasks/${task_id}/messages`)).messages.map((message) => message.role);
    assert.deepEqual(roles.filter((role, i) => role !== roles[i - 1]), ['user', 'assistant', 'user', 'assistant'], 'nothing was repeated');
  });

  can('what it asks is asked with what it is about; allowed it is done, denied it is not', async (t) => {
    const { server, ask, rest, rule, work_dir } = await world(t, id, { asks: true, permission: 'ask' });
    const asking = row.asking ?? row.shell;
    const file = path.join(work_dir, 'made');
    rule('make it', [asking(`touch ${file}`), { text: 'made' }]);
    const { id: task_id } = await ask('make it');
    const { waiting_for } = await server.when(task_id, (task) => task.waiting_for || task.error, { within });
    assert.equal(waiting_for?.kind, 'permission');
    assert.ok(waiting_for.text.includes(`touch ${file}`), waiting_for.text);
    assert.ok(!fs.existsSync(file));
    await server.expect(200, 'POST', `/api/tasks/${task_id}/answer`, { request_id: waiting_for.request_id, decision: 'allow' });
    assert.equal((await rest(task_id)).status, 'completed');
    assert.ok(fs.existsSync(file));
    fs.rmSync(file);
    rule('once more', [asking(`touch ${file}`), { text: 'well' }]);
    const denied = await rest((await ask('once more', { permission: 'deny' })).id);
    assert.ok(['completed', 'failed'].includes(denied.status));
    assert.ok(!fs.existsSync(file), 'denied');
  });

  can('a message while it works is answered in that turn; cancel inside a tool ends it', async (t) => {
    const { server, model, ask, rest, rule, agent_pids } = await world(t, id);
    const mark = marker();
    rule('begin', [{ text: 'the first', wait: 'told' }]);
    rule('also this', [row.shell(`echo begun; sleep ${mark}`), { text: 'never' }]);
    const { id: task_id } = await ask('begin');
    await model.waiting('told', { timeout_ms: within });
    await server.expect(202, 'POST', `/api/tasks/${task_id}/message`, { message: 'also this' });
    model.release('told');
    await until(() => marked(mark).length > 0, { what: 'its tool runs', within });
    assert.equal((await server.task(task_id)).turn, 1);
    await server.cancel(task_id);
    assert.equal((await rest(task_id)).status, 'cancelled');
    await until(() => marked(mark).length === 0 && agent_pids().length === 0, { what: 'all of it is gone', within: 30_000 });
  });

  can('kill -9 of errand in the middle of a turn: the turn goes on', async (t) => {
    const { server, model, ask, rest, rule, parts, agent_pids } = await world(t, id);
    rule('two steps', [row.shell('echo one'), { text: 'all done', wait: 'in the middle' }]);
    const { id: task_id } = await ask('two steps');
    await model.waiting('in the middle', { timeout_ms: within });
    const before = agent_pids();
    await server.kill9();
    model.release('in the middle');
    await server.start();
    const task = await rest(task_id);
    assert.deepEqual([task.status, task.result, task.progress.tool_calls], ['completed', 'all done', 1], JSON.stringify(task.error) + results(model));
    assert.equal((await parts(task_id)).filter((part) => part.type === 'text' && part.text.endsWith('all done')).length, 1);
    assert.equal(before.length > 0, true);
  });

  can('kill -9 of the agent: the task failed and says how; its tools are gone; a retry works', async (t) => {
    const { server, ask, rest, said, rule, agent_pids } = await world(t, id);
    const mark = marker();
    rule('hang', [row.shell(`echo begun; sleep ${mark}`), { text: 'never' }]);
    rule('work now', [{ text: 'worked' }]);
    const { id: task_id } = await ask('hang');
    await until(() => marked(mark).length > 0, { what: 'its tool runs', within });
    for (const pid of agent_pids()) kill9(pid);
    const task = await rest(task_id);
    assert.equal(task.status, 'failed');
    assert.match(task.error.code, /^(signal|exit)$/);
    await until(() => marked(mark).every((pid) => !alive(pid)), { what: 'its tool is gone', within: 60_000 });
    await server.expect(200, 'POST', `/api/tasks/${task_id}/retry`, { message: 'work now' });
    const again = await server.when(task_id, (seen) => seen.attempt === 2 && ['completed', 'failed'].includes(seen.status), { within });
    assert.equal(said(again).result, 'worked', JSON.stringify(again.error));
  });

  can('with enable_mcp it has errand’s tools, and calls them as its task', async (t) => {
    const { server, ask, rest, rule, parts } = await world(t, id);
    rule('what runs', [row.own('background_list'), { text: 'nothing' }]);
    const { id: task_id } = await ask('what runs', { enable_mcp: true });
    const task = await rest(task_id);
    assert.deepEqual([task.status, task.result], ['completed', 'nothing'], JSON.stringify(task.error));
    const result = (await parts(task_id)).find((part) => part.type === 'tool_result');
    assert.equal(result.is_error, false, result.output);
    assert.match(result.output, /no .*tasks|"tasks":\[\]/i);
    assert.equal((await server.get('/api/tasks')).tasks.length, 1);
  });

  can('a fork begins with its parent’s conversation; a failure of the model says why', async (t) => {
    const { model, ask, rest, rule } = await world(t, id);
    rule('the word', [{ text: 'the word is quince' }]);
    rule('which one', [{ text: 'quince it was' }]);
    rule('break', [{ status: 400, error: { message: 'the model says no' } }]);
    const parent = await rest((await ask('the word')).id);
    assert.equal(parent.status, 'completed', JSON.stringify(parent.error));
    const child = await rest((await ask('which one', { fork: true, parent_session_id: parent.session_id })).id);
    assert.deepEqual([child.result, child.is_forked], ['quince it was', true]);
    const asked = model.requests().findLast((record) => record.body.tools?.length).body;
    assert.match(JSON.stringify(asked.messages ?? asked.input), /the word is quince.*which one/s);
    const failed = await rest((await ask('break')).id);
    assert.equal(failed.status, 'failed', JSON.stringify(failed));
    assert.match(failed.error.message, /the model says no/);
  });
}

test('gemini: found on PATH, starts, and says why it cannot go on', { skip: missing({ needs: [packaged('@google/gemini-cli/bundle/gemini.js')] }), timeout: 900_000 }, async (t) => {
  // The scripted model does not speak Gemini's API: what it answers is 404. So a turn of it is not tried here; that the
  // program is found, spoken to, and its failure told, is.
  const model = await start_model({ strict: false });
  t.after(() => model.close());
  const folder = temporary_folder(t, 'acpg');
  const [bin, work_dir] = ['bin', 'project'].map((name) => path.join(folder, name));
  for (const made of [bin, work_dir, path.join(folder, '.gemini')]) fs.mkdirSync(made);
  script(packaged('@google/gemini-cli/bundle/gemini.js'))(bin, 'gemini');
  fs.writeFileSync(path.join(folder, '.gemini/settings.json'), JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } }, general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false } }));
  const env = { GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: 'true', PATH: `${bin}:${process.env.PATH}` };
  const server = await Server.start(t, { folder, env });
  const { id } = await server.launch({ agent_id: 'gemini', message: 'hello', work_dir, model: 'gemini-2.5-flash' });
  const task = await server.at_rest(id, { within });
  assert.equal(task.status, 'failed');
  assert.equal(task.error.code, 'agent_error');
  assert.match(task.error.message, /404|not found|no \//i);
});
