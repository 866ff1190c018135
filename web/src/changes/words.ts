// Which words of a line changed. Pure, and bounded: a line may be a whole program.
export interface Piece {
  text: string;
  changed: boolean;
}
export type Pieces = { old: Piece[]; new: Piece[] };

const wordsMost = 160; // Of a line between what both have at their ends; beyond that the whole of it is one change.
const charactersMost = 4000;

// Words, runs of spaces, and every other character by itself. By code point: half a character is none.
const tokens = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];

const joined = (parts: [string, boolean][]): Piece[] => {
  const pieces: Piece[] = [];
  for (const [text, changed] of parts) {
    const last = pieces.at(-1);
    if (last?.changed === changed) last.text += text;
    else if (text) pieces.push({ text, changed });
  }
  return pieces;
};

// Null: the lines have too little in common for marks to help.
export function wordDiff(before: string, after: string): Pieces | null {
  if (before.length > charactersMost || after.length > charactersMost || before === after) return null;
  const [a, b] = [tokens(before), tokens(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [gone, came] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const small = gone.length <= wordsMost && came.length <= wordsMost;
  const kept = small ? common(gone, came) : { old: new Set<number>(), new: new Set<number>() };
  const side = (all: string[], middle: string[], same: Set<number>) =>
    joined([
      ...all.slice(0, head).map((text): [string, boolean] => [text, false]),
      ...middle.map((text, i): [string, boolean] => [text, !same.has(i)]),
      ...all.slice(all.length - tail).map((text): [string, boolean] => [text, false]),
    ]);
  const pieces = { old: side(a, gone, kept.old), new: side(b, came, kept.new) };
  return alike(pieces) ? pieces : null;
}

// The places of the longest common subsequence in each.
function common(a: string[], b: string[]): { old: Set<number>; new: Set<number> } {
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * width + j] =
        a[i] === b[j]
          ? best[(i + 1) * width + j + 1]! + 1
          : Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
  const found = { old: new Set<number>(), new: new Set<number>() };
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      found.old.add(i++);
      found.new.add(j++);
    } else if (best[(i + 1) * width + j]! >= best[i * width + j + 1]!) i++;
    else j++;
  }
  return found;
}

// A third of what is written in the longer one is in both. Spaces count for nothing: any two lines have some.
function alike({ old, new: now }: Pieces): boolean {
  const written = (pieces: Piece[], every: boolean) =>
    pieces.reduce((sum, piece) => sum + (every || !piece.changed ? piece.text.replace(/\s/g, '').length : 0), 0);
  const most = Math.max(written(old, true), written(now, true));
  return most > 0 && written(old, false) * 3 >= most;
}

// The first characters of it.
export function cutPieces(pieces: Piece[], most: number): Piece[] {
  const cut: Piece[] = [];
  let left = most;
  for (const piece of pieces) {
    if (left <= 0) break;
    cut.push(
      piece.text.length > left ? { ...piece, text: piece.text.slice(0, left).replace(/[\ud800-\udbff]$/, '') } : piece,
    );
    left -= piece.text.length;
  }
  return cut;
}
