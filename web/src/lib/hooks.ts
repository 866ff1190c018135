import { useEffect, useRef, useState, useSyncExternalStore } from 'react';

// One clock for everything that ticks; it stands still while nobody looks.
let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
function tick(): void {
  if (document.hidden) return;
  now = Date.now();
  for (const watcher of watchers) watcher();
}
function watchClock(watcher: () => void): () => void {
  watchers.add(watcher);
  if (!timer) {
    now = Date.now();
    timer = setInterval(tick, 1000);
    document.addEventListener('visibilitychange', tick);
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    document.removeEventListener('visibilitychange', tick);
  };
}
export const useNow = (): number =>
  useSyncExternalStore(
    watchClock,
    () => now,
    () => now,
  );

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const change = () => setMatches(list.matches);
    change();
    list.addEventListener('change', change);
    return () => list.removeEventListener('change', change);
  }, [query]);
  return matches;
}
export const usePhone = (): boolean => useMedia('(max-width: 767px)');

// `first`: what it is until the first wait is over.
export function useDebounced<T>(value: T, wait: number, first: T = value): T {
  const [settled, setSettled] = useState(first);
  useEffect(() => {
    const later = setTimeout(() => setSettled(value), wait);
    return () => clearTimeout(later);
  }, [value, wait]);
  return settled;
}

// Whether the value is another one than in the render before: the place to set state that belongs to the old value back. React
// then renders once more, before anything of the old state is shown; an effect would show it first.
export function useChanged<T>(value: T): boolean {
  const [last, setLast] = useState(value);
  if (Object.is(last, value)) return false;
  setLast(value);
  return true;
}

// The newest version of a value, for callbacks that live longer than a render.
export function useLatest<T>(value: T) {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
