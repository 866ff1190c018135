// Told to those who look elsewhere: the number in the tab's title, and, where they asked for it, the browser's own
// notification and a sound. Tasks that another task launched are its business: they make no noise.
import type { TaskBrief } from '../api/types';
import { needsInput } from '../api/types';
import { t } from '../i18n/i18n';
import { forgetOldest } from '../lib/bounded';
import { shown } from '../lib/hidden';
import { notifications, sound } from '../ui/preferences';
import { counts, onEvents } from './live';

const told = new Map<string, string>();

// What there is to tell, if anything: it asks, or it came to rest.
export function news(task: TaskBrief): 'needsInput' | 'completed' | 'failed' | null {
  if (needsInput(task)) return 'needsInput';
  if (task.stopping || task.parent_session_id) return null;
  return task.status === 'completed' || task.status === 'failed' ? task.status : null;
}

export function beep(): void {
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
    body: shown(task.title),
    tag: task.id,
    icon: '/favicon.svg',
  });
  notice.onclick = () => {
    window.focus();
    location.assign(`/chat?taskId=${encodeURIComponent(task.id)}`);
  };
}

// All tabs hear the same news. Who has one of them in view needs no other, and of those out of view one is enough.
type Word = { about: string; from: number; seen: boolean };
const answerMs = 600; // Tabs out of view are slow to answer.
const own = Math.random();
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('errand.notify');
const others = new Map<string, Word[]>();

function tellOnce(task: TaskBrief, what: string, key: string): void {
  const about = `${task.id} ${key}`;
  channel?.postMessage({ about, from: own, seen: !document.hidden } satisfies Word);
  if (!document.hidden) return;
  unseen++;
  showCount();
  // Who wants it is decided now: nothing old is told when it is switched on.
  if (sound.get() !== 'on' && notifications.get() !== 'on') return;
  setTimeout(() => {
    const said = others.get(about) ?? [];
    others.delete(about);
    if (!said.some((word) => word.seen || word.from < own)) tell(task, what);
  }, answerMs);
}

// What happened while nobody looked here.
let unseen = 0;

// "● (2) Task Management · errand": there is news, and two run. For those with many tabs.
export const titleWith = (title: string, running: number, news: boolean): string =>
  `${news ? '● ' : ''}${running > 0 ? `(${running}) ` : ''}${title.replace(/^(● )?(\(\d+\) )?/, '')}`;
function showCount(): void {
  const running = counts.get()?.running ?? 0;
  const title = titleWith(document.title, running, unseen > 0);
  if (title !== document.title) document.title = title;
  showDot(unseen > 0 ? 'news' : running > 0 ? 'running' : 'none');
}

// A dot on the icon, for tabs too narrow for a title: amber while something runs, red where there is news.
const mark =
  '<rect width="32" height="32" rx="8" fill="#3d52d5"/><path d="M9 16.5l4.6 4.6L23 11" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round"/>';
const withDot = (colour: string) =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${mark}<circle cx="25" cy="25" r="7" fill="${colour}" stroke="#fff" stroke-width="2"/></svg>`)}`;
const hrefs = { none: '/favicon.svg', running: withDot('#f59e0b'), news: withDot('#ef4444') };
function showDot(state: keyof typeof hrefs): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (!icon || (icon.dataset.shows ?? 'none') === state) return;
  icon.dataset.shows = state;
  icon.href = hrefs[state];
}

export function startNotifications(): void {
  if (channel)
    channel.onmessage = ({ data }: MessageEvent<Word>) => {
      others.set(data.about, [...(others.get(data.about) ?? []), data]);
      forgetOldest(others, 200);
    };
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) unseen = 0;
    showCount();
  });
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
      if (what) tellOnce(task, what, key);
    }
    forgetOldest(told, 1000);
  });
}
