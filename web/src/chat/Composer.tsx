import { ArrowUp, FileText, Folder, LoaderCircle, Paperclip, X } from 'lucide-react';
import {
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';

import { useTranslation } from '../i18n/i18n';
import { bytes } from '../lib/format';
import { shown } from '../lib/hidden';
import { useChanged } from '../lib/hooks';
import { useStore } from '../lib/store';
import { showError } from '../tasks/actions';
import { sendWith } from '../ui/preferences';
import { toast } from '../ui/toast';
import { attachmentOf, bytesMost, filesMost, fitting } from './attachments';
import { readDraft, writeDraft } from './drafts';
import type { Attachment } from './launch';
import { complete, mentionAt } from './mention';
import { useMention, type Hint } from './useMention';

interface Props {
  place: string; // Whose draft this is.
  placeholder: string;
  sendLabel: string;
  disabled?: boolean;
  mono?: boolean;
  autoFocus?: boolean;
  arrived?: string | undefined; // A text of ours that the server has: then it is no draft any more.
  attach?: boolean; // Files can go with it.
  folder?: string | null; // Where a file that is named with @ is looked for.
  onSend: (text: string, files: Attachment[]) => Promise<boolean>; // True: it is stored.
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
  attach = false,
  folder,
  onSend,
  children,
}: Props) {
  const { t } = useTranslation();
  const box = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => readDraft(place));
  const [sending, setSending] = useState(false);
  const [files, setFiles] = useState<(Attachment & { size: number })[]>([]);
  const [over, setOver] = useState(false); // Something is held above it, to be dropped.
  const picker = useRef<HTMLInputElement>(null);
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

  const [caret, setCaret] = useState(0);
  const mention = mentionAt(text, caret);
  const { hints, chosen, move, reset, close } = useMention(folder, mention);
  const list = useId();
  const take = (hint: Hint | undefined) => {
    if (!hint || !mention) return;
    const made = complete(text, caret, mention, hint.path, hint.folder);
    write(made.text);
    setCaret(made.caret);
    reset();
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(made.caret, made.caret);
    });
  };
  // Keys that belong to the list while it is open.
  const hinted = (event: KeyboardEvent): boolean => {
    if (hints.length === 0 || event.nativeEvent.isComposing) return false;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event.key === 'ArrowDown' ? 1 : -1);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)) take(hints[chosen]);
    else return false;
    event.preventDefault();
    return true;
  };

  const send = async () => {
    const value = text.trim();
    if (!value || sending || disabled) return;
    setSending(true);
    unsure.current = value;
    const stored = await onSend(
      value,
      attach ? files.map(({ name, media_type, url }) => ({ name, media_type, url })) : [],
    );
    setSending(false);
    if (!stored) return;
    unsure.current = null;
    setFiles([]);
    write('');
    box.current?.focus();
  };
  const add = async (list: FileList | null | undefined) => {
    const { files: taken, refused } = fitting(files, [...(list ?? [])]);
    if (refused) toast('bad', t(`chat.attach.${refused}`, { count: filesMost, size: bytes(bytesMost) }));
    try {
      const read = await Promise.all(taken.map(async (file) => ({ ...(await attachmentOf(file)), size: file.size })));
      setFiles((old) => [...old, ...read].slice(0, filesMost));
    } catch (error) {
      showError(error);
    }
  };

  return (
    <form
      className={`card relative w-full rounded-2xl p-2 shadow-[var(--shadow)] focus-within:border-accent ${over ? 'border-accent bg-accent-soft' : ''}`}
      onDragOver={(event) => {
        if (!attach || !event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!attach || event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void add(event.dataTransfer.files);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {hints.length > 0 && (
        <ul
          id={list}
          role="listbox"
          aria-label={t('chat.files')}
          className="card absolute inset-x-2 bottom-full z-10 mb-1 max-h-64 overflow-y-auto p-1 shadow-[var(--shadow)]"
          data-testid="file-hints"
        >
          {hints.map((hint, i) => (
            <li
              key={`${hint.folder} ${hint.path}`}
              id={`${list}-${i}`}
              role="option"
              aria-selected={i === chosen}
              className={`flex cursor-pointer items-center gap-2 rounded-lg px-2 py-1 font-mono text-[12.5px] ${i === chosen ? 'bg-accent-soft' : 'hover:bg-hover'}`}
              // The box keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => take(hint)}
            >
              {hint.folder ? (
                <Folder size={14} className="shrink-0 text-muted" aria-hidden />
              ) : (
                <FileText size={14} className="shrink-0 text-muted" aria-hidden />
              )}
              <bdi className="min-w-0 truncate">
                {shown(hint.path)}
                {hint.folder && '/'}
              </bdi>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        rows={1}
        value={text}
        autoFocus={autoFocus}
        spellCheck={!mono}
        placeholder={placeholder}
        aria-label={placeholder}
        aria-autocomplete="list"
        aria-controls={hints.length > 0 ? list : undefined}
        aria-activedescendant={hints.length > 0 ? `${list}-${chosen}` : undefined}
        onChange={(event) => {
          write(event.target.value);
          setCaret(event.target.selectionStart);
          reset();
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onBlur={close}
        onPaste={(event) => {
          // A picture, or a file: words that are pasted with it stay words.
          if (!attach || event.clipboardData.files.length === 0) return;
          event.preventDefault();
          void add(event.clipboardData.files);
        }}
        onKeyDown={(event) => {
          if (hinted(event)) return;
          if (event.key !== 'Enter' || event.nativeEvent.isComposing || event.shiftKey) return;
          if (key === 'mod-enter' && !event.ctrlKey && !event.metaKey) return;
          event.preventDefault();
          void send();
        }}
        className={`block max-h-60 min-h-10 w-full resize-none bg-transparent px-2.5 py-2 outline-none ${mono ? 'font-mono text-[13px]' : 'text-[15px]'}`}
      />
      {attach && files.length > 0 && (
        <ul className="flex flex-wrap gap-2 px-2 pb-1" aria-label={t('chat.attach.list')}>
          {files.map((file, i) => (
            <li
              key={i}
              className="card flex max-w-56 items-center gap-2 py-1 pr-1 pl-2 text-xs"
              data-attached={file.name}
            >
              {file.media_type.startsWith('image/') ? (
                <img src={file.url} alt="" className="size-8 rounded object-cover" />
              ) : (
                <FileText size={15} className="shrink-0 text-muted" aria-hidden />
              )}
              <span className="min-w-0 truncate">{shown(file.name)}</span>
              <span className="shrink-0 text-muted">{bytes(file.size)}</span>
              <button
                type="button"
                className="rounded p-1 text-muted hover:text-text"
                aria-label={t('chat.attach.remove', { name: shown(file.name) })}
                onClick={() => setFiles((old) => old.filter((_, at) => at !== i))}
              >
                <X size={13} aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div className="flex items-center gap-2 px-1 pt-1">
        {attach && (
          <>
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              aria-label={t('chat.attach.add')}
              title={t('chat.attach.hint')}
              onClick={() => picker.current?.click()}
            >
              <Paperclip size={15} aria-hidden />
            </button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label={t('chat.attach.add')}
              onChange={(event) => {
                void add(event.target.files).then(() => {
                  if (picker.current) picker.current.value = '';
                });
              }}
            />
          </>
        )}
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2 text-xs text-muted">{children}</div>
        <button type="submit" className="btn btn-primary" disabled={disabled || sending || !text.trim()}>
          {sending ? <LoaderCircle size={15} className="spin" aria-hidden /> : <ArrowUp size={15} aria-hidden />}
          {sendLabel}
        </button>
      </div>
    </form>
  );
}
