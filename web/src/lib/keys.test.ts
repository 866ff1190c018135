// @vitest-environment happy-dom
import { describe, expect, it, vi } from 'vitest';

import { makeKeyHandler } from './keys';

const press = (
  handler: (event: KeyboardEvent) => void,
  key: string,
  more: KeyboardEventInit = {},
  target: HTMLElement = document.body,
  at = 0,
) => {
  const event = new KeyboardEvent('keydown', { key, cancelable: true, ...more });
  Object.defineProperty(event, 'target', { value: target });
  Object.defineProperty(event, 'timeStamp', { value: at });
  handler(event);
};

describe('keys', () => {
  it('runs single keys, keys with modifiers, and sequences', () => {
    const map = { '?': vi.fn(), 'mod+k': vi.fn(), 'g t': vi.fn(), 'shift+j': vi.fn(), j: vi.fn() };
    const handler = makeKeyHandler(() => map);
    press(handler, '?', { shiftKey: true });
    press(handler, 'k', { ctrlKey: true });
    press(handler, 'g', {}, document.body, 1000);
    press(handler, 't', {}, document.body, 1200);
    press(handler, 'J', { shiftKey: true });
    for (const each of ['?', 'mod+k', 'g t', 'shift+j'] as const) expect(map[each], each).toHaveBeenCalledOnce();
    expect(map.j).not.toHaveBeenCalled();
  });
  it('forgets the first key of a sequence after a while', () => {
    const map = { 'g t': vi.fn() };
    const handler = makeKeyHandler(() => map);
    press(handler, 'g', {}, document.body, 0);
    press(handler, 't', {}, document.body, 2000);
    expect(map['g t']).not.toHaveBeenCalled();
  });
  it('keeps out of what somebody types', () => {
    const map = { j: vi.fn(), 'mod+k': vi.fn() };
    const handler = makeKeyHandler(() => map);
    const box = document.createElement('textarea');
    press(handler, 'j', {}, box);
    press(handler, 'k', { metaKey: true }, box);
    expect(map.j).not.toHaveBeenCalled();
    expect(map['mod+k']).toHaveBeenCalledOnce();
  });
});
