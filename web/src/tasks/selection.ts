// Which tasks are selected: some by name, or all that match the filter. Pure.
export interface Selection {
  ids: ReadonlySet<string>;
  all: boolean; // Everything that matches, also what is not on the screen.
  anchor: number | null; // Where a range begins.
}

export const nothing: Selection = { ids: new Set(), all: false, anchor: null };

// A click on row `index`; with Shift everything from the anchor to it, as the anchor is.
export function toggle(
  selection: Selection,
  index: number,
  range: boolean,
  idAt: (index: number) => string | undefined,
): Selection {
  const ids = new Set(selection.ids);
  const id = idAt(index);
  if (!id) return selection;
  if (range && selection.anchor !== null) {
    const [from, to] = [Math.min(selection.anchor, index), Math.max(selection.anchor, index)];
    for (let i = from; i <= to; i++) {
      const each = idAt(i);
      if (each) ids.add(each);
    }
    return { ids, all: false, anchor: selection.anchor };
  }
  if (!ids.delete(id)) ids.add(id);
  return { ids, all: false, anchor: index };
}

export const isEmpty = (selection: Selection): boolean => !selection.all && selection.ids.size === 0;
