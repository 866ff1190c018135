// The agents that people have, as npm has them, in a home of their own, against the scripted model: what differs between them,
// as a row each. What errand promises of every one of them is tests/e2e/agents_script.test.mjs.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { start_model } from '../../model/server.mjs';
import { call } from './builtin.mjs';
import { claude_env } from './claude.mjs';
import { tools_folder } from './contract.mjs';
import { opencode_config, opencode_env } from './opencode.mjs';
import { processes } from './processes.mjs';
import { clean_env, Server, temporary_folder } from './server.mjs';

const packaged = (file) => path.join(tools_folder, 'node_modules', file);
const claude = packaged('@anthropic-ai/claude-code-linux-x64/claude');
const codex = packaged('@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex');
const codex_acp = packaged('@agentclientprotocol/codex-acp/dist/index.js');
const claude_acp = packaged('@agentclientprotocol/claude-agent-acp/dist/index.js');
const gemini = packaged('@google/gemini-cli/bundle/gemini.js');
const opencode = packaged('opencode-linux-x64/bin/opencode');

// What `npm install -g` puts on PATH: a program, or a script for this Node.
const program = (file) => (bin, name) => fs.symlinkSync(file, path.join(bin, name));
const script = (file) => (bin, name) => fs.writeFileSync(path.join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`, { mode: 0o755 });

// A time that the provider names they wait for by themselves; without one they give up, and errand waits.
const over_acp = { waits_itself: true };
const retries = { cannot: { 'usage limit': 'it tries again by itself, and says nothing of it' }, instead: ['usage limit'] };

const opencode_row = {
  needs: [opencode],
  install: { opencode: program(opencode) },
  env: (folder, model) => opencode_env(folder, { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...opencode_config(model), permission: { edit: 'ask' } }) }),
  shell: (command) => call('bash', { command, description: 'x', timeout: 3_600_000 }),
  edit: (file, content) => call('write', { filePath: file, content }),
  own: (name, input) => call(`errand_${name}`, input),
};
const claude_row = {
  shell: (command) => call('Bash', { command, description: 'x', timeout: 600_000 }),
  edit: (file, content) => call('Write', { file_path: file, content }),
  own: (name, input) => call(`mcp__errand__${name}`, input),
};

/** `needs`: files that the pinned tools bring. `shell`, `edit`, `own`: a step of the model that calls the agent's shell, writes a
 * file, calls a tool of errand's. `died`: the code of a task whose agent was killed. `folds`: a message
 * while at work stands in the result of the tool that it is at. `waits_itself`: for a usage limit whose end the provider names. `cannot`: cell -> why; `instead`: cells that hold it to what errand does then;
 * `weaker`: cell -> what is less than of the others. */
export const agent_rows = {
  builtin: {
    needs: [],
    install: {},
    env: (folder, model) => clean_env(folder, model.env('anthropic')),
    shell: (command) => call('bash', { command, timeout: 600 }),
    edit: (file, content) => call('write', { path: file, content }),
    own: (name, input) => call(name, input),
    cannot: { 'kill -9 of the agent': 'it is a part of the server and has no process of its own' },
  },
  opencode: {
    ...opencode_row,
    died: 'interrupted',
    cannot: { 'errand’s tools': 'one process serves all tasks; it has them from `errand opencode install` (opencode.test.mjs)' },
    weaker: { 'usage limit': 'it waits by itself, and cannot be told that the limit is over' },
  },
  claude: {
    ...claude_row,
    needs: [claude],
    install: { claude: program(claude) },
    env: (folder, model) => clean_env(folder, claude_env(model, { CLAUDE_CODE_MAX_RETRIES: '1' })),
    died: 'agent_died',
    folds: true,
  },
  codex: {
    ...over_acp,
    needs: [codex_acp, codex],
    install: { 'codex-acp': script(codex_acp) },
    env: (folder, model) => {
      const home = path.join(folder, 'codex');
      fs.mkdirSync(home);
      fs.writeFileSync(path.join(home, 'config.toml'), codex_config(model));
      // Codex puts the helper of its sandbox into no home below the folder for temporary files, where this checkout may be; and of
      // a command that it cannot start it tells its client nothing (tests/fixtures/acp/codex_silent.jsonl).
      const temporary = path.join(folder, 'tmp');
      fs.mkdirSync(temporary, { recursive: true });
      return clean_env(folder, { CODEX_HOME: home, LOCAL_KEY: 'x', CODEX_PATH: codex, TMPDIR: temporary });
    },
    shell: (command) => call('exec_command', { cmd: command }),
    // Inside of its folder it asks nobody.
    edit: (file, content) => call('exec_command', { cmd: `printf '${content}' > ${file}`, sandbox_permissions: 'require_escalated', justification: 'x' }),
    own: (name, input = {}) => ({ tool: { name, namespace: 'mcp__errand', input } }),
    // What it says of a model that it does not know stands before its first word.
    said: (text) => text?.replace(/^Warning: Model metadata for `scripted` not found.*\n\n/, ''),
    died: 'signal',
  },
  'acp:gemini': {
    ...retries,
    id: 'gemini',
    weaker: { 'tool call': 'it says that a command ran, and not what it printed' },
    needs: [gemini],
    install: { gemini: script(gemini) },
    env: (folder, model) => {
      fs.mkdirSync(path.join(folder, '.gemini'));
      fs.writeFileSync(path.join(folder, '.gemini/settings.json'), JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } }, general: { enableAutoUpdate: false }, privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false } }));
      return clean_env(folder, { ...model.env('gemini'), GEMINI_CLI_TRUST_WORKSPACE: 'true' });
    },
    launch: { model: 'gemini-2.5-flash' },
    shell: (command) => call('run_shell_command', { command, description: 'x' }),
    edit: (file, content) => call('write_file', { file_path: file, content }),
    own: (name, input) => call(`mcp_errand_${name}`, input),
    died: 'signal',
  },
  'acp:opencode': { ...opencode_row, ...retries, died: 'signal' },
  'acp:claude': {
    ...claude_row,
    ...over_acp,
    needs: [claude_acp, claude],
    install: { 'claude-agent-acp': script(claude_acp) },
    env: (folder, model) => clean_env(folder, claude_env(model, { CLAUDE_CODE_EXECUTABLE: claude, DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_MAX_RETRIES: '1' })),
    died: 'signal',
  },
};

const codex_config = (model) =>
  [
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
  ].join('\n');

/** Why the row cannot be run here, or false. */
export const agent_skip = ({ needs }) =>
  (needs.length && process.arch !== 'x64' && 'the programs are pinned for x64') ||
  needs.filter((file) => !fs.existsSync(file)).map((file) => `${path.relative(tools_folder, file)} is not installed (tests/e2e/package.json)`)[0] ||
  false;

/** A server that finds the row's program on its PATH. */
export async function agent_world(t, name, { args = [] } = {}) {
  const row = agent_rows[name];
  const model = await start_model({ strict: false });
  t.after(() => model.close());
  const folder = temporary_folder(t, 'ag');
  const [bin, work_dir] = ['bin', 'project'].map((made) => path.join(folder, made));
  for (const made of [bin, work_dir]) fs.mkdirSync(made);
  // A repository of its own: OpenCode takes a snapshot of the one that it finds itself in, which is errand's otherwise.
  spawnSync('git', ['init', '-q', work_dir]);
  for (const [file, install] of Object.entries(row.install)) install(bin, file);
  const agent_id = row.id ?? name;
  const server = await Server.start(t, { folder, env: { ...row.env(folder, model), PATH: `${bin}:${process.env.PATH}` }, args });
  const said = (task) => ({ ...task, result: row.said ? row.said(task.result) : task.result });
  return {
    row, server, model, folder, work_dir, agent_id, said,
    ask: (message, more = {}) => server.launch({ agent_id, message, work_dir, permission: 'allow', ...row.launch, ...more }),
    rest: async (id, options) => said(await server.at_rest(id, options)),
    rule: (words, steps) => model.rule(words, steps, { tools: true }),
    parts: async (id) => (await server.get(`/api/tasks/${id}/messages`)).messages.flatMap((message) => message.parts),
    // The conversation that the model was last asked with, as one text.
    asked: () => {
      const { body } = model.requests().findLast((record) => record.body.tools?.length);
      return JSON.stringify(body.messages ?? body.input ?? body.contents);
    },
    // The agent's processes, whatever they are called: what the supervisor's keepers have started.
    agent_pids: () => {
      const keepers = server.supervisor_pids();
      return processes().filter((one) => one.state !== 'Z' && keepers.includes(one.ppid) && !keepers.includes(one.pid)).map((one) => one.pid);
    },
  };
}
