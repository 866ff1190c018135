// Which rows of the list are on the screen. Nothing of the layout is read but where the list was scrolled to, at the moment
// that is told: to read it later would make the browser lay out what was just drawn, once more, in every frame.
import { useCallback, useEffect, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';

import { useLatest } from '../lib/hooks';
import { scrollFor, shownAt, type Rows, type Shown } from './rows';

const same = (a: Shown, b: Shown): boolean =>
  a.first === b.first && a.last === b.last && a.from === b.from && a.to === b.to;

// What is shown decides what is read, and what was read where rows lie: `settle` is told of them when they changed. `flat`:
// a row's place in the list as it is read.
export function useShown(scroller: RefObject<HTMLDivElement | null>, onScroll: (top: number) => void) {
  const [shown, setShown] = useState<Shown>({ first: 0, last: 40, from: 0, to: 40 });
  const at = useRef({ top: 0, view: 0, travel: 0 });
  const laid = useRef<{ rows: Rows; flat: (index: number) => number }>(null);
  const latest = useLatest(onScroll);

  const look = useCallback(() => {
    const { top, view, travel } = at.current;
    if (view === 0 || !laid.current) return;
    const { rows, flat } = laid.current;
    const next = shownAt(rows, top, view, travel);
    next.from = flat(next.from);
    next.to = flat(next.to);
    setShown((old) => (same(old, next) ? old : next));
  }, []);
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const scroll = () => {
      const top = box.scrollTop;
      at.current = { ...at.current, top, travel: top - at.current.top };
      latest.current(top);
      flushSync(look); // In the frame that shows it, or there would be a gap.
    };
    const resize = new ResizeObserver(([entry]) => {
      at.current.view = entry?.contentRect.height ?? 0;
      look();
    });
    box.addEventListener('scroll', scroll, { passive: true });
    resize.observe(box);
    return () => {
      box.removeEventListener('scroll', scroll);
      resize.disconnect();
    };
  }, [scroller, latest, look]);

  const settle = useCallback(
    (rows: Rows, flat: (index: number) => number) => {
      laid.current = { rows, flat };
      look();
    },
    [look],
  );
  // Scrolls to a row. `covered`: how much of the window is under what floats above it.
  const reveal = (index: number, covered: number) => {
    const { top, view } = at.current;
    const to = laid.current && scrollFor(laid.current.rows, index, top, view - covered);
    if (typeof to === 'number') scroller.current?.scrollTo({ top: to });
  };
  return { shown, settle, reveal };
}
