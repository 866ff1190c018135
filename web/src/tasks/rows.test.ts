import { describe, expect, it } from 'vitest';

import { allRows, rowAt, rowTop, scrollFor, shownAt } from './rows';

const rows = (count: number, hidden: number[] = []) => ({ count, height: 50, hidden });

describe('the place of a row', () => {
  it('follows from its number', () => {
    expect(rowTop(rows(100_000), 99_999)).toBe(99_999 * 50);
    expect(rowAt(rows(100_000), 99_999 * 50 + 49)).toBe(99_999);
    expect(allRows(rows(100_000))).toBe(5_000_000);
  });
  it('leaves out what is hidden, wherever that is', () => {
    for (const hidden of [[], [0], [9], [0, 1, 2], [3, 4, 8], [2, 9]]) {
      const some = rows(10, hidden);
      const shown = Array.from({ length: 10 }, (_, i) => i).filter((i) => !hidden.includes(i));
      expect(allRows(some)).toBe(shown.length * 50);
      shown.forEach((index, place) => {
        expect(rowTop(some, index)).toBe(place * 50);
        expect(rowAt(some, place * 50)).toBe(index);
        expect(rowAt(some, place * 50 + 49)).toBe(index);
      });
    }
  });
  it('is within the list for any place', () => {
    expect(rowAt(rows(10), -80)).toBe(0);
    expect(rowAt(rows(10), 9999)).toBe(9);
    expect(rowAt(rows(0), 70)).toBe(0);
  });
});

describe('what is shown', () => {
  it('is what is in sight, and a few rows around it', () => {
    expect(shownAt(rows(1000), 5000, 500, 0)).toEqual({ first: 94, last: 116, from: 94, to: 116 });
    expect(shownAt(rows(1000), 0, 500, 0)).toMatchObject({ first: 0, last: 16 });
    expect(shownAt(rows(5), 0, 500, 0)).toMatchObject({ first: 0, last: 4 });
    expect(shownAt(rows(0), 0, 500, 0)).toEqual({ first: 0, last: 0, from: 0, to: 0 });
  });
  it('is read ahead of those who scroll, the faster the further', () => {
    expect(shownAt(rows(1000), 5000, 500, 50)).toMatchObject({ first: 94, last: 116, from: 94, to: 124 });
    expect(shownAt(rows(1000), 5000, 500, -50)).toMatchObject({ first: 94, last: 116, from: 86, to: 116 });
    expect(shownAt(rows(1000), 5000, 500, 1900).to).toBe(216);
    expect(shownAt(rows(120), 5000, 500, 600).to).toBe(119);
    expect(shownAt(rows(1000), 400, 500, -600).from).toBe(0);
  });
  it('is all that is read by those who jump', () => {
    expect(shownAt(rows(1000), 5000, 500, 5000)).toMatchObject({ from: 94, to: 116 });
    expect(shownAt(rows(1000), 5000, 500, -40_000)).toMatchObject({ from: 94, to: 116 });
  });
});

describe('to see a row whole', () => {
  it('the list is scrolled as little as will do', () => {
    expect(scrollFor(rows(1000), 100, 5000, 500)).toBeUndefined();
    expect(scrollFor(rows(1000), 109, 5000, 500)).toBeUndefined();
    expect(scrollFor(rows(1000), 110, 5000, 500)).toBe(5050);
    expect(scrollFor(rows(1000), 99, 5000, 500)).toBe(4950);
  });
});
