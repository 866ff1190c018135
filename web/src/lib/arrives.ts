// Parts of the page that are fetched when they are first shown. The server may be away at that moment (killed, restarted,
// upgraded): the part is fetched when it is back, and what is on the screen stays. After an upgrade the file is not there
// any more: then, and only when the server answers, the page is loaded anew, once.
const first_wait_ms = 500;
const longest_wait_ms = 5000;
const reloadedAt = 'errand.reloaded';
const reload_again_ms = 60_000;

// What of the browser it needs.
export interface Surroundings {
  reachable: () => Promise<boolean>;
  wait: (ms: number) => Promise<void>;
  reload: () => void;
  now: () => number;
  memory: Pick<Storage, 'getItem' | 'setItem'>;
}

const browser: Surroundings = {
  reachable: () =>
    fetch('/api/health', { cache: 'no-store' }).then(
      () => true,
      () => false,
    ),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  reload: () => location.reload(),
  now: () => Date.now(),
  memory: {
    getItem: (key) => sessionStorage.getItem(key),
    setItem: (key, value) => sessionStorage.setItem(key, value),
  },
};

// Whether the page may be loaded anew: a file that is missing for another reason must not do so for ever.
function mayReload({ memory, now }: Surroundings): boolean {
  try {
    if (now() - Number(memory.getItem(reloadedAt) ?? 0) < reload_again_ms) return false;
    memory.setItem(reloadedAt, String(now()));
    return true;
  } catch {
    return false; // Storage is off.
  }
}

// A module, however long its server is away.
export async function arrives<T>(get: () => Promise<T>, around: Surroundings = browser): Promise<T> {
  for (let tries = 0; ; ++tries) {
    const there = tries > 0 && (await around.reachable());
    try {
      return await get();
    } catch (error) {
      // The server was there all the time, and the file was not: there is nothing to wait for.
      if (there && (await around.reachable())) {
        if (!mayReload(around)) throw error;
        around.reload();
        return await new Promise<T>(() => {}); // This page is going.
      }
      await around.wait(Math.min(first_wait_ms * 2 ** tries, longest_wait_ms));
    }
  }
}
