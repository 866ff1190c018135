// A Markdown text cut into pieces that can be read one by one: by its lines alone, in one pass, whatever the text is. A piece
// is what is between blank lines, a heading, a fence, or some items of a list; the parser sees one at a time. So an answer
// that grows costs only its last piece, and a piece that cannot be read spoils no other. Pure.
const fenceLine = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;
const headingLine = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const itemLine = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
// What ends a paragraph without a blank line: only a list that begins at 1, and not with nothing.
const interruptingItem = /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/;
const indented = /^(?: {2,}|\t)/;
const code = /^(?: {4}| {0,3}\t)/;

// A longer list is cut before its next item, a longer paragraph before its next line: each row of the page is short.
const listMost = 6_000;
const paragraphMost = 12_000;

type Kind = 'none' | 'paragraph' | 'list' | 'code' | 'fence' | 'table';

// The second line of a table.
const isDelimiter = (line: string): boolean => line.includes('-') && /^[ \t|:-]*$/.test(line);

// Where the pieces of `text` begin, from `from` on, which is where one begins.
function startsOf(text: string, from: number): number[] {
  const starts: number[] = [];
  const piece: { kind: Kind; start: number; lines: number } = { kind: 'none', start: from, lines: 0 };
  let fence = '';
  let blank = false; // The last line was.
  const begin = (at: number, as: Kind) => {
    starts.push(at);
    Object.assign(piece, { kind: as, start: at, lines: 0 });
  };
  for (let at = from; at < text.length;) {
    const end = text.indexOf('\n', at);
    const next = end < 0 ? text.length : end + 1;
    const line = text.slice(at, end < 0 ? next : end).replace(/\r$/, '');
    if (piece.kind === 'fence') {
      const closing = fenceLine.exec(line)?.[1];
      if (closing && closing.startsWith(fence) && line.trim() === closing) piece.kind = 'none';
    } else if (line.trim() === '') {
      if (piece.kind === 'paragraph' || piece.kind === 'table') piece.kind = 'none';
      blank = true;
      at = next;
      continue;
    } else {
      const opening = fenceLine.exec(line)?.[1];
      const inList: boolean = piece.kind === 'list' && (indented.test(line) || itemLine.test(line) || !blank);
      if (opening && !(piece.kind === 'list' && indented.test(line))) {
        begin(at, 'fence');
        fence = opening;
      } else if (headingLine.test(line) && !(piece.kind === 'list' && indented.test(line))) {
        begin(at, 'none');
      } else if (inList) {
        if (at - piece.start > listMost && itemLine.test(line)) begin(at, 'list');
      } else if (piece.kind === 'code' && code.test(line)) {
        if (at - piece.start > paragraphMost) begin(at, 'code');
      } else if (piece.kind === 'paragraph' || piece.kind === 'table') {
        if (interruptingItem.test(line)) begin(at, 'list');
        else if (piece.kind === 'paragraph' && piece.lines === 1 && isDelimiter(line)) piece.kind = 'table';
        else if (piece.kind === 'paragraph' && at - piece.start > paragraphMost) begin(at, 'paragraph');
      } else begin(at, itemLine.test(line) ? 'list' : code.test(line) ? 'code' : 'paragraph');
    }
    piece.lines++;
    blank = false;
    at = next;
  }
  return starts;
}

interface Known {
  text: string;
  blocks: string[];
  starts: number[];
}

// The blocks of a text, and only its last two again where it grew: so streaming costs the same at the end as at the
// beginning. The last two, because the line that is half written may still join them.
export function makeSplitter(): (key: string, text: string) => string[] {
  const known = new Map<string, Known>();
  return (key, text) => {
    const old = known.get(key);
    if (old?.text === text) return old.blocks;
    const grew = old !== undefined && text.length > old.text.length && text.startsWith(old.text);
    const kept = grew ? Math.max(0, old.starts.length - 2) : 0;
    const starts = grew ? old.starts.slice(0, kept) : [];
    const blocks = grew ? old.blocks.slice(0, kept) : [];
    const fresh = startsOf(text, (grew ? old.starts[kept] : undefined) ?? 0);
    fresh.forEach((start, i) => blocks.push(text.slice(start, fresh[i + 1])));
    known.set(key, { text, blocks, starts: starts.concat(fresh) });
    return blocks;
  };
}

// A block that is one fence, as its code: nothing has to be read in it, however long it is.
export function fenceOf(block: string): { text: string; language: string } | null {
  const open = fenceLine.exec(block);
  if (!open?.[1]) return null;
  const first = block.indexOf('\n');
  const head = first < 0 ? block : block.slice(0, first);
  const language = head.slice(open[0].length).trim();
  if (first < 0) return { text: '', language };
  let body = block.slice(first + 1).trimEnd();
  const last = body.slice(body.lastIndexOf('\n') + 1);
  const closing = fenceLine.exec(last)?.[1];
  if (closing?.startsWith(open[1]) && last.trim() === closing) body = body.slice(0, -last.length);
  const margin = head.length - head.trimStart().length;
  if (margin > 0) body = body.replace(new RegExp(`^ {1,${margin}}`, 'gm'), '');
  return { text: body.replace(/\n$/, ''), language };
}

// A block that is a table: the two lines of its head, and its rows.
export function tableOf(block: string): { head: string; columns: number; rows: string[] } | null {
  const first = block.indexOf('\n');
  const names = block.slice(0, Math.max(0, first)).trim();
  if (!names.includes('|')) return null;
  const second = block.indexOf('\n', first + 1);
  if (second < 0 || !isDelimiter(block.slice(first + 1, second).trimEnd())) return null;
  const rows = block.slice(second + 1).split('\n');
  while (rows.at(-1)?.trim() === '') rows.pop();
  const columns = names.split('|').length - Number(names.startsWith('|')) - Number(names.endsWith('|'));
  return { head: block.slice(0, second + 1), columns: Math.max(1, columns), rows };
}

// An inline mark that was opened and not closed yet would show its raw signs: it is closed for the time being.
export function heal(text: string): string {
  const line = text.slice(text.lastIndexOf('\n') + 1);
  if ((line.match(/`/g)?.length ?? 0) % 2 === 1) return text + '`';
  if ((line.match(/\*\*/g)?.length ?? 0) % 2 === 1) return line.endsWith('**') ? text.slice(0, -2) : text + '**';
  return text;
}
