import { describe, expect, it } from 'vitest';

import { SseParser } from './sse';

const bytes = (text: string) => new TextEncoder().encode(text);
const stream = 'retry: 2000\n\nid: 7\nevent: task.status\ndata: {"a":\ndata: "中文"}\n\n: beat\n\nid: 8\ndata: x\n\n';

describe('SseParser', () => {
  it('gives the same events wherever the bytes are cut', () => {
    const whole = new SseParser().push(bytes(stream));
    expect(whole).toEqual([
      { id: '7', type: 'task.status', data: '{"a":\n"中文"}' },
      { id: '8', type: 'message', data: 'x' },
    ]);
    const all = bytes(stream);
    for (let cut = 1; cut < all.length; cut++) {
      const parser = new SseParser();
      expect([...parser.push(all.slice(0, cut)), ...parser.push(all.slice(cut))]).toEqual(whole);
    }
  });
  it('takes every kind of line end, also one that is cut in two', () => {
    const all = bytes(stream.replaceAll('\n', '\r\n'));
    const whole = new SseParser().push(all);
    expect(whole).toHaveLength(2);
    for (let cut = 1; cut < all.length; cut++) {
      const parser = new SseParser();
      expect([...parser.push(all.slice(0, cut)), ...parser.push(all.slice(cut))]).toEqual(whole);
    }
  });
  it('keeps a half event until its end comes', () => {
    const parser = new SseParser();
    expect(parser.push(bytes('data: one'))).toEqual([]);
    expect(parser.push(bytes('\n\n'))).toEqual([{ id: '', type: 'message', data: 'one' }]);
  });
});
