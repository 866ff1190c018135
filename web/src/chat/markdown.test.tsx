// @vitest-environment happy-dom
import { render } from '@testing-library/react';
import { describe, expect, it } from 'vitest';

import '../i18n/test';
import { heal, makeSplitter, Markdown } from './markdown';

const html = (text: string) => render(<Markdown text={text} />).container;

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
});

describe('heal', () => {
  it('closes a mark that is half typed', () => {
    expect(heal('some **bold')).toBe('some **bold**');
    expect(heal('some `co')).toBe('some `co`');
    expect(heal('some **')).toBe('some ');
    expect(heal('done **b** `c`')).toBe('done **b** `c`');
    expect(heal('```js\nlet `x')).toBe('```js\nlet `x');
  });
});
