// Told to those who look elsewhere: the number in the tab's title, and, where they asked for it, the browser's own
// notification and a sound. Tasks that another task launched are its business: they make no noise.
import type { TaskBrief } from '../api/types';
import { needsInput } from '../api/types';
import { t } from '../i18n/i18n';
import { notifications, sound } from '../ui/preferences';
import { counts, onEvents } from './live';

const told = new Map<string, string>();

// What there is to tell, if anything: it asks, or it came to rest.
export function news(task: TaskBrief): 'needsInput' | 'completed' | 'failed' | null {
  if (needsInput(task)) return 'needsInput';
  if (task.stopping || task.parent_session_id) return null;
  return task.status === 'completed' || task.status === 'failed' ? task.status : null;
}

function beep(): void {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.08, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.4);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.4);
  tone.onended = () => void audio.close();
}

function tell(task: TaskBrief, what: string): void {
  if (sound.get() === 'on') beep();
  if (notifications.get() !== 'on' || typeof Notification === 'undefined' || Notification.permission !== 'granted')
    return;
  const notice = new Notification(t(`notify.${what}`), {
    body: task.title,
    tag: task.id,
    icon: '/favicon.svg',
  });
  notice.onclick = () => {
    window.focus();
    location.assign(`/chat?taskId=${encodeURIComponent(task.id)}`);
  };
}

// "(2) Task Management · errand": how many run, for those with many tabs.
function showCount(): void {
  const running = counts.get()?.running ?? 0;
  const bare = document.title.replace(/^\(\d+\) /, '');
  const title = running > 0 ? `(${running}) ${bare}` : bare;
  if (title !== document.title) document.title = title;
  showDot(running > 0);
}

// A dot on the icon while something runs, for tabs too narrow for a title.
const mark =
  '<rect width="32" height="32" rx="8" fill="#3d52d5"/><path d="M9 16.5l4.6 4.6L23 11" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/>';
const dot = '<circle cx="25" cy="25" r="7" fill="#f59e0b" stroke="#fff" stroke-width="2"/>';
const withDot = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${mark}${dot}</svg>`)}`;
function showDot(on: boolean): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  const href = on ? withDot : '/favicon.svg';
  if (icon && icon.getAttribute('href') !== href) icon.setAttribute('href', href);
}

export function startNotifications(): void {
  counts.subscribe(showCount);
  new MutationObserver(showCount).observe(document.head.querySelector('title') ?? document.head, {
    childList: true,
    characterData: true,
    subtree: true,
  });
  onEvents((events) => {
    for (const event of events) {
      if (event.type !== 'task.status') continue;
      const { task } = event.data;
      const what = news(task);
      const key = `${task.status}.${task.turn}.${task.attempt}.${what ?? ''}.${task.waiting_for?.request_id ?? ''}`;
      if (told.get(task.id) === key) continue;
      told.set(task.id, key);
      if (told.size > 1000) told.delete(told.keys().next().value ?? '');
      if (what && document.hidden) tell(task, what);
    }
  });
}
