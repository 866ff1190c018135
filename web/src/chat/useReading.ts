// Where in a conversation its reader is: at the end, which then stays in sight, or further up, where nothing moves; and the
// way to a message that the address names.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState } from 'react';

import type { Row } from './transcript';

const nearEnd = 80; // Pixels that still count as the end.

// `more`: there are earlier messages, and a button for them is the first of the items.
export function useReading(rows: Row[], more: boolean, loadEarlier: () => Promise<void>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [atEnd, setAtEnd] = useState(true);
  const placed = useRef(false);
  const head = more ? 1 : 0;

  const virtual = useVirtualizer({
    count: rows.length + head + 1,
    getScrollElement: () => scroller.current,
    estimateSize: () => 72,
    getItemKey: (index) => (head && index === 0 ? 'earlier' : (rows[index - head]?.key ?? 'footer')),
    overscan: 6,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: nearEnd,
    paddingStart: 16,
    paddingEnd: 8,
    onChange: (instance) => setAtEnd(instance.isAtEnd(nearEnd)),
  });

  // At the end it stays at the end, however much comes at once, until its reader scrolls up.
  const pinned = useRef(true);
  const lastTop = useRef(0);
  const onScroll = () => {
    const box = scroller.current;
    if (!box) return;
    const up = box.scrollTop < lastTop.current - 2;
    lastTop.current = box.scrollTop;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd) pinned.current = true;
    else if (up) pinned.current = false;
  };
  const toEnd = () => {
    pinned.current = true;
    virtual.scrollToEnd();
  };
  const height = virtual.getTotalSize();
  useEffect(() => {
    if (pinned.current && placed.current) virtual.scrollToEnd();
  }, [rows, height, virtual]);

  const loading = useRef<Promise<void> | null>(null);
  const earlier = useCallback(
    () => (loading.current ??= loadEarlier().finally(() => (loading.current = null))),
    [loadEarlier],
  );

  // First the end, or the message that the address names, however far back it is: then what is before it is read first.
  const [wanted, setWanted] = useState(() => location.hash.slice(1));
  const [lit, setLit] = useState<string | null>(null);
  const [pages, setPages] = useState(0); // Read for it so far: the rows of a page may be shown before the next can be asked for.
  useEffect(() => {
    const changed = () => setWanted(location.hash.slice(1));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  useEffect(() => {
    if (rows.length === 0 || (placed.current && !wanted)) return;
    const index = wanted ? rows.findIndex((row) => 'message' in row && row.message.id === wanted) : -1;
    if (wanted && index < 0 && more)
      return void earlier().then(
        () => setPages((n) => n + 1),
        () => setWanted(''),
      );
    placed.current = true;
    setWanted('');
    if (index < 0) return virtual.scrollToEnd();
    pinned.current = false;
    setLit(wanted);
    virtual.scrollToIndex(index + head, { align: 'start' });
  }, [rows, head, virtual, wanted, more, pages, earlier]);
  useEffect(() => {
    if (!lit) return;
    const later = setTimeout(() => setLit(null), 2500);
    return () => clearTimeout(later);
  }, [lit]);

  return { scroller, virtual, height, head, atEnd, toEnd, onScroll, earlier, lit };
}
