// The smallest thing that components can watch.
import { useSyncExternalStore } from 'react';

export interface Store<T> {
  get: () => T;
  set: (value: T) => void;
  subscribe: (listener: () => void) => () => void;
}

export function store<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const useStore = <T>(source: Store<T>): T => useSyncExternalStore(source.subscribe, source.get, source.get);

// Kept in this browser; without storage it lasts as long as the page.
export function kept<T extends string>(key: string, initial: T): Store<T> {
  let first = initial;
  try {
    first = (localStorage.getItem(key) as T | null) ?? initial;
  } catch {
    // Storage is off.
  }
  const inner = store(first);
  return {
    ...inner,
    set(value) {
      try {
        localStorage.setItem(key, value);
      } catch {
        // Storage is off.
      }
      inner.set(value);
    },
  };
}
