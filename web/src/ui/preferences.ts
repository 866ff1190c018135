// What this browser remembers of its user's taste.
import { kept } from '../lib/store';

export type Theme = 'system' | 'light' | 'dark';
export const theme = kept<Theme>('errand.theme', 'system');
export const notifications = kept<'on' | 'off'>('errand.notifications', 'off');
export const sound = kept<'on' | 'off'>('errand.sound', 'off');
export const sendWith = kept<'enter' | 'mod-enter'>('errand.send', 'enter');

const system = matchMedia('(prefers-color-scheme: dark)');
export function applyTheme(): void {
  const chosen = theme.get();
  document.documentElement.dataset.theme = chosen === 'system' ? (system.matches ? 'dark' : 'light') : chosen;
}
export function startTheme(): void {
  theme.subscribe(applyTheme);
  system.addEventListener('change', applyTheme);
  addEventListener('storage', (event) => {
    if (event.key === 'errand.theme' && event.newValue) theme.set(event.newValue as Theme);
  });
}
