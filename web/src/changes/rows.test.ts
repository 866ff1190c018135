import { describe, expect, it } from 'vitest';

import { parsePatch } from './patch';
import { changesIn, rowsOf, type DiffRow } from './rows';

const patch = parsePatch(
  ['@@ -5,5 +5,5 @@ f', ' a', '-b', '-c', '+B', ' d', '+e', ' f', '@@ -20,2 +20,1 @@', ' x', '-y', ''].join('\n'),
);
const told = (row: DiffRow) => {
  if (row.kind === 'hunk') return `@ ${row.skipped}`;
  if (row.kind === 'line') return `${row.line.mark} ${row.line.text}${row.pair ? ` ~ ${row.pair.text}` : ''}`;
  if (row.kind === 'sides') return `${row.old?.text ?? ''}|${row.new?.text ?? ''}`;
  return row.kind;
};

describe('rows of a patch', () => {
  it('in one column: what went before what came, each with what it became', () => {
    expect(rowsOf(patch, false).map(told)).toEqual([
      '@ 4',
      'same a',
      'gone b ~ B',
      'gone c',
      'came B ~ b',
      'same d',
      'came e',
      'same f',
      '@ 10',
      'same x',
      'gone y',
    ]);
  });
  it('side by side', () => {
    expect(rowsOf(patch, true).map(told)).toEqual(['@ 4', 'a|a', 'b|B', 'c|', 'd|d', '|e', 'f|f', '@ 10', 'x|x', 'y|']);
  });
  it('have a name each that stays', () => {
    for (const split of [false, true]) {
      const keys = rowsOf(patch, split).map((row) => row.key);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });
  it('say where each change begins', () => {
    expect(changesIn(rowsOf(patch, false))).toEqual([2, 6, 10]);
    expect(changesIn(rowsOf(patch, true))).toEqual([2, 5, 9]);
  });
  it('say where it is no patch', () => {
    expect(rowsOf(parsePatch('@@ -1,2 +1,2 @@\n a\n?'), false).map(told)).toEqual(['same a', 'broken']);
  });
});
