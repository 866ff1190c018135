// Where the rows of the list lie, and which of them are drawn. All have one height, but those that are hidden, which have
// none: so nothing is measured, and 100,000 rows cost what ten do. Pure.
export interface Rows {
  count: number;
  height: number;
  hidden: readonly number[]; // Ascending.
}

export const rowTop = ({ height, hidden }: Rows, index: number): number => {
  let above = 0;
  while (above < hidden.length && hidden[above]! < index) above++;
  return (index - above) * height;
};
export const allRows = ({ count, height, hidden }: Rows): number => (count - hidden.length) * height;

// The row at a place, counted from the top of the list.
export function rowAt({ count, height, hidden }: Rows, y: number): number {
  let index = Math.max(0, Math.floor(y / height));
  for (const each of hidden) {
    if (each > index) break;
    index++;
  }
  return Math.min(index, Math.max(0, count - 1));
}

const beyond = 6; // Rows drawn above and below what is seen, so that a small step shows nothing empty.
const farthest = 100; // Rows read ahead of somebody who scrolls fast.

export interface Shown {
  first: number; // These rows are drawn,
  last: number;
  from: number; // and these are read: some more where the way leads.
  to: number;
}

// What a window of `view` pixels at `top` shows, for somebody who came `travel` pixels to it.
export function shownAt(rows: Rows, top: number, view: number, travel: number): Shown {
  const end = Math.max(0, rows.count - 1);
  const first = Math.max(0, rowAt(rows, top) - beyond);
  const last = Math.min(end, rowAt(rows, top + view) + beyond);
  // As far as the next steps lead. Who jumps is where they want to be.
  const jumped = Math.abs(travel) > 4 * view;
  const ahead = jumped ? 0 : Math.min(farthest, Math.ceil((8 * Math.abs(travel)) / rows.height));
  return {
    first,
    last,
    from: travel < 0 ? Math.max(0, first - ahead) : first,
    to: travel > 0 ? Math.min(end, last + ahead) : last,
  };
}

// How far to scroll so that a row is whole in the window; undefined where it is already.
export function scrollFor(rows: Rows, index: number, top: number, view: number): number | undefined {
  const y = rowTop(rows, index);
  if (y < top) return y;
  return y + rows.height > top + view ? y + rows.height - view : undefined;
}
