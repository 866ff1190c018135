// What a task and those that it launched have used together: that is what its budget bounds.
import { useQueries } from '@tanstack/react-query';

import type { Task } from '../api/types';
import { childrenOf } from '../queries';

export interface Spent {
  tokens: number;
  cost_usd: number;
  turns: number;
  tool_calls: number;
}

export function spentBy(tasks: Task[]): Spent {
  const all: Spent = { tokens: 0, cost_usd: 0, turns: 0, tool_calls: 0 };
  for (const { usage, turns, tool_calls } of tasks.map((task) => task.progress)) {
    all.tokens += usage.input_tokens + usage.output_tokens;
    all.cost_usd += usage.cost_usd ?? 0;
    all.turns += turns;
    all.tool_calls += tool_calls;
  }
  return all;
}

// Who called no tool launched nothing. More than these are not asked for: each is a request.
const mostAsked = 20;
export const mayHaveLaunched = (tasks: Task[]): string[] =>
  tasks.flatMap((task) => (task.session_id && task.progress.tool_calls > 0 ? task.session_id : [])).slice(0, mostAsked);

const useLaunchedBy = (sessions: string[]): Task[] =>
  useQueries({
    queries: sessions.map(childrenOf),
    combine: (all) => all.flatMap((each) => each.data?.tasks ?? []),
  });

export function useSpent(task: Task): Spent {
  // Subtasks are at most three deep.
  const first = useLaunchedBy(task.budget && task.session_id ? [task.session_id] : []);
  const second = useLaunchedBy(mayHaveLaunched(first));
  const third = useLaunchedBy(mayHaveLaunched(second));
  return spentBy([task, ...first, ...second, ...third]);
}
