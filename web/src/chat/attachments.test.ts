import { describe, expect, it } from 'vitest';

import { bytesMost, filesMost, fitting, mediaType } from './attachments';

const file = (size: number, name = 'a') => ({ name, size, type: '' }) as File;

describe('files of a message', () => {
  it('are taken while they fit', () => {
    expect(fitting([], [file(1), file(2)])).toMatchObject({ files: [{ size: 1 }, { size: 2 }], refused: null });
    expect(fitting([file(bytesMost - 5)], [file(6), file(5)])).toMatchObject({
      files: [{ size: 5 }],
      refused: 'large',
    });
    expect(
      fitting(
        [],
        Array.from({ length: 30 }, () => file(1)),
      ),
    ).toMatchObject({ refused: 'many' });
    expect(
      fitting(
        Array.from({ length: filesMost }, () => file(0)),
        [file(0)],
      ).files,
    ).toEqual([]);
  });
  it('are text where their name says so', () => {
    expect(mediaType({ name: 'x.ts', type: 'video/mp2t' })).toBe('text/plain');
    expect(mediaType({ name: 'x.png', type: 'image/png' })).toBe('image/png');
    expect(mediaType({ name: 'x', type: '' })).toBe('application/octet-stream');
    expect(mediaType({ name: 'x', type: 'text/html;charset=utf-8' })).toBe('text/html');
  });
});
