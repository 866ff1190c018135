// The service worker. It caches nothing: what is on the screen is the server's, or the screen says that the server is
// away. It shows what is pushed, and sends the answer that is given there, with the phone's own key.
import { openSession, readDevice } from './device';
import { answerTo, noticeOf, pageOf, parsePush, wordsFor, type Push } from './notice';

interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Waiting {
  request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Pushed extends Waiting {
  data: { text(): string } | null;
}
interface Tapped extends Waiting {
  notification: Notification;
  action: string;
  reply?: string | null;
}
interface Tab {
  url: string;
  focus(): Promise<Tab>;
  navigate(url: string): Promise<Tab | null>;
}
interface Worker {
  addEventListener(type: 'install' | 'activate', listener: (event: Waiting) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void;
  addEventListener(type: 'push', listener: (event: Pushed) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: Tapped) => void): void;
  skipWaiting(): Promise<void>;
  clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<Tab[]>;
    openWindow(url: string): Promise<Tab | null>;
  };
  registration: ServiceWorkerRegistration;
}
const worker = self as unknown as Worker;

const chinese = /^zh/i.test(navigator.language);

// Without script and style, as the page's policy wants it.
const away = () =>
  new Response(
    `<!doctype html><html lang="${chinese ? 'zh' : 'en'}"><meta charset="utf-8">` +
      '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">' +
      `<title>errand</title><h1>${chinese ? '无法连接 errand' : 'errand cannot be reached'}</h1>` +
      `<p>${chinese ? '手机没有联网，或者服务器已停止。任务会继续运行。' : 'This phone is offline, or the server is stopped. Your tasks keep running.'}</p>` +
      `<p><a href="">${chinese ? '重试' : 'Try again'}</a></p></html>`,
    {
      status: 503,
      headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': "default-src 'none'" },
    },
  );

async function show(push: Push): Promise<void> {
  const device = await readDevice();
  const { title, options } = noticeOf(push, device?.scopes ?? [], navigator.language);
  await worker.registration.showNotification(title, options);
}

// Sent as this phone. Where that fails the person is told, and finds the question where it was.
async function answer(push: Push, reply: object): Promise<void> {
  try {
    const device = await readDevice();
    if (!device || !push.task_id) throw new Error('not paired');
    const { session } = await openSession(device);
    const response = await fetch(`/api/tasks/${encodeURIComponent(push.task_id)}/answer`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${session}` },
      body: JSON.stringify(reply),
    });
    if (response.ok) return;
    const problem = (await response.json().catch(() => ({}))) as { detail?: string };
    throw new Error(problem.detail ?? response.statusText);
  } catch (error) {
    const say = wordsFor(navigator.language);
    const body = `${error instanceof Error ? error.message : ''} ${say.open}`.trim();
    await worker.registration.showNotification(say.lost, {
      body,
      // A tag of its own: the one that was tapped is being closed, and would take this one with it.
      tag: `${push.id}.answer`,
      icon: '/favicon.svg',
      data: push,
    });
  }
}

// In the window that is open, where there is one.
async function open(page: string): Promise<void> {
  const [tab] = await worker.clients.matchAll({ type: 'window', includeUncontrolled: false });
  if (!tab) return void (await worker.clients.openWindow(page));
  await tab.focus();
  await tab.navigate(page);
}

worker.addEventListener('install', () => void worker.skipWaiting());
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('fetch', (event) => {
  // Everything else goes its own way, as if nobody were here.
  if (event.request.mode !== 'navigate') return;
  event.respondWith(fetch(event.request).catch(away));
});
worker.addEventListener('push', (event) => {
  const push = event.data ? parsePush(event.data.text()) : null;
  if (push) event.waitUntil(show(push));
});
worker.addEventListener('notificationclick', (event) => {
  const push = event.notification.data as Push;
  event.notification.close();
  const reply = answerTo(push, event.action, event.reply);
  event.waitUntil(reply ? answer(push, reply) : open(pageOf(push)));
});
