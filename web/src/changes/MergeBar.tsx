// What becomes of a task's own worktree: merged, kept as a patch in the folder, or discarded, and each of it taken back.
import { GitBranch, GitMerge, LoaderCircle, Trash2, Undo2 } from 'lucide-react';
import { useState } from 'react';

import { ApiError } from '../api/client';
import { isBusy, type Changes, type Isolation, type Task } from '../api/types';
import { sender } from '../chat/sender';
import { useTranslation } from '../i18n/i18n';
import { useShownFolder } from '../lib/folders';
import { bytes } from '../lib/format';
import { quoted, shown } from '../lib/hidden';
import { queryClient } from '../queries';
import { showError } from '../tasks/actions';
import { CopyLine } from '../ui/CopyLine';
import { Dialog } from '../ui/Dialog';
import { toast } from '../ui/toast';
import { askCommitText, order, type Merge, type MergeMode, type Order } from './api';
import { MessageField } from './MessageField';
import { filesShown, Refusal } from './Refusal';
import { SetUpLog } from './SetUpLog';
import { lookAgain } from './useChanges';

const modes: readonly MergeMode[] = ['squash', 'merge', 'patch'];

type Open = 'merge' | 'discard' | null;

interface Props {
  task: Task;
  isolation: Isolation;
  listing: Pick<Changes, 'bytes' | 'stays' | 'set_up' | 'held' | 'since_merge'>;
}

export function MergeBar({ task, isolation, listing }: Props) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<Open>(null);
  const [mode, setMode] = useState<MergeMode>('squash');
  const [message, setMessage] = useState<string | null>(null);
  const [later, setLater] = useState(false);
  const [working, setWorking] = useState(false);
  const [refusal, setRefusal] = useState<ApiError | null>(null);
  const repo = useShownFolder(isolation.repo);
  const busy = isBusy(task);
  const { state } = isolation;
  const branch = quoted(isolation.branch ?? '');
  const target = quoted(isolation.target ?? '');

  const give = async (what: Order, body?: Merge) => {
    setWorking(true);
    setRefusal(null);
    try {
      const left = await order(task.id, what, body);
      setOpen(null);
      setLater(false);
      const files = left.slice(0, 3).map(shown).join(', ') + (left.length > 3 ? ', …' : '');
      if (left.length > 0) toast('ok', t('changes.merge.notMerged', { count: left.length, files }));
      else toast('ok', t(`changes.done.${what.replace('/', '_')}`));
    } catch (error) {
      // What is in the way is shown where it was asked for; anything else is told as always.
      if (error instanceof ApiError && error.status > 0) setRefusal(error);
      else showError(error);
    }
    setWorking(false);
    await Promise.all([lookAgain(task.id), queryClient.invalidateQueries({ queryKey: ['task', task.id] })]);
  };
  const askAgent = async (files: string[]) => {
    const text = t('changes.resolveMessage', {
      target: isolation.target ?? 'HEAD',
      files: files
        .slice(0, filesShown)
        .map((file) => `\n- ${shown(file)}`)
        .join(''),
    });
    if (!(await sender(task, 'steer')(text))) return;
    setOpen(null);
    setRefusal(null);
    toast('ok', t('changes.asked'));
  };
  const askText = async () => {
    try {
      await askCommitText(task.id);
      setMessage(null);
      setOpen(null);
      toast('ok', t('changes.merge.textAsked'));
    } catch (error) {
      showError(error);
    }
  };
  const canAsk = task.kind === 'agent' && refusal && refusal.reason === 'conflict';
  const ask = canAsk ? () => void askAgent(refusal.files) : null;
  const close = () => {
    setOpen(null);
    setRefusal(null);
  };
  const undo = state === 'merged' ? 'merge/undo' : state === 'discarded' ? 'discard/undo' : null;
  const settled = state === 'ready' || state === 'kept' || state === 'conflict';
  return (
    <div
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-panel px-6 py-2 text-sm max-md:px-4"
      data-testid="merge-bar"
      data-state={state}
    >
      <GitBranch size={15} className="shrink-0 text-muted" aria-hidden />
      <p className="min-w-0 flex-1 break-words max-md:basis-4/5">
        {t(`changes.isolation.${state}`, { branch, target, repo: quoted(repo) })}
        {settled && busy && <span className="text-muted"> {t('changes.whenDone')}</span>}
        {listing.bytes !== null && <span className="text-muted"> {bytes(listing.bytes)}</span>}
        {listing.stays && <span className="text-amber"> {shown(listing.stays)}</span>}
        {listing.since_merge && <span className="text-muted"> {t('changes.sinceMerge')}</span>}
      </p>
      {settled && (
        <span className="flex gap-2">
          <button type="button" className="btn btn-primary" disabled={busy || working} onClick={() => setOpen('merge')}>
            <GitMerge size={15} aria-hidden />
            {t('changes.merge.button')}
          </button>
          <button type="button" className="btn" disabled={busy || working} onClick={() => setOpen('discard')}>
            <Trash2 size={15} aria-hidden />
            {t('changes.discard.button')}
          </button>
        </span>
      )}
      {undo && (
        <button type="button" className="btn" disabled={working} onClick={() => void give(undo)}>
          {working ? <LoaderCircle size={15} className="spin" aria-hidden /> : <Undo2 size={15} aria-hidden />}
          {t(state === 'merged' ? 'changes.merge.undo' : 'changes.discard.undo')}
        </button>
      )}
      {listing.set_up && <SetUpLog id={task.id} preparing={state === 'preparing'} />}
      {refusal && open === null && (
        <div className="basis-full">
          <Refusal error={refusal} onAsk={ask} />
        </div>
      )}
      {open === 'merge' && (
        <Dialog title={t('changes.merge.title', { target })} onClose={close}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void give('merge', {
                mode,
                ...(mode !== 'patch' && message?.trim() ? { message: message.trim() } : {}),
                ...(listing.held && later ? { with_later: true } : {}),
              });
            }}
          >
            <fieldset className="flex flex-col gap-2">
              <legend className="sr-only">{t('changes.merge.how')}</legend>
              {modes.map((each) => (
                <label
                  key={each}
                  className={`card flex cursor-pointer gap-3 p-3 has-focus-visible:outline-2 has-focus-visible:outline-accent ${each === mode ? 'border-accent bg-accent-soft' : 'hover:bg-hover'}`}
                >
                  <input
                    type="radio"
                    name="mode"
                    className="mt-1 accent-[var(--accent)]"
                    checked={each === mode}
                    onChange={() => setMode(each)}
                  />
                  <span>
                    <span className="block font-medium">{t(`changes.merge.${each}`)}</span>
                    <span className="text-xs text-muted">{t(`changes.merge.${each}Hint`, { target })}</span>
                  </span>
                </label>
              ))}
            </fieldset>
            {mode !== 'patch' && (
              <MessageField
                task={task}
                value={message}
                onChange={setMessage}
                {...(task.kind === 'agent' && task.status === 'completed' ? { onAsk: () => void askText() } : {})}
              />
            )}
            {listing.held && (
              <div className="mt-3">
                <p className="text-xs text-muted">{t('changes.merge.laterHint')}</p>
                <label className="mt-1 flex items-center gap-2">
                  <input
                    type="checkbox"
                    className="size-4 shrink-0 accent-[var(--accent)]"
                    checked={later}
                    onChange={(event) => setLater(event.target.checked)}
                  />
                  {t('changes.merge.later')}
                </label>
              </div>
            )}
            <p className="mt-3 text-xs text-muted">{t('changes.merge.safe')}</p>
            <p className="mt-3 mb-1 text-xs text-muted">{t('changes.merge.pr')}</p>
            <CopyLine text={`errand pr ${task.id}`} />
            {refusal && <Refusal error={refusal} onAsk={ask} />}
            <div className="mt-5 flex justify-end gap-2">
              <button type="button" className="btn" onClick={close}>
                {t('common.keep')}
              </button>
              <button type="submit" className="btn btn-primary" disabled={working}>
                {working && <LoaderCircle size={15} className="spin" aria-hidden />}
                {t(mode === 'patch' ? 'changes.merge.apply' : 'changes.merge.button')}
              </button>
            </div>
          </form>
        </Dialog>
      )}
      {open === 'discard' && (
        <Dialog title={t('changes.discard.title')} onClose={close}>
          <p className="text-muted">{t('changes.discard.body', { branch })}</p>
          {refusal && <Refusal error={refusal} onAsk={null} />}
          <div className="mt-5 flex justify-end gap-2">
            <button type="button" className="btn" onClick={close}>
              {t('common.keep')}
            </button>
            <button type="button" className="btn btn-danger" disabled={working} onClick={() => void give('discard')}>
              {working && <LoaderCircle size={15} className="spin" aria-hidden />}
              {t('changes.discard.button')}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
