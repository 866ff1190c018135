// The real binary, in a data folder of its own, on a free port.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import { check_contract } from './contract.mjs';
import { request } from './http.mjs';
import { alive, kill9, processes } from './processes.mjs';
import { Stream } from './sse.mjs';
import { in_time, patient_ms, until } from './wait.mjs';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
export const binary = path.resolve(root, process.env.ERRAND_BIN ?? 'build/release/errand');

// Of /proc, where anything may be gone a moment later.
const or_nothing = (read, nothing) => {
  try {
    return read();
  } catch {
    return nothing;
  }
};
const read_dir = (folder) => or_nothing(() => fs.readdirSync(folder), []);
const read_text = (file) => or_nothing(() => fs.readFileSync(file, 'utf8'), '');

export const long = process.env.ERRAND_TEST_LONG === '1';
// Sanitizers make everything slower by a factor that says nothing about errand.
export const patience = /[/](asan|tsan)[/]/.test(binary) ? 5 : 1;

// A folder for one test, removed when it passed and kept (and named) when it did not. A unix socket's path has at most
// 107 bytes, so a checkout with a long path uses the machine's own place.
export function temporary_folder(t, name = 't') {
  const own = path.join(root, 'build/test/tmp');
  const base = own.length <= 60 ? own : os.tmpdir();
  fs.mkdirSync(base, { recursive: true });
  const folder = fs.mkdtempSync(path.join(base, `${name}-`));
  t.after(() => {
    if (t.passed === false) console.error(`# kept: ${folder}`);
    else fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

// What stands for `t` where several tests of a suite share a server: call it inside describe().
export function suite_scope() {
  const undo = [];
  after(async () => {
    for (const step of undo) await step();
  });
  return { after: (step) => undo.push(step), passed: true };
}

// What every process of a test sees: no setting of the person who runs it.
export function clean_env(home, more = {}) {
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', ...more };
  for (const name of ['ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS', 'ASAN_SYMBOLIZER_PATH']) {
    if (process.env[name]) env[name] = process.env[name];
  }
  return env;
}

export class Server {
  // A running server; it and its supervisor go with the test.
  static async start(t, options = {}) {
    const server = new Server(t, options);
    await server.start();
    return server;
  }

  constructor(t, { args = [], env = {}, folder, data_dir, keep_port = false } = {}) {
    // Hooks run in the order in which they are given: first the processes go, then their folder.
    t.after(() => this.destroy(t.passed === false));
    this.folder = folder ?? temporary_folder(t);
    this.data_dir = data_dir ?? path.join(this.folder, 'data');
    this.log_path = path.join(this.folder, 'server.log');
    this.args = args;
    this.keep_port = keep_port; // A browser comes back to the address that it knows.
    this.env = clean_env(this.folder, env);
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    this.#not_ready();
  }

  // Starts the process and waits until it says that it is ready.
  async start(options = {}) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#start_once(options);
      } catch (error) {
        // A client that saw the server die (OpenCode's plugin, `errand mcp`) starts one too, and may be quicker. It dies as the first did.
        const other = Number([...error.message.matchAll(/Another errand server \(process (\d+)\)/g)].at(-1)?.[1]);
        if (!this.killed || tries === 5 || !other) throw error;
        if (processes().some((p) => p.pid === other && p.argv.includes('serve') && p.argv.some((word) => word.includes(this.data_dir)))) kill9(other);
      }
    }
  }

  async #start_once({ within = patient_ms * patience } = {}) {
    const log = fs.openSync(this.log_path, 'a');
    const began = performance.now();
    // `wrapper`: words that start the binary, where it is to find another machine than it is on.
    const words = [...(this.wrapper ?? []), binary, 'serve', '--listen', `127.0.0.1:${(this.keep_port && this.port) || 0}`, '--data-dir', this.data_dir, ...this.args];
    this.child = spawn(words[0], words.slice(1), {
      cwd: this.folder,
      env: this.env,
      stdio: ['ignore', 'pipe', log],
    });
    fs.closeSync(log);
    const child = this.child;
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    this.exited.then(() => child === this.child && this.#not_ready());
    this.stdout = '';
    const url = new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk) => {
        this.stdout += chunk;
        const found = /http:\/\/[^\s/]+:(\d+)/.exec(this.stdout);
        if (found && this.stdout.includes('\n')) resolve(found);
      });
      this.exited.then(({ code, signal }) => reject(new Error(`the server left (${signal ?? code}): ${this.log_tail()}`)));
    });
    const found = await in_time(url, within, () => `the server is ready: ${this.log_tail()}\n${this.#where_it_waits()}`);
    this.ready_ms = performance.now() - began;
    this.url = found[0];
    this.port = Number(found[1]);
    this.pid = child.pid;
    this.token = fs.readFileSync(path.join(this.data_dir, 'token'), 'utf8').trim();
    this.#set_ready();
    return this;
  }

  async kill9() {
    this.killed = true;
    this.#not_ready();
    this.child.kill('SIGKILL');
    await this.exited;
    this.agent.destroy();
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  }

  // SIGTERM; answers {code, signal, ms}.
  async term({ within = patient_ms * patience } = {}) {
    const began = performance.now();
    this.child.kill('SIGTERM');
    const exit = await in_time(this.exited, within, 'the server leaves after SIGTERM');
    this.agent.destroy();
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    return { ...exit, ms: performance.now() - began };
  }

  async restart() {
    if (alive(this.child.pid)) await this.kill9();
    return this.start();
  }

  // What each thread of the server and its supervisor waits for, as the kernel knows it: for a start that does not come about.
  #where_it_waits() {
    const lines = [];
    for (const pid of [this.child.pid, ...this.supervisor_pids()])
      for (const thread of read_dir(`/proc/${pid}/task`)) {
        const of = (name) => read_text(`/proc/${pid}/task/${thread}/${name}`);
        const [state] = of('stat').split(') ').slice(-1)[0];
        lines.push(`${pid}/${thread} ${of('comm').trim()} ${state} in ${of('wchan') || '?'} ${of('syscall').split(' ')[0].trim()}`);
      }
    return lines.join('\n');
  }

  // This folder's supervisor and its keepers; the supervisor itself first.
  supervisor_pids() {
    const own = processes().filter((p) => p.state !== 'Z' && p.argv.includes('supervisor') && p.argv.some((w) => w.includes(this.data_dir)));
    const pids = own.map((p) => p.pid);
    return own.sort((a, b) => pids.includes(a.ppid) - pids.includes(b.ppid)).map((p) => p.pid);
  }

  // Ends the supervisor alone, as the kernel might.
  kill9_supervisor() {
    const [pid] = this.supervisor_pids();
    assert.ok(pid, 'there is a supervisor');
    kill9(pid);
    return pid;
  }

  // What DIR/server.json says, or undefined.
  card() {
    const file = path.join(this.data_dir, 'server.json');
    return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
  }

  log_tail(lines = 20) {
    const text = fs.existsSync(this.log_path) ? fs.readFileSync(this.log_path, 'utf8') : '';
    return text.trimEnd().split('\n').slice(-lines).join('\n');
  }

  async destroy(failed) {
    if (failed) console.error(`# the end of ${this.log_path}:\n${this.log_tail()}`);
    this.agent.destroy();
    if (this.child && alive(this.child.pid)) {
      this.child.kill('SIGKILL');
      await this.exited;
    }
    // A server that the command line started in the background is ours too.
    const card = this.card();
    if (card && !this.child) kill9(card.pid);
    // The keepers end their runs when the supervisor dies.
    for (const pid of this.supervisor_pids().slice(0, 1)) kill9(pid);
    await until(() => this.supervisor_pids().length === 0, { within: patient_ms * patience, what: 'the supervisor and its keepers are gone' });
  }

  // --- HTTP

  // Any request with the owner's token (`authorization: undefined` in the headers: without); `check: false` leaves the reply
  // unchecked against the API document.
  async api(method, target, body, { headers = {}, check = true, ...rest } = {}) {
    const all = { authorization: `Bearer ${this.token}`, ...headers };
    if (all.authorization === undefined) delete all.authorization;
    const reply = await request({ port: this.port, method, path: target, headers: all, body, agent: this.agent, ...rest });
    if (check) await check_contract(this, method, target, reply);
    return reply;
  }

  async expect(status, method, target, body, options) {
    const reply = await this.api(method, target, body, options);
    assert.equal(reply.status, status, `${method} ${target} -> ${reply.status} ${reply.text.slice(0, 500)}`);
    return reply.json ?? reply.text;
  }

  get(target, options) {
    return this.expect(200, 'GET', target, undefined, options);
  }

  launch(body, options) {
    return this.expect(201, 'POST', '/api/tasks', body, options);
  }

  run(command, more = {}, options) {
    return this.launch({ kind: 'command', command, ...more }, options);
  }

  ask(message, more = {}, options) {
    return this.launch({ agent_id: 'demo', message, ...more }, options);
  }

  task(id) {
    return this.get(`/api/tasks/${id}`);
  }

  cancel(id) {
    return this.expect(200, 'POST', `/api/tasks/${id}/cancel`);
  }

  // The task once `test(task)` holds; a list of states stands for "is in one of them".
  when(id, test, { within = patient_ms * patience } = {}) {
    const holds = Array.isArray(test) ? (task) => test.includes(task.status) : test;
    let seen;
    return until(
      async () => {
        seen = await this.task(id);
        return holds(seen) && seen;
      },
      { within, what: `${id}: ${test}` },
    ).catch((error) => {
      throw new Error(`${error.message}; it is ${seen?.status} (${seen?.reason}) ${JSON.stringify(seen?.error)}`);
    });
  }

  at_rest(id, options) {
    return this.when(id, (task) => ['completed', 'failed', 'cancelled'].includes(task.status) && !task.stopping, options);
  }

  stream(target, options) {
    return new Stream(this, target, options);
  }

  async events(id) {
    const all = [];
    for (;;) {
      const page = await this.get(`/api/tasks/${id}/events?after=${all.at(-1)?.seq ?? 0}&limit=500`);
      if (page.events.length === 0) return all;
      all.push(...page.events);
    }
  }

  #not_ready() {
    if (this.ready && !this.#is_ready) return;
    this.#is_ready = false;
    this.ready = new Promise((resolve) => (this.#resolve = resolve));
  }

  #set_ready() {
    this.#is_ready = true;
    this.#resolve();
  }

  #is_ready = false;
  #resolve;
}
