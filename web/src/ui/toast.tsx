import { CircleAlert, CircleCheck, Info, X } from 'lucide-react';

import { t, useTranslation } from '../i18n/i18n';
import { errorText } from '../lib/sentences';
import { store, useStore } from '../lib/store';

interface Toast {
  id: number;
  tone: 'ok' | 'bad' | 'info';
  text: string;
}

const toasts = store<Toast[]>([]);
// What a screen reader is told; the transcript itself is not live.
export const announcement = store('');
let next = 1;

export function toast(tone: Toast['tone'], text: string): void {
  const id = next++;
  toasts.set([...toasts.get().slice(-3), { id, tone, text }]);
  setTimeout(() => dismiss(id), tone === 'bad' ? 10_000 : 5000);
}
const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id));

export const announce = (text: string): void => announcement.set(text);

// What went wrong, in words that say what to do.
export function toastError(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return;
  toast('bad', errorText(error, t));
}

const icons = { ok: CircleCheck, bad: CircleAlert, info: Info };
const tones = { ok: 'text-green', bad: 'text-red', info: 'text-blue' };

export function Toaster() {
  useTranslation(); // In the language of now.
  const shown = useStore(toasts);
  const said = useStore(announcement);
  return (
    <>
      <div role="status" aria-live="polite" className="sr-only">
        {said}
      </div>
      {/* Where nothing is pressed: beside what is read, and on a phone below the task's name. Send is at the bottom right. */}
      <div
        className="pointer-events-none fixed bottom-4 left-4 z-50 flex w-80 flex-col gap-2 max-md:inset-x-3 max-md:top-14 max-md:bottom-auto max-md:w-auto"
        role="region"
        aria-label={t('common.messages')}
      >
        {shown.map(({ id, tone, text }) => {
          const Icon = icons[tone];
          return (
            <div
              key={id}
              role={tone === 'bad' ? 'alert' : 'status'}
              className="card pointer-events-auto flex items-start gap-2.5 p-3 shadow-[var(--shadow)]"
            >
              <Icon size={18} className={`mt-px shrink-0 ${tones[tone]}`} aria-hidden />
              <p className="min-w-0 flex-1 break-words">{text}</p>
              <button
                type="button"
                className="-m-1 rounded p-1 text-muted hover:text-text"
                aria-label={t('common.close')}
                onClick={() => dismiss(id)}
              >
                <X size={14} aria-hidden />
              </button>
            </div>
          );
        })}
      </div>
    </>
  );
}
