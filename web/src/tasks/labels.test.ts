import { describe, expect, it } from 'vitest';

import { labelChange, labelsIn, labelsText } from './labels';

describe('labels', () => {
  it('are written one a line, and what is none is left out', () => {
    expect(labelsIn('team = web\nci:yes\n=none\nempty=\n\nurl=http://a/b')).toEqual({
      team: 'web',
      ci: 'yes',
      url: 'http://a/b',
    });
    expect(labelsIn(labelsText({ a: '1', b: 'x = y' }))).toEqual({ a: '1', b: 'x = y' });
  });
  it('change by name: new and other values are set, what is gone is removed, the rest stays', () => {
    const before = { team: 'web', ci: 'yes', old: '1' };
    expect(labelChange(before, 'team=web\nci=no\nnew=2')).toEqual({ ci: 'no', new: '2', old: null });
    expect(labelChange(before, labelsText(before))).toBeUndefined();
    expect(labelChange({}, '')).toBeUndefined();
  });
});
