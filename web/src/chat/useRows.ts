// The rows of a task's conversation.
import { useMemo, useState } from 'react';

import type { Task } from '../api/types';
import { askOf } from './AskCard';
import { makeSplitter } from './blocks';
import { rowsOf, type Row, type Transcript } from './transcript';

// Rows that say the same are the same object, so that only what changed is drawn again.
function makeStabilizer() {
  let old = new Map<string, Row>();
  return (rows: Row[]): Row[] => {
    const next = new Map<string, Row>();
    const stable = rows.map((row) => {
      const before = old.get(row.key);
      const same = before && before.kind === row.kind && equal(before, row) ? before : row;
      next.set(row.key, same);
      return same;
    });
    old = next;
    return stable;
  };
}
function equal(a: Row, b: Row): boolean {
  if (a.kind === 'block' && b.kind === 'block') return a.text === b.text && a.live === b.live && a.first === b.first;
  if (a.kind === 'reasoning' && b.kind === 'reasoning') return a.text === b.text && a.live === b.live;
  if (a.kind === 'tool' && b.kind === 'tool')
    return a.call.call_id === b.call.call_id && a.result?.call_id === b.result?.call_id && a.live === b.live;
  if (a.kind === 'user' && b.kind === 'user') return a.message === b.message && a.pending === b.pending;
  if (a.kind === 'system' && b.kind === 'system') return a.text === b.text && a.name === b.name;
  if (a.kind === 'ask' && b.kind === 'ask') return a.ask === b.ask;
  if (a.kind === 'warning' && b.kind === 'warning') return a.warning.seq === b.warning.seq;
  return JSON.stringify(a) === JSON.stringify(b);
}

export function useRows(task: Task, transcript: Transcript): Row[] {
  const [split] = useState(makeSplitter);
  const [stable] = useState(makeStabilizer);
  const { status, waiting_for: waiting } = task;
  return useMemo(() => {
    const rows = rowsOf(transcript, split, status === 'running' || status === 'resumed');
    // That it was cut short is said once: by how the task ended, where that is the reason.
    if (status === 'failed' || status === 'cancelled') {
      const at = rows.findLastIndex((row) => row.kind === 'interrupted');
      if (at >= 0 && !rows.slice(at + 1).some((row) => row.kind !== 'foot')) rows.splice(at, 1);
    }
    // Its question is not among the events that were read: it is shown from the record.
    const ask = waiting ? askOf(waiting) : null;
    if (ask && !rows.some((row) => row.kind === 'ask' && row.ask.id === ask.id))
      rows.push({ kind: 'ask', key: ask.id, ask });
    return stable(rows);
  }, [transcript, split, stable, status, waiting]);
}
