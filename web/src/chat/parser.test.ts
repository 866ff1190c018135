import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { makeSplitter } from './blocks';
import { isOrdinary, limits, Parser, type Outcome, type ToPage, type WorkerLike } from './parser';
import { depthMost, treeOf, type Tree } from './tree';

// What has stopped a tab, or the parser's stack.
const hostile: [string, string][] = [
  ['quotes in quotes', '> '.repeat(3000) + 'x'],
  ['quotes without blanks', '>'.repeat(3000)],
  ['lists in lists', '- '.repeat(3000) + 'x'],
  ['many lists in lists', '- - '.repeat(20_000) + 'x'],
  ['stars around a letter', '*'.repeat(20_000) + 'a' + '*'.repeat(20_000)],
  ['marks that never close', '*a_'.repeat(8000)],
  ['a long word and an @', 'a'.repeat(50_000) + '@'],
  ['brackets', '['.repeat(5000)],
  ['entities', '&'.repeat(9000)],
];

describe('isOrdinary', () => {
  it('lets what people and agents write be read at once', () => {
    const answers = [
      'A sentence with **bold**, `code`, a [link](https://example.org/a/b?c=d) and an a@b.example.',
      '- one\n  - two\n    - three\n      - four\n- five',
      '> quoted\n> > twice\n\n---\n\n************************\n\nend',
      '| a | b |\n|---|---|\n' + '| 1 | 2 |\n'.repeat(40),
      '这是一个没有空格的很长的段落。'.repeat(100),
      Array.from({ length: 60 }, (_, i) => `${i + 1}. item **${i}** with \`code\``).join('\n'),
    ];
    for (const text of answers) expect(isOrdinary(text), text.slice(0, 40)).toBe(true);
  });
  it.each(hostile)('leaves %s to the worker', (_, text) => expect(isOrdinary(text)).toBe(false));

  // The limits are what makes reading at once safe: the worst that fits within them is still short. ERRAND_LONG=1 tries all.
  it('lets nothing pass that is read for long', () => {
    const atoms = ['*', '_', '**', '~', '`', '[', '](', ']', '<', '>', '|', '\\', 'a', '@', 'www.', 'http://', '- ', '1. ', '> ']; // prettier-ignore
    atoms.push(
      '\n',
      '\n\n',
      '    ',
      '&',
      '#',
      ' ',
      '*a',
      'a_',
      '<a ',
      '[a]: ',
      '---',
      '|-|',
      '.',
      'é',
      'x '.repeat(20),
    );
    const long = process.env.ERRAND_LONG !== undefined;
    let worst = { ms: 0, text: '' };
    let tried = 0;
    const fill = (piece: string) => piece.repeat(Math.ceil(limits.length / piece.length)).slice(0, limits.length);
    const attempt = (text: string) => {
      // As much of it as passes.
      let size = text.length;
      while (size > 100 && !isOrdinary(text.slice(0, size))) size = Math.floor(size * 0.8);
      const begin = performance.now();
      treeOf(text.slice(0, size));
      const ms = performance.now() - begin;
      tried++;
      if (ms > worst.ms) worst = { ms, text: `${size} of ${JSON.stringify(text.slice(0, 40))}` };
    };
    for (const a of atoms)
      for (const b of atoms) {
        if (!long && (tried + a.length) % 3 === 0) continue;
        attempt(fill(a + b));
        if (long) for (const c of atoms) attempt(fill(a + b + c));
        if (long) attempt(fill(a).slice(0, 120) + fill('word ').slice(0, 3000) + fill(b).slice(0, 120));
      }
    if (long) console.log(tried, worst);
    // Loosely: other tests share the processor. Measured alone, the worst takes a tenth of this.
    expect(worst.ms, worst.text).toBeLessThan(500);
  }, 600_000);
});

describe('treeOf', () => {
  it('keeps a depth that can be drawn, and what is below it as the text that it was', () => {
    const depthOf = (value: unknown): number =>
      typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));
    const tree = treeOf('> '.repeat(60) + 'the end');
    expect(tree.whole).toBe(false);
    expect(JSON.stringify(tree)).toContain('the end');
    expect(depthOf(tree)).toBeLessThan(3 * depthMost + 10);
  });
  it('keeps a size that can be drawn', () => {
    const tree = treeOf(Array.from({ length: 9000 }, (_, i) => `*w${i}*`).join(' '));
    expect(tree.whole).toBe(false);
    expect(JSON.stringify(tree)).toContain('*w8999*');
    expect(treeOf('plain *and* `simple`').whole).toBe(true);
  });
});

class FakeWorker implements WorkerLike {
  static all: FakeWorker[] = [];
  onmessage: ((event: MessageEvent<ToPage>) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  asked: string[] = [];
  ended = false;
  constructor() {
    FakeWorker.all.push(this);
  }
  postMessage({ text }: { text: string }) {
    this.asked.push(text);
  }
  terminate() {
    this.ended = true;
  }
  say(data: ToPage) {
    this.onmessage?.({ data } as MessageEvent<ToPage>);
  }
}

describe('Parser', () => {
  const tree: Tree = { blocks: [], whole: true };
  const slow = 'slow '.repeat(5000);
  beforeEach(() => {
    vi.useFakeTimers();
    FakeWorker.all = [];
  });
  afterEach(() => vi.useRealTimers());
  const make = () => new Parser(() => new FakeWorker());
  const outcomes = () => {
    const all: Outcome[] = [];
    return { all, put: (each: Outcome) => void all.push(each) };
  };

  it('reads ordinary text at once, without a worker', () => {
    expect(make().now('some *text*')).toMatchObject({ whole: true });
    expect(FakeWorker.all).toHaveLength(0);
  });
  it('reads no more at once than a person would notice', () => {
    const parser = new Parser(() => new FakeWorker(), 0);
    vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(80);
    expect(parser.now('one')).not.toBeNull();
    expect(parser.now('two')).toBeNull();
    vi.advanceTimersByTime(1);
    expect(parser.now('two')).not.toBeNull();
  });
  it('gives the rest to the worker, one at a time, and keeps the answers', () => {
    const parser = make();
    const { all, put } = outcomes();
    expect(parser.now(slow)).toBeNull();
    parser.ask(slow, put);
    parser.ask(slow + '2', put);
    const [worker] = FakeWorker.all;
    expect(worker?.asked).toEqual([]);
    worker?.say({ kind: 'ready' });
    expect(worker?.asked).toEqual([slow]);
    worker?.say({ kind: 'tree', tree });
    expect(worker?.asked).toEqual([slow, slow + '2']);
    expect(all).toEqual([tree]);
    expect(parser.now(slow)).toBe(tree);
  });
  it('ends a worker that takes too long, and goes on with another', () => {
    const parser = make();
    const { all, put } = outcomes();
    parser.ask(slow, put);
    parser.ask(slow + '2', put);
    FakeWorker.all[0]?.say({ kind: 'ready' });
    vi.advanceTimersByTime(2000);
    expect(FakeWorker.all[0]?.ended).toBe(true);
    expect(all).toEqual(['failed']);
    expect(parser.now(slow)).toBe('failed');
    FakeWorker.all[1]?.say({ kind: 'ready' });
    FakeWorker.all[1]?.say({ kind: 'tree', tree });
    expect(all).toEqual(['failed', tree]);
  });
  it('does not begin what nobody waits for any more', () => {
    const parser = make();
    const { all, put } = outcomes();
    parser.ask(slow, put)();
    parser.ask(slow + '2', put);
    FakeWorker.all[0]?.say({ kind: 'ready' });
    expect(FakeWorker.all[0]?.asked).toEqual([slow + '2']);
    expect(all).toEqual([]);
  });
  it('gives up on workers that do not start', () => {
    const parser = make();
    const { all, put } = outcomes();
    parser.ask(slow, put);
    for (let i = 0; i < 3; i++) FakeWorker.all[i]?.onerror?.({});
    expect(all).toEqual(['failed']);
    parser.ask(slow + '2', put);
    vi.advanceTimersByTime(1);
    expect(all).toEqual(['failed', 'failed']);
    expect(FakeWorker.all).toHaveLength(3);
  });
});

describe('the blocks of a hostile text', () => {
  it('are found in one pass, and are all of it', () => {
    const begin = performance.now();
    for (const [name, text] of hostile) {
      const whole = `Before.\n\n${text}\n\nBehind.`;
      const blocks = makeSplitter()('k', whole);
      expect(blocks.join(''), name).toBe(whole);
      expect(blocks.at(0)).toBe('Before.\n\n');
      expect(blocks.at(-1)).toBe('Behind.');
    }
    expect(performance.now() - begin).toBeLessThan(1000);
  });
});
