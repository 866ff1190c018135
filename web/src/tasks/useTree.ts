// The list with the subtasks of what was opened put in where they belong; there they are not shown a second time.
import { useQueries } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';

import type { Task, TaskList } from '../api/types';
import { useChanged } from '../lib/hooks';
import { childrenOf } from '../queries';
import { rowsBelow, inserted, place, type Insert } from './tree';
import type { Loaded } from './useTaskList';

export interface TreeRow {
  task: Task;
  depth: number;
}

const nothing: ReadonlySet<string> = new Set();
const tasksOf = (read: { data: TaskList | undefined }[]) => read.map(({ data }) => data?.tasks);

// Where opened rows were last seen: one may have left the pages that are here. Remembers no others.
function makePlaces() {
  let known = new Map<string, number>();
  return (loaded: Loaded, open: ReadonlySet<string>): ReadonlyMap<string, number> => {
    const next = new Map([...known].filter(([session]) => open.has(session)));
    for (const [index, task] of loaded.all)
      if (task.session_id && open.has(task.session_id)) next.set(task.session_id, index);
    known = next;
    return next;
  };
}

// `of`: what the list is of. With another one everything is closed again.
export function useTree(of: unknown, total: number, loaded: Loaded, active: Task[]) {
  const [open, setOpen] = useState(nothing);
  const [places] = useState(makePlaces);
  if (useChanged(of)) setOpen(nothing);
  const sessions = useMemo(() => [...open], [open]);
  const read = useQueries({ queries: sessions.map(childrenOf), combine: tasksOf });
  const { inserts, hidden, parents } = useMemo(() => {
    const parents = new Set(
      [...loaded.all.map(([, task]) => task), ...active].flatMap((task) => task.parent_session_id ?? []),
    );
    const bySession = new Map(sessions.map((session, i) => [session, read[i]]));
    const seen = places(loaded, open);
    const below = new Set<string>();
    const inserts: Insert[] = [];
    for (const session of sessions) {
      const flat = seen.get(session);
      const rows = rowsBelow(session, open, (each) => bySession.get(each));
      if (flat === undefined || rows.length === 0) continue;
      for (const { task } of rows) below.add(task.id);
      inserts.push({ flat, rows });
    }
    // A parent that stands below another is opened there, and not a second time in its own place.
    const at = new Map(loaded.all.map(([index, task]) => [index, task.id]));
    const kept = inserts.filter(({ flat }) => !below.has(at.get(flat) ?? '')).sort((a, b) => a.flat - b.flat);
    // In its own place a task is hidden while it stands below its parent.
    const shift = (flat: number) => inserted(kept.filter((each) => each.flat < flat));
    const hidden = loaded.all.filter(([, task]) => below.has(task.id)).map(([flat]) => flat + shift(flat));
    return { inserts: kept, hidden: hidden.sort((a, b) => a - b), parents };
  }, [loaded, open, sessions, read, active, places]);

  const toggle = useCallback(
    (session: string) =>
      setOpen((old) => {
        const next = new Set(old);
        if (!next.delete(session)) next.add(session);
        return next;
      }),
    [],
  );
  const row = useCallback(
    (index: number): TreeRow | undefined => {
      const { flat, child } = place(index, inserts);
      if (child) return child;
      const task = loaded.at(flat);
      return task && { task, depth: 0 };
    },
    [inserts, loaded],
  );
  // The place in the list as it is read, of a row or of the one that it stands below.
  const flat = useCallback(
    (index: number): number => {
      for (let i = index; i >= 0; i--) {
        const { flat } = place(i, inserts);
        if (flat !== undefined) return flat;
      }
      return 0;
    },
    [inserts],
  );
  return { parents, open, hidden, total: total + inserted(inserts), toggle, row, flat };
}
