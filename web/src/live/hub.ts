// One event stream for all tabs of a browser. Over HTTP/1.1 a browser opens six connections to a host: a stream for each
// tab would hang the seventh. Runs in a shared worker, or inside the tab where there is none.
//
// The stream is resumed by position, so a reconnect (a lost server, another set of watched tasks) loses and repeats
// nothing.
import { credentials } from '../api/credentials';
import type { Counts, StreamEvent, TaskEvent } from '../api/types';
import type { Connection, FromHub, ToHub } from './protocol';
import { SseParser, type ServerEvent } from './sse';

export interface Port {
  postMessage(message: FromHub): void;
}

interface Client {
  port: Port;
  watched: Set<string>;
  heard: number;
  held: TaskEvent[]; // Of tasks it does not watch: they go together, a few times a second.
}

const retryFirstMs = 500;
const retryMostMs = 10_000;
const silenceMs = 40_000; // The server speaks every 15 s.
const clientSilenceMs = 180_000; // A hidden tab's timers run once a minute.
const watchedMost = 100; // What the server takes.
const gatherUsualMs = 40; // Thousands of tasks may change in a second; a tab that was told of each could do nothing else.

export interface HubOptions {
  fetch?: typeof fetch;
  now?: () => number;
  random?: () => number;
  gatherMs?: number;
}

export class Hub {
  readonly #clients = new Map<Port, Client>();
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #gatherMs: number;
  #session: string | null = null;
  #position: string | null = null; // The last id; null: begin with now.
  #connection: Connection = { state: 'connecting' };
  #counts: { counts: Counts; running: number } | null = null;
  #countsHeld = false; // Not told yet.
  #gather: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | null = null;
  #connected = ''; // The watched tasks of the stream that is open.
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #rewatch: ReturnType<typeof setTimeout> | undefined;

  constructor({ fetch: given, now, random, gatherMs }: HubOptions = {}) {
    this.#gatherMs = gatherMs ?? gatherUsualMs;
    this.#fetch = given ?? ((...args) => fetch(...args));
    this.#now = now ?? Date.now;
    this.#random = random ?? Math.random;
  }

  receive(port: Port, message: ToHub): void {
    let client = this.#clients.get(port);
    if (!client) {
      client = { port, watched: new Set(), heard: this.#now(), held: [] };
      this.#clients.set(port, client);
    }
    client.heard = this.#now();
    switch (message.kind) {
      case 'hello':
        port.postMessage({ kind: 'connection', connection: this.#connection });
        if (this.#counts) port.postMessage({ kind: 'counts', ...this.#counts });
        if (message.session && (message.session !== this.#session || this.#isIdle())) {
          this.#session = message.session;
          this.#failures = 0;
          this.#connect();
        }
        return;
      case 'watch':
        client.watched = new Set(message.tasks);
        if (message.tasks.length === 0) return; // Needs no new stream; the next one leaves them out.
        if (this.#connection.state === 'live' && message.tasks.every((id) => this.#connected.includes(id))) {
          port.postMessage({ kind: 'watching', tasks: message.tasks });
          return;
        }
        clearTimeout(this.#rewatch);
        this.#rewatch = setTimeout(() => this.#connect(), 5);
        return;
      case 'retry':
        if (this.#connection.state === 'broken') this.#connect();
        return;
      case 'alive':
        return;
      case 'bye':
        this.#clients.delete(port);
        if (this.#clients.size === 0) this.#rest();
    }
  }

  #watched(): string[] {
    const oldest = this.#now() - clientSilenceMs;
    for (const [port, client] of this.#clients) if (client.heard < oldest) this.#clients.delete(port);
    return [...new Set([...this.#clients.values()].flatMap((client) => [...client.watched]))].slice(-watchedMost);
  }

  #tell(message: FromHub): void {
    for (const { port } of this.#clients.values()) port.postMessage(message);
  }

  #become(connection: Connection): void {
    this.#connection = connection;
    this.#tell({ kind: 'connection', connection });
  }

  // Nothing is open and nothing is going to be: the next tab that comes begins again.
  #isIdle(): boolean {
    return this.#abort === null && this.#connection.state !== 'broken';
  }

  // The last tab left. A worker may outlive it (a reload), and must not take its old stream for an open one.
  #rest(): void {
    this.#stop();
    this.#connection = { state: 'connecting' };
    this.#connected = '';
    this.#position = null;
  }

  #stop(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    this.#abort?.abort();
    this.#abort = null;
  }

  #connect(): void {
    this.#stop();
    if (!this.#session) return;
    const abort = new AbortController();
    this.#abort = abort;
    void this.#run(abort).catch(() => {
      if (this.#abort === abort) this.#lost();
    });
  }

  #lost(): void {
    this.#stop();
    const wait = Math.min(retryMostMs, retryFirstMs * 2 ** this.#failures++) * (0.75 + this.#random() / 2);
    this.#become({ state: 'broken', retryAt: this.#now() + wait });
    this.#retry = setTimeout(() => this.#connect(), wait);
  }

  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#lost(), silenceMs);
  }

  async #run(abort: AbortController): Promise<void> {
    const tasks = this.#watched();
    const headers: Record<string, string> = { Accept: 'text/event-stream', ...credentials(this.#session ?? '') };
    if (this.#position !== null) headers['Last-Event-ID'] = this.#position;
    if (this.#connection.state !== 'live') this.#become({ state: 'connecting' });
    this.#listen();
    const path = '/api/stream' + (tasks.length > 0 ? `?tasks=${tasks.map(encodeURIComponent).join(',')}` : '');
    const response = await this.#fetch(path, { headers, signal: abort.signal, cache: 'no-store' });
    if (this.#abort !== abort) return;
    if (response.status === 401 || response.status === 403) {
      this.#stop();
      this.#session = null;
      return this.#become({ state: 'unauthorized' });
    }
    if (!response.ok || !response.body) throw new Error(`the stream answered ${response.status}`);
    // Without a position the stream begins "now", and what happened since it was lost or never known is in no event.
    const fresh = this.#position === null;
    this.#connected = tasks.join(',');
    this.#failures = 0;
    if (fresh) this.#tell({ kind: 'reset' });
    if (this.#connection.state !== 'live') this.#become({ state: 'live' });
    for (const { port, watched } of this.#clients.values()) {
      const covered = [...watched].filter((id) => tasks.includes(id));
      if (covered.length > 0) port.postMessage({ kind: 'watching', tasks: covered });
    }
    const reader = response.body.getReader();
    const parser = new SseParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (this.#abort !== abort) return;
      if (done) throw new Error('the stream ended');
      this.#listen();
      this.#deliver(parser.push(value));
    }
  }

  #deliver(received: ServerEvent[]): void {
    const events: TaskEvent[] = [];
    for (const event of received) {
      if (event.id) this.#position = event.id;
      const body = JSON.parse(event.data) as StreamEvent;
      if (body.type === 'counts') {
        this.#counts = body.data;
        this.#countsHeld = true;
      } else if (body.type === 'reset') {
        this.#sendAll();
        this.#tell({ kind: 'reset' });
      } else if (body.type !== 'server.stopping') {
        events.push(body);
      }
    }
    for (const client of this.#clients.values()) {
      const now = events.some((event) => client.watched.has(event.task_id));
      for (const event of events)
        if (isListed(event.type) || client.watched.has(event.task_id)) client.held.push(event);
      // What somebody looks at does not wait, and what came before it goes before it.
      if (now) this.#send(client);
    }
    if (!this.#countsHeld && [...this.#clients.values()].every(({ held }) => held.length === 0)) return;
    if (this.#gatherMs === 0) return this.#sendAll();
    this.#gather ??= setTimeout(() => this.#sendAll(), this.#gatherMs);
  }

  #send(client: Client): void {
    if (client.held.length === 0) return;
    client.port.postMessage({ kind: 'events', events: client.held });
    client.held = [];
  }

  #sendAll(): void {
    clearTimeout(this.#gather);
    this.#gather = undefined;
    for (const client of this.#clients.values()) this.#send(client);
    if (this.#countsHeld && this.#counts) this.#tell({ kind: 'counts', ...this.#counts });
    this.#countsHeld = false;
  }
}

const isListed = (type: string): boolean =>
  type === 'task.created' || type === 'task.status' || type === 'task.progress' || type === 'task.deleted';
