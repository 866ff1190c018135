// Waiting for a condition with a deadline: how every test here waits. There is no other sleep.
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const poll_ms = 10;

// Calls `condition` until it answers something truthy, and returns that. `what` says in the failure what never came true;
// an error that the condition throws counts as "not yet", and the last one is shown.
export async function until(condition, { within = 10_000, what = condition.toString() } = {}) {
  const deadline = performance.now() + within;
  let last;
  for (;;) {
    try {
      const answer = await condition();
      if (answer) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`not within ${within} ms: ${what}${last ? ` (last error: ${last.message})` : ''}`, { cause: last });
    }
    await pause(poll_ms);
  }
}

// Lets the load run for a while: the length of a measured window, never a wait for something to happen.
export const window_of = (ms) => pause(ms);

// The promise's answer, or an error once `within` is over.
export function in_time(promise, within, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${within} ms: ${typeof what === 'function' ? what() : what}`)), within);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// How much longer things take because others use the machine too: 1 on a quiet one. For promises about time, which are
// about errand and not about its neighbours.
export const busy_factor = () => Math.max(slowdown(), os.loadavg()[0] / (2 * os.cpus().length));

// The same as it is right now, measured: how long a little computing takes to how long it computes. The average above is a
// minute late, and full of what a test itself has just done.
export function slowdown() {
  const began = performance.now();
  const before = process.cpuUsage();
  let computed = 0;
  while (computed < 60) {
    const { user, system } = process.cpuUsage(before);
    computed = (user + system) / 1000;
  }
  return Math.max(1, (performance.now() - began) / computed);
}
