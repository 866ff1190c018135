// Server-sent events: a parser, one connection (Stream), and a reader that reconnects and keeps the books (Follower).
import http from 'node:http';

import { check_event } from './contract.mjs';
import { until } from './wait.mjs';

// Of a long stream only the first events are held to the API document: a reader must keep up with the server.
const checked_events = 500;

// Takes bytes, answers whole events {id, event, data}; `data` is parsed JSON. An event that is cut is dropped with its
// connection, as browsers do.
export class SseParser {
  #rest = '';
  #decoder = new TextDecoder('utf-8', { fatal: true });
  comments = 0;

  push(chunk) {
    const events = [];
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end < 0) return events;
      const block = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + 2);
      const fields = { data: [] };
      for (const line of block.split('\n')) {
        if (line.startsWith(':')) {
          this.comments++;
          continue;
        }
        const colon = line.indexOf(':');
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
        if (name === 'data') fields.data.push(value);
        else fields[name] = value;
      }
      if (fields.data.length === 0) continue;
      events.push({ id: fields.id, event: fields.event ?? 'message', data: JSON.parse(fields.data.join('\n')) });
    }
  }
}

// One connection to a stream. `events` grows; `closed` resolves when it is over, however that came.
export class Stream {
  events = [];
  status = 0;
  headers = {};
  bytes = 0;
  parser = new SseParser();

  // `after` is sent as Last-Event-ID. `on_event` is called for each.
  constructor(server, path, { after, headers = {}, on_event, on_bytes } = {}) {
    this.closed = new Promise((resolve) => (this.#close = resolve));
    const all = { authorization: `Bearer ${server.token}`, accept: 'text/event-stream', ...headers };
    if (after !== undefined) all['last-event-id'] = String(after);
    this.#call = http.request({ host: '127.0.0.1', port: server.port, path, headers: all, agent: false });
    this.opened = new Promise((resolve) => {
      this.#call.on('response', (reply) => {
        this.status = reply.statusCode;
        this.headers = reply.headers;
        resolve(this);
        reply.on('data', (chunk) => {
          this.bytes += chunk.length;
          if (this.status === 200) {
            for (const event of this.parser.push(chunk)) {
              this.events.push(event);
              // What is not as it should be fails the test that runs, as an error that nobody caught.
              if (path.startsWith('/api/') && this.events.length <= checked_events) void check_event(server, path, event);
              on_event?.(event, this);
            }
          }
          on_bytes?.(this);
        });
        reply.on('error', () => {});
        reply.on('close', () => this.#close());
      });
      this.#call.on('error', () => {
        resolve(this);
        this.#close();
      });
    });
    this.#call.end();
  }

  cut() {
    this.#call.destroy();
  }

  types() {
    return this.events.map((event) => event.event);
  }

  // The first event that `test` likes, now or later.
  seen(test, options) {
    return until(() => this.events.find(test), { what: `an event ${test}`, ...options });
  }

  #call;
  #close;
}

// Reads a task's stream (or another with dense ids) to its end, over as many connections as it takes, and counts what
// must not be: gaps, repeats, disorder. Connects again when the server is gone for a while.
export class Follower {
  last = 0;
  gaps = 0;
  repeats = 0;
  malformed = 0;
  resets = 0;
  connections = 0;
  received = 0;
  ended = false;
  stopped = false;
  delays = [];

  // `server` may be restarted on another port meanwhile. `cut_after()` answers after how many bytes this connection is to
  // be cut (Infinity: never). `dense: false` for ids that only grow.
  constructor(server, path, { cut_after = () => Infinity, on_event, dense = true, end_on = 'end' } = {}) {
    this.done = this.#run(server, path, cut_after, on_event, dense, end_on);
  }

  stop() {
    this.stopped = true;
    this.stream?.cut();
    return this.done;
  }

  books() {
    const { gaps, repeats, malformed, resets } = this;
    return { gaps, repeats, malformed, resets };
  }

  async #run(server, path, cut_after, on_event, dense, end_on) {
    while (!this.stopped && !this.ended) {
      await server.ready;
      if (this.stopped) return;
      const limit = cut_after();
      this.connections++;
      const stream = (this.stream = new Stream(server, path, {
        after: this.last || undefined,
        on_bytes: (s) => s.bytes >= limit && s.cut(),
        on_event: (event, s) => {
          this.#count(event, dense);
          on_event?.(event, this);
          if (event.event === end_on) {
            this.ended = true;
            s.cut();
          }
        },
      }));
      await stream.closed;
      if (stream.status === 204) this.ended = true;
      else if (stream.status && stream.status !== 200) throw new Error(`${path} answered ${stream.status} to a reader after ${this.last}`);
    }
  }

  #count(event, dense) {
    this.received++;
    if (event.event === 'reset') this.resets++;
    if (transient.includes(event.event)) return;
    const id = Number(event.id);
    if (!Number.isSafeInteger(id) || (dense && event.data.seq !== id) || event.data.type !== event.event) this.malformed++;
    if (id <= this.last) this.repeats++;
    else if (dense && id !== this.last + 1) this.gaps++;
    if (id > this.last) this.last = id;
    if (event.data.at) this.delays.push(Date.now() - Date.parse(event.data.at));
  }
}

// What is not stored has no id: it is true at the moment at which it is sent.
const transient = ['reset', 'server.stopping', 'counts'];

export function percentile(values, share) {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
