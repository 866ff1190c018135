// The real OpenCode, offline, in folders of its own, against the scripted model.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { tools_folder } from './contract.mjs';
import { request } from './http.mjs';
import { alive, kill9 } from './processes.mjs';
import { start_model } from '../../model/server.mjs';
import { errand } from './cli.mjs';
import { clean_env, Server, temporary_folder } from './server.mjs';
import { in_time, until } from './wait.mjs';

// The native program: what npm's wrapper would start. Undefined where the pinned tools are not installed.
export const opencode_binary = [path.join(tools_folder, 'node_modules/opencode-linux-x64/bin/opencode')].find((file) => fs.existsSync(file));

export const opencode_skip = process.arch !== 'x64' && 'OpenCode is pinned for x64';

export class OpenCode {
  static async start(t, options) {
    const opencode = new OpenCode(t, options);
    await opencode.start();
    return opencode;
  }

  // `folder`: its home, and below it the project; `model`: of tests/model.
  constructor(t, { folder, model, env = {} }) {
    t.after(() => this.destroy());
    this.folder = folder;
    this.project = path.join(folder, 'project');
    fs.mkdirSync(this.project, { recursive: true });
    this.password = 'not-a-secret';
    this.env = opencode_env(folder, { OPENCODE_CONFIG_CONTENT: JSON.stringify(opencode_config(model)), OPENCODE_SERVER_PASSWORD: this.password, ...env });
    this.log_path = path.join(folder, 'opencode.log');
  }

  async start() {
    const log = fs.openSync(this.log_path, 'a');
    this.child = spawn(opencode_binary, ['serve', '--port', '0', '--hostname', '127.0.0.1'], { cwd: this.project, env: this.env, stdio: ['ignore', 'pipe', log] });
    fs.closeSync(log);
    const child = this.child;
    this.exited = new Promise((resolve) => child.once('exit', resolve));
    let out = '';
    const port = new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk) => {
        out += chunk;
        const found = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(out);
        if (found) resolve(Number(found[1]));
      });
      this.exited.then(() => reject(new Error('OpenCode left')));
    });
    this.port = await in_time(port, 240_000, 'OpenCode listens').catch((error) => {
      throw new Error(`${error.message}: ${out} ${fs.readFileSync(this.log_path, 'utf8').slice(-2_000)}`);
    });
    return this;
  }

  async kill9() {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  async destroy() {
    if (this.child && alive(this.child.pid)) {
      kill9(this.child.pid);
      await this.exited;
    }
  }

  async api(method, target, body, { timeout = 300_000 } = {}) {
    const headers = { authorization: `Basic ${Buffer.from(`opencode:${this.password}`).toString('base64')}` };
    const join = target.includes('?') ? '&' : '?';
    const reply = await request({ port: this.port, method, path: `${target}${join}directory=${encodeURIComponent(this.project)}`, headers, body, timeout });
    assert.ok(reply.status < 300, `${method} ${target} -> ${reply.status} ${reply.text.slice(0, 500)}`);
    return reply.json;
  }

  async session(more = {}) {
    return (await this.api('POST', '/session', more)).id;
  }

  // A user's word; answers the last message of the answer.
  prompt(id, text, more = {}) {
    return this.api('POST', `/session/${id}/message`, { parts: [{ type: 'text', text }], ...more });
  }

  prompt_async(id, text, more = {}) {
    return this.api('POST', `/session/${id}/prompt_async`, { parts: [{ type: 'text', text }], ...more });
  }

  messages(id) {
    return this.api('GET', `/session/${id}/message`);
  }

  // The tool calls of a session, oldest first: { tool, state }.
  async calls(id) {
    return (await this.messages(id)).flatMap(({ parts }) => parts.filter((part) => part.type === 'tool'));
  }

  // The texts of the notices in a session, each as often as it is there.
  async notices(id) {
    const parts = (await this.messages(id)).flatMap((message) => message.parts);
    return parts.filter((part) => part.metadata?.errand_notice);
  }

  async busy(id) {
    return (await this.api('GET', '/session/status'))[id] !== undefined;
  }

  idle(id, { within = 180_000 } = {}) {
    return until(async () => !(await this.busy(id)), { within, what: `${id} is idle` });
  }

  // What happens in it from now on: { events: [...], close() }.
  watch() {
    const events = [];
    const stop = new AbortController();
    const headers = { authorization: `Basic ${Buffer.from(`opencode:${this.password}`).toString('base64')}` };
    const ready = fetch(`http://127.0.0.1:${this.port}/event?directory=${encodeURIComponent(this.project)}`, { headers, signal: stop.signal }).then((reply) => {
      (async () => {
        let text = '';
        const decoder = new TextDecoder();
        for await (const chunk of reply.body) {
          text += decoder.decode(chunk, { stream: true });
          for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
            events.push(JSON.parse(text.slice(text.indexOf('data: ') + 6, end)));
            text = text.slice(end + 2);
          }
        }
      })().catch(() => {});
    });
    return { events, ready, close: () => stop.abort() };
  }
}

// A provider that is the scripted model, and nothing that needs a network.
export const opencode_config = (model) => ({
  autoupdate: false,
  share: 'disabled',
  model: 'scripted/m1',
  small_model: 'scripted/m1',
  enabled_providers: ['scripted'],
  provider: {
    scripted: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${model.url}/v1`, apiKey: 'x' },
      models: { m1: { limit: { context: 200000, output: 8000 } } },
    },
  },
});

// Nothing of the person who runs the tests, no network, no waits for a registry.
export function opencode_env(folder, more = {}) {
  return clean_env(folder, {
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_DATA_HOME: path.join(folder, 'share'),
    XDG_CACHE_HOME: path.join(folder, 'cache'),
    XDG_STATE_HOME: path.join(folder, 'state'),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    npm_config_offline: 'true',
    ...more,
  });
}

// PATH with `opencode` on it, below the folder.
export function opencode_on_path(folder) {
  const bin = path.join(folder, 'bin');
  fs.mkdirSync(bin, { recursive: true });
  fs.symlinkSync(opencode_binary, path.join(bin, 'opencode'));
  return { PATH: `${bin}:${process.env.PATH}` };
}

// An errand server, a scripted model and an OpenCode with the plugin. `started: false`: no server runs yet. `agent: true`:
// the server has OpenCode on its PATH, and the built-in agent has the model too.
export async function opencode_world(t, { started = true, args = [], install = [], env = {}, agent = false, settings = {} } = {}) {
  assert.ok(opencode_binary, 'OpenCode is installed by scripts/test (tests/e2e/package.json); ERRAND_E2E_TOOLS says where');
  const model = await start_model();
  t.after(() => model.close());
  const folder = temporary_folder(t, 'oc');
  const own = opencode_env(folder, { ERRAND_DATA_DIR: path.join(folder, 'data'), ERRAND_LISTEN: '127.0.0.1:0', ...settings });
  if (agent) Object.assign(own, opencode_on_path(folder), model.env('anthropic'), { OPENCODE_CONFIG_CONTENT: JSON.stringify(opencode_config(model)) });
  const server = new Server(t, { folder, args, env: own });
  if (started) await server.start();
  const installed = await errand(server, ['opencode', 'install', ...install]);
  assert.equal(installed.code, 0, installed.err);
  // As a person's: a server that its plugin starts in place of a killed one finds OpenCode too.
  const found = agent ? { PATH: own.PATH } : {};
  const opencode = new OpenCode(t, { folder, model, env: { ERRAND_DATA_DIR: server.data_dir, ERRAND_LISTEN: '127.0.0.1:0', ...found, ...env } });
  await opencode.start();
  return { model, server, opencode, folder };
}

let number = 0;
// A word to a session whose model then does these steps; answers the tool parts that came of it, and the answer.
export async function turn({ model, opencode }, session, steps, { text = 'done' } = {}) {
  const words = `please do number ${++number}.`;
  model.rule(words, [...steps, { text }], { tools: true });
  const before = (await opencode.calls(session)).length;
  const answer = await opencode.prompt(session, words);
  const calls = (await opencode.calls(session)).slice(before);
  return { calls, answer, output: calls.at(-1)?.state.output ?? calls.at(-1)?.state.error };
}

export const call = (name, input = {}) => ({ tool: { name, input } });
export const task_id = (text) => /task_[0-9a-z]+/.exec(text)[0];
