import { describe, expect, it } from 'vitest';

import { complete, fromFolder, mentionAt } from './mention';

const at = (text: string) => mentionAt(text.replace('|', ''), text.indexOf('|'));

describe('a file that is named', () => {
  it('begins with an @ at a word', () => {
    expect(at('look at @src/ma|')).toEqual({ from: 8, typed: 'src/ma' });
    expect(at('@|')).toEqual({ from: 0, typed: '' });
    expect(at('(@a|')).toEqual({ from: 1, typed: 'a' });
    expect(at('@src| and more')).toEqual({ from: 0, typed: 'src' });
  });
  it('is none elsewhere', () => {
    for (const text of ['me@example.com|', '@src and|', 'a|', '|@x', '@a @@|']) expect(at(text)).toBeNull();
  });
  it('is written out', () => {
    expect(complete('see @src/ma', 11, { from: 4, typed: 'src/ma' }, 'src/main.cc', false)).toEqual({
      text: 'see @src/main.cc ',
      caret: 17,
    });
    expect(complete('see @s now', 6, { from: 4, typed: 's' }, 'src', true)).toEqual({
      text: 'see @src/ now',
      caret: 9,
    });
    expect(complete('see @m now', 6, { from: 4, typed: 'm' }, 'm.ts', false)).toEqual({
      text: 'see @m.ts now',
      caret: 10,
    });
  });
  it('is named from the folder that it is in', () => {
    expect(fromFolder('/home/me/p/src/a', '/home/me/p')).toBe('src/a');
    expect(fromFolder('~/p/a', '~/p/')).toBe('a');
    expect(fromFolder('/etc/hosts', '/home/me')).toBe('/etc/hosts');
  });
  it('is found in one pass, whatever was pasted', () => {
    const long = '@'.repeat(2_000_000);
    const began = performance.now();
    mentionAt(long, long.length);
    mentionAt(`${'a'.repeat(2_000_000)}`, 2_000_000);
    expect(performance.now() - began).toBeLessThan(500);
  });
});
