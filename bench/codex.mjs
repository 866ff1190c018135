// Codex both ways, side by side, against the scripted model (tests/model): its adapter codex-acp, and its own
// app-server. From the start of the process: until it answers, until a session is there, until a turn with one command is
// done; and the memory of the process tree then.
//   node bench/codex.mjs [RUNS]      needs build/tools/e2e (scripts/test fetches it)
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

import { start_model } from '../tests/model/server.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const tools = path.join(process.env.ERRAND_E2E_TOOLS ?? path.join(root, 'build/tools/e2e'), 'node_modules');
const codex = path.join(tools, '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex');
const runs = Number(process.argv[2] ?? 7);
const folder = fs.mkdtempSync(path.join(fs.existsSync(path.join(root, 'build')) ? path.join(root, 'build') : os.homedir(), 'bench-codex-'));
const model = await start_model({ strict: false });
model.rule('go', [{ tool: { name: 'exec_command', input: { cmd: 'echo one' } } }, { text: 'done' }], { tools: true });
fs.writeFileSync(path.join(folder, 'config.toml'), `model = "scripted"\nmodel_provider = "local"\ncheck_for_update_on_startup = false\n[model_providers.local]\nname = "Scripted"\nbase_url = "${model.url}/v1"\nwire_api = "responses"\nenv_key = "LOCAL_KEY"\n[analytics]\nenabled = false\n[features]\nplugins = false\nremote_plugin = false\napps = false\n`);
const env = { PATH: process.env.PATH, HOME: folder, CODEX_HOME: folder, LOCAL_KEY: 'x', CODEX_PATH: codex };

const tree_mib = (pid) => {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  const own = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + tree_mib(child), own);
};

async function measure(words, steps) {
  const began = performance.now();
  const child = spawn(words[0], words.slice(1), { cwd: folder, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const seen = [];
  let told = () => {};
  readline.createInterface({ input: child.stdout }).on('line', (line) => {
    seen.push(JSON.parse(line));
    told();
  });
  const until = (holds) =>
    new Promise((resolve) => {
      told = () => {
        const found = seen.find(holds);
        if (found) resolve(found);
      };
      told();
    });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const times = [];
  let last;
  for (const step of steps) {
    last = await step({ send, until, last });
    times.push(performance.now() - began);
  }
  const mib = tree_mib(child.pid);
  child.stdin.end();
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  return [...times, mib];
}

const answer = (id) => (message) => message.id === id && !message.method;
const ways = {
  'codex-acp': () =>
    measure([process.execPath, path.join(tools, '@agentclientprotocol/codex-acp/dist/index.js')], [
      ({ send, until }) => (send({ id: 0, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } }), until(answer(0))),
      ({ send, until }) => (send({ id: 1, method: 'session/new', params: { cwd: folder, mcpServers: [] } }), until(answer(1))),
      ({ send, until, last }) => (send({ id: 2, method: 'session/prompt', params: { sessionId: last.result.sessionId, prompt: [{ type: 'text', text: 'go' }] } }), until(answer(2))),
    ]),
  'codex app-server': () =>
    measure([codex, 'app-server'], [
      ({ send, until }) => (send({ id: 0, method: 'initialize', params: { clientInfo: { name: 'bench', title: 'bench', version: '1' } } }), until(answer(0))),
      ({ send, until }) => (send({ method: 'initialized' }), send({ id: 1, method: 'thread/start', params: { cwd: folder } }), until(answer(1))),
      ({ send, until, last }) => (send({ id: 2, method: 'turn/start', params: { threadId: last.result.thread.id, input: [{ type: 'text', text: 'go' }] } }), until((message) => message.method === 'turn/completed')),
    ]),
};

const all = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
for (let i = 0; i < runs; i++) for (const [way, run] of Object.entries(ways)) all[way].push(await run());
console.log('way | answers, ms | session, ms | turn done, ms | MiB   (median of each; the fastest)');
for (const [way, rows] of Object.entries(all)) {
  const column = (i) => rows.map((row) => row[i]).sort((a, b) => a - b);
  console.log([way, ...[0, 1, 2, 3].map((i) => `${column(i)[Math.floor(rows.length / 2)].toFixed(0)} (${column(i)[0].toFixed(0)})`)].join(' | '));
}
await model.close();
fs.rmSync(folder, { recursive: true, force: true });
