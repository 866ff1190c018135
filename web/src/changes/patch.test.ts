import { describe, expect, it } from 'vitest';

import { linesMost, parsePatch } from './patch';

const text = (...lines: string[]) => lines.join('\n') + '\n';
const head = ['diff --git a/x b/x', 'index 1..2 100644', '--- a/x', '+++ b/x'];
const shown = (patch: string) =>
  parsePatch(patch).hunks.flatMap((hunk) =>
    hunk.lines.map((line) => `${line.old ?? '.'} ${line.new ?? '.'} ${line.mark} ${line.text}`),
  );

describe('parsePatch', () => {
  it('numbers the lines of both sides', () => {
    const patch = text(...head, '@@ -3,4 +3,5 @@ int main() {', ' a', '-b', '+B', '+C', ' d', ' e');
    expect(shown(patch)).toEqual(['3 3 same a', '4 . gone b', '. 4 came B', '. 5 came C', '5 6 same d', '6 7 same e']);
    expect(parsePatch(patch)).toMatchObject({ binary: false, broken: false, hunks: [{ title: 'int main() {' }] });
  });
  it('knows a line by the counts of its hunk, not by its looks', () => {
    const patch = text(...head, '@@ -1,2 +1,2 @@', '--- a/x', '-@@ -1 +1 @@', '+++ b/x', '+diff --git a b');
    expect(shown(patch)).toEqual([
      '1 . gone -- a/x',
      '2 . gone @@ -1 +1 @@',
      '. 1 came ++ b/x',
      '. 2 came diff --git a b',
    ]);
    expect(parsePatch(patch).broken).toBe(false);
  });
  it('reads new and deleted files, and a last line without an end', () => {
    const made = parsePatch(
      text(
        'diff --git a/x b/x',
        'new file mode 100644',
        '--- /dev/null',
        '+++ b/x',
        '@@ -0,0 +1 @@',
        '+a',
        '\\ No newline at end of file',
      ),
    );
    expect(made.hunks[0]!.lines).toEqual([{ mark: 'came', old: null, new: 1, text: 'a', unended: true }]);
    const gone = parsePatch(text(...head, '@@ -1,2 +0,0 @@', '-a', '-b'));
    expect(gone.hunks[0]!.lines.map((line) => line.old)).toEqual([1, 2]);
  });
  it('reads renames, modes and binary files without lines', () => {
    const renamed = text('diff --git a/x b/y', 'similarity index 100%', 'rename from x', 'rename to y');
    expect(parsePatch(renamed)).toEqual({ hunks: [], binary: false, broken: false });
    expect(parsePatch(text('diff --git a/x b/x', 'old mode 100644', 'new mode 100755')).broken).toBe(false);
    expect(parsePatch(text('diff --git a/x b/x', 'Binary files a/x and b/x differ'))).toMatchObject({
      binary: true,
      broken: false,
    });
    expect(parsePatch(text('diff --git a/x b/x', 'GIT binary patch', 'literal 5', 'Mc$'))).toMatchObject({
      binary: true,
      broken: false,
    });
  });
  it('reads a file whose kind changed: two sections', () => {
    const both = text(
      ...head,
      '@@ -1 +0,0 @@',
      '-a',
      ...head,
      '@@ -0,0 +1 @@',
      '+/etc/x',
      '\\ No newline at end of file',
    );
    expect(shown(both)).toEqual(['1 . gone a', '. 1 came /etc/x']);
  });
  it('keeps what was good before what is no patch, and says so', () => {
    for (const bad of [
      ['@@ -1,2 +1,2 @@', ' a', 'nonsense'],
      ['@@ -1,2 +1,2 @@', ' a'],
      ['@@ -1,1 +1,1 @@', ' a', 'what?'],
      ['@@ -1,1 +1,1 @@', ' a', '@@ -x +y @@'],
      ['@@ -1,1 +1,2 @@', ' a', '-b'],
    ]) {
      const patch = parsePatch(text(...head, ...bad));
      expect(patch.broken, bad.join('|')).toBe(true);
      expect(patch.hunks[0]!.lines).toHaveLength(1);
    }
    for (const bad of ['@@ -1', '@@ -1 +99999999999999 @@', 'hello', '\u0000'])
      expect(parsePatch(bad)).toEqual({ hunks: [], binary: false, broken: true });
    expect(parsePatch('')).toEqual({ hunks: [], binary: false, broken: false });
    expect(parsePatch('\\ alone')).toEqual({ hunks: [], binary: false, broken: false });
  });
  it('takes counts that lie, huge lines and many lines in one pass', () => {
    const began = performance.now();
    expect(parsePatch(text(...head, '@@ -1,999999999 +1,999999999 @@', ' a')).broken).toBe(true);
    const long = 'x'.repeat(20_000_000);
    expect(parsePatch(text(...head, '@@ -0,0 +1 @@', `+${long}`)).hunks[0]!.lines[0]!.text).toHaveLength(long.length);
    expect(parsePatch(`@@ -1 +1 @@ ${'@'.repeat(1_000_000)}`).hunks[0]!.title).toHaveLength(200);
    const many = parsePatch(text(...head, '@@ -0,0 +1,500000 @@', '+\n'.repeat(500_000)));
    expect(many.broken).toBe(true);
    expect(many.hunks[0]!.lines).toHaveLength(linesMost);
    expect(performance.now() - began).toBeLessThan(5000);
  });
  it('never throws, whatever is cut where', () => {
    const whole = text(...head, '@@ -1,3 +1,3 @@ f', ' a', '-b', '+c', ' d', '\\ No newline at end of file');
    for (let i = 0; i <= whole.length; i++) parsePatch(whole.slice(0, i) + '\u0000' + whole.slice(i));
  });
});
