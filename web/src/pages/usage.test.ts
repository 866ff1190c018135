import { describe, expect, it } from 'vitest';

import type { UsageReport, UsageSum } from '../api/types';
import { bars, dayRange, tokensOf } from './usage';

const sum = (key: string, cost_usd: number | null, tokens: number): UsageSum => ({
  key,
  calls: 1,
  unpriced_calls: cost_usd === null ? 1 : 0,
  input_tokens: tokens,
  output_tokens: 1,
  cache_read_tokens: 2,
  cache_write_tokens: 3,
  cost_usd,
});
const report = (groups: UsageSum[]): UsageReport => ({
  by: 'day',
  from: null,
  to: null,
  groups,
  total: sum('', 0, 0),
  more: false,
});

describe('usage', () => {
  it('has every day of the range, with and without calls', () => {
    const range = dayRange(3, new Date(2026, 2, 1));
    expect(range.days).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
    expect(range.from).toBe('2026-02-27');
    const { cost } = bars(report([sum('2026-02-28', 2, 10)]), 'day', range.days);
    expect(cost.map((bar) => bar.share)).toEqual([0, 1, 0]);
  });
  it('tells an unknown price from nothing', () => {
    const { cost, tokens } = bars(report([sum('a', 4, 10), sum('b', 1, 20), sum('c', null, 5)]), 'model', []);
    expect(cost.map(({ share, unknown }) => [share, unknown])).toEqual([
      [1, false],
      [0.25, false],
      [0, true],
    ]);
    expect(cost[2]?.text).toBe('c: ?');
    expect(tokens.every((bar) => !bar.unknown)).toBe(true);
  });
  it('counts each kind of tokens once', () => expect(tokensOf(sum('a', 0, 10))).toBe(16));
});
