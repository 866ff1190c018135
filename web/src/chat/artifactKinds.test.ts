import { expect, it } from 'vitest';

import { typeOf, viewOf } from './artifactKinds';

it('an artifact is shown as what it says it is, or as what its name says', () => {
  expect(viewOf({ name: 'a', media_type: 'image/png', size: 1 })).toBe('picture');
  expect(viewOf({ name: 'a.SVG', media_type: '', size: 1 })).toBe('picture');
  expect(viewOf({ name: 'report.pdf', media_type: 'application/octet-stream', size: 1 })).toBe('pdf');
  expect(viewOf({ name: 'report', media_type: 'text/html; charset=utf-8', size: 1 })).toBe('html');
  expect(viewOf({ name: 'a.html', media_type: 'text/plain', size: 1 })).toBeNull();
  expect(viewOf({ name: 'a.txt', media_type: 'text/plain', size: 1 })).toBeNull();
  expect(typeOf({ name: 'x.png', media_type: 'IMAGE/GIF; x=y' })).toBe('image/gif');
});

it('what is too large is not', () => {
  expect(viewOf({ name: 'a.html', media_type: 'text/html', size: 6_000_000 })).toBeNull();
  expect(viewOf({ name: 'a.png', media_type: 'image/png', size: 30_000_000 })).toBeNull();
});
