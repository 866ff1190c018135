// errand for OpenCode: background tasks that outlive the session's turn, OpenCode and the machine's restarts.
// `errand opencode install` writes this file into OpenCode's plugin folder, with the two constants below filled in.
//
// - The tools (background_task, ...) go to errand's server as they are, with the session and message that call them.
// - What errand owes a session (a task ended, asks, ...) is put into its conversation once, when it is idle, and only then
//   marked as taken. One waiting request a session tells when there is something: nothing is polled.
// - A deleted session ends at errand. Nothing else ends one: neither an abort, nor leaving, nor a lost connection.
//
// Nothing is done at the start but reading a folder of small files, later; the server is started by the first call that
// needs it. No packages: OpenCode's own runtime is enough.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';

const installed = /* installed */ {}; // { version, binary, data_dir, wake }
const tools = /* tools */ []; // As GET /api/tools has them.

for (const { input_schema } of tools)
  if (input_schema.properties.work_dir) input_schema.properties.work_dir.description = "The folder to work in. Default: this project's.";

const block_s = 300; // A waiting request is renewed so often.
const reply_max = 16 << 20;
const watched_max = 64; // Sessions that are waited for at once.
const looked_back = 50; // Messages that are looked through for a notice that was put in before a crash.
const names_ms = 60_000; // The agents that are here are asked for at most so often,
const names_wait_ms = 1_000; // and no request of OpenCode's waits longer for it.
const pause_min_ms = 1_000;
const pause_max_ms = 60_000;

const env = process.env;
const data_dir =
  env.ERRAND_DATA_DIR ||
  installed.data_dir ||
  (env.XDG_DATA_HOME ? path.join(env.XDG_DATA_HOME, 'errand') : path.join(env.HOME || os.homedir(), '.local/share/errand'));
const socket = path.join(data_dir, 'errand.sock');
const wake = env.ERRAND_OPENCODE_WAKE ? env.ERRAND_OPENCODE_WAKE === '1' : installed.wake === true;

// ---- errand's server

// One request; answers { status, body } with the body parsed. An error whose `unsent` is true reached nobody.
function send(method, target, body, signal) {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : JSON.stringify(body);
    const headers = { accept: 'application/json' };
    if (bytes !== undefined) Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) });
    let where = { socketPath: socket, host: 'localhost' };
    let module = http;
    // A path that is too long for a socket: by the address that the server says.
    const address = env.ERRAND_URL || (socket.length > 107 && JSON.parse(read(path.join(data_dir, 'server.json')) || '{}').url);
    if (address) {
      const url = new URL(address);
      where = { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port || undefined };
      if (url.protocol === 'https:') module = https;
      headers.host = url.host;
      headers.authorization = `Bearer ${env.ERRAND_TOKEN || read(path.join(data_dir, 'token')).trim()}`;
    }
    const call = module.request({ ...where, method, path: target, headers, signal, agent: false }, (reply) => {
      const chunks = [];
      let size = 0;
      reply.on('data', (chunk) => {
        size += chunk.length;
        if (size > reply_max) call.destroy(new Error('the answer is too long'));
        else chunks.push(chunk);
      });
      reply.on('error', reject);
      reply.on('close', () => reject(new Error('the answer was cut')));
      reply.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        try {
          resolve({ status: reply.statusCode, body: text ? JSON.parse(text) : {} });
        } catch {
          reject(new Error(`the answer is not JSON (${reply.statusCode})`));
        }
      });
    });
    call.on('error', (error) => {
      // Bun says some of these in its own words.
      if (/ECONNREFUSED|ENOENT|FailedToOpenSocket|ConnectionRefused/.test(`${error.code} ${error.message}`)) error.unsent = true;
      reject(error);
    });
    call.end(bytes);
  });
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

// Has the command line find the server, or start it; one at a time.
let starting;
function start_server() {
  starting ??= new Promise((resolve, reject) => {
    const program = installed.binary && fs.existsSync(installed.binary) ? installed.binary : 'errand';
    const child = spawn(program, ['--data-dir', data_dir, 'agents', '--json'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk) => (said = (said + chunk).slice(-2_000)));
    child.on('error', () =>
      reject(new Error(`errand was not found (${program}). Install it, then run: errand opencode install`)),
    );
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`errand's server could not be started: ${said.trim() || `exit code ${code}`}`)),
    );
  }).finally(() => (starting = undefined));
  return starting;
}

// A request that starts the server where none runs. What a lost server may have done already is sent again only where
// that does no harm.
async function ask(method, target, body, { signal, repeatable = method === 'GET' } = {}) {
  for (let tries = 0; ; tries++) {
    try {
      return await send(method, target, body, signal);
    } catch (error) {
      if (signal?.aborted || tries >= 3 || env.ERRAND_URL || !(error.unsent || repeatable)) throw error;
      await start_server();
    }
  }
}

// Which agents there are changes while OpenCode runs: what `agent` may be is said by the server, where one runs. Nothing is
// started for it, and without an answer the words of before stand.
const agent_of = (list) => list.find(({ name }) => /^[a-z]+_task$/.test(name))?.input_schema?.properties?.agent;
let named_at = -Infinity;
let naming = Promise.resolve();
function name_agents() {
  if (performance.now() - named_at < names_ms) return naming;
  named_at = performance.now();
  naming = send('GET', '/api/tools', undefined, AbortSignal.timeout(names_wait_ms)).then(
    ({ status, body }) => {
      const words = status === 200 && Array.isArray(body.tools) ? agent_of(body.tools)?.description : undefined;
      const agent = agent_of(tools);
      if (agent && typeof words === 'string') agent.description = words.slice(0, 2_000);
      else named_at = -Infinity;
    },
    () => (named_at = -Infinity), // No server, perhaps: the next request looks again.
  );
  return naming;
}

// Resolves when a server may be there again: its socket changed, or the time is over.
function until_back(ms, signal) {
  return new Promise((resolve) => {
    let watcher;
    const done = () => {
      clearTimeout(timer);
      watcher?.close();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref?.();
    signal.addEventListener('abort', done);
    try {
      watcher = fs.watch(data_dir, { persistent: false }, (_, name) => name === 'server.json' && done());
      watcher.on('error', () => {});
    } catch {
      // No folder yet: the time will do.
    }
  });
}

// ---- Which process looks after which session: one small file each, so that a session whose OpenCode is gone is taken up
// by the next one of its folder, and one that two have open is told once.

const records = path.join(data_dir, 'opencode');
const is_session = (id) => typeof id === 'string' && /^[A-Za-z0-9_-]{1,100}$/.test(id);
const record_of = (id) => path.join(records, `${id}.json`);

// Changes when a process number is used again.
const born = (pid) => read(`/proc/${pid}/stat`).split(') ').at(-1).split(' ')[19] ?? '';
const own = { pid: process.pid, born: born(process.pid) };

function claim(id, directory) {
  try {
    fs.mkdirSync(records, { recursive: true, mode: 0o700 });
    const file = record_of(id);
    fs.writeFileSync(`${file}.${own.pid}`, JSON.stringify({ ...own, directory }), { mode: 0o600 });
    fs.renameSync(`${file}.${own.pid}`, file);
  } catch {
    // Without it this process still does its work; a later one does not know of it.
  }
}

function claimed(id) {
  try {
    return JSON.parse(fs.readFileSync(record_of(id), 'utf8'));
  } catch {
    return undefined;
  }
}

const is_ours = (record) => !record || (record.pid === own.pid && record.born === own.born);
const is_orphan = (record) => !record.born || born(record.pid) !== record.born;

// ---- The plugin

export const Errand = async ({ client, directory }) => {
  const sessions = new Map(); // id -> { busy, watching, shell, calls: under way, idle: who waits for it }; those that something is known of
  const leaving = new AbortController();

  function session(id) {
    let found = sessions.get(id);
    if (!found) sessions.set(id, (found = { busy: false, watching: false, shell: false, calls: 0, idle: new Set() }));
    return found;
  }

  function set_busy(id, busy) {
    const state = session(id);
    state.busy = busy;
    if (busy) return;
    for (const go of [...state.idle]) go();
    if (!state.watching && !state.shell && !state.calls) sessions.delete(id);
  }

  const until_idle = (state) =>
    state.busy && !leaving.signal.aborted
      ? new Promise((resolve) => {
          const go = () => {
            state.idle.delete(go);
            leaving.signal.removeEventListener('abort', go);
            resolve();
          };
          state.idle.add(go);
          leaving.signal.addEventListener('abort', go);
        })
      : undefined;

  // Waits for what errand owes the session, for as long as it is ours.
  function watch(id) {
    if (!is_session(id)) return;
    claim(id, directory);
    const state = session(id);
    if (state.watching) return;
    if ([...sessions.values()].filter((other) => other.watching).length >= watched_max) return;
    state.watching = true;
    attend(id, state)
      .catch(() => {})
      .finally(() => (state.watching = false));
  }

  async function attend(id, state) {
    let pause = pause_min_ms;
    while (!leaving.signal.aborted && is_ours(claimed(id))) {
      const began = performance.now();
      let reply;
      try {
        reply = await send('GET', `/api/sessions/${id}/notices?block=true&timeout_s=${block_s}`, undefined, leaving.signal);
        if (reply.status === 404 && !state.calls) return forget(id); // Ended, or never there.
        if (reply.status === 200 && reply.body.notices?.length) {
          await until_idle(state);
          const told = await deliver(id);
          if (told === 'gone') return;
          if (told) {
            pause = pause_min_ms;
            continue;
          }
        } else if (reply.status === 200 && performance.now() - began > pause_min_ms) {
          continue;
        }
      } catch {
        if (leaving.signal.aborted) return;
        // Killed, for its socket is still there: its tasks go on and will want to be told of. One that was stopped is
        // left so until it is needed.
        if (!env.ERRAND_URL && claimed(id) && fs.existsSync(socket)) await start_server().catch(() => {});
      }
      await until_back(pause, leaving.signal);
      pause = Math.min(pause * 2, pause_max_ms);
    }
  }

  // Puts what is owed into the conversation and says that it is done. True where that was all, or has to wait for the
  // session; 'gone' where this OpenCode has no such session.
  async function deliver(id) {
    // Read again: a call of background_output may have taken some while the session was busy.
    const { status, body } = await send('GET', `/api/sessions/${id}/notices`, undefined, leaving.signal);
    if (status !== 200) return false;
    if (!is_ours(claimed(id))) return true;
    const owed = body.notices ?? [];
    if (!owed.length) return true;
    const seen = await already_there(id);
    if (!(seen instanceof Set)) return seen;
    const fresh = owed.filter((notice) => !seen.has(notice.id));
    if (fresh.length && session(id).busy) return true; // Meanwhile: again when it is idle.
    if (fresh.length && !(await put_in(id, fresh))) return false;
    for (const notice of fresh) toast(notice);
    for (const notice of owed) await send('POST', `/api/sessions/${id}/notices/${encodeURIComponent(notice.id)}/taken`, {}, leaving.signal);
    return true;
  }

  // The notices that are in the conversation already: put in by one that died before it could say so.
  async function already_there(id) {
    const { data, response } = await client.session.messages({ path: { id }, query: { limit: looked_back } });
    if (!Array.isArray(data)) return response?.status === 404 ? 'gone' : false;
    return new Set(data.flatMap(({ parts }) => parts.map((part) => part.metadata?.errand_notice)).filter(Boolean));
  }

  async function put_in(id, notices) {
    const { data: info } = await client.session.get({ path: { id } });
    if (!info) return false;
    const body = {
      parts: notices.map((notice) => ({
        type: 'text',
        text: `<notification>\n${notice.text}\n</notification>`,
        synthetic: true,
        metadata: { errand_notice: notice.id, errand_task: notice.task_id },
      })),
    };
    // Without these OpenCode takes its defaults, and a read-only session would no longer be one.
    if (info.agent) body.agent = info.agent;
    if (info.model) {
      body.model = { providerID: info.model.providerID, modelID: info.model.id ?? info.model.modelID };
      if (info.model.variant && info.model.variant !== 'default') body.variant = info.model.variant;
    }
    const { error } = wake
      ? await client.session.promptAsync({ path: { id }, body })
      : await client.session.prompt({ path: { id }, body: { ...body, noReply: true } });
    return !error;
  }

  function toast(notice) {
    const lines = notice.text.split('\n').map((line) => line.replace(/^[#*\s-]+|[*\s]+$/g, '')).filter(Boolean);
    const status = notice.data?.status;
    const variant = status === 'completed' ? 'success' : status === 'failed' ? 'error' : notice.kind === 'ask' ? 'warning' : 'info';
    client.tui
      .showToast({ body: { title: 'errand', message: lines.slice(0, 2).join('\n').slice(0, 200), variant } })
      ?.catch?.(() => {});
  }

  function forget(id) {
    fs.rmSync(record_of(id), { force: true });
  }

  // R3.5: the one event that ends a session.
  async function end(id) {
    if (!is_session(id)) return;
    const known = claimed(id);
    sessions.delete(id);
    try {
      // One that errand may know is told to a server that is started for it; others only where one runs.
      const { status } = await (known ? ask : send)('DELETE', `/api/sessions/${id}`);
      if (status < 500) forget(id);
    } catch {
      // No server, and nothing of errand's in this session.
    }
  }

  // Sessions of this folder whose OpenCode is gone: what they are owed is ours to tell.
  function take_up() {
    let names = [];
    try {
      names = fs.readdirSync(records);
    } catch {
      return;
    }
    const orphans = [];
    for (const name of names) {
      const id = /^(.+)\.json$/.exec(name)?.[1];
      const record = id && is_session(id) && claimed(id);
      if (record && record.directory === directory && is_orphan(record)) orphans.push({ id, at: fs.statSync(record_of(id)).mtimeMs });
    }
    orphans.sort((a, b) => b.at - a.at);
    for (const { id } of orphans.slice(0, watched_max / 2)) watch(id);
  }

  async function call(info, args, context) {
    const id = context.sessionID;
    set_busy(id, true);
    const given = { ...args };
    const properties = info.input_schema.properties;
    // By its record errand knows whose conversation this is.
    if (given.fork && is_session(id)) claim(id, directory);
    if (properties.work_dir && !given.resume) given.work_dir = path.resolve(context.directory ?? directory, given.work_dir || '.');
    const state = session(id);
    state.calls++;
    let reply;
    try {
      reply = await ask(
        'POST',
        `/api/tools/${info.name}`,
        { session_id: id, message_id: context.messageID, arguments: given },
        { signal: context.abort, repeatable: info.annotations?.read_only === true },
      );
    } catch (error) {
      if (context.abort?.aborted) throw new Error('The wait was cancelled. The background tasks go on.');
      const list = tools.find(({ name }) => name.endsWith('_list'))?.name;
      throw new Error(
        error.unsent || !list
          ? error.message
          : `${error.message}. The call may have been carried out: ${list} shows the tasks.`,
      );
    } finally {
      state.calls--;
    }
    // From now on, also for those that this session had before OpenCode was started.
    watch(id);
    const { text, data, is_error, detail } = reply.body;
    if (reply.status !== 200) throw new Error(detail ?? `errand answered ${reply.status}.`);
    if (is_error) throw new Error(text);
    return { title: title_of(data), output: text, metadata: { errand: data?.task_id ? { task_id: data.task_id, status: data.status } : {} } };
  }

  const title_of = (data) => (data?.task_id ? `${data.title || data.task_id} (${data.status ?? data.path ?? ''})` : '');

  setTimeout(take_up, 100).unref?.();

  return {
    tool: Object.fromEntries(
      tools.map((info) => [
        info.name,
        {
          description: info.description,
          args: info.input_schema.properties,
          execute: (args, context) => call(info, args, context),
        },
      ]),
    ),

    // Which arguments are optional: OpenCode takes all properties of a plain object for required.
    'tool.definition': async (input, output) => {
      const info = tools.find(({ name }) => name === input.toolID);
      if (!info) return;
      if (info.input_schema.properties.agent) await name_agents();
      output.jsonSchema = info.input_schema;
    },

    // What the errand command takes as the parent of what it starts.
    'shell.env': async (input, output) => {
      if (!input.sessionID) return;
      output.env.ERRAND_SESSION_ID = input.sessionID;
      session(input.sessionID).shell = true;
    },

    'chat.message': async (input) => {
      if (!input.sessionID) return;
      set_busy(input.sessionID, true);
      if (claimed(input.sessionID)) watch(input.sessionID);
    },

    event: async ({ event }) => {
      const { sessionID: id, status, info } = event.properties ?? {};
      if (event.type === 'session.deleted') return void end(info?.id ?? id);
      if (event.type === 'session.status' && id) set_busy(id, status?.type !== 'idle');
      if (event.type === 'session.idle' && id) {
        const shell = sessions.get(id)?.shell;
        if (shell) session(id).shell = false;
        set_busy(id, false);
        // The errand command may have started something for it.
        if (shell && is_session(id)) send('GET', `/api/sessions/${id}`).then((reply) => reply.status === 200 && watch(id), () => {});
      }
    },

    dispose: async () => leaving.abort(),
  };
};
