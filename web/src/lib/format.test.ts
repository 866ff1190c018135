import { describe, expect, it } from 'vitest';

import { ago, bytes, cost, duration, shortDuration, shortId, taskDuration } from './format';

describe('format', () => {
  it('says durations as people do', () => {
    expect([0, 7_000, 135_000, 3_723_000, 187_200_000].map(duration)).toEqual([
      '0:00',
      '0:07',
      '2:15',
      '1:02:03',
      '2d 4h',
    ]);
    expect(duration(-5)).toBe('0:00');
    expect([12, 2400, 65_000].map(shortDuration)).toEqual(['12 ms', '2.4 s', '1:05']);
  });
  it('says how long ago in both languages', () => {
    const now = Date.parse('2026-02-03T12:00:00Z');
    expect(ago(now - 120_000, now, 'en')).toBe('2m ago');
    expect(ago(now - 3_700_000, now, 'en')).toBe('1h ago');
    expect(ago(now - 120_000, now, 'zh')).toBe('2分钟前');
    expect(ago(now, now, 'zh')).toBe('刚刚');
    expect(ago(now + 5000, now, 'en')).toBe('now'); // A clock that is a little behind.
  });
  it('says sizes and costs', () => {
    expect([12, 1500, 2_340_000, 150_000_000].map(bytes)).toEqual(['12 B', '1.5 kB', '2.3 MB', '150 MB']);
    expect([0, 0.0087, 1.5].map(cost)).toEqual(['$0', '$0.0087', '$1.50']);
    expect(shortId('task_01m7g21m0b1j7k068q6vhd3f3g')).toBe('task_…hd3f3g');
  });
  it('counts a task from its start to its end, or to now', () => {
    const started_at = '2026-01-01T00:00:00.000Z';
    const now = Date.parse('2026-01-01T00:01:00.000Z');
    expect(taskDuration({ started_at: null, completed_at: null, status: 'pending' }, now)).toBeNull();
    expect(taskDuration({ started_at, completed_at: null, status: 'running' }, now)).toBe('1:00');
    expect(taskDuration({ started_at, completed_at: '2026-01-01T00:00:30.000Z', status: 'completed' }, now)).toBe(
      '0:30',
    );
    expect(taskDuration({ started_at, completed_at: '2026-01-01T00:00:30.000Z', status: 'resumed' }, now)).toBe('1:00');
  });
});
