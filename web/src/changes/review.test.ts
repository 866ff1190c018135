import { describe, expect, it } from 'vitest';

import { parsePatch } from './patch';
import { commentsMost, messageOf, placeOf, quotedMost, quoteOf, readComments, type Comment } from './review';

const patchOf = (...lines: string[]) => {
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign) || line.startsWith(' ')).length;
  return parsePatch([`@@ -1,${count('-')} +1,${count('+')} @@`, ...lines, ''].join('\n'));
};
const comment: Comment = {
  id: '1',
  name: 'a.ts',
  path: 'a.ts',
  side: 'new',
  from: 2,
  to: 3,
  quote: ['two', 'three'],
  text: 'Why?',
};

describe('where the lines of a comment are', () => {
  it('at their place while nothing changed', () => {
    expect(placeOf(comment, patchOf(' one', '+two', '+three'))).toEqual({ from: 2, to: 3 });
  });
  it('moved where something was put above them', () => {
    expect(placeOf(comment, patchOf('+zero', ' one', '+two', '+three'))).toEqual({ from: 3, to: 4 });
  });
  it('nowhere where they changed, went, or could be anywhere', () => {
    expect(placeOf(comment, patchOf(' one', '+two', '+3'))).toBeNull();
    expect(placeOf(comment, patchOf(' one'))).toBeNull();
    expect(placeOf({ ...comment, from: 9, to: 9, quote: ['}'] }, patchOf('+}', '+}'))).toBeNull();
    expect(placeOf(comment, parsePatch('nonsense'))).toBeNull();
  });
  it('on the side that it is about', () => {
    const patch = patchOf('-two', '-three', '+2', '+3');
    expect(placeOf({ ...comment, side: 'old', from: 1, to: 2 }, patch)).toEqual({ from: 1, to: 2 });
    expect(placeOf({ ...comment, from: 1, to: 2 }, patch)).toBeNull();
  });
  it('quoted as they are', () => {
    expect(quoteOf(patchOf(' one', '+two', '+three'), 'new', 2, 3)).toEqual(['two', 'three']);
    expect(quoteOf(patchOf('+a'), 'new', 1, 1e9)).toHaveLength(quotedMost);
  });
});

describe('the message of a review', () => {
  const words = {
    head: 'Review:',
    place: (each: Comment, from: number, to: number) => `${each.path} ${from}-${to}`,
    outdated: '(changed since)',
  };
  it('has every comment, with its lines, and says which are outdated', () => {
    const second = { ...comment, id: '2', from: 9, to: 9, quote: ['x'], text: ' Gone. ' };
    expect(
      messageOf(
        [
          { comment, place: { from: 4, to: 5 } },
          { comment: second, place: null },
        ],
        words,
      ),
    ).toBe('Review:\n\na.ts 4-5\n```\ntwo\nthree\n```\nWhy?\n\na.ts 9-9 (changed since)\n```\nx\n```\nGone.');
  });
  it('lets no line of code end its fence', () => {
    const text = messageOf([{ comment: { ...comment, quote: ['````', '```js'] }, place: null }], words);
    expect(text).toContain('\n`````\n````\n```js\n`````\n');
  });
});

describe('comments that were kept', () => {
  it('come back as they were', () => {
    expect(readComments(JSON.stringify([comment]))).toEqual([comment]);
  });
  it('are dropped where they are none', () => {
    for (const bad of [
      '',
      'x',
      '{}',
      '[1,null,{}]',
      '[{"id":"1"}]',
      JSON.stringify([{ ...comment, side: 'left' }]),
      JSON.stringify([{ ...comment, quote: [] }]),
      JSON.stringify([{ ...comment, from: 'x' }]),
    ])
      expect(readComments(bad)).toEqual([]);
    expect(readComments(JSON.stringify(Array(500).fill(comment)))).toHaveLength(commentsMost);
  });
});
