// Three real agents with errand's tools, set up as docs/tools.md says it, in one line each: each launches three tasks,
// goes on talking, lists them, reads one result, cancels another, resumes the third and is told when that has ended.
// Their model is scripted (tests/model); everything else is as a user has it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { tools_folder } from './harness/contract.mjs';
import { binary, clean_env, OpenCode, opencode_binary, root, Server, temporary_folder } from './harness/index.mjs';

const skip = process.arch !== 'x64' && 'the agents are pinned for x64';
const packaged = (file) => {
  const whole = path.join(tools_folder, 'node_modules', file);
  assert.ok(fs.existsSync(whole), `${whole} is installed by scripts/test (tests/e2e/package.json); ERRAND_E2E_TOOLS says where`);
  return whole;
};

// What docs/tools.md says for a client: the text of its row that begins with `begins`.
function setup_line(client, begins) {
  const row = fs
    .readFileSync(path.join(root, 'docs/tools.md'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`| ${client} |`));
  const code = [...(row ?? '').matchAll(/`([^`]+)`/g)].map((found) => found[1]).find((text) => text.startsWith(begins));
  assert.ok(code, `docs/tools.md has no set-up of ${client} that begins with ${begins}`);
  return code;
}

// Runs a line in a shell as the user would; answers what it printed.
function run(line, { cwd, env, within = 240_000 }) {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), within);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(out);
      else reject(new Error(`${line} -> ${code}\n${out.slice(-2_000)}\n${err.slice(-4_000)}`));
    });
  });
}

// A home with the programs on its PATH, a server, and a model.
async function world(t, name, program) {
  const model = await start_model({ strict: false });
  t.after(() => model.close());
  // Not below /tmp: Codex makes no sandbox there.
  const folder = temporary_folder(t, name);
  const bin = path.join(folder, 'bin');
  const project = path.join(folder, 'project');
  fs.mkdirSync(bin);
  fs.mkdirSync(project);
  fs.symlinkSync(binary, path.join(bin, 'errand'));
  fs.symlinkSync(program, path.join(bin, name));
  // Where a user has it: Codex hands the programs that it starts no variables of its own.
  const server = await Server.start(t, { folder, data_dir: path.join(folder, '.local/share/errand'), args: ['--max-concurrent', '5'] });
  const env = clean_env(folder, { PATH: `${bin}:${process.env.PATH}` });
  return { model, folder, project, server, env };
}

let number = 0;
// What the model was shown last: the conversation with the results of its calls.
const shown = (model) => JSON.stringify(model.requests().at(-1).body);

// The story. `agent.say(words)`: one turn of the user's; `agent.tool(name, input)`: how its model calls a tool.
async function story({ server, model, project }, agent) {
  const turn = async (...steps) => {
    const words = `Please do number ${++number} of the list.`;
    model.rule(words, [...steps, { text: `That was number ${number}.` }], { tools: true });
    await agent.say(words);
    return shown(model);
  };
  const call = (name, input = {}) => ({ tool: agent.tool(name, input) });

  await turn(
    call('background_execute', { command: 'echo the answer is $((6 * 7))', description: 'compute', work_dir: project }),
    call('background_execute', { command: 'sleep 600', description: 'sleep', work_dir: project, timeout: 0 }),
    call('background_task', { agent: 'demo', prompt: 'text', description: 'demonstrate' }),
  );
  const { tasks } = await server.get('/api/tasks?sort=oldest');
  assert.deepEqual(tasks.map((task) => task.description), ['compute', 'sleep', 'demonstrate']);
  const [compute, sleep, demo] = tasks;
  assert.ok(compute.parent_session_id, 'they are the conversation’s own');
  assert.deepEqual(new Set(tasks.map((task) => task.parent_session_id)).size, 1);
  await server.at_rest(compute.id);
  await server.at_rest(demo.id);

  // It goes on talking: nothing waits.
  assert.match(await turn(), /Please do number/);

  const listed = await turn(call('background_list'));
  for (const task of tasks) assert.ok(listed.includes(task.id), `the list has ${task.description}`);
  assert.match(listed, /Background Task Completed/, 'it is told what has ended');

  assert.match(await turn(call('background_output', { task_id: compute.id })), /the answer is 42/);

  await turn(call('background_cancel', { task_id: sleep.id }));
  assert.equal((await server.at_rest(sleep.id)).status, 'cancelled');

  await turn(call('background_task', { resume: demo.id, prompt: 'text' }));
  const again = await server.when(demo.id, (task) => task.resume_count === 1 && task.status === 'completed');
  assert.equal(again.parent_session_id, compute.parent_session_id);
  const before = shown(model).split('Background Task Completed').length;
  const told = await turn(call('background_list'));
  assert.ok(told.split('Background Task Completed').length > before, 'the notice of the resumed turn');
  // And once only.
  assert.equal((await turn(call('background_list'))).split('Background Task Completed').length, told.split('Background Task Completed').length);
}

test('Claude Code: one line of set-up, then the story', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t, 'claude', packaged('@anthropic-ai/claude-code-linux-x64/claude'));
  const env = {
    ...all.env,
    ...all.model.env('anthropic'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
  };
  await run(setup_line('Claude Code', 'claude mcp add'), { cwd: all.project, env });
  const id = randomUUID();
  let begun = false;
  await story(all, {
    say: async (words) => {
      const which = begun ? `--resume ${id}` : `--session-id ${id}`;
      begun = true;
      await run(`claude -p ${which} --model scripted --allowedTools mcp__errand -- '${words}'`, { cwd: all.project, env });
    },
    tool: (name, input) => ({ name: `mcp__errand__${name}`, input }),
  });
  const { tasks } = await all.server.get('/api/tasks');
  assert.equal(tasks[0].parent_session_id, id, 'the conversation is Claude’s own');
});

test('Codex: one line of set-up, then the story', { skip, timeout: 900_000 }, async (t) => {
  const all = await world(t, 'codex', packaged('@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex'));
  const home = path.join(all.folder, 'codex');
  fs.mkdirSync(home);
  fs.writeFileSync(
    path.join(home, 'config.toml'),
    `model = "scripted"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.local]
name = "Scripted"
base_url = "${all.model.url}/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
request_max_retries = 2
stream_max_retries = 2
[analytics]
enabled = false
`,
  );
  const env = { ...all.env, CODEX_HOME: home, LOCAL_KEY: 'x' };
  await run(setup_line('Codex', 'codex mcp add'), { cwd: all.project, env });
  let thread;
  await story(all, {
    say: async (words) => {
      const which = thread ? `resume ${thread} ` : '';
      const out = await run(`codex exec --json --skip-git-repo-check --disable plugins --disable remote_plugin --disable apps ${which}'${words}'`, { cwd: all.project, env });
      thread ??= /"thread_id":"([^"]+)"/.exec(out)[1];
    },
    tool: (name, input) => ({ name, namespace: 'mcp__errand', input }),
  });
  const { tasks } = await all.server.get('/api/tasks');
  assert.equal(tasks[0].parent_session_id, thread, 'the conversation is Codex’s own');
});

test('OpenCode over MCP: one entry of set-up, then the story', { skip, timeout: 900_000 }, async (t) => {
  assert.ok(opencode_binary, 'OpenCode is installed by scripts/test (tests/e2e/package.json); ERRAND_E2E_TOOLS says where');
  const all = await world(t, 'opencode', opencode_binary);
  fs.writeFileSync(path.join(all.project, 'opencode.json'), setup_line('OpenCode', '{"mcp"'));
  const opencode = new OpenCode(t, { folder: all.folder, model: all.model, env: { PATH: all.env.PATH, XDG_DATA_HOME: path.join(all.folder, '.local/share') } });
  await opencode.start();
  const session = await opencode.session();
  await story(all, {
    say: (words) => opencode.prompt(session, words),
    tool: (name, input) => ({ name: `errand_${name}`, input }),
  });
});
