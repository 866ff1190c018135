// This tab's side of the live stream: what it watches, what it hears, and whether it hears anything.
import type { Counts, TaskEvent } from '../api/types';
import { lock, onSession } from '../api/session';
import { arrives } from '../lib/arrives';
import { ownSharedWorker } from '../lib/scripts';
import { store } from '../lib/store';
import type { Connection, FromHub, ToHub } from './protocol';

export const connection = store<Connection>({ state: 'connecting' });
export const counts = store<{ counts: Counts; running: number } | null>(null);

// Settles when the stream is open, or cannot be: what is read behind that misses nothing and need not be read again.
let settle: () => void = () => {};
export const settled = new Promise<void>((resolve) => (settle = resolve));

type EventListener = (events: TaskEvent[]) => void;
const eventListeners = new Set<EventListener>();
const resetListeners = new Set<() => void>();
const watching = new Map<string, { count: number; ready: Set<() => void>; covered: boolean }>();

let send: (message: ToHub) => void = () => {};

function connectHub(receive: (message: FromHub) => void): (message: ToHub) => void {
  if (typeof SharedWorker !== 'undefined') {
    try {
      const worker = ownSharedWorker('hub');
      worker.port.onmessage = ({ data }: MessageEvent<FromHub>) => receive(data);
      return (message) => worker.port.postMessage(message);
    } catch {
      // Blocked or broken: this tab keeps a stream of its own.
    }
  }
  const hub = arrives(() => import('./hub')).then(({ Hub }) => new Hub());
  const port = { postMessage: (message: FromHub) => queueMicrotask(() => receive(message)) };
  return (message) => void hub.then((own) => own.receive(port, message));
}

function receive(message: FromHub): void {
  switch (message.kind) {
    case 'connection':
      connection.set(message.connection);
      if (message.connection.state !== 'connecting') settle();
      if (message.connection.state === 'unauthorized') lock(null);
      return;
    case 'counts':
      counts.set({ counts: message.counts, running: message.running });
      return;
    case 'events':
      for (const listener of eventListeners) listener(message.events);
      return;
    case 'watching':
      for (const id of message.tasks) {
        const entry = watching.get(id);
        if (!entry) continue;
        entry.covered = true;
        for (const ready of entry.ready) ready();
        entry.ready.clear();
      }
      return;
    case 'reset':
      for (const listener of resetListeners) listener();
  }
}

export function startLive(): void {
  send = connectHub(receive);
  onSession((session) => {
    send({ kind: 'hello', session });
    tellWatched();
  });
  addEventListener('online', () => send({ kind: 'retry' }));
  addEventListener('pagehide', () => send({ kind: 'bye' }));
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload();
  });
  setInterval(() => send({ kind: 'alive' }), 20_000);
}

export const retryNow = (): void => send({ kind: 'retry' });

export function onEvents(listener: EventListener): () => void {
  eventListeners.add(listener);
  return () => eventListeners.delete(listener);
}

// Something may have been missed: read again what is shown.
export function onReset(listener: () => void): () => void {
  resetListeners.add(listener);
  return () => resetListeners.delete(listener);
}

const tellWatched = (): void => send({ kind: 'watch', tasks: [...watching.keys()] });

// Everything of one task, from when `ready` is called: read its snapshot then, and nothing is missed.
export function watchTask(id: string, ready: () => void): () => void {
  const entry = watching.get(id) ?? { count: 0, ready: new Set(), covered: false };
  entry.count++;
  entry.ready.add(ready);
  watching.set(id, entry);
  tellWatched();
  return () => {
    entry.ready.delete(ready);
    if (--entry.count === 0) {
      watching.delete(id);
      tellWatched();
    }
  };
}
