// A model that does as it is told: Anthropic Messages, OpenAI Chat Completions, OpenAI Responses and Gemini, streamed or not, driven
// by a script. No dependencies; the official SDKs hold it to the protocols (sdk.test.mjs), and it refuses what the real
// APIs refuse (checks.mjs).
//
//   import { start_model } from '../model/server.mjs';
//   const model = await start_model();
//   model.queue({ text: 'hello' });                        // the next answer, whoever asks
//   model.rule('fix the bug', [{ tool: { name: 'read', input: { path: 'a.c' } } }, { text: 'done' }]);
//   ... run errand with { env: model.env('anthropic') } ...
//   model.requests()                                       // what it was asked
//   await model.close();
//
// or by itself, driven over HTTP:  node tests/model/server.mjs [port]
//
// Which step answers a request, the first of these that has one:
//   1. a script inside a prompt: `@@[{"text":"hi"}]@@`, the last user message that has one;
//   2. a rule whose words are in a user message, the newest such message;
//      of these two, step n is for the n-th answer behind that message (the last one stays), so a question that is asked
//      again after a crash gets the same answer again;
//   3. the queue, first come first served;
//   4. the default, `{ text: 'ok' }`.
//
// A step:
//   text, reasoning          a string, or a list of strings: the pieces as they are streamed
//   signature, redacted      of the reasoning: its signature (or encrypted content); a block that is only that
//   tool, tools              { name, input, id?, raw?, namespace? }; raw: what is written instead of JSON; namespace: Responses
//   blocks                   [{ kind: 'text' | 'reasoning' | 'tool', ... }] where the order matters
//   stop                     'end' | 'tool_calls' | 'length' | 'refusal' | the provider's own word
//   usage, cost, model       { input, output, cache_read, cache_write, reasoning }; dollars; the name that answers
//   status                   an HTTP error instead, with error: { type, code, message, details }, retry_after, headers;
//   times                    only for the first n tries, then the step itself
//   wait                     a name: nothing is answered before release(name);  wait_at: { frame, name } inside the stream
//   delay_ms, chunk_ms       before the answer, between frames
//   hang, hang_at            never answers; stops at this frame (negative: from the end) and stays open
//   cut_at, end_at           the connection is broken, or ended as if all were well, before this frame
//   error_at                 { frame, type, code, message }: an error inside the stream, then its end
//   malformed_at             { frame, data }: these bytes before that frame
//   split_bytes              the stream is written in pieces of so many bytes
//   quirks                   Chat: no_usage, no_ids, no_done, whole_calls, no_index, reasoning_field, crlf
import { once } from 'node:events';
import http from 'node:http';
import { pathToFileURL } from 'node:url';
import { answers, error_body, error_frame } from './answers.mjs';
import { checks } from './checks.mjs';

const body_max = 64 << 20;
const records_max = 1000;

/** Starts a server on 127.0.0.1. `keys`: the only keys that it takes. `strict: false`: no checks of the requests. */
export async function start_model({ port = 0, keys = null, strict = true } = {}) {
  const model = new Model({ keys, strict });
  const server = http.createServer((request, response) => {
    model.serve(request, response).catch((error) => {
      if (!response.headersSent) send(response, 500, { error: { message: String(error.stack) } });
      else response.destroy();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  model.url = `http://127.0.0.1:${server.address().port}`;
  model.port = server.address().port;
  model.close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return model;
}

class Model {
  #rules = [];
  #queue = [];
  #default = { text: 'ok' };
  #records = [];
  #count = 0;
  #tries = new Map(); // How often a step with `times` has refused.
  #waiting = new Map(); // name -> the functions that let go.
  #released = new Map(); // name -> releases that came before their wait.
  #changes = []; // Who waits for something to happen here.

  constructor(options) {
    this.options = options;
  }

  /** Steps for whoever asks next. */
  queue(...steps) {
    this.#queue.push(...steps);
  }
  /** Steps for conversations with these words in a user message. `only`: { model, tools: true | false }. */
  rule(words, steps, only = {}) {
    this.#rules.push({ words, steps: [steps].flat(), only });
  }
  set_default(step) {
    this.#default = step;
  }
  /** What was asked, oldest first: { n, api, path, headers, body, step, state, status }. */
  requests(api) {
    return this.#records.filter((record) => record.api && (!api || record.api === api));
  }
  /** How often it was asked which models it has. */
  listings() {
    return this.#records.filter((record) => record.method === 'GET' && record.path.endsWith('/models')).length;
  }
  /** Resolves when at least so many model requests came. */
  async asked(count, { timeout_ms = 120_000 } = {}) {
    await this.#until(() => this.requests().length >= count, `${count} requests`, timeout_ms);
    return this.requests();
  }
  /** Resolves when request n (from 1) is over: 'answered', 'refused', 'cut', or 'gone' where the client left. */
  async over(n, { timeout_ms = 120_000 } = {}) {
    await this.#until(() => this.requests()[n - 1]?.state, `the end of request ${n}`, timeout_ms);
    return this.requests()[n - 1];
  }
  /** Resolves when a step stands at `name`. */
  async waiting(name, { timeout_ms = 120_000 } = {}) {
    await this.#until(() => this.#waiting.get(name)?.length, `a wait at ${name}`, timeout_ms);
  }
  /** Lets one step that waits at `name` go on; or the next one that comes there. */
  release(name) {
    const next = this.#waiting.get(name)?.shift();
    if (next) next();
    else this.#released.set(name, (this.#released.get(name) ?? 0) + 1);
  }
  reset() {
    this.#rules = [];
    this.#queue = [];
    this.#default = { text: 'ok' };
    this.#records = [];
    this.#tries.clear();
    this.#released.clear();
    for (const waiters of this.#waiting.values()) for (const go of waiters) go();
    this.#waiting.clear();
  }
  /** The environment that points a client here. */
  env(api = 'anthropic', key = 'test-key') {
    if (api === 'anthropic') return { ANTHROPIC_BASE_URL: this.url, ANTHROPIC_API_KEY: key };
    if (api === 'gemini') return { GOOGLE_GEMINI_BASE_URL: this.url, GEMINI_API_KEY: key };
    const kind = api === 'responses' ? 'openai_responses' : 'openai_chat';
    return { OPENAI_BASE_URL: `${this.url}/v1`, OPENAI_API_KEY: key, ERRAND_MODEL_API: kind };
  }

  async serve(request, response) {
    const raw = await read(request);
    const url = new URL(request.url, 'http://model');
    if (url.pathname.startsWith('/control')) return this.#control(request, url, raw, response);
    const headers = request.headers;
    const record = { n: ++this.#count, method: request.method, path: url.pathname, headers, at: Date.now(), state: null };
    this.#records.push(record);
    if (this.#records.length > records_max) this.#records.shift();
    try {
      record.body = raw ? JSON.parse(raw) : null;
    } catch {
      record.body = raw;
    }
    response.on('close', () => this.#end(record, response.writableFinished ? 'answered' : 'gone'));

    const api = api_of(url.pathname);
    const key = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace(/^Bearer /i, '');
    if (this.options.keys && !this.options.keys.includes(key))
      return this.#refuse(record, response, api, 401, { message: 'invalid x-api-key' });
    if (request.method === 'GET' && url.pathname.endsWith('/models'))
      return send(response, 200, { object: 'list', has_more: false, data: [{ id: 'scripted', object: 'model', type: 'model' }] });
    if (url.pathname.endsWith('/count_tokens') || url.pathname.endsWith('/input_tokens'))
      return send(response, 200, { object: 'response.input_tokens', input_tokens: Math.ceil(raw.length / 4) });
    if (url.pathname.endsWith(':countTokens')) return send(response, 200, { totalTokens: Math.ceil(raw.length / 4) });
    if (!api || request.method !== 'POST') return this.#refuse(record, response, api, 404, { message: `no ${url.pathname}` });
    record.api = api;
    // Gemini has in the address what the others have in the body.
    const object = record.body !== null && typeof record.body === 'object';
    const body = object && api === 'gemini' ? { ...record.body, ...named_in(url) } : record.body;
    const wrong = !object || typeof body.model !== 'string' ? 'model: Field required' : this.options.strict ? checks[api](body, headers) : null;
    record.step = wrong ? null : this.#pick(api, body);
    this.#changed();
    if (wrong) return this.#refuse(record, response, api, 400, { message: wrong });
    await this.#answer(record, body, record.step, response);
  }

  async #answer(record, body, step, response) {
    const { api } = record;
    if (step.wait) await this.#wait(step.wait, response);
    if (step.delay_ms) await sleep(step.delay_ms);
    if (step.hang) return;
    if (response.destroyed) return;
    if (step.status && this.#still_refuses(step, record)) return this.#refuse(record, response, api, step.status, step.error, step);
    const { json, frames, terminator } = answers[api](body, step);
    if (!body.stream) return send(response, 200, json, step.headers);

    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'request-id': 'req_scripted', ...step.headers });
    response.flushHeaders();
    // Frames are counted from the first, or from the end where the number is negative; 'end' is before the terminator.
    const place = (at) => (at === undefined ? -1 : at === 'end' ? frames.length - terminator : at < 0 ? frames.length + at : at);
    const [hang, cut, end] = [step.hang_at, step.cut_at, step.end_at].map(place);
    const [wait, wrong, broken] = [step.wait_at, step.error_at, step.malformed_at].map((at) => place(at?.frame));
    for (let i = 0; i < frames.length && !response.destroyed; i++) {
      if (i === hang) return;
      if (i === cut) {
        record.state = 'cut';
        this.#changed();
        return response.destroy();
      }
      if (i === end) break;
      if (i === wait) await this.#wait(step.wait_at.name, response);
      if (i === broken) await write(response, step.malformed_at.data, step);
      if (i === wrong) {
        const { frame: _, ...error } = step.error_at;
        await write(response, error_frame(api, error), step);
        break;
      }
      await write(response, frames[i], step);
      if (step.chunk_ms) await sleep(step.chunk_ms);
    }
    response.end();
  }

  #still_refuses(step, record) {
    if (step.times === undefined) return true;
    const key = JSON.stringify([step, (record.body.messages ?? record.body.input ?? record.body.contents)?.length]);
    const tries = (this.#tries.get(key) ?? 0) + 1;
    this.#tries.set(key, tries);
    // A step of the queue is used up; it stands for its tries.
    if (tries < step.times + 1 && step.queued) this.#queue.unshift(step);
    return tries <= step.times;
  }

  #refuse(record, response, api, status, error, step = {}) {
    record.status = status;
    record.state = 'refused';
    record.error = error?.message;
    const headers = { ...step.headers };
    if (step.retry_after !== undefined) headers['retry-after'] = String(step.retry_after);
    send(response, status, error_body(api, status, error), headers);
    this.#changed();
  }

  #pick(api, body) {
    const turns = turns_of(api, body);
    const behind = (i) => turns.slice(i + 1).filter((turn, k, all) => turn.role === 'assistant' && all[k - 1]?.role !== 'assistant').length;
    const step_of = (steps, i) => steps[Math.min(behind(i), steps.length - 1)];
    for (let i = turns.length - 1; i >= 0; i--) {
      if (turns[i].role !== 'user') continue;
      const script = script_in(turns[i].text);
      if (script) return step_of(script, i);
      const fits = ({ words, only }) =>
        turns[i].text.includes(words) &&
        (only.model === undefined || only.model === body.model) &&
        (only.tools === undefined || only.tools === Boolean(body.tools?.length));
      const rule = this.#rules.findLast(fits);
      if (rule) return step_of(rule.steps, i);
    }
    const queued = this.#queue.shift();
    if (queued) return Object.assign(queued, queued.times !== undefined ? { queued: true } : {});
    return this.#default;
  }

  async #wait(name, response) {
    const early = this.#released.get(name) ?? 0;
    if (early > 0) {
      this.#released.set(name, early - 1);
      return;
    }
    await new Promise((resolve) => {
      const waiters = this.#waiting.get(name) ?? [];
      this.#waiting.set(name, waiters);
      waiters.push(resolve);
      // Who left waits for nothing.
      response.once('close', () => {
        if (waiters.includes(resolve)) waiters.splice(waiters.indexOf(resolve), 1);
        resolve();
      });
      this.#changed();
    });
  }

  #end(record, state) {
    record.state ??= state;
    this.#changed();
  }

  #changed() {
    for (const look of this.#changes.slice()) look();
  }

  #until(holds, what, timeout_ms) {
    if (holds()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const done = (how, value) => {
        clearTimeout(timer);
        this.#changes = this.#changes.filter((other) => other !== look);
        how(value);
      };
      const look = () => holds() && done(resolve);
      const timer = setTimeout(() => done(reject, new Error(`no ${what} within ${timeout_ms} ms`)), timeout_ms);
      this.#changes.push(look);
    });
  }

  // POST /control           { reset?, rules?: [{ words, steps, only? }], queue?: [step], default?: step, release?: name }
  // GET  /control/requests  [?at_least=n]: waits until there are so many
  // GET  /control/waiting?name=x: waits until a step stands there
  async #control(request, url, raw, response) {
    try {
      if (request.method === 'POST') {
        const told = JSON.parse(raw || '{}');
        if (told.reset) this.reset();
        for (const { words, steps, only } of told.rules ?? []) this.rule(words, steps, only);
        this.queue(...(told.queue ?? []));
        if (told.default) this.set_default(told.default);
        if (told.release) this.release(told.release);
        return send(response, 200, { queued: this.#queue.length, rules: this.#rules.length });
      }
      if (url.pathname === '/control/requests') {
        const least = Number(url.searchParams.get('at_least') ?? 0);
        return send(response, 200, least ? await this.asked(least) : this.requests());
      }
      if (url.pathname === '/control/waiting') {
        await this.waiting(url.searchParams.get('name'));
        return send(response, 200, {});
      }
      return send(response, 404, { error: 'POST /control, GET /control/requests, GET /control/waiting?name=' });
    } catch (error) {
      return send(response, 400, { error: error.message });
    }
  }
}

function api_of(path) {
  if (path.endsWith('/messages')) return 'anthropic';
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  if (/\/models\/[^/]+:(streamG|g)enerateContent$/.test(path)) return 'gemini';
  return null;
}

const named_in = (url) => {
  const [, model, method] = /\/models\/([^/]+):(\w+)$/.exec(url.pathname);
  return { model, stream: method === 'streamGenerateContent' };
};

const text_of = (content) =>
  typeof content === 'string' ? content : (Array.isArray(content) ? content : []).map((part) => part.text ?? '').join('\n');

// The conversation as { role: 'user' | 'assistant', text }; what only brings tool results is no user message.
function turns_of(api, body) {
  if (api === 'responses') {
    const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
    return input.flatMap((item) => {
      if (item.type === 'function_call_output') return [{ role: 'tool', text: '' }];
      if (item.type === 'function_call' || item.type === 'reasoning') return [{ role: 'assistant', text: '' }];
      return [{ role: item.role, text: text_of(item.content) }];
    });
  }
  if (api === 'gemini')
    return body.contents.map(({ role, parts }) => ({
      role: role === 'model' ? 'assistant' : parts.some((part) => part.functionResponse) ? 'tool' : 'user',
      text: text_of(parts),
    }));
  return body.messages.map((message) => ({
    role: message.role === 'user' && !text_of(message.content) ? 'tool' : message.role,
    text: text_of(message.content),
  }));
}

function script_in(text) {
  const end = text.lastIndexOf(']@@');
  for (let begin = text.indexOf('@@['); begin >= 0 && begin < end; begin = text.indexOf('@@[', begin + 1)) {
    try {
      return JSON.parse(text.slice(begin + 2, end + 1));
    } catch {}
  }
  return null;
}

// Resolves when the kernel has it: what comes before a wait or a cut has left.
async function write(response, text, step) {
  const bytes = Buffer.from(step.quirks?.crlf ? text.replaceAll('\n', '\r\n') : text);
  const size = step.split_bytes ?? bytes.length;
  for (let i = 0; i < bytes.length && !response.destroyed; i += size)
    await new Promise((resolve) => {
      response.once('close', resolve);
      response.write(bytes.subarray(i, i + size), () => {
        response.off('close', resolve);
        resolve();
      });
    });
}

function send(response, status, value, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

async function read(request) {
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > body_max) throw new Error('a request over 64 MiB');
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const model = await start_model({ port: Number(process.argv[2] ?? 0) });
  console.log(JSON.stringify({ url: model.url, port: model.port }));
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
}
