// Who this browser is. A link of `errand open` has a one-time code in its fragment; it is exchanged for a session: a
// cookie that no script can read, and a secret that is kept here, per tab, and sent with every call. A further tab asks
// those that are open for it; when the last one is closed it is gone. A paired phone has a key instead (phone/device.ts):
// it opens a session whenever it needs one, and keeps none.
import { store } from '../lib/store';
import { openSession, readDevice, Refused, type Device } from '../phone/device';

const key = 'errand.session';
export type Access = 'checking' | 'open' | 'locked';

export const access = store<Access>('checking');
// Why it is locked, in the server's words, where there is more to say than "nobody logged in".
export const refusal = store<string | null>(null);
// What this browser is, where it is a paired phone and nobody logged in to it otherwise.
export const ownDevice = store<Device | null>(null);

let secret: string | null = null;
const listeners = new Set<(secret: string) => void>();
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('errand.session');

type Word = { kind: 'ask' } | { kind: 'session'; secret: string };

export const session = (): string | null => secret;
export function onSession(listener: (secret: string) => void): void {
  listeners.add(listener);
  if (secret) listener(secret);
}

function keep(value: string, tell: boolean): void {
  secret = value;
  try {
    if (!ownDevice.get()) sessionStorage.setItem(key, value);
  } catch {
    // Then it lives as long as this page.
  }
  refusal.set(null);
  access.set('open');
  if (tell) channel?.postMessage({ kind: 'session', secret: value } satisfies Word);
  for (const listener of listeners) listener(value);
}

let entering: Promise<void> | null = null;
let renewal: ReturnType<typeof setTimeout> | undefined;
const retryMs = 3000;

// By the phone's own key. Renewed before it ends; a phone that slept past that finds out at its next call.
function enter(device: Device): Promise<void> {
  entering ??= openSession(device)
    .then(({ session: opened, expires_at }) => {
      keep(opened, false);
      clearTimeout(renewal);
      const left = Math.max(60_000, (Date.parse(expires_at) - Date.now()) * 0.8);
      renewal = setTimeout(() => void enter(device), left);
    })
    .catch((error: unknown) => {
      if (error instanceof Refused && error.status < 500) {
        ownDevice.set(null);
        lock(error.message);
      } else {
        // The server is away: it is asked until it is back, and what is on the screen stays.
        clearTimeout(renewal);
        renewal = setTimeout(() => void enter(device), retryMs);
      }
    })
    .finally(() => (entering = null));
  return entering;
}

// The server does not know the session any more.
export function lock(why: string | null): void {
  const device = ownDevice.get();
  if (device) return void enter(device);
  secret = null;
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
  refusal.set(why);
  access.set('locked');
}

async function exchange(code: string): Promise<void> {
  const response = await fetch('/api/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const body = (await response.json()) as { session?: string; detail?: string };
  if (response.ok && body.session) keep(body.session, true);
  else throw new Error(body.detail ?? response.statusText);
}

function fromOtherTab(): Promise<void> {
  return new Promise((resolve) => {
    if (!channel) return resolve();
    const done = () => resolve();
    listeners.add(done);
    channel.postMessage({ kind: 'ask' } satisfies Word);
    setTimeout(() => {
      listeners.delete(done);
      resolve();
    }, 250);
  });
}

// Before anything is asked of the server.
export async function start(): Promise<void> {
  if (channel) {
    channel.onmessage = ({ data }: MessageEvent<Word>) => {
      if (data.kind === 'ask' && secret) channel.postMessage({ kind: 'session', secret } satisfies Word);
      else if (data.kind === 'session' && data.secret !== secret) keep(data.secret, false);
    };
  }
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  let why: string | null = null;
  if (code) {
    // Neither the history nor a copied address may have it.
    history.replaceState(history.state, '', location.pathname + location.search);
    try {
      return await exchange(code);
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
  }
  if (import.meta.env.DEV) return keep('dev', false);
  try {
    const kept = sessionStorage.getItem(key);
    if (kept) return keep(kept, false);
  } catch {
    // Storage is off.
  }
  const device = code ? null : await readDevice();
  if (device) {
    ownDevice.set(device);
    return enter(device);
  }
  await fromOtherTab();
  if (!secret) lock(why);
}

export async function logout(): Promise<void> {
  if (!secret) return;
  await fetch('/api/logout', { method: 'POST', headers: { 'X-Errand-Session': secret } });
  lock(null);
}
