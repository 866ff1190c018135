// The real Claude Code, offline, in a home of its own, against the scripted model.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { start_model } from '../../model/server.mjs';
import { tools_folder } from './contract.mjs';
import { clean_env, Server, temporary_folder } from './server.mjs';
import { processes } from './processes.mjs';

// The native program: what npm's wrapper would start. Undefined where the pinned tools are not installed.
export const claude_binary = [path.join(tools_folder, 'node_modules/@anthropic-ai/claude-code-linux-x64/claude')].find((file) => fs.existsSync(file));
export const claude_skip = process.arch !== 'x64' && 'Claude Code is pinned for x64';

// Nothing of the person who runs the tests, and no network but the model.
export const claude_env = (model, more = {}) => ({
  ...model.env('anthropic'),
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  ...more,
});

// A server with `claude` on its PATH. `login: false`: nobody has logged in. `settings`: its errand.toml.
export async function claude_world(t, { args = [], env = {}, login = true, settings = '' } = {}) {
  assert.ok(claude_binary, 'Claude Code is installed by scripts/test (tests/e2e/package.json); ERRAND_E2E_TOOLS says where');
  const model = await start_model({ strict: false });
  t.after(() => model.close());
  const folder = temporary_folder(t, 'cc');
  const bin = path.join(folder, 'bin');
  const work_dir = path.join(folder, 'project');
  for (const made of [bin, work_dir]) fs.mkdirSync(made);
  if (settings) {
    fs.mkdirSync(path.join(folder, 'data'), { mode: 0o700 });
    fs.writeFileSync(path.join(folder, 'data/errand.toml'), settings);
  }
  fs.symlinkSync(claude_binary, path.join(bin, 'claude'));
  const own = claude_env(model, { PATH: `${bin}:${process.env.PATH}`, ...env });
  if (!login) delete own.ANTHROPIC_API_KEY;
  const server = await Server.start(t, { folder, env: clean_env(folder, own), args });
  const ask = (message, more = {}) => server.launch({ agent_id: 'claude', message, work_dir, ...more });
  const pids = () => processes().filter((p) => p.state !== 'Z' && p.argv[0] === path.join(bin, 'claude')).map((p) => p.pid);
  return { server, model, folder, work_dir, ask, pids };
}
