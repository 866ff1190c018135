import { ArrowUp, LoaderCircle } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';

import { useChanged } from '../lib/hooks';
import { useStore } from '../lib/store';
import { sendWith } from '../ui/preferences';
import { readDraft, writeDraft } from './drafts';

interface Props {
  place: string; // Whose draft this is.
  placeholder: string;
  sendLabel: string;
  disabled?: boolean;
  mono?: boolean;
  autoFocus?: boolean;
  arrived?: string | undefined; // A text of ours that the server has: then it is no draft any more.
  onSend: (text: string) => Promise<boolean>; // True: it is stored.
  children?: ReactNode; // What stands beside the buttons.
}

export function Composer({
  place,
  placeholder,
  sendLabel,
  disabled,
  mono,
  autoFocus,
  arrived,
  onSend,
  children,
}: Props) {
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => readDraft(place));
  const [sending, setSending] = useState(false);
  const unsure = useRef<string | null>(null); // Sent, and no answer came.
  const key = useStore(sendWith);
  if (useChanged(place)) setText(readDraft(place));
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(240, area.scrollHeight)}px`;
  }, [text]);
  const write = useCallback(
    (value: string) => {
      setText(value);
      writeDraft(place, value);
    },
    [place],
  );
  useEffect(() => {
    if (arrived !== undefined && unsure.current !== null && arrived === unsure.current) {
      unsure.current = null;
      write('');
    }
  }, [arrived, write]);

  const send = async () => {
    const value = text.trim();
    if (!value || sending || disabled) return;
    setSending(true);
    unsure.current = value;
    const stored = await onSend(value);
    setSending(false);
    if (!stored) return;
    unsure.current = null;
    write('');
    box.current?.focus();
  };

  return (
    <form
      className="card w-full rounded-2xl p-2 shadow-[var(--shadow)] focus-within:border-accent"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={box}
        rows={1}
        value={text}
        autoFocus={autoFocus}
        spellCheck={!mono}
        placeholder={placeholder}
        aria-label={placeholder}
        onChange={(event) => write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing || event.shiftKey) return;
          if (key === 'mod-enter' && !event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          void send();
        }}
        className={`block max-h-60 min-h-10 w-full resize-none bg-transparent px-2.5 py-2 outline-none ${mono ? 'font-mono text-[13px]' : 'text-[15px]'}`}
      />
      <div className="flex items-center gap-2 px-1 pt-1">
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2 text-xs text-muted">{children}</div>
        <button type="submit" className="btn btn-primary" disabled={disabled || sending || !text.trim()}>
          {sending ? <LoaderCircle size={15} className="spin" aria-hidden /> : <ArrowUp size={15} aria-hidden />}
          {sendLabel}
        </button>
      </div>
    </form>
  );
}
