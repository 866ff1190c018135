// What errand's plugin costs OpenCode, measured with the real one: node bench/opencode.mjs [starts] [idle seconds]
// - The start: from exec until the first request about a project is answered (its plugins are loaded by then), and its CPU
//   time, without a plugin, with an empty one and with errand's, in turn; the best of all, for the machines are shared.
//   Beside it the CPU time of the plugin's own code, in OpenCode's runtime: reading, compiling and calling it. Allowed: 50 ms.
// - Polling: every request that the plugin makes goes through a proxy that counts them; before a session has launched
//   anything, and while it waits for a task. Allowed: none, and the one that waits.
// Needs what scripts/test sets up (ERRAND_E2E_TOOLS, ERRAND_BIN). Ends with 1 where something is over.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

import { errand } from '../tests/e2e/harness/cli.mjs';
import { call, opencode_binary, opencode_config, opencode_env, OpenCode, turn } from '../tests/e2e/harness/opencode.mjs';
import { Server, temporary_folder } from '../tests/e2e/harness/server.mjs';
import { start_model } from '../tests/model/server.mjs';

const starts = Number(process.argv[2] ?? 7);
const idle_s = Number(process.argv[3] ?? 60);
const allowed_ms = 50;

const undo = [];
const t = { after: (step) => undo.push(step), passed: true };
const best = (list) => Math.min(...list);
const ticks = Number(execFileSync('getconf', ['CLK_TCK']));

// CPU milliseconds of a process, its threads included.
function cpu_ms(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticks;
}

async function one_start(env, project) {
  const began = performance.now();
  const child = spawn(opencode_binary, ['serve', '--port', '0', '--hostname', '127.0.0.1'], { cwd: project, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const left = new Promise((resolve) => child.once('exit', resolve));
  try {
    const port = await new Promise((resolve, reject) => {
      let out = '';
      child.stdout.on('data', (chunk) => {
        out += chunk;
        const found = /127\.0\.0\.1:(\d+)/.exec(out);
        if (found) resolve(Number(found[1]));
      });
      left.then(() => reject(new Error(`OpenCode left: ${out}`)));
    });
    const listening = performance.now() - began;
    const reply = await fetch(`http://127.0.0.1:${port}/config?directory=${encodeURIComponent(project)}`);
    const config = await reply.text();
    if (!reply.ok) throw new Error(config);
    await (await fetch(`http://127.0.0.1:${port}/experimental/tool/ids?directory=${encodeURIComponent(project)}`)).text();
    return { listening, ready: performance.now() - began, cpu: cpu_ms(child.pid) };
  } finally {
    child.kill('SIGKILL');
    await left;
  }
}

const model = await start_model();
undo.push(() => model.close());
const folder = temporary_folder(t, 'oc-bench');
const over = [];
try {
  // --- The start.
  const kinds = {};
  for (const kind of ['none', 'empty', 'errand']) {
    const home = path.join(folder, kind);
    const project = path.join(home, 'project');
    fs.mkdirSync(project, { recursive: true });
    const env = opencode_env(home, { OPENCODE_CONFIG_CONTENT: JSON.stringify(opencode_config(model)), ERRAND_DATA_DIR: path.join(home, 'data') });
    const plugins = path.join(home, 'config/opencode/plugin');
    if (kind === 'empty') {
      fs.mkdirSync(plugins, { recursive: true });
      fs.writeFileSync(path.join(plugins, 'empty.js'), 'export const Empty = async () => ({});\n');
    }
    if (kind === 'errand') {
      const installed = await errand(new Server(t, { folder: home, env }), ['opencode', 'install']);
      if (installed.code !== 0) throw new Error(installed.err);
    }
    kinds[kind] = { env, project, ready: [], listening: [], cpu: [] };
    await one_start(env, project); // What the first start in a home makes is not counted.
  }
  for (let i = 0; i < starts; i++)
    for (const kind of i % 2 ? ['errand', 'empty', 'none'] : ['none', 'empty', 'errand']) {
      const { ready, listening, cpu } = await one_start(kinds[kind].env, kinds[kind].project);
      kinds[kind].ready.push(ready);
      kinds[kind].listening.push(listening);
      kinds[kind].cpu.push(cpu);
    }
  console.log(`| start, best of ${starts} (load ${os.loadavg()[0].toFixed(1)}) | listens | project ready | CPU |\n|---|---|---|---|`);
  for (const [kind, { ready, listening, cpu }] of Object.entries(kinds))
    console.log(`| ${kind} | ${best(listening).toFixed(0)} ms | ${best(ready).toFixed(0)} ms | ${best(cpu).toFixed(0)} ms |`);
  // The program is its own runtime.
  const once = path.join(folder, 'once.mjs');
  fs.writeFileSync(once, 'const before = process.cpuUsage(); const { Errand } = await import(process.argv[2]); await Errand({ client: {}, directory: "/" }); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000); process.exit(0);');
  const plugin = path.join(folder, 'errand/config/opencode/plugin/errand.js');
  const alone = Array.from({ length: 10 }, () => Number(execFileSync(opencode_binary, [once, plugin], { env: { ...kinds.errand.env, BUN_BE_BUN: '1' }, encoding: 'utf8' })));
  console.log(`\nthe plugin's own code: ${best(alone).toFixed(1)} ms of CPU (allowed ${allowed_ms})`);
  if (best(alone) > allowed_ms) over.push("the plugin's own code");
  const own = best(kinds.errand.ready) - best(kinds.empty.ready);
  const all = best(kinds.errand.ready) - best(kinds.none.ready);
  console.log(`project ready, errand's plugin against an empty one: ${own.toFixed(0)} ms; against none: ${all.toFixed(0)} ms (allowed ${allowed_ms})`);
  if (Math.min(own, all) > allowed_ms) over.push('the start');

  // --- Polling.
  const home = path.join(folder, 'polling');
  fs.mkdirSync(home);
  const env = opencode_env(home, { ERRAND_DATA_DIR: path.join(home, 'data') });
  const server = await Server.start(t, { folder: home, env });
  const requests = [];
  const proxy = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const passed = http.request({ host: '127.0.0.1', port: server.port, method: request.method, path: request.url, headers: { ...request.headers, host: `127.0.0.1:${server.port}` } }, (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  undo.push(() => proxy.close());
  undo.push(() => proxy.closeAllConnections());
  const installed = await errand(server, ['opencode', 'install']);
  if (installed.code !== 0) throw new Error(installed.err);
  const through = { ERRAND_DATA_DIR: server.data_dir, ERRAND_URL: `http://127.0.0.1:${proxy.address().port}`, ERRAND_TOKEN: fs.readFileSync(path.join(server.data_dir, 'token'), 'utf8').trim() };
  const opencode = await OpenCode.start(t, { folder: home, model, env: through });
  const world = { server, opencode, model };
  const session = await opencode.session();
  await turn(world, session, []);
  const idle = async (what, expected) => {
    requests.length = 0;
    const cpu = cpu_ms(opencode.child.pid);
    await new Promise((resolve) => setTimeout(resolve, idle_s * 1000));
    console.log(`${what}, ${idle_s} s: ${requests.length} requests (allowed ${expected}), OpenCode's CPU ${(cpu_ms(opencode.child.pid) - cpu).toFixed(0)} ms`);
    if (requests.length > expected) over.push(`${what}: ${requests.join(', ')}`);
  };
  console.log('');
  await idle('a session that has launched nothing', 0);
  await turn(world, session, [call('background_execute', { command: 'sleep 3600', timeout: 0 })]);
  await new Promise((resolve) => setTimeout(resolve, 2_000)); // The call's own requests, and the one that waits, are made.
  await idle('a session that waits for a task', Math.floor(idle_s / 300));
} finally {
  for (const step of undo) await step();
}
for (const what of over) console.error(`over: ${what}`);
process.exit(over.length ? 1 : 0);
