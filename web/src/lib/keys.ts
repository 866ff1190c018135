// Keyboard shortcuts: single keys ("/"), with modifiers ("mod+k") and in sequence ("g t"). Not while somebody types.
import { useEffect } from 'react';

import { useLatest } from './hooks';

export type Keymap = Record<string, (event: KeyboardEvent) => void>;

const sequenceMs = 900;

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.tagName === 'TEXTAREA' ||
    target.tagName === 'SELECT' ||
    (target.tagName === 'INPUT' && !['checkbox', 'radio', 'button'].includes((target as HTMLInputElement).type)));

// "mod+k", "shift+j", "?", "Enter".
export function keyName(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const mod = event.ctrlKey || event.metaKey ? 'mod+' : '';
  // Shift is part of "?" already, but not of "J".
  const shift = event.shiftKey && /^[a-z]$|^[A-Z][a-z]/.test(key) ? 'shift+' : '';
  return mod + shift + key;
}

export function makeKeyHandler(get: () => Keymap): (event: KeyboardEvent) => void {
  let first = '';
  let at = -Infinity;
  return (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    const name = keyName(event);
    if (isTyping(event.target) && !name.startsWith('mod+')) return;
    if (document.querySelector('dialog[open]') && name !== 'mod+k') return;
    const map = get();
    const joined = event.timeStamp - at < sequenceMs ? `${first} ${name}` : '';
    const found = map[joined] ?? map[name];
    first = name;
    at = event.timeStamp;
    // Enter and Space belong to the button or link that has the focus.
    if (
      found &&
      (name === 'Enter' || name === ' ') &&
      event.target instanceof HTMLElement &&
      event.target.closest('a, button, [role=checkbox]')
    )
      return;
    if (found) {
      event.preventDefault();
      at = -Infinity;
      found(event);
    }
  };
}

export function useKeys(map: Keymap): void {
  const latest = useLatest(map);
  useEffect(() => {
    const handler = makeKeyHandler(() => latest.current);
    addEventListener('keydown', handler);
    return () => removeEventListener('keydown', handler);
  }, [latest]);
}
