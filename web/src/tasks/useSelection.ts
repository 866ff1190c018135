// Which row has the keyboard's focus, and which tasks are selected. Both are of one list: with another filter they are gone.
import { useCallback, useState } from 'react';

import type { TaskQuery } from '../api/types';
import { useChanged, useLatest } from '../lib/hooks';
import { nothing, toggle } from './selection';
import type { TreeRow } from './useTree';

export function useSelection(query: TaskQuery, at: (index: number) => TreeRow | undefined) {
  const [focus, setFocus] = useState(-1);
  const [selection, setSelection] = useState(nothing);
  if (useChanged(query)) {
    setSelection(nothing);
    setFocus(-1);
  }
  // Rows call it: it must not be new each time, or every row would be drawn again with every pixel scrolled.
  const latestAt = useLatest(at);
  const select = useCallback(
    (index: number, range: boolean) =>
      setSelection((old) => toggle(old, index, range, (i) => latestAt.current(i)?.task.id)),
    [latestAt],
  );
  // Everything from the focus to a row.
  const extend = (index: number) =>
    setSelection((old) =>
      toggle({ ...old, anchor: old.anchor ?? Math.max(0, focus) }, index, true, (i) => at(i)?.task.id),
    );
  return {
    focus,
    setFocus,
    selection,
    select,
    extend,
    selectAll: () => setSelection({ ids: new Set(), all: true, anchor: null }),
    clear: () => setSelection(nothing),
  };
}
