import { expect, it } from 'vitest';

import { arrives, type Surroundings } from './arrives';

class Around implements Surroundings {
  there = true;
  reloads = 0;
  waited: number[] = [];
  time = 1_000_000;
  kept = new Map<string, string>();
  onWait = () => {};
  memory = {
    getItem: (key: string) => this.kept.get(key) ?? null,
    setItem: (key: string, value: string) => void this.kept.set(key, value),
  };
  reachable = () => Promise.resolve(this.there);
  now = () => this.time;
  reload = () => void ++this.reloads;
  wait = (ms: number) => {
    this.waited.push(ms);
    this.onWait();
    return Promise.resolve();
  };
}
const gone = () => Promise.reject(new Error('Failed to fetch dynamically imported module'));
const later = () => new Promise((resolve) => setTimeout(resolve, 5));

it('is fetched at once where the server is there', async () => {
  const around = new Around();
  expect(await arrives(() => Promise.resolve('part'), around)).toBe('part');
  expect(around.waited).toEqual([]);
});

it('is fetched when the server is back, and the page stays', async () => {
  const around = new Around();
  around.there = false;
  around.onWait = () => {
    if (around.waited.length === 6) around.there = true;
  };
  expect(await arrives(() => (around.there ? Promise.resolve('part') : gone()), around)).toBe('part');
  expect(around.waited).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
  expect(around.reloads).toBe(0);
});

it('loads the page anew where an upgraded server does not have the file, once a minute at most', async () => {
  const around = new Around();
  void arrives(gone, around);
  await later();
  expect(around.reloads).toBe(1);
  await expect(arrives(gone, around)).rejects.toThrow('Failed to fetch');
  expect(around.reloads).toBe(1);
  around.time += 60_001;
  void arrives(gone, around);
  await later();
  expect(around.reloads).toBe(2);
});

it('does not load the page anew where it could not remember that', async () => {
  const around = new Around();
  around.memory.getItem = () => {
    throw new Error('storage is off');
  };
  await expect(arrives(gone, around)).rejects.toThrow('Failed to fetch');
  expect(around.reloads).toBe(0);
});
