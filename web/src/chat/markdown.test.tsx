// @vitest-environment happy-dom
import { act, render } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import '../i18n/test';
import { fenceOf, heal, makeSplitter } from './blocks';
import { MarkdownText } from './markdown';
import { parser } from './parser';
import { treeOf } from './tree';

parser.nowMostMs = Infinity; // There is no worker here that would read the rest.

const html = (text: string) => render(<MarkdownText text={text} />).container;

describe('Markdown', () => {
  it('draws what people write', () => {
    const page = html(
      '# Title\n\nSome **bold**, *soft* and `code`.\n\n1. one\n2. two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```js\nlet x;\n```\n> quote',
    );
    expect(page.querySelector('h2')?.textContent).toBe('Title');
    expect(page.querySelector('strong')?.textContent).toBe('bold');
    expect(page.querySelectorAll('ol > li')).toHaveLength(2);
    expect(page.querySelectorAll('td')[1]?.className).toContain('text-right');
    expect(page.querySelector('pre code')?.textContent).toBe('let x;');
    expect(page.querySelector('blockquote')?.textContent).toBe('quote');
  });
  it('never makes an element of what an agent wrote', () => {
    const page = html('<img src=x onerror=alert(1)> and <script>alert(1)</script>\n\n<div onclick="x">hi</div>');
    expect(page.querySelector('img, script, [onclick]')).toBeNull();
    expect(page.textContent).toContain('<script>');
  });
  it('links only to the web, and loads no image', () => {
    const page = html(
      '[a](javascript:alert(1)) [b](https://example.org/x) ![c](https://example.org/c.png) [d](data:text/html,x)',
    );
    expect([...page.querySelectorAll('a')].map((a) => a.getAttribute('href'))).toEqual([
      'https://example.org/x',
      'https://example.org/c.png',
    ]);
    expect(page.querySelector('img')).toBeNull();
    expect(page.querySelector('a')?.rel).toContain('noreferrer');
  });
  it('shows signs as they are', () => {
    expect(html('a < b && "c" > d').textContent).toBe('a < b && "c" > d');
    expect(html('`<b>&amp;`').textContent).toContain('<b>&amp;');
  });
});

describe('makeSplitter', () => {
  it('gives the same blocks for a text that grew piece by piece', () => {
    const text =
      '# One\n\nPara with `code`.\n\n- a\n- b\n\n```c\nint x;\n\nint y;\n```\n\nThe end.\n\n1. x\n2. y\n\nPara with `code`.\n\nlast';
    const whole = makeSplitter()('k', text);
    const split = makeSplitter();
    for (let size = 1; size <= text.length; size++) split('k', text.slice(0, size));
    expect(split('k', text)).toEqual(whole);
    expect(whole.join('')).toContain('int y;');
  });
  it('cuts where the parser would, so that blocks by themselves are what they are together', () => {
    const document = [
      'Intro:\n- a\n- b\n  more of b\n\n  and more\n\n- c',
      'Text\n## Heading\nbehind it',
      'Setext\n======',
      '```js\n# no heading\n\n- no list\n```',
      '1. one:\n   ```sh\n   # comment\n\n   ls\n   ```\n2. two\n\n   still two',
      '> quote\nlazy\n\n> another',
      '| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |',
      'line one\nline two\n2. not a list',
      '    indented\n\n    code',
      '~~~\nan open fence\n\nto the end',
    ].join('\n\n');
    const apart = makeSplitter()('k', document).flatMap((block) => treeOf(block).blocks);
    expect(apart).toEqual(treeOf(document).blocks);
  });
  it('cuts a long list between its items, and a long paragraph between its lines', () => {
    const list = Array.from({ length: 2000 }, (_, i) => `${i + 1}. item ${i + 1}`).join('\n');
    const blocks = makeSplitter()('k', list);
    expect(blocks.join('')).toBe(list);
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) expect(block.length).toBeLessThan(8000);
    const [first] = treeOf(blocks[1] ?? '').blocks;
    expect(first?.kind === 'list' && first.start).toBe(Number.parseInt(blocks[1] ?? '', 10));
    expect(makeSplitter()('k', 'some words\n'.repeat(5000)).length).toBeGreaterThan(3);
  });
  it('costs an answer that grows only its end', () => {
    const split = makeSplitter();
    const paragraph = 'A paragraph of an answer that goes on and on.\n\n';
    split('k', paragraph.repeat(20_000));
    const begin = performance.now();
    for (let i = 1; i <= 50; i++) split('k', paragraph.repeat(20_000) + 'word '.repeat(i));
    // Read from its beginning each time, this would take several seconds.
    expect(performance.now() - begin).toBeLessThan(1500);
  });
});

describe('fenceOf', () => {
  it('is the code of a fence, closed or not', () => {
    expect(fenceOf('```js\nlet x;\n```\n')).toEqual({ text: 'let x;', language: 'js' });
    expect(fenceOf('~~~~\na\n~~~\nb\n~~~~')).toEqual({ text: 'a\n~~~\nb', language: '' });
    expect(fenceOf('```\nopen\n\nstill')).toEqual({ text: 'open\n\nstill', language: '' });
    expect(fenceOf('  ```c\n    deep\n  less\n  ```')).toEqual({ text: '  deep\nless', language: 'c' });
    expect(fenceOf('no ``` fence')).toBeNull();
  });
});

describe('what is too much', () => {
  it('is drawn some at a time: rows of a table', () => {
    const page = html('| a | b |\n|---|---|\n' + '| 1 | 2 |\n'.repeat(300));
    expect(page.querySelectorAll('tbody tr')).toHaveLength(50);
    act(() => page.querySelector('button')?.click());
    expect(page.querySelectorAll('tbody tr')).toHaveLength(100);
    expect(page.querySelectorAll('thead')).toHaveLength(1);
    expect(page.querySelectorAll('table')).toHaveLength(1);
  });
  it('is drawn some at a time: letters', () => {
    const page = html('```\n' + 'x'.repeat(200_000) + '\n```');
    expect(page.querySelector('pre')?.textContent.length).toBe(60_000);
    act(() => page.querySelector<HTMLElement>('[data-testid=more-text]')?.click());
    expect(page.querySelector('pre')?.textContent.length).toBe(120_000);
  });
});

describe('heal', () => {
  it('closes a mark that is half typed', () => {
    expect(heal('some **bold')).toBe('some **bold**');
    expect(heal('some `co')).toBe('some `co`');
    expect(heal('some **')).toBe('some ');
    expect(heal('done **b** `c`')).toBe('done **b** `c`');
  });
});
