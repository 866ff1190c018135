// The service worker. It caches nothing: what is on the screen is the server's, or the screen says that the server is
// away.
interface Waiting extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetching extends Waiting {
  request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Worker {
  addEventListener(type: 'install' | 'activate', listener: (event: Waiting) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
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

worker.addEventListener('install', () => void worker.skipWaiting());
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('fetch', (event) => {
  // Everything else goes its own way, as if nobody were here.
  if (event.request.mode !== 'navigate') return;
  event.respondWith(fetch(event.request).catch(away));
});
