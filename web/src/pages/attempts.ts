// What is said of attempts, as values. Pure.
import { isBusy, type Attempt, type Task } from '../api/types';
import { cost } from '../lib/format';

// What is not known is not nothing.
export function costText(task: Task): string {
  const { cost_usd: usd, input_tokens, output_tokens, unpriced } = task.progress.usage;
  if (usd === null || (usd === 0 && input_tokens + output_tokens === 0)) return '?';
  return `${unpriced ? '≥ ' : ''}${cost(usd)}`;
}

export type TestState = 'none' | 'working' | 'passed' | 'failed';
export function testState(test: Task | null): TestState {
  if (!test) return 'none';
  if (isBusy(test)) return 'working';
  return test.status === 'completed' ? 'passed' : 'failed';
}

const open = ['ready', 'conflict', 'kept'];
// Something is in its worktree that nobody has decided about.
export const isOpen = ({ task }: Attempt): boolean => open.includes(task.isolation?.state ?? '');
const works = ({ task, test }: Attempt): boolean => isBusy(task) || (test !== null && isBusy(test));
export const someWork = (all: Attempt[]): boolean => all.some(works);
export const canTest = (all: Attempt[]): boolean => all.some((each) => isOpen(each) && !works(each));
// One is taken when all have ended: the others are discarded with it.
export const canTake = (attempt: Attempt, all: Attempt[]): boolean => isOpen(attempt) && !someWork(all);
