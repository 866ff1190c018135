import { describe, expect, it } from 'vitest';

import { readViews, sameView } from './views';

describe('saved views', () => {
  it('take what is a view, and nothing else', () => {
    const text = JSON.stringify([
      { name: 'Failed here', search: { status: 'failed', agent: 'demo', evil: 'x' } },
      { name: '', search: {} },
      { name: 'No search' },
      7,
      null,
    ]);
    expect(readViews(text)).toEqual([{ name: 'Failed here', search: { status: 'failed', agent: 'demo' } }]);
    for (const broken of [null, '', '{', '{}', '"x"']) expect(readViews(broken)).toEqual([]);
  });
  it('know the one that is shown, in whatever order its words stand', () => {
    expect(sameView({ q: 'a', status: 'failed' }, { status: 'failed', q: 'a' })).toBe(true);
    expect(sameView({ q: 'a' }, {})).toBe(false);
  });
});
