// Waiting for a condition with a deadline: how every test here waits. There is no other sleep.
import assert from 'node:assert/strict';
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

const poll_ms = 10;

// Whoever waits for something to happen waits this long: it says that something hangs, not how fast it is.
export const patient_ms = 30_000;

// Calls `condition` until it answers something truthy, and returns that. `what` says in the failure what never came true;
// an error that the condition throws counts as "not yet", and the last one is shown. A `within` that is over counts only as
// far as the machine was ours: it is longer where others use it too.
export async function until(condition, { within = patient_ms, what = condition.toString() } = {}) {
  const began = performance.now();
  let allowed = within;
  let last;
  for (;;) {
    try {
      const answer = await condition();
      if (answer) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() - began > allowed) {
      if (allowed === within) allowed = within * busy_factor();
      if (performance.now() - began > allowed)
        throw new Error(`not within ${Math.round(allowed)} ms: ${what}${last ? ` (last error: ${last.message})` : ''}`, { cause: last });
    }
    await pause(poll_ms);
  }
}

// Lets the load run for a while: the length of a measured window, never a wait for something to happen.
export const window_of = (ms) => pause(ms);

// The promise's answer, or an error once `within` is over, counted as until() does.
export function in_time(promise, within, what) {
  let timer;
  const late = new Promise((_, reject) => {
    const give_up = () => reject(new Error(`not within ${within} ms: ${typeof what === 'function' ? what() : what}`));
    timer = setTimeout(() => {
      timer = setTimeout(give_up, within * (busy_factor() - 1));
    }, within);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// How much longer things take because others use the machine too: 1 on a quiet one. For promises about time, which are
// about errand and not about its neighbours.
export const busy_factor = () => Math.max(slowdown(), os.loadavg()[0] / (2 * os.cpus().length));
// A promise about time: `ms` is kept within what is promised, as far as the machine was ours.
export function assert_within(ms, promised, what) {
  if (ms < promised) return;
  const busy = busy_factor();
  assert.ok(ms < promised * busy, `${what}: ${ms.toFixed(0)} ms, promised are ${promised} (the machine is ${busy.toFixed(1)} times too busy)`);
}

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
