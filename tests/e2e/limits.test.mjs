// Limits of commands: each hit for real and named in the record (R4.1, R9.1, R9.3). Bombs and floods are in measured.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { errand, patience, Server } from './harness/index.mjs';

const MiB = 1 << 20;
// Who is not root may not go back.
const nicer = Math.min(19, Math.max(0, os.getPriority()) + 3);

async function failed_by(server, task, code, within = 120_000 * patience) {
  const ended = await server.at_rest(task.id, { within });
  assert.deepEqual([ended.status, ended.reason, ended.error?.code], ['failed', code, code], JSON.stringify(ended.error));
  assert.equal(typeof ended.error.details.limit, 'number');
  return ended;
}

test('CPU time is counted over the whole tree, and moves while it runs (R4.1)', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('while :; do :; done & while :; do :; done', { limits: { cpu_s: 10 }, timeout_s: 250 });
  const stream = server.stream(`/api/tasks/${task.id}/stream`);
  const first = await server.when(task.id, (now) => now.progress.cpu_s > 0 && now.progress.memory_bytes > 0);
  await server.when(task.id, (now) => now.progress.cpu_s > first.progress.cpu_s && now.status === 'running');
  // However little of the machine it gets: its own timeout is the bound.
  await failed_by(server, task, 'cpu', 260_000);
  stream.cut();
  const events = await server.events(task.id);
  const samples = events.filter((event) => event.type === 'task.progress');
  assert.ok(samples.length >= 1, 'told to who watches');
  // On a busy machine its ten seconds of CPU take a minute.
  const { started_at, completed_at } = await server.task(task.id);
  const seconds = (Date.parse(completed_at) - Date.parse(started_at)) / 1000;
  assert.ok(samples.length <= Math.max(10, seconds), `${samples.length} events in ${seconds} s are a flood`);
});

test('a file bomb meets its own limit; the server has its descriptors (T13)', async (t) => {
  const server = await Server.start(t);
  const script = 'import os\nfds=[]\ntry:\n  while True: fds.append(os.dup(0))\nexcept OSError as e: print(len(fds), e.strerror)';
  const python = await server.run(['python3', '-c', script], { limits: { open_files: 128 } });
  const shell = await server.run('ulimit -n');
  const ended = await server.at_rest(python.id);
  if (ended.reason !== 'spawn_failed') assert.match(ended.result, /^12\d Too many open files/);
  assert.equal((await server.at_rest(shell.id)).result.trim(), '4096', 'the default');
});

test('a timeout says what it was and what was seen', async (t) => {
  const server = await Server.start(t);
  const ended = await failed_by(server, await server.run('sleep 100', { timeout_s: 1 }), 'timeout');
  assert.equal(ended.error.details.limit, 1);
  assert.ok(ended.error.details.seen >= 1);
});

test('a launch may have more, less or no limit; the record says what holds', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_LIMIT_PROCESSES: '50', ERRAND_LIMIT_CPU_S: '600' } });
  const usual = await server.run('true');
  assert.deepEqual(usual.limits, { cpu_s: 600, memory_bytes: 2048 * MiB, processes: 50, open_files: 4096, output_bytes: 64 * MiB, nice: 0 });
  const own = await server.run('true', { limits: { cpu_s: 0, memory_bytes: 0, processes: 7, nice: nicer } });
  assert.deepEqual(own.limits, { cpu_s: null, memory_bytes: null, processes: 7, open_files: 4096, output_bytes: 64 * MiB, nice: nicer });
  const settings = await server.get('/api/settings');
  assert.equal(settings.limit_processes, 50);
  for (const limits of [{ cpu_s: -1 }, { nice: 20 }, { memory: 1 }]) await server.expect(400, 'POST', '/api/tasks', { kind: 'command', command: 'true', limits });
});

test('the server says by which means its limits hold', async (t) => {
  const server = await Server.start(t);
  const health = await server.get('/api/health');
  assert.deepEqual(Object.keys(health.limits).sort(), ['cpu', 'kill', 'memory', 'open_files', 'processes']);
  assert.equal(typeof health.sandbox.available, 'boolean');
  t.diagnostic(JSON.stringify(health.limits));
});

test('nobody is at the keyboard: no terminal, no input (R9.1)', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('tty; (: </dev/tty) 2>/dev/null && echo terminal; read x && echo input; wc -c; umask', { allow_interactive: true });
  assert.equal((await server.at_rest(task.id)).result, 'not a tty\n0\n0022\n');
});

test('the umask of commands, the names they get and the folders they may use are settings', async (t) => {
  const server = new Server(t, { env: { ERRAND_CHILD_UMASK: '077', ERRAND_ENV_ALLOW: 'CC,BUILD_*', CC: 'clang', BUILD_MODE: 'fast', BUILD_TOKEN: 's', OTHER: 'x' } });
  const allowed = path.join(server.folder, 'allowed');
  fs.mkdirSync(allowed);
  server.env.ERRAND_WORK_DIRS = allowed;
  await server.start();
  const task = await server.run('umask; echo "$CC $BUILD_MODE [$BUILD_TOKEN] [$OTHER]"; pwd', { work_dir: allowed });
  assert.equal((await server.at_rest(task.id)).result, `0077\nclang fast [] []\n${allowed}\n`);
  assert.equal((await server.run('pwd')).work_dir, allowed, 'the first is the default');
  const refused = await server.expect(403, 'POST', '/api/tasks', { kind: 'command', command: 'true', work_dir: '/' });
  assert.match(refused.detail, /work_dirs/);
});

test('the command line has a flag for each, and shows what was hit', async (t) => {
  const server = await Server.start(t);
  const run = (...args) => errand(server, args);
  const hit = await run('run', '--wait', '--memory', '60M', '--', 'sh', '-c', 'head -c 3G /dev/zero | tail');
  assert.equal(hit.code, 137);
  const [task] = (await server.get('/api/tasks')).tasks;
  assert.equal(task.reason, 'memory');
  const shown = await run('show', task.id);
  assert.match(shown.out, /failed \(memory\)/);
  assert.match(shown.out, /limit hit\s+memory: 60 MiB allowed, [\d.]+ [MG]iB used/);
  assert.match(shown.out, /limits\s+60 MiB of memory, 512 processes/);
  const all = await run('run', '--json', '--cpu', '1m', '--processes', '9', '--open-files', '99', '--max-output', '1M', '--nice', `${nicer}`, '--', 'true');
  const made = all.json;
  assert.deepEqual(made.limits, { cpu_s: 60, memory_bytes: 2048 * MiB, processes: 9, open_files: 99, output_bytes: MiB, nice: nicer });
  assert.notEqual((await run('run', '--memory', 'lots', '--', 'true')).code, 0);
  const doctor = await run('doctor');
  assert.match(doctor.out, /limit memory/);
  assert.match(doctor.out, /sandbox/);
});
