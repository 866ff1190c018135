import { describe, expect, it } from 'vitest';

import { quoted, shown, visible } from './hidden';

describe('a name', () => {
  it('shows what is hidden in it', () => {
    expect(shown('invoice\u202Efdp.exe')).toBe('invoice\\u202efdp.exe');
    expect(shown('a\u200Bb\uFEFF\u{E0041}')).toBe('a\\u200bb\\ufeff\\U000e0041');
  });
  it('is never an empty row', () => {
    for (const name of ['\u200B\u200D', '\u2800', '\u3164', '\u202E', ' \u00A0'])
      expect(shown(name)).toMatch(/^(\\u[0-9a-f]{4})+$/);
  });
  it('keeps what writing needs', () => {
    for (const name of ['می\u200Cخواهم', '👩\u200D💻 works', 'नमस्ते', 'שלום', 'plain', '任务', '...'])
      expect(shown(name)).toBe(name);
  });
  it('stays inside of its sentence', () => expect(quoted('x')).toBe('\u2068x\u2069'));
});

describe('a line of a file', () => {
  it('shows what is hidden in it, and is else what it is', () => {
    expect(visible('if (a\u202E) /*\u2066*/ \u001b[2J\u0000')).toBe('if (a\\u202e) /*\\u2066*/ \\u001b[2J\\u0000');
    for (const line of ['', '   ', '\tcall();', '任务 👩\u200D💻']) expect(visible(line)).toBe(line);
  });
});
