// What is drawn of a patch, row by row: in one column, or side by side. Pure.
import type { Hunk, Line, Patch } from './patch';

export type DiffRow =
  | { kind: 'hunk'; key: string; hunk: Hunk; skipped: number | null } // Lines between it and what is above; null: nobody knows.
  | { kind: 'line'; key: string; line: Line; pair: Line | null } // `pair`: what it became, or was.
  | { kind: 'sides'; key: string; old: Line | null; new: Line | null }
  | { kind: 'broken'; key: string };

// A run of lines that went and of those that came for them: the first became the first.
function* runs(hunk: Hunk): Generator<{ same: Line } | { gone: Line[]; came: Line[] }> {
  let [gone, came]: [Line[], Line[]] = [[], []];
  for (const line of hunk.lines) {
    if (line.mark === 'gone' && came.length === 0) gone.push(line);
    else if (line.mark === 'came') came.push(line);
    else {
      if (gone.length + came.length > 0) yield { gone, came };
      [gone, came] = [line.mark === 'gone' ? [line] : [], []];
      if (line.mark === 'same') yield { same: line };
    }
  }
  if (gone.length + came.length > 0) yield { gone, came };
}

const name = (line: Line): string => (line.new !== null ? `n${line.new}` : `o${line.old}`);

export function rowsOf(patch: Patch, split: boolean): DiffRow[] {
  const rows: DiffRow[] = [];
  let below: number | null = 1; // The first line on the new side that was not shown yet.
  for (const [i, hunk] of patch.hunks.entries()) {
    // A file whose kind changed has two sections, which begin again.
    const skipped: number | null = below !== null && hunk.new >= below ? hunk.new - below : null;
    const prefix = `${i}.`;
    if (skipped !== 0) rows.push({ kind: 'hunk', key: `${prefix}h`, hunk, skipped });
    for (const run of runs(hunk)) {
      if ('same' in run) {
        const { same } = run;
        rows.push(
          split
            ? { kind: 'sides', key: prefix + name(same), old: same, new: same }
            : { kind: 'line', key: prefix + name(same), line: same, pair: null },
        );
      } else if (split) {
        for (let k = 0; k < Math.max(run.gone.length, run.came.length); k++) {
          const [old, now] = [run.gone[k] ?? null, run.came[k] ?? null];
          rows.push({ kind: 'sides', key: prefix + name((now ?? old)!), old, new: now });
        }
      } else {
        for (const [k, line] of run.gone.entries())
          rows.push({ kind: 'line', key: prefix + name(line), line, pair: run.came[k] ?? null });
        for (const [k, line] of run.came.entries())
          rows.push({ kind: 'line', key: prefix + name(line), line, pair: run.gone[k] ?? null });
      }
    }
    below = (hunk.lines.findLast((line) => line.new !== null)?.new ?? hunk.new) + 1;
  }
  if (patch.broken) rows.push({ kind: 'broken', key: 'broken' });
  return rows;
}

// The rows where changes begin: where n and p go.
export function changesIn(rows: DiffRow[]): number[] {
  const found: number[] = [];
  let inside = false;
  for (const [i, row] of rows.entries()) {
    const changed = (row.kind === 'line' && row.line.mark !== 'same') || (row.kind === 'sides' && row.old !== row.new);
    if (changed && !inside) found.push(i);
    inside = changed;
  }
  return found;
}
