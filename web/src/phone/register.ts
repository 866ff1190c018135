// The service worker: it makes the page installable, says that the server is away, and shows what is pushed. Where a
// browser has none (no https, a private window) the page does without.
import { registerOwn } from '../lib/scripts';

let registered: Promise<ServiceWorkerRegistration> | null = null;

export function startWorker(): void {
  if (import.meta.env.DEV || !('serviceWorker' in navigator)) return;
  registered = registerOwn();
  registered.catch(() => (registered = null));
}

// Null where there is none.
export const worker = async (): Promise<ServiceWorkerRegistration | null> =>
  registered === null ? null : registered.then(() => navigator.serviceWorker.ready).catch(() => null);
