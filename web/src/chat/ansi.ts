// Coloured output: the escape codes of a line as classes. Everything else that a terminal would obey is dropped.
import Anser from 'anser';

export interface Piece {
  text: string;
  className: string;
}

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const colour = (name: string | null | undefined): string => {
  const at = names.indexOf((name ?? '').replace('ansi-', '').replace('bright-', ''));
  return at < 0 ? '' : `text-(--ansi-${at})`;
};
// So that Tailwind sees them: text-(--ansi-0) text-(--ansi-1) text-(--ansi-2) text-(--ansi-3) text-(--ansi-4)
// text-(--ansi-5) text-(--ansi-6) text-(--ansi-7)

// Control characters are what these look for.
/* eslint-disable no-control-regex */
const notColour = /\u001b(?:\[[0-9;?]*[A-Za-ln-z]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][A-Z0-9]|[=>78cDEHMNOZ])/g;
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;
/* eslint-enable no-control-regex */

export function pieces(line: string): Piece[] {
  // A carriage return begins the line again: what stands after the last one is what a terminal shows.
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end--;
  const visible = line.slice(end > 0 ? line.lastIndexOf('\r', end - 1) + 1 : 0, end);
  const clean = visible.replace(notColour, '').replace(controls, '');
  if (!clean.includes('\u001b')) return [{ text: clean, className: '' }];
  return Anser.ansiToJson(clean, { use_classes: true, remove_empty: true }).map((part) => ({
    text: part.content,
    className: [
      colour(part.fg),
      part.decorations.includes('bold') ? 'font-bold' : '',
      part.decorations.includes('italic') ? 'italic' : '',
      part.decorations.includes('underline') ? 'underline' : '',
      part.decorations.includes('dim') ? 'text-muted' : '',
    ]
      .filter(Boolean)
      .join(' '),
  }));
}

export const plain = (line: string): string =>
  pieces(line)
    .map((piece) => piece.text)
    .join('');
