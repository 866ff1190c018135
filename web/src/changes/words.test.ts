import { describe, expect, it } from 'vitest';

import { cutPieces, wordDiff, type Piece } from './words';

const marked = (pieces: Piece[]) => pieces.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('');
const both = (before: string, after: string) => {
  const found = wordDiff(before, after);
  return found && [marked(found.old), marked(found.new)];
};

describe('wordDiff', () => {
  it('marks the words that changed, on both sides', () => {
    expect(both('const waits = [1000, 1000];', 'const waits = [1000, 4000];')).toEqual([
      'const waits = [1000, [1000]];',
      'const waits = [1000, [4000]];',
    ]);
    expect(both('return a + b;', 'return a + b + c;')).toEqual(['return a + b;', 'return a + b[ + c];']);
    expect(both('if (a) call(b, c)', 'if (x) call(b, d)')).toEqual(['if ([a]) call(b, [c])', 'if ([x]) call(b, [d])']);
  });
  it('marks a change of spaces alone', () => {
    expect(both('  call(a)', '    call(a)')).toEqual(['[  ]call(a)', '[    ]call(a)']);
  });
  it('marks nothing where lines have little in common', () => {
    expect(wordDiff('alpha beta gamma', 'one two three')).toBeNull();
    expect(wordDiff('', 'one')).toBeNull();
    expect(wordDiff('same', 'same')).toBeNull();
    expect(wordDiff('}', '  return value;')).toBeNull();
  });
  it('loses nothing and cuts no character in two', () => {
    const before = '修复 👩‍👩‍👧 登录 = "é́" ;';
    const after = '修复 👩‍👩‍👦 注销 = "é́" ; // 好';
    const found = wordDiff(before, after)!;
    expect(found.old.map((piece) => piece.text).join('')).toBe(before);
    expect(found.new.map((piece) => piece.text).join('')).toBe(after);
    for (const piece of [...found.old, ...found.new]) expect(piece.text.isWellFormed()).toBe(true);
  });
  it('is bounded', () => {
    const began = performance.now();
    expect(wordDiff('a'.repeat(1e6), 'b'.repeat(1e6))).toBeNull();
    const [many, more] = ['a;'.repeat(1900), `${'b;'.repeat(1900)}`];
    for (let i = 0; i < 50; i++) wordDiff(many, more);
    // Too much changed to look closer: the middle is one change.
    expect(
      both(`begin of it ${'a,'.repeat(200)} end of it`.repeat(1), `begin of it ${'b;'.repeat(200)} end of it`),
    ).toBeNull();
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

it('cutPieces keeps the beginning, and no half of a character', () => {
  const pieces = [
    { text: 'abc', changed: false },
    { text: 'd👍e', changed: true },
  ];
  expect(marked(cutPieces(pieces, 2))).toBe('ab');
  expect(marked(cutPieces(pieces, 5))).toBe('abc[d]');
  expect(marked(cutPieces(pieces, 6))).toBe('abc[d👍]');
  expect(cutPieces(pieces, 99)).toEqual(pieces);
});
