// Code in colours: comments, strings, numbers and the words that languages have in common. No grammar: it is as good as a
// glance needs, for every language at once, and never wrong about what the text is. Pure.
export interface Piece {
  text: string;
  tone?: 'comment' | 'string' | 'number' | 'keyword';
}

const keywords = new Set(
  (
    'abstract and as assert async await begin bool boolean break case catch char class const constexpr continue def default ' +
    'defer del delete do double elif else elsif end enum except export extends extern false final finally float fn for from ' +
    'func function get global go goto if impl implements import in int interface is lambda let local long loop match mod ' +
    'module mut namespace new nil none not null of operator or override package pass private protected pub public raise ' +
    'readonly return self set short signed sizeof static str string struct super switch template then this throw throws ' +
    'trait true try type typedef typename typeof undefined union unsafe unsigned until use using val var virtual void ' +
    'volatile when where while with yield'
  ).split(' '),
);
const sql = new Set(
  'select from where insert into update delete create table index join left right inner on group by order having limit values set and or not null primary key as'.split(
    ' ',
  ),
);

const hash = /^(py|python|rb|ruby|sh|bash|zsh|shell|console|yaml|yml|toml|ini|make|makefile|dockerfile|perl|r|conf)$/;
const dashes = /^(sql|lua|haskell|hs|elm|ada)$/;
const plain = /^(text|txt|plain|plaintext|log|output|md|markdown|diff)$/;
const most = 20_000; // Characters: more is a file, and files are read elsewhere.

// A string has an end within so many characters: else each quote of a text without one would be looked for to its end.
const strings = ['"', "'", '`']
  .map((quote) => `${quote}(?:[^${quote}\\\\${quote === '`' ? '' : '\\n'}]|\\\\.){0,400}${quote}`)
  .join('|');
const words = `\\b\\d[\\w.]*\\b|[A-Za-z_]\\w*`;
const rules = {
  slashes: new RegExp(`(//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$))|(${strings})|(${words})`, 'g'),
  hash: new RegExp(`((?<=^|\\s)#[^\\n]*)|(${strings})|(${words})`, 'gm'),
  dashes: new RegExp(`(--[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$))|(${strings})|(${words})`, 'g'),
};

export function highlight(text: string, language: string | undefined): Piece[] {
  const name = (language ?? '').trim().toLowerCase().split(/\s/, 1)[0] ?? '';
  if (name === '' || plain.test(name) || text.length > most) return [{ text }];
  const rule = hash.test(name) ? rules.hash : dashes.test(name) ? rules.dashes : rules.slashes;
  const out: Piece[] = [];
  let at = 0;
  const put = (piece: Piece) => {
    const last = out.at(-1);
    if (last && last.tone === piece.tone) last.text += piece.text;
    else out.push(piece);
  };
  for (const found of text.matchAll(rule)) {
    const [whole, comment, string, word] = found;
    const tone = comment
      ? 'comment'
      : string
        ? 'string'
        : word && /^\d/.test(word)
          ? 'number'
          : keywords.has(whole) || (name === 'sql' && sql.has(whole.toLowerCase()))
            ? 'keyword'
            : undefined;
    if (found.index > at) put({ text: text.slice(at, found.index) });
    put(tone ? { text: whole, tone } : { text: whole });
    at = found.index + whole.length;
  }
  if (at < text.length) put({ text: text.slice(at) });
  return out;
}
