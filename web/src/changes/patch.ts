// One file's patch, as git writes it, read into hunks and lines. Pure. Its text is the task's: whatever stands in it, reading
// takes one pass, never throws, and loses no line without saying so.
export type Mark = 'same' | 'gone' | 'came';
export type Side = 'old' | 'new';

export interface Line {
  mark: Mark;
  old: number | null; // Its number on each side; null: it is not there.
  new: number | null;
  text: string;
  unended: boolean; // The last line of its file, without an end of line.
}

export interface Hunk {
  old: number; // Where it begins on each side.
  new: number;
  title: string; // The function that it is in, where git knows.
  lines: Line[];
}

export interface Patch {
  hunks: Hunk[];
  binary: boolean;
  broken: boolean; // Something in it is no patch: what was read before that is here.
}

// The server shows no longer ones; this holds for whoever else sends one.
export const linesMost = 20_000;

const header = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$/s;
const marks: Partial<Record<string, Mark>> = { ' ': 'same', '-': 'gone', '+': 'came' };

// What a section has before its hunks. Everything else there is no patch.
const preamble =
  /^(diff --git |index |old mode |new mode |deleted file mode |new file mode |copy (from|to) |rename (from|to) |(dis)?similarity index |--- |\+\+\+ )/;
const binary = /^(Binary files |GIT binary patch)/;

export function parsePatch(text: string): Patch {
  const patch: Patch = { hunks: [], binary: false, broken: false };
  let hunk: Hunk | null = null;
  let [oldAt, newAt, oldLeft, newLeft, count] = [0, 0, 0, 0, 0];
  for (let at = 0; at < text.length;) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, end);
    at = end + 1;
    if (line.startsWith('\\')) {
      const last = hunk?.lines.at(-1);
      if (last) last.unended = true;
      continue;
    }
    // Within a hunk its counts decide what a line is, not what it looks like: "--- a" may be a line that went.
    if (hunk && oldLeft + newLeft > 0) {
      const mark = marks[line.charAt(0)];
      const fits = (mark === 'came' || oldLeft > 0) && (mark === 'gone' || newLeft > 0);
      if (!mark || !fits || ++count > linesMost) return { ...patch, broken: true };
      const [old, now] = [mark === 'came' ? null : oldAt++, mark === 'gone' ? null : newAt++];
      if (old !== null) oldLeft--;
      if (now !== null) newLeft--;
      hunk.lines.push({ mark, old, new: now, text: line.slice(1), unended: false });
    } else if (line.startsWith('@@ ')) {
      const head = header.exec(line);
      if (!head) return { ...patch, broken: true };
      [oldAt, newAt] = [Number(head[1]), Number(head[3])];
      [oldLeft, newLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      hunk = { old: oldAt, new: newAt, title: head[5]!.slice(0, 200), lines: [] };
      patch.hunks.push(hunk);
    } else if (binary.test(line)) {
      patch.binary = true;
      if (line.startsWith('GIT')) return patch; // The rest is its bytes.
    } else if (preamble.test(line)) {
      hunk = null;
    } else if (line !== '') {
      return { ...patch, broken: true };
    }
  }
  return { ...patch, broken: oldLeft + newLeft > 0 };
}
