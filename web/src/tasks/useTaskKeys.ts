// The list, led by the keyboard alone.
import type { RefObject } from 'react';

import type { Task } from '../api/types';
import { useKeys } from '../lib/keys';
import { isEmpty } from './selection';
import type { useSelection } from './useSelection';
import type { TaskRows } from './useTaskRows';

interface Parts {
  list: TaskRows;
  chosen: ReturnType<typeof useSelection>;
  searchBox: RefObject<HTMLInputElement | null>;
  covered: number; // How much of the list is under what floats above it.
  onOpen: (task: Task) => void;
}

export function useTaskKeys({ list, chosen, searchBox, covered, onOpen }: Parts): void {
  const { count, hidden } = list.rows;
  const { focus } = chosen;
  const focused = () => list.at(focus)?.task;
  const move = (by: number, extend: boolean) => {
    if (count === 0) return;
    let next = Math.max(0, Math.min(count - 1, focus + by));
    while (hidden.includes(next) && next + by >= 0 && next + by < count) next += by;
    chosen.setFocus(next);
    list.reveal(next, covered);
    if (extend) chosen.extend(next);
  };
  // As in every tree: right opens, left closes.
  const fold = (wanted: 'open' | 'closed') => {
    const task = focused();
    const is = task ? list.fold(task) : 'none';
    if (task?.session_id && is !== 'none' && is !== wanted) list.toggle(task.session_id);
  };
  useKeys({
    '/': () => searchBox.current?.focus(),
    j: () => move(1, false),
    k: () => move(-1, false),
    ArrowDown: () => move(1, false),
    ArrowUp: () => move(-1, false),
    'shift+j': () => move(1, true),
    'shift+k': () => move(-1, true),
    x: () => focus >= 0 && chosen.select(focus, false),
    ArrowRight: () => fold('open'),
    ArrowLeft: () => fold('closed'),
    Enter: () => {
      const task = focused();
      if (task) onOpen(task);
    },
    Escape: () => (isEmpty(chosen.selection) ? chosen.setFocus(-1) : chosen.clear()),
  });
}
