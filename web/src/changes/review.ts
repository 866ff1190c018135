// Comments on lines of a task's changes: kept as a draft until they are sent, all of them as one message. Pure.
import type { Patch, Side } from './patch';

export interface Comment {
  id: string;
  name: string; // The file, as its address has it.
  path: string; // And as people read it.
  side: Side;
  from: number;
  to: number;
  quote: string[]; // The lines as they were when it was written.
  text: string;
}

export const commentsMost = 100;
export const quotedMost = 40; // Lines that one comment can be on.
const textMost = 10_000;

const linesOn = (patch: Patch, side: Side): Map<number, string> => {
  const lines = new Map<number, string>();
  for (const hunk of patch.hunks)
    for (const line of hunk.lines) {
      const at = line[side];
      if (at !== null && !lines.has(at)) lines.set(at, line.text);
    }
  return lines;
};

export const quoteOf = (patch: Patch, side: Side, from: number, to: number): string[] => {
  const lines = linesOn(patch, side);
  return Array.from({ length: Math.min(quotedMost, to - from + 1) }, (_, i) => lines.get(from + i) ?? '');
};

// Where the lines of a comment are now: at their place, moved by what was changed above them, or nowhere.
export function placeOf(comment: Comment, patch: Patch): { from: number; to: number } | null {
  const lines = linesOn(patch, comment.side);
  const stands = (from: number) => comment.quote.every((text, i) => lines.get(from + i) === text);
  const length = comment.to - comment.from;
  if (stands(comment.from)) return { from: comment.from, to: comment.to };
  const others = [...lines.keys()].filter(stands);
  // More than one such place is a guess: an empty line or a brace is everywhere.
  return others.length === 1 ? { from: others[0]!, to: others[0]! + length } : null;
}

// A fence that nothing in the text can close.
const fenceFor = (text: string): string => {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((each) => each.length));
  return '`'.repeat(longest + 1);
};

export interface MessageWords {
  head: string;
  place: (comment: Comment, from: number, to: number) => string;
  outdated: string;
}

// All comments as one message. `placed`: where the lines are now; null: they changed since.
export function messageOf(
  placed: { comment: Comment; place: { from: number; to: number } | null }[],
  words: MessageWords,
): string {
  const parts = placed.map(({ comment, place }) => {
    const quote = comment.quote.join('\n');
    const fence = fenceFor(quote);
    const { from, to } = place ?? comment;
    return [
      words.place(comment, from, to) + (place ? '' : ` ${words.outdated}`),
      `${fence}\n${quote}\n${fence}`,
      comment.text.trim(),
    ].join('\n');
  });
  return [words.head, ...parts].join('\n\n');
}

// What was kept, checked: it may be of another version of the page, or of anybody.
export function readComments(text: string): Comment[] {
  let all: unknown;
  try {
    all = JSON.parse(text || '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(all)) return [];
  return all.slice(0, commentsMost).flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const { id, name, path, side, from, to, quote, text: said } = each as Record<string, unknown>;
    if (typeof id !== 'string' || typeof name !== 'string' || typeof path !== 'string' || typeof said !== 'string')
      return [];
    if (side !== 'old' && side !== 'new') return [];
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || !Array.isArray(quote)) return [];
    const lines = quote.slice(0, quotedMost).filter((line) => typeof line === 'string');
    if (lines.length === 0) return [];
    return [
      { id, name, path, side, from: from as number, to: to as number, quote: lines, text: said.slice(0, textMost) },
    ];
  });
}
