import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { makePace } from './pace';

describe('how often changes are looked at', () => {
  let took = 0;
  const looks: number[] = [];
  const look = () => {
    looks.push(Date.now());
    return new Promise((done) => setTimeout(done, took));
  };
  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
    looks.length = 0;
    took = 0;
  });
  afterEach(() => void vi.useRealTimers());
  const make = () => makePace(look, () => Date.now());

  it('not at all while nothing happens', async () => {
    make();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(looks).toEqual([]);
  });
  it('once, when it is quiet', async () => {
    const pace = make();
    for (let i = 0; i < 4; i++) {
      pace.happened();
      await vi.advanceTimersByTimeAsync(100);
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect(looks).toEqual([800]);
  });
  it('every two seconds where it never is', async () => {
    const pace = make();
    for (let i = 0; i < 100; i++) {
      pace.happened();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(looks.length).toBeGreaterThanOrEqual(3);
    expect(looks.length).toBeLessThanOrEqual(5);
  });
  it('ten times less often than a look takes, and never two at once', async () => {
    const pace = make();
    took = 3000;
    for (let i = 0; i < 700; i++) {
      pace.happened();
      await vi.advanceTimersByTimeAsync(100);
    }
    for (let i = 1; i < looks.length; i++) expect(looks[i]! - looks[i - 1]!).toBeGreaterThanOrEqual(33_000);
    expect(looks.length).toBeGreaterThanOrEqual(2);
  });
  it('again where something happened during a look, and no more when it is over', async () => {
    const pace = make();
    took = 100;
    pace.happened();
    await vi.advanceTimersByTimeAsync(550);
    pace.happened();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(looks).toHaveLength(2);
    pace.happened();
    pace.stop();
    pace.happened();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(looks).toHaveLength(2);
  });
  it('goes on after a look that failed', async () => {
    const pace = makePace(
      () => {
        looks.push(Date.now());
        return Promise.reject(new Error('no'));
      },
      () => Date.now(),
    );
    pace.happened();
    await vi.advanceTimersByTimeAsync(5000);
    pace.happened();
    await vi.advanceTimersByTimeAsync(5000);
    expect(looks).toHaveLength(2);
  });
});
