// Notifications on this phone: the browser's subscription, and the server's knowledge of it, made and ended together.
import { api, call } from '../api/client';
import type { PushRules } from '../api/types';
import type { Device } from './device';
import { worker } from './register';

export type Hindrance = 'unsupported' | 'denied';
export class Hindered extends Error {
  constructor(readonly why: Hindrance) {
    super(why);
  }
}

const fromBase64url = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const same = (a: ArrayBuffer | null | undefined, b: Uint8Array): boolean =>
  !!a && a.byteLength === b.length && new Uint8Array(a).every((byte, i) => byte === b[i]);

const path = (device: Device) => ({ params: { path: { id: device.id } } });

export const readPush = (device: Device, signal: AbortSignal) =>
  call(api.GET('/api/devices/{id}/push', { ...path(device), signal }));

// Asks the person, where nobody has; then the browser; then tells the server.
export async function switchOn(device: Device, key: string, rules: PushRules): Promise<void> {
  const registration = await worker();
  if (!registration || !('pushManager' in registration) || typeof Notification === 'undefined')
    throw new Hindered('unsupported');
  if ((await Notification.requestPermission()) !== 'granted') throw new Hindered('denied');
  const wanted = fromBase64url(key);
  const old = await registration.pushManager.getSubscription();
  // One that was made for another server's key is of no use.
  if (old && !same(old.options.applicationServerKey, wanted)) await old.unsubscribe();
  const made = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: wanted });
  const { endpoint, keys } = made.toJSON();
  await call(
    api.PUT('/api/devices/{id}/push', {
      ...path(device),
      body: { endpoint: endpoint ?? '', keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' }, ...rules },
    }),
  );
}

export async function switchOff(device: Device): Promise<void> {
  await call(api.DELETE('/api/devices/{id}/push', path(device)));
  const subscription = await (await worker())?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
}

export const tryPush = (device: Device) => call(api.POST('/api/devices/{id}/push/test', path(device)));
