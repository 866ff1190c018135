import { describe, expect, it } from 'vitest';

import type { Attempt, Task } from '../api/types';
import { canTake, canTest, costText, isOpen, someWork, testState } from './attempts';

const usage = { input_tokens: 0, output_tokens: 0, cost_usd: 0 as number | null, unpriced: false };
const task = (status: string, state: string | null = 'ready', used = usage): Task =>
  ({ status, stopping: false, isolation: state && { state }, progress: { usage: used } }) as unknown as Task;
const attempt = (status: string, state: string | null = 'ready', test: Task | null = null): Attempt => ({
  task: task(status, state),
  changes: null,
  why: null,
  test,
});

describe('what attempts cost', () => {
  it('is a question mark where it is not known', () => {
    expect(costText(task('completed'))).toBe('?');
    expect(costText(task('completed', 'ready', { ...usage, input_tokens: 5, cost_usd: null, unpriced: true }))).toBe(
      '?',
    );
  });
  it('is at least what is known', () => {
    const used = { ...usage, input_tokens: 5, cost_usd: 1.5 };
    expect(costText(task('completed', 'ready', used))).toBe('$1.50');
    expect(costText(task('completed', 'ready', { ...used, unpriced: true }))).toBe('≥ $1.50');
    expect(costText(task('completed', 'ready', { ...used, cost_usd: 0 }))).toBe('$0');
  });
});

describe('what can be done with attempts', () => {
  it('knows how tests ended', () => {
    expect(testState(null)).toBe('none');
    expect(testState(task('running'))).toBe('working');
    expect(testState(task('completed'))).toBe('passed');
    expect(testState(task('failed'))).toBe('failed');
    expect(testState(task('cancelled'))).toBe('failed');
  });
  it('takes one only when nothing is at work', () => {
    const good = attempt('completed');
    expect(canTake(good, [good, attempt('failed', null)])).toBe(true);
    expect(canTake(good, [good, attempt('running')])).toBe(false);
    expect(canTake(good, [good, attempt('completed', 'ready', task('running'))])).toBe(false);
    expect(canTake(attempt('completed', 'merged'), [good])).toBe(false);
  });
  it('tests what has ended', () => {
    expect(canTest([attempt('running'), attempt('completed')])).toBe(true);
    expect(canTest([attempt('running'), attempt('completed', 'discarded')])).toBe(false);
    expect(canTest([attempt('completed', 'ready', task('pending'))])).toBe(false);
    expect(someWork([attempt('completed'), attempt('pending')])).toBe(true);
    expect(isOpen(attempt('failed', null))).toBe(false);
  });
});
