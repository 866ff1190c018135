import { expect, it } from 'vitest';

import { forgetOldest } from './bounded';

it('forgets the oldest, many at once', () => {
  const map = new Map(Array.from({ length: 19 }, (_, i) => [i, i]));
  forgetOldest(map, 10);
  expect(map.size).toBe(19);
  map.set(19, 19);
  forgetOldest(map, 10);
  expect([...map.keys()]).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
});
