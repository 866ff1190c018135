// A name that somebody else chose, for people to read: what is hidden in it, or turns round what stands beside it, is shown
// as escapes, as the terminal shows it. Joiners stay: names in many scripts need them, and they move nothing.
const hidden =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e00ff}]/gu;
const anything = /[^\p{White_Space}\p{Cf}\p{Cc}\p{Mn}\u2800\u3164\u115f\u1160\uffa0]/u;

const escape = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
};

export const shown = (name: string): string =>
  anything.test(name) ? name.replace(hidden, escape) : Array.from(name, escape).join('');
// The same inside of a sentence: what is written from right to left takes nothing of the sentence with it.
export const quoted = (name: string): string => `\u2068${shown(name)}\u2069`;
// A line of a file: what is hidden in it is shown too, and so is what would move a terminal. Tabs and spaces are what they are.
// eslint-disable-next-line no-control-regex -- That is what it looks for.
const controls = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;
export const visible = (line: string): string => line.replace(hidden, escape).replace(controls, escape);
