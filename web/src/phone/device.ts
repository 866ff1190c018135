// This browser as a paired device: a key that no script can read, in the browser's own store, and sessions that it opens
// by signing. The page and its service worker use it alike.
export interface Device {
  id: string;
  name: string;
  scopes: string[];
  key: CryptoKey; // Private, and not to be taken out.
}

export interface DeviceSession {
  session: string;
  expires_at: string;
}

// The server has answered, and does not want us.
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const shelf = 'device';
const place = 'own';
const signedPrefix = 'errand device login v1\n';

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open('errand', 1);
    request.onupgradeneeded = () => request.result.createObjectStore(shelf);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new Error(request.error?.message ?? 'the browser stores nothing'));
  });
}

async function within<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await opened();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(shelf, mode);
      const request = act(transaction.objectStore(shelf));
      // Told when it is kept, not when it is asked for.
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(new Error(transaction.error?.message ?? 'the browser stores nothing'));
    });
  } finally {
    database.close();
  }
}

// Null where this browser is none, or keeps nothing.
export async function readDevice(): Promise<Device | null> {
  try {
    const kept = await within('readonly', (store) => store.get(place) as IDBRequest<Device | undefined>);
    return kept?.id ? kept : null;
  } catch {
    return null;
  }
}
const keepDevice = (device: Device) => within('readwrite', (store) => store.put(device, place));
export const forgetDevice = () => within('readwrite', (store) => store.delete(place));

export const base64url = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

async function post<T>(path: string, body: object): Promise<T> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const reply = (await response.json()) as T & { detail?: string };
  if (!response.ok) throw new Refused(response.status, reply.detail ?? response.statusText);
  return reply;
}

// Makes a key, and hands its public half and the code to the server.
export async function pair(code: string, name: string): Promise<Device> {
  const made = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
  const key = base64url(await crypto.subtle.exportKey('raw', made.publicKey));
  // Kept before the code is used up: a browser that keeps nothing must not be paired.
  const device: Device = { id: '', name, scopes: [], key: made.privateKey };
  await keepDevice(device);
  const paired = await post<{ device: Omit<Device, 'key'> }>('/api/pair', { code, name, key });
  const { id, scopes } = paired.device;
  await keepDevice({ ...device, id, scopes });
  return { ...device, id, scopes };
}

export async function openSession(device: Device): Promise<DeviceSession> {
  const { challenge } = await post<{ challenge: string }>('/api/login/challenge', { device: device.id });
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    device.key,
    new TextEncoder().encode(signedPrefix + challenge),
  );
  return post('/api/login/device', { device: device.id, challenge, signature: base64url(signature) });
}
