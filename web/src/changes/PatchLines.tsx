// The lines of one patch, in one column or side by side, and the comments on them. Only what is seen is drawn.
import { useVirtualizer } from '@tanstack/react-virtual';
import { Plus } from 'lucide-react';
import { memo, useEffect, useMemo, useRef, useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import { number } from '../lib/format';
import { visible } from '../lib/hidden';
import { useLatest } from '../lib/hooks';
import { CommentCard } from './CommentCard';
import type { Line, Patch, Side } from './patch';
import { placeOf, quotedMost, quoteOf, type Comment } from './review';
import { changesIn, rowsOf, type DiffRow } from './rows';
import type { Review } from './useReview';
import { cutPieces, wordDiff, type Piece } from './words';

const charactersMost = 2000; // Of a line that are drawn: a longer one is a file of its own.

const tones = { same: '', gone: 'bg-red-soft', came: 'bg-green-soft' };
const signs = { same: ' ', gone: '−', came: '+' };
const marked = { same: '', gone: 'rounded-[3px] bg-red/25', came: 'rounded-[3px] bg-green/25' };

const LineText = memo(function LineText({ line, pair }: { line: Line; pair: Line | null }) {
  const { t, language } = useTranslation();
  const pieces = useMemo((): Piece[] => {
    const whole = [{ text: line.text, changed: false }];
    if (!pair) return whole;
    const found = line.mark === 'gone' ? wordDiff(line.text, pair.text)?.old : wordDiff(pair.text, line.text)?.new;
    return found ?? whole;
  }, [line, pair]);
  const over = line.text.length - charactersMost;
  return (
    <span className="min-w-0 pr-3 [overflow-wrap:anywhere] whitespace-pre-wrap [tab-size:4]">
      {cutPieces(pieces, charactersMost).map((piece, i) =>
        piece.changed ? (
          <mark key={i} className={`text-inherit ${marked[line.mark]}`}>
            {visible(piece.text)}
          </mark>
        ) : (
          <bdi key={i}>{visible(piece.text)}</bdi>
        ),
      )}
      {over > 0 && (
        <span className="text-muted italic">{t('changes.lineCut', { n: number(over, language), count: over })}</span>
      )}
      {line.unended && <span className="text-muted italic"> {t('changes.unended')}</span>}
    </span>
  );
});

type Item = DiffRow | { kind: 'comment'; key: string; comment: Comment; place: { from: number; to: number } | null };

// Comments stand behind the last of their lines; those whose lines changed, above all.
function withComments(rows: DiffRow[], comments: Comment[], patch: Patch): Item[] {
  if (comments.length === 0) return rows;
  const behind = new Map<string, Item[]>();
  const items: Item[] = [];
  for (const comment of comments) {
    const place = placeOf(comment, patch);
    const item: Item = { kind: 'comment', key: comment.id, comment, place };
    if (!place) items.push(item);
    else behind.set(`${comment.side} ${place.to}`, [...(behind.get(`${comment.side} ${place.to}`) ?? []), item]);
  }
  const put = (side: Side, at: number | null | undefined) => {
    const key = `${side} ${at}`;
    items.push(...(behind.get(key) ?? []));
    behind.delete(key);
  };
  for (const row of rows) {
    items.push(row);
    if (row.kind === 'line') {
      if (row.line.mark !== 'came') put('old', row.line.old);
      if (row.line.mark !== 'gone') put('new', row.line.new);
    } else if (row.kind === 'sides') {
      put('old', row.old?.old);
      put('new', row.new?.new);
    }
  }
  return items;
}

// A line that begins or ends a comment: pressed, then another with Shift.
interface Start {
  side: Side;
  at: number;
}

export interface Step {
  by: 1 | -1;
  arriving: boolean; // From another file: to its first change, or to its last.
}

interface Props {
  name: string;
  path: string;
  patch: Patch;
  split: boolean;
  phone: boolean;
  review: Review | null; // Null: nobody reads comments here.
  comments: Comment[]; // On this file.
  step: Step | null; // To the next change or the one before, whenever it is another object.
  onEnd: (by: 1 | -1) => void; // There is none further.
}

export function PatchLines({ name, path, patch, split, phone, review, comments, step, onEnd }: Props) {
  const { t, language } = useTranslation();
  const scroller = useRef<HTMLDivElement>(null);
  const [start, setStart] = useState<Start | null>(null);
  const [cursor, setCursor] = useState<string | null>(null); // The row that n and p came to.
  const rows = useMemo(() => rowsOf(patch, split), [patch, split]);
  const items = useMemo(() => withComments(rows, comments, patch), [rows, comments, patch]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (items[index]?.kind === 'comment' ? 110 : items[index]?.kind === 'hunk' ? 28 : 20),
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 20,
    paddingEnd: 24,
  });

  const latest = useLatest({ items, rows, cursor, onEnd });
  useEffect(() => {
    if (!step) return;
    const { items: all, rows: lines, cursor: key, onEnd: end } = latest.current;
    const changes = changesIn(lines);
    const at = lines.findIndex((row) => row.key === key);
    const further = step.by > 0 ? changes.find((each) => each > at) : changes.findLast((each) => each < at);
    const to = step.arriving ? changes.at(step.by > 0 ? 0 : -1) : further;
    if (to === undefined) return step.arriving ? undefined : end(step.by);
    const row = lines[to]!;
    setCursor(row.key);
    virtual.scrollToIndex(Math.max(0, all.indexOf(row) - 3), { align: 'start' });
  }, [step, latest, virtual]);

  const press = (side: Side, at: number, extend: boolean) => {
    if (!review || review.full) return;
    const begun = extend && start?.side === side ? start.at : at;
    const from = Math.min(begun, at);
    const to = Math.min(Math.max(begun, at), from + quotedMost - 1);
    setStart({ side, at });
    review.begin({ name, path, side, from, to, quote: quoteOf(patch, side, from, to) });
  };
  const numberOf = (line: Line | null, side: Side, current: boolean) => {
    const at = line?.[side] ?? null;
    const quiet = 'flex items-start justify-end pr-2 text-muted tabular-nums select-none';
    if (at === null) return <span className={quiet} aria-hidden />;
    if (!review)
      return (
        <span className={quiet} aria-hidden>
          {at}
        </span>
      );
    return (
      <button
        type="button"
        tabIndex={current ? 0 : -1}
        aria-label={t(side === 'new' ? 'changes.commentOn' : 'changes.commentOnOld', { n: at })}
        title={t('changes.commentHint')}
        className={`${quiet} group/number relative hover:text-accent-text`}
        onClick={(event) => press(side, at, event.shiftKey)}
      >
        <span className="absolute top-0.5 left-0.5 hidden size-4 place-items-center rounded bg-accent text-on-accent group-hover/number:grid group-focus-visible/number:grid">
          <Plus size={12} aria-hidden />
        </span>
        {at}
      </button>
    );
  };
  const sign = (line: Line) => (
    <span className="text-center text-muted select-none">
      <span aria-hidden>{signs[line.mark]}</span>
      {line.mark !== 'same' && <span className="sr-only">{t(`changes.mark.${line.mark}`)}</span>}
    </span>
  );

  const draw = (item: Item) => {
    const current = item.key === cursor;
    switch (item.kind) {
      case 'hunk':
        return (
          <div className="flex h-7 items-center gap-3 bg-panel px-3 text-xs text-muted">
            <span className="shrink-0">
              {item.skipped !== null
                ? t('changes.skipped', { count: item.skipped, n: number(item.skipped, language) })
                : t('changes.from', { n: item.hunk.new || item.hunk.old })}
            </span>
            <span className="truncate">{visible(item.hunk.title)}</span>
          </div>
        );
      case 'line': {
        const { line } = item;
        const lit = current ? 'shadow-[inset_3px_0_0_var(--accent)]' : '';
        return phone ? (
          <div
            className={`grid grid-cols-[2.75rem_1rem_minmax(0,1fr)] ${tones[line.mark]} ${lit}`}
            data-mark={line.mark}
          >
            {numberOf(line, line.new === null ? 'old' : 'new', current)}
            {sign(line)}
            <LineText line={line} pair={item.pair} />
          </div>
        ) : (
          <div
            className={`grid grid-cols-[3.25rem_3.25rem_1.25rem_minmax(0,1fr)] ${tones[line.mark]} ${lit}`}
            data-mark={line.mark}
          >
            {numberOf(line.mark === 'came' ? null : line, 'old', current && line.mark === 'gone')}
            {numberOf(line, 'new', current)}
            {sign(line)}
            <LineText line={line} pair={item.pair} />
          </div>
        );
      }
      case 'sides': {
        const half = (line: Line | null, side: Side, pair: Line | null) =>
          line ? (
            <div
              className={`grid grid-cols-[3.25rem_1.25rem_minmax(0,1fr)] ${tones[line.mark]} ${current ? 'shadow-[inset_3px_0_0_var(--accent)]' : ''}`}
              data-mark={line.mark}
            >
              {numberOf(line, side, current)}
              {sign(line)}
              <LineText line={line} pair={pair} />
            </div>
          ) : (
            <div className="bg-panel" />
          );
        const both = item.old !== item.new;
        return (
          <div className="grid grid-cols-2 divide-x divide-line">
            {half(item.old, 'old', both ? item.new : null)}
            {half(item.new, 'new', both ? item.old : null)}
          </div>
        );
      }
      case 'comment':
        return review ? <CommentCard comment={item.comment} place={item.place} review={review} /> : null;
      case 'broken':
        return <p className="px-4 py-2 font-sans text-sm text-amber">{t('changes.broken')}</p>;
    }
  };
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={t('changes.patchOf', { path: visible(path) })}
      data-testid="patch"
      className="min-h-0 flex-1 overflow-y-auto font-mono text-[12.5px] leading-5 outline-none focus-visible:ring-2 focus-visible:ring-accent focus-visible:ring-inset"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = items[item.index];
          return row ? (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              className="absolute inset-x-0 top-0"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {draw(row)}
            </div>
          ) : null;
        })}
      </div>
    </div>
  );
}
