import { describe, expect, it } from 'vitest';

import { familyOf, lineDiff, pictureOf, toolView } from './tools';

describe('a tool call in one line', () => {
  it('says what the built-in tools did', () => {
    expect(toolView('bash', { command: 'make -j2 test\nmake install', description: 'Run the tests' })).toMatchObject({
      family: 'shell',
      summary: 'make -j2 test …',
      detail: 'Run the tests',
    });
    expect(toolView('read', { path: 'src/a.cc', offset: 10, limit: 41 })).toEqual({
      family: 'read',
      summary: 'src/a.cc',
      detail: '10–50',
    });
    expect(toolView('grep', { pattern: 'TODO', path: 'src', glob: '*.h' })).toEqual({
      family: 'search',
      summary: 'TODO',
      detail: 'src *.h',
    });
    expect(toolView('write', { path: 'a.md', content: 'one\ntwo\n' })).toMatchObject({ summary: 'a.md', added: 2 });
    expect(toolView('list', {})).toEqual({ family: 'list', summary: '.' });
    const todo = toolView('todo', {
      items: [
        { content: 'read it', status: 'completed' },
        { content: 'change it', status: 'in_progress' },
        { content: 'test it', status: 'nonsense' },
      ],
    });
    expect(todo).toMatchObject({ summary: 'change it', detail: '1/3' });
    expect(todo.todos?.map((each) => each.state)).toEqual(['completed', 'in_progress', 'pending']);
  });
  it('knows the same tools of others', () => {
    expect(toolView('Edit', { file_path: '/x', old_string: 'a', new_string: 'b' })).toMatchObject({
      added: 1,
      removed: 1,
    });
    expect(toolView('edit', { filePath: '/x', oldString: 'a', newString: '' })).toMatchObject({ added: 0, removed: 1 });
    expect(
      toolView('MultiEdit', { file_path: '/x', edits: [{ old_string: 'a', new_string: 'b' }, null] }),
    ).toMatchObject({
      added: 1,
    });
    expect(toolView('TodoWrite', { todos: [{ content: 'x', status: 'pending' }] }).todos).toHaveLength(1);
    expect(familyOf('superagents_task')).toBe('task');
    expect(toolView('background_task', { description: 'Tests', prompt: 'p', agent: 'demo' })).toMatchObject({
      summary: 'Tests',
      detail: 'demo',
    });
  });
  it('makes the best of what it does not know', () => {
    expect(toolView('weather', { city: 'Paris' })).toEqual({ family: 'other', summary: 'Paris' });
    for (const input of [null, undefined, 7, [], {}, { a: 1 }, { command: 7 }, { items: [1, null, 'x'] }])
      for (const name of ['bash', 'edit', 'todo', 'read', 'x', 'background_list'])
        expect(typeof toolView(name, input).summary).toBe('string');
    expect(toolView('x', 'plain text')).toEqual({ family: 'other', summary: 'plain text' });
  });
});

describe('a diff', () => {
  it('shows what changed, with a few lines around it', () => {
    expect(lineDiff('1\n2\n3\n4\n5\nold\n6\n7\n8\n9\n', '1\n2\n3\n4\n5\nnew\n6\n7\n8\n9\n')).toBe(
      ' 3\n 4\n 5\n-old\n+new\n 6\n 7\n 8',
    );
    expect(lineDiff('', 'a')).toBe('+a');
    expect(lineDiff('a', '')).toBe('-a');
    expect(lineDiff('a\nb\nc', 'a\nx\nb\ny\nc')).toBe(' a\n+x\n b\n+y\n c');
  });
  it('gives both texts back, whatever they are', () => {
    let seed = 20_261_115;
    const random = (n: number) => (seed = (seed * 48_271) % 2_147_483_647) % n;
    for (let round = 0; round < 300; round++) {
      const text = () => Array.from({ length: 1 + random(6) }, () => 'abc'[random(3)]).join('\n');
      const [before, after] = [text(), text()];
      const lines = lineDiff(before, after).split('\n');
      if (before === after) continue;
      // What is around a change may be cut at both ends: what is shown is a piece of each text.
      expect(`\n${before}\n`).toContain(
        `\n${lines
          .filter((l) => l[0] !== '+')
          .map((l) => l.slice(1))
          .join('\n')}`,
      );
      expect(`\n${after}\n`).toContain(
        `\n${lines
          .filter((l) => l[0] !== '-')
          .map((l) => l.slice(1))
          .join('\n')}`,
      );
    }
  });
  it('of a huge text is bounded', () => {
    const many = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word}${i}`).join('\n');
    expect(lineDiff(many('a'), many('b')).split('\n')).toHaveLength(10_000);
  });
});

it('a picture is shown only where its bytes are in the text', () => {
  expect(pictureOf('data:image/png;base64,iVBORw0KGgo=')).toBe('data:image/png;base64,iVBORw0KGgo=');
  expect(pictureOf('data:image/svg+xml;base64,PHN2Zz4=')).toBeUndefined();
  expect(pictureOf('https://example.com/a.png')).toBeUndefined();
  expect(pictureOf('see data:image/png;base64,iVBORw0KGgo=')).toBeUndefined();
});
