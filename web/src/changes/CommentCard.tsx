// A comment on lines: as it will be sent, or while it is written.
import { MessageSquare, Pencil, Trash2 } from 'lucide-react';
import { useEffect, useRef } from 'react';

import { useTranslation } from '../i18n/i18n';
import { visible } from '../lib/hidden';
import type { Comment } from './review';
import type { Review } from './useReview';

interface Props {
  comment: Comment;
  place: { from: number; to: number } | null; // Null: its lines changed.
  review: Review;
}

export function CommentCard({ comment, place, review }: Props) {
  const { t } = useTranslation();
  const box = useRef<HTMLTextAreaElement>(null);
  const editing = review.editing === comment.id;
  const { from, to } = place ?? comment;
  useEffect(() => {
    if (editing) box.current?.focus({ preventScroll: true });
  }, [editing]);
  return (
    <div
      role="group"
      className={`my-1.5 mr-3 ml-12 max-w-2xl rounded-xl border bg-raised p-3 font-sans max-md:mx-2 ${place ? 'border-line-strong' : 'border-amber'}`}
      aria-label={t('changes.comment.label')}
      data-comment={place ? 'current' : 'outdated'}
    >
      <p className="flex items-center gap-2 text-xs text-muted">
        <MessageSquare size={13} className="shrink-0" aria-hidden />
        {from === to ? t('changes.comment.line', { n: from }) : t('changes.comment.lines', { from, to })}
        {!place && <span className="chip bg-amber-soft text-amber">{t('changes.comment.outdated')}</span>}
        {!editing && (
          <span className="-my-2 ml-auto flex">
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              aria-label={t('changes.comment.edit')}
              title={t('changes.comment.edit')}
              onClick={() => review.edit(comment.id)}
            >
              <Pencil size={14} aria-hidden />
            </button>
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              aria-label={t('changes.comment.remove')}
              title={t('changes.comment.remove')}
              onClick={() => review.remove(comment.id)}
            >
              <Trash2 size={14} aria-hidden />
            </button>
          </span>
        )}
      </p>
      {!place && (
        <pre tabIndex={0} className="mt-2 max-h-28 overflow-auto rounded-lg bg-code px-2 py-1 font-mono text-[12px]">
          {comment.quote.map((line) => visible(line.slice(0, 500))).join('\n')}
        </pre>
      )}
      {editing ? (
        <form
          className="mt-2"
          onSubmit={(event) => {
            event.preventDefault();
            review.done();
          }}
        >
          <textarea
            ref={box}
            rows={3}
            maxLength={10_000}
            className="field h-auto py-2"
            placeholder={t('changes.comment.placeholder')}
            aria-label={t('changes.comment.placeholder')}
            value={comment.text}
            onChange={(event) => review.write(comment.id, event.target.value)}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) {
                event.preventDefault();
                review.done();
              }
            }}
          />
          <span className="mt-2 flex flex-wrap items-center justify-end gap-2">
            <span className="mr-auto text-xs text-muted">{t('changes.comment.hint')}</span>
            <button type="button" className="btn" onClick={() => review.remove(comment.id)}>
              {t('changes.comment.remove')}
            </button>
            <button type="submit" className="btn btn-primary" disabled={!comment.text.trim()}>
              {t('changes.comment.add')}
            </button>
          </span>
        </form>
      ) : (
        <p className="mt-1 text-sm break-words whitespace-pre-wrap">{comment.text}</p>
      )}
    </div>
  );
}
