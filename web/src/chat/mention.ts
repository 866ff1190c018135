// "@src/ma": a file that is being named in a message. Pure.
export interface Mention {
  from: number; // Where the @ is.
  typed: string; // What stands between it and the caret.
}

const typedMost = 400;

export function mentionAt(text: string, caret: number): Mention | null {
  const before = text.slice(Math.max(0, caret - typedMost), caret);
  const found = /(?:^|[\s(["'])@([^\s@]*)$/.exec(before);
  return found ? { from: caret - found[1]!.length - 1, typed: found[1]! } : null;
}

// The text with the mention written out, and where the caret is then. A folder is gone on with; behind a file comes a space.
export function complete(
  text: string,
  caret: number,
  mention: Mention,
  path: string,
  folder: boolean,
): { text: string; caret: number } {
  const rest = text.slice(caret);
  const word = `@${path}${folder ? '/' : rest.startsWith(' ') ? '' : ' '}`;
  return {
    text: text.slice(0, mention.from) + word + rest,
    caret: mention.from + word.length + (folder || !rest.startsWith(' ') ? 0 : 1),
  };
}

// A path as it is named from a folder: what is below it is relative to it.
export const fromFolder = (path: string, folder: string): string => {
  const base = folder.endsWith('/') ? folder : `${folder}/`;
  return path.startsWith(base) ? path.slice(base.length) : path;
};
