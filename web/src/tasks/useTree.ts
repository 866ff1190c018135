// The list with the subtasks of what was opened put in where they belong; there they are not shown a second time.
import { useQueries } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';

import type { Task } from '../api/types';
import { childrenOf } from '../queries';
import { rowsBelow, inserted, place, type Insert } from './tree';

export interface TreeRow {
  task: Task;
  depth: number;
}
interface Source {
  total: number;
  rows: (index: number) => Task | undefined;
  loaded: () => [number, Task][];
  version: string;
}

export function useTree(list: Source, active: Task[]) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const sessions = [...open];
  const read = useQueries({
    queries: sessions.map(childrenOf),
    combine: (all) => all.map((each) => each.data?.tasks),
  });
  // Where an opened row was last seen: it may have left the pages that are here.
  const seen = useRef(new Map<string, number>());
  const { inserts, hidden, parents } = useMemo(() => {
    const loaded = list.loaded();
    const parents = new Set(
      [...loaded.map(([, task]) => task), ...active].flatMap((task) => task.parent_session_id ?? []),
    );
    const bySession = new Map(sessions.map((session, i) => [session, read[i]]));
    for (const [index, task] of loaded)
      if (task.session_id && open.has(task.session_id)) seen.current.set(task.session_id, index);
    const below = new Set<string>();
    const inserts: Insert[] = [];
    for (const session of sessions) {
      const flat = seen.current.get(session);
      const rows = rowsBelow(session, open, (each) => bySession.get(each));
      if (flat === undefined || rows.length === 0) continue;
      for (const { task } of rows) below.add(task.id);
      inserts.push({ flat, rows });
    }
    // A parent that stands below another is opened there, and not a second time in its own place.
    const at = new Map(loaded.map(([index, task]) => [index, task.id]));
    const kept = inserts.filter(({ flat }) => !below.has(at.get(flat) ?? '')).sort((a, b) => a.flat - b.flat);
    // In its own place a task is hidden while it stands below its parent.
    const shift = (flat: number) => inserted(kept.filter((each) => each.flat < flat));
    const hidden = loaded.filter(([, task]) => below.has(task.id)).map(([flat]) => flat + shift(flat));
    return { inserts: kept, hidden: hidden.sort((a, b) => a - b), parents };
    // `list` and `sessions` are new each time; their content is in the rest.
  }, [list.version, open, read, active]);

  return {
    parents,
    open,
    hidden,
    total: list.total + inserted(inserts),
    toggle: (session: string) =>
      setOpen((old) => {
        const next = new Set(old);
        if (!next.delete(session)) next.add(session);
        else seen.current.delete(session);
        return next;
      }),
    close: () => setOpen((old) => (old.size === 0 ? old : new Set())),
    row(index: number): TreeRow | undefined {
      const { flat, child } = place(index, inserts);
      if (child) return child;
      const task = list.rows(flat);
      return task && { task, depth: 0 };
    },
    flat: (index: number): number => {
      for (let i = index; i >= 0; i--) {
        const { flat } = place(i, inserts);
        if (flat !== undefined) return flat;
      }
      return 0;
    },
  };
}
