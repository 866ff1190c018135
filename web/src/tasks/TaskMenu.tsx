// How people keep a task: rename, label, pin, archive, save it as a document. Loaded when somebody opens it.
import { Archive, ArchiveRestore, Copy, FileCode, FileJson, FileText, Pencil, Pin, PinOff, Tag } from 'lucide-react';
import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';

import { api, call, fetchText } from '../api/client';
import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { copy, download } from '../lib/clipboard';
import { Dialog } from '../ui/Dialog';
import { toast } from '../ui/toast';
import { editTask, showError } from './actions';
import { labelChange, labelsText } from './labels';

export interface MenuAt {
  task: Task;
  // Of what opened it, in the window.
  right: number;
  bottom: number;
}

async function copyResult(id: string): Promise<string | null> {
  const { result } = await call(api.GET('/api/tasks/{id}/result', { params: { path: { id } } }));
  return result !== null && (await copy(result)) ? result : null;
}

async function saveAs(id: string, format: 'md' | 'html' | 'json'): Promise<void> {
  const reply = await fetchText(`/api/tasks/${id}/export?format=${format}`);
  download(await reply.blob(), `errand-${id}.${format}`);
}

function Rename({ task, onClose }: { task: Task; onClose: () => void }) {
  const { t } = useTranslation();
  const [title, setTitle] = useState(task.title);
  const field = useId();
  const save = () => {
    onClose();
    if (title.trim() !== '' && title !== task.title) void editTask(task.id, { title });
  };
  return (
    <Dialog title={t('menu.rename')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <label htmlFor={field} className="text-sm text-muted">
          {t('menu.title')}
        </label>
        <input
          id={field}
          className="field mt-1 w-full"
          value={title}
          maxLength={200}
          autoFocus
          onFocus={(event) => event.target.select()}
          onChange={(event) => setTitle(event.target.value)}
        />
        <div className="mt-5 flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            {t('common.keep')}
          </button>
          <button type="submit" className="btn btn-primary" disabled={title.trim() === ''}>
            {t('common.save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Labels({ task, onClose }: { task: Task; onClose: () => void }) {
  const { t } = useTranslation();
  const [text, setText] = useState(labelsText(task.labels));
  const field = useId();
  return (
    <Dialog title={t('menu.labels')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          const labels = labelChange(task.labels, text);
          if (labels) void editTask(task.id, { labels });
        }}
      >
        <label htmlFor={field} className="text-sm text-muted">
          {t('menu.labelLines')}
        </label>
        <textarea
          id={field}
          rows={5}
          className="field mt-1 h-auto w-full py-2 font-mono text-[13px]"
          value={text}
          placeholder="team=web"
          spellCheck={false}
          autoFocus
          onChange={(event) => setText(event.target.value)}
        />
        <div className="mt-5 flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            {t('common.keep')}
          </button>
          <button type="submit" className="btn btn-primary">
            {t('common.save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

// Up and down go round, Escape and Tab leave.
function moveFocus(event: KeyboardEvent<HTMLDivElement>, onClose: () => void): void {
  if (event.key === 'Escape' || event.key === 'Tab') return onClose();
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + step + items.length) % items.length]?.focus();
}

export default function TaskMenu({ at, onClose }: { at: MenuAt; onClose: () => void }) {
  const { t } = useTranslation();
  const { task } = at;
  const [asks, setAsks] = useState<'title' | 'labels' | null>(null);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    menu.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  if (asks === 'title') return <Rename task={task} onClose={onClose} />;
  if (asks === 'labels') return <Labels task={task} onClose={onClose} />;
  const run = (work: () => Promise<unknown>) => {
    onClose();
    work().catch(showError);
  };
  const item = (icon: ReactNode, label: string, onClick: () => void) => (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className="flex w-full items-center gap-2.5 rounded-md px-3 py-1.5 text-left hover:bg-hover focus-visible:bg-hover"
      onClick={onClick}
    >
      <span className="text-muted" aria-hidden>
        {icon}
      </span>
      {label}
    </button>
  );
  const place = {
    right: Math.max(8, window.innerWidth - at.right),
    top: Math.max(8, Math.min(at.bottom + 4, window.innerHeight - 362)),
  };
  const result = task.status === 'completed' || task.result !== null;
  return (
    <>
      <div className="fixed inset-0 z-30" onClick={onClose} aria-hidden />
      <div
        ref={menu}
        role="menu"
        tabIndex={-1}
        aria-label={t('menu.label')}
        data-testid="task-menu"
        className="fixed z-40 w-56 rounded-xl border border-line bg-raised p-1 text-[13px] shadow-[var(--shadow)]"
        style={place}
        onKeyDown={(event) => moveFocus(event, onClose)}
      >
        {item(<Pencil size={15} />, t('menu.rename'), () => setAsks('title'))}
        {item(<Tag size={15} />, t('menu.labels'), () => setAsks('labels'))}
        {item(task.pinned ? <PinOff size={15} /> : <Pin size={15} />, t(task.pinned ? 'menu.unpin' : 'menu.pin'), () =>
          run(() => editTask(task.id, { pinned: !task.pinned })),
        )}
        {item(
          task.archived ? <ArchiveRestore size={15} /> : <Archive size={15} />,
          t(task.archived ? 'menu.unarchive' : 'menu.archive'),
          () => run(() => editTask(task.id, { archived: !task.archived })),
        )}
        <hr className="my-1 border-line" />
        {result &&
          item(<Copy size={15} />, t('menu.copyResult'), () =>
            run(async () => {
              if ((await copyResult(task.id)) !== null) toast('ok', t('menu.copied'));
            }),
          )}
        {item(<FileText size={15} />, t('menu.saveMarkdown'), () => run(() => saveAs(task.id, 'md')))}
        {item(<FileCode size={15} />, t('menu.saveHtml'), () => run(() => saveAs(task.id, 'html')))}
        {item(<FileJson size={15} />, t('menu.saveJson'), () => run(() => saveAs(task.id, 'json')))}
      </div>
    </>
  );
}
