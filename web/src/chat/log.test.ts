import { describe, expect, it } from 'vitest';

import { pieces } from './ansi';
import { highlight } from './highlight';
import { LogLines, runsOf } from './log';
import { toolView } from './tools';

const linesOf = (log: LogLines) => Array.from({ length: log.count }, (_, i) => log.line(i));

describe('runsOf', () => {
  it('are those that the server names, or the one that is shown', () => {
    expect(runsOf('3-5', 5)).toEqual([3, 4, 5]);
    expect(runsOf(null, 2)).toEqual([2]);
    expect(runsOf('5-3', 4)).toEqual([4]);
    expect(runsOf('hello', 1)).toEqual([1]);
    expect(runsOf('1-1000000', 7)).toHaveLength(101);
  });
});

describe('LogLines', () => {
  it('are the same, however the text was cut', () => {
    const text = 'one\n\ntwo\nthree\n\nend';
    for (const whole of [text, text + '\n'])
      for (let size = 1; size <= whole.length; size++) {
        const log = new LogLines();
        for (let at = 0; at < whole.length; at += size) {
          log.push(whole.slice(at, at + size));
          log.search('t');
        }
        expect(linesOf(log)).toEqual(['one', '', 'two', 'three', '', 'end']);
        expect(log.search('t')).toEqual([2, 3]);
        expect(log.search('END')).toEqual([]);
      }
  });
  it('keep the newest of a log without an end, and their numbers', () => {
    const log = new LogLines();
    for (let i = 0; i < 400; i++) log.push('x'.repeat(100_000) + `${i}\n`);
    expect(log.count).toBeLessThan(100);
    expect(log.line(log.count - 1).endsWith('x399')).toBe(true);
    expect(log.first + log.count - 1).toBe(400);
    log.push('\n'.repeat(900_000));
    expect(log.count).toBeLessThan(500_000);
  });
});

describe('text that is made to be slow', () => {
  it('is a line full of carriage returns', () => {
    const begin = performance.now();
    pieces('a' + '\r'.repeat(300_000) + 'b');
    // By the square of its length it took two minutes.
    expect(performance.now() - begin).toBeLessThan(5000);
    expect(pieces('10%\r20%\r\r').map(({ text }) => text)).toEqual(['20%']);
    expect(pieces('\r\r').map(({ text }) => text)).toEqual(['']);
  });
  it('is a string whose end is looked for too far', () => {
    const tones = (size: number) => highlight(`"${'x'.repeat(size)}"`, 'js').map(({ tone }) => tone);
    expect(tones(300)).toContain('string');
    expect(tones(500)).not.toContain('string');
  });
  it('is a call with many edits: each is compared as exactly as all of them may cost together', () => {
    const text = (name: string) => [...Array.from({ length: 100 }, () => name), 'same', name].join('\n');
    const edit = { old_string: text('before'), new_string: text('after') };
    expect(toolView('multiedit', { path: 'x', edits: [edit] }).diff).toContain('\n same');
    expect(toolView('multiedit', { path: 'x', edits: Array(150).fill(edit) }).diff).not.toContain('\n same');
    expect(toolView('multiedit', { path: 'x', edits: Array(205).fill(edit) }).diff).toContain('@@ … +5');
  });
});
