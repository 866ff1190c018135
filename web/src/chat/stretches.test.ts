import { describe, expect, it } from 'vitest';

import { stretchesOf, totalsOf, type Span } from './timeline';

const span = (kind: Span['kind'], from: number, to: number | null, depth = 1): Span => ({
  kind,
  label: '',
  from,
  to,
  failed: false,
  depth,
  attempt: 1,
});
const turn = span('turn', 100, 200, 0);
const told = (spans: Span[], of = turn, now = 500) =>
  stretchesOf(of, [of, ...spans], now).map(({ kind, from, to }) => `${kind} ${from}-${to}`);

describe('what a turn spent its time on', () => {
  it('is the model where nothing else was', () => {
    expect(told([])).toEqual(['model 100-200']);
    expect(told([span('tool', 120, 150)])).toEqual(['model 100-120', 'tool 120-150', 'model 150-200']);
  });
  it('counts what runs side by side once, and waiting before tools', () => {
    expect(told([span('tool', 110, 160), span('tool', 120, 140), span('ask', 130, 150)])).toEqual([
      'model 100-110',
      'tool 110-130',
      'wait 130-150',
      'tool 150-160',
      'model 160-200',
    ]);
  });
  it('keeps to the turn, and goes on to now', () => {
    expect(told([span('tool', 50, 110), span('tool', 190, 300), span('wait', 300, 400)])).toEqual([
      'tool 100-110',
      'model 110-190',
      'tool 190-200',
    ]);
    expect(told([span('ask', 150, null)], span('turn', 100, null, 0), 180)).toEqual(['model 100-150', 'wait 150-180']);
  });
  it('adds up', () => {
    const sums = totalsOf(stretchesOf(turn, [span('tool', 120, 150), span('ask', 140, 190)], 500));
    expect(sums).toEqual({ model: 30, tool: 20, wait: 50 });
  });
  it('takes thousands of calls', () => {
    const many = Array.from({ length: 5000 }, (_, i) => span('tool', i * 2, i * 2 + 1));
    const began = performance.now();
    expect(stretchesOf(span('turn', 0, 10_000, 0), many, 0)).toHaveLength(10_000);
    expect(performance.now() - began).toBeLessThan(1000);
  });
});
