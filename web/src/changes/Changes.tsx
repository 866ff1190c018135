// The Changes tab: what a task changed, one patch at a time, with comments that go back to the agent (R16.3).
import { Link } from '@tanstack/react-router';
import { Columns2, FileDiff, FileQuestionMark, RefreshCw, Rows3, Send, ServerOff } from 'lucide-react';
import { useMemo, useState } from 'react';

import { ApiError } from '../api/client';
import { atWork, type Changes as Listing, type Task } from '../api/types';
import { sender } from '../chat/sender';
import { useTranslation } from '../i18n/i18n';
import { number, shortId } from '../lib/format';
import { shown } from '../lib/hidden';
import { errorText } from '../lib/sentences';
import { usePhone } from '../lib/hooks';
import { useKeys } from '../lib/keys';
import { kept, useStore } from '../lib/store';
import { useTask } from '../queries';
import { Empty } from '../ui/Empty';
import { toast } from '../ui/toast';
import { Counts, FileList } from './FileList';
import { FilePatch } from './FilePatch';
import { MergeBar } from './MergeBar';
import type { Step } from './PatchLines';
import { messageOf, placeOf } from './review';
import { lookAgain, useChanges, usePatches } from './useChanges';
import { useReview, type Review } from './useReview';

const layout = kept<'unified' | 'split'>('errand.diff', 'unified');
const sharedShown = 3;

function SharedTask({ id }: { id: string }) {
  const title = useTask(id).data?.title;
  return (
    <Link to="/chat" search={{ taskId: id, tab: 'changes' }} className="max-w-60 truncate underline underline-offset-2">
      {title ? shown(title) : shortId(id)}
    </Link>
  );
}

// Whose changes these may be too, and what was not looked at.
function Remarks({ listing }: { listing: Listing }) {
  const { t } = useTranslation();
  const left = listing.left_out.length + listing.left_out_more;
  const uncertain = listing.files.filter((file) => !file.certain).length;
  const shared = listing.shared_with;
  return (
    <>
      {shared.length > 0 && (
        <p
          className="flex flex-wrap items-center gap-x-2 border-b border-line bg-amber-soft px-6 py-1.5 text-sm text-amber max-md:px-4"
          data-testid="shared-with"
        >
          {uncertain > 0 ? t('changes.shared', { count: uncertain }) : t('changes.sharedNone')}
          {shared.slice(0, sharedShown).map((id) => (
            <SharedTask key={id} id={id} />
          ))}
          {shared.length > sharedShown && (
            <span>{t('changes.sharedMore', { count: shared.length - sharedShown })}</span>
          )}
          <span>{t('changes.sharedHint')}</span>
        </p>
      )}
      {left > 0 && (
        <details className="border-b border-line px-6 py-1.5 text-sm max-md:px-4" data-testid="left-out">
          <summary className="text-muted">{t('changes.leftOut', { count: left })}</summary>
          <ul className="mt-1 max-h-40 overflow-auto pb-1" tabIndex={0}>
            {listing.left_out.map((each) => (
              <li key={each.path} className="flex gap-3">
                <bdi className="min-w-0 truncate font-mono text-[12.5px]">{shown(each.path)}</bdi>
                <span className="shrink-0 text-xs text-muted">{t(`changes.leftOutWhy.${each.why}`)}</span>
              </li>
            ))}
            {listing.left_out_more > 0 && <li>{t('changes.leftOutMore', { count: listing.left_out_more })}</li>}
          </ul>
        </details>
      )}
    </>
  );
}

// All comments, sent as one message. Lines that changed since are looked for first, and the agent is told of it.
function ReviewBar({ task, review }: { task: Task; review: Review }) {
  const { t } = useTranslation();
  const [sending, setSending] = useState(false);
  const written = review.comments.filter((each) => each.text.trim() !== '');
  const names = useMemo(() => [...new Set(review.comments.map((each) => each.name))], [review.comments]);
  const patches = usePatches(task.id, names);
  const placed = written.map((comment) => {
    const patch = patches.get(comment.name);
    return { comment, place: patch ? placeOf(comment, patch) : null };
  });
  const outdated = placed.filter((each) => !each.place && patches.has(each.comment.name)).length;
  const send = async () => {
    setSending(true);
    const text = messageOf(placed, {
      head: t('changes.review.head'),
      place: (comment, from, to) =>
        t(`changes.review.${comment.side}${from === to ? '' : 's'}`, { path: shown(comment.path), from, to }),
      outdated: t('changes.review.outdated'),
    });
    const stored = await sender(task, 'steer')(text);
    setSending(false);
    if (!stored) return;
    review.clear();
    toast('ok', t(atWork(task.status) ? 'changes.review.sentNow' : 'changes.review.sent'));
  };
  if (written.length === 0) return null;
  return (
    <div
      className="flex flex-wrap items-center gap-3 border-t border-line bg-raised px-6 py-3 max-md:px-4"
      data-testid="review-bar"
    >
      <p className="min-w-0 flex-1">
        <span className="font-medium">{t('changes.comments', { count: written.length })}</span>
        {outdated > 0 && (
          <span className="ml-2 text-sm text-amber">{t('changes.review.someOutdated', { count: outdated })}</span>
        )}
      </p>
      <button type="button" className="btn" disabled={sending} onClick={review.clear}>
        {t('changes.review.clear')}
      </button>
      <button type="button" className="btn btn-primary" disabled={sending} onClick={() => void send()}>
        <Send size={14} aria-hidden />
        {t('changes.review.send')}
      </button>
    </div>
  );
}

function Looked({ task, listing }: { task: Task; listing: Listing }) {
  const { t, language } = useTranslation();
  const phone = usePhone();
  const how = useStore(layout);
  const review = useReview(task.id);
  const [chosen, setChosen] = useState<string | null>(null);
  const [step, setStep] = useState<Step | null>(null);
  const { files } = listing;
  const found = files.findIndex((file) => file.name === chosen);
  // On a phone the list comes first; else the first file is open.
  const at = found >= 0 ? found : phone ? -1 : 0;
  const file = files[at];
  const select = (name: string | null) => {
    setStep(null);
    setChosen(name);
  };
  const go = (by: 1 | -1, arriving: boolean) => {
    const to = files[at + by];
    if (!to) return;
    setChosen(to.name);
    setStep(arriving ? { by, arriving } : null);
  };
  useKeys({
    j: () => go(1, false),
    k: () => go(-1, false),
    n: () => setStep({ by: 1, arriving: false }),
    p: () => setStep({ by: -1, arriving: false }),
  });
  const counts = useMemo(() => {
    const all = new Map<string, number>();
    for (const { name } of review.comments) all.set(name, (all.get(name) ?? 0) + 1);
    return all;
  }, [review.comments]);
  const split = how === 'split';
  const listed = (
    <FileList
      files={files}
      total={listing.files_total}
      selected={file?.name ?? null}
      comments={counts}
      onSelect={select}
    />
  );
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 border-b border-line px-6 py-2 max-md:px-4">
        <p className="flex items-center gap-3 font-medium" data-testid="changes-total">
          {t('changes.files', { count: listing.files_total, n: number(listing.files_total, language) })}
          <Counts file={listing} />
        </p>
        <span className="text-xs text-muted">{t(`changes.state.${listing.state}`)}</span>
        {!phone && (
          <button
            type="button"
            className={`btn ml-auto ${split ? 'bg-accent-soft text-accent-text' : ''}`}
            aria-pressed={split}
            onClick={() => layout.set(split ? 'unified' : 'split')}
          >
            {split ? <Columns2 size={15} aria-hidden /> : <Rows3 size={15} aria-hidden />}
            {t('changes.split')}
          </button>
        )}
      </div>
      {/* On a phone a patch needs the whole screen. */}
      {!(phone && file) && listing.isolation && (
        <MergeBar task={task} isolation={listing.isolation} listing={listing} />
      )}
      {!(phone && file) && <Remarks listing={listing} />}
      <div className="flex min-h-0 flex-1">
        {phone ? (
          !file && listed
        ) : (
          <div className="flex w-72 shrink-0 flex-col border-r border-line lg:w-80">{listed}</div>
        )}
        {file && (
          <FilePatch
            key={file.name}
            task={task}
            file={file}
            split={split}
            phone={phone}
            review={task.kind === 'agent' ? review : null}
            comments={review.comments.filter((each) => each.name === file.name)}
            step={step}
            onEnd={(by) => go(by, true)}
            onBack={phone ? () => select(null) : null}
            onNext={(by) => go(by, false)}
          />
        )}
      </div>
      <ReviewBar task={task} review={review} />
    </>
  );
}

export default function Changes({ task }: { task: Task }) {
  const { t } = useTranslation();
  const { data, error, isFetching } = useChanges(task);
  const again = (
    <button type="button" className="btn mt-4" disabled={isFetching} onClick={() => void lookAgain(task.id)}>
      <RefreshCw size={14} className={isFetching ? 'spin' : ''} aria-hidden />
      {t('changes.refresh')}
    </button>
  );
  if (!data) {
    if (!error)
      return (
        <div className="flex flex-col gap-3 p-6" aria-busy>
          <div className="skeleton h-5 w-1/4" />
          <div className="skeleton h-4 w-1/2" />
          <div className="skeleton h-4 w-1/3" />
        </div>
      );
    const unknown = error instanceof ApiError && error.reason === 'no_changes';
    return (
      <Empty icon={unknown ? FileQuestionMark : ServerOff} title={t(unknown ? 'changes.unknown' : 'changes.error')}>
        <p>{errorText(error, t)}</p>
        {again}
      </Empty>
    );
  }
  if (data.state === 'unknown')
    return (
      <>
        {data.isolation && <MergeBar task={task} isolation={data.isolation} listing={data} />}
        <Empty icon={FileQuestionMark} title={t('changes.unknown')}>
          <p>{data.why}</p>
          {again}
        </Empty>
      </>
    );
  if (data.files.length === 0)
    return (
      <>
        {data.isolation && <MergeBar task={task} isolation={data.isolation} listing={data} />}
        <Remarks listing={data} />
        <Empty icon={FileDiff} title={t(data.state === 'live' ? 'changes.noneYet' : 'changes.none')}>
          {data.state === 'live' && <p>{t('changes.noneHint')}</p>}
        </Empty>
      </>
    );
  return <Looked task={task} listing={data} />;
}
