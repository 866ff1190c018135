// The numbers of the usage page, made ready for its plots. Pure.
import type { UsageReport, UsageSum } from '../api/types';
import { cost } from '../lib/format';

export interface Bar {
  key: string;
  label: string;
  share: number; // Of the longest.
  text: string; // What it stands for, in words.
  unknown: boolean; // It has no price: it must not look like nothing.
}

export const tokensOf = (sum: UsageSum): number =>
  sum.input_tokens + sum.output_tokens + sum.cache_read_tokens + sum.cache_write_tokens;

const two = (n: number): string => String(n).padStart(2, '0');
const dayOf = (date: Date): string => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

// The last so many days here, today being one of them.
export function dayRange(days: number, now: Date): { from: string; utc_offset_min: number; days: string[] } {
  const all: string[] = [];
  for (let i = days - 1; i >= 0; i--) all.push(dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - i)));
  return { from: all[0] ?? dayOf(now), utc_offset_min: -now.getTimezoneOffset(), days: all };
}

const barsMost = 40; // Of names: more than that nobody tells apart.

function drawn(sums: UsageSum[], value: (sum: UsageSum) => number | null, words: (sum: UsageSum) => string): Bar[] {
  const most = Math.max(0, ...sums.map((sum) => value(sum) ?? 0));
  return sums.map((sum) => {
    const of = value(sum);
    return {
      key: sum.key ?? '',
      label: sum.key ?? '',
      share: most > 0 ? (of ?? 0) / most : 0,
      text: `${sum.key ?? ''}: ${words(sum)}`,
      unknown: of === null,
    };
  });
}

const empty = (key: string): UsageSum => ({
  key,
  calls: 0,
  unpriced_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cost_usd: 0,
});

// Days from the first to the last, also those without a call; names as they come, the most expensive first.
export function bars(report: UsageReport, by: string, days: string[]): { cost: Bar[]; tokens: Bar[] } {
  const known = new Map(report.groups.map((sum) => [sum.key ?? '', sum]));
  const sums = by === 'day' ? days.map((day) => known.get(day) ?? empty(day)) : report.groups.slice(0, barsMost);
  return {
    cost: drawn(
      sums,
      (sum) => sum.cost_usd,
      (sum) => (sum.cost_usd === null ? '?' : `${sum.unpriced_calls > 0 ? '≥ ' : ''}${cost(sum.cost_usd)}`),
    ),
    tokens: drawn(sums, tokensOf, (sum) => String(tokensOf(sum))),
  };
}
