// When what changed is asked for again: soon after the task did something, and not more often than it is worth. Pure, but for
// the timer.
const quietMs = 500; // Nothing happened for so long: that is a good moment.
const leastMs = 2000; // From one look to the next,
const timesCost = 10; // and so many times what the last one took: a big repository is looked at less often.

export interface Pace {
  happened: () => void;
  stop: () => void;
}

export function makePace(look: () => Promise<unknown>, now: () => number = () => performance.now()): Pace {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let first = 0; // When the first thing happened that was not looked at.
  let lastEnd = -Infinity;
  let pause = 0;
  let looking = false;
  let again = false;
  let over = false;

  const run = async () => {
    timer = undefined;
    looking = true;
    again = false;
    const began = now();
    await look().catch(() => undefined); // Whoever looks tells what went wrong.
    lastEnd = now();
    pause = Math.max(leastMs, timesCost * (lastEnd - began));
    looking = false;
    if (again && !over) happened();
  };
  function happened(): void {
    if (over) return;
    if (looking) {
      again = true;
      return;
    }
    const at = now();
    if (timer === undefined) first = at;
    else clearTimeout(timer);
    // Who never rests is looked at all the same.
    const quiet = Math.min(at + quietMs, first + leastMs);
    timer = setTimeout(() => void run(), Math.max(0, Math.max(quiet, lastEnd + pause) - at));
  }
  return {
    happened,
    stop() {
      over = true;
      clearTimeout(timer);
    },
  };
}
