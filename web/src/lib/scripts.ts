// The page's own workers. Their addresses are scripts': under Trusted Types they come from our one policy, which makes no
// others.
import markdownUrl from '../chat/parse.worker.ts?worker&url';
import hubUrl from '../live/worker.ts?worker&url';

interface Policy {
  createScriptURL(url: string): string;
}
interface Policies {
  createPolicy(name: string, rules: Policy): Policy;
}

const urls = { hub: hubUrl, markdown: markdownUrl, service: '/sw.js' };
let policy: Policy | null = null;

function ownScript(name: keyof typeof urls): string {
  const own = (each: string) => new URL(each, location.href).href;
  const types = (globalThis as { trustedTypes?: Policies }).trustedTypes;
  if (!types) return own(urls[name]);
  policy ??= types.createPolicy('errand', {
    createScriptURL(asked) {
      if (!Object.values(urls).map(own).includes(asked)) throw new TypeError('not a script of this page');
      return asked;
    },
  });
  return policy.createScriptURL(own(urls[name]));
}

// The service worker, for all of the page.
export const registerOwn = (): Promise<ServiceWorkerRegistration> =>
  navigator.serviceWorker.register(ownScript('service'), { scope: '/', updateViaCache: 'none' });
export const ownSharedWorker = (name: keyof typeof urls): SharedWorker =>
  new SharedWorker(ownScript(name), { type: 'module', name: 'errand' });
export const ownWorker = (name: keyof typeof urls): Worker => new Worker(ownScript(name), { type: 'module' });
