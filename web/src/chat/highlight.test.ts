import { describe, expect, it } from 'vitest';

import { highlight } from './highlight';

const toned = (text: string, language?: string) =>
  highlight(text, language).flatMap(({ text, tone }) => (tone ? [`${tone}:${text}`] : []));

describe('code in colours', () => {
  it('knows comments, strings, numbers and common words', () => {
    expect(toned('const a = "x // y"; // why\nreturn 42;', 'ts')).toEqual([
      'keyword:const',
      'string:"x // y"',
      'comment:// why',
      'keyword:return',
      'number:42',
    ]);
    expect(toned('def f(): # a comment\n  return "#no"', 'python')).toEqual([
      'keyword:def',
      'comment:# a comment',
      'keyword:return',
      'string:"#no"',
    ]);
    expect(toned('SELECT a -- all\nFROM b', 'sql')).toEqual(['keyword:SELECT', 'comment:-- all', 'keyword:FROM']);
  });
  it('changes no text, whatever it is', () => {
    for (const text of ['', '"open', "it's", '/* open', '`a\nb`', '\\', '# x\n#y', 'a'.repeat(30_000), '"""\n\'\'\''])
      for (const language of ['ts', 'sh', 'sql', 'text', undefined])
        expect(
          highlight(text, language)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(text);
  });
  it('leaves text without a language, and what is no code, as it is', () => {
    expect(toned('if for while "x"')).toEqual([]);
    expect(toned('if for while "x"', 'text')).toEqual([]);
  });
});
