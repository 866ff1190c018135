// Markdown as a small tree of our own, from marked's tokens: what the page draws and what the worker sends, and nothing else.
// No HTML passes: a tag is text here. Bounded in depth and in size; what is over them is there as the text that it was.
import { Lexer, type Token, type Tokens } from 'marked';

export type Inline =
  | string
  | { kind: 'strong' | 'em' | 'del'; inside: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'break' }
  | { kind: 'link'; href: string; inside: Inline[] };

export interface Item {
  checked?: boolean; // Of a task list.
  inside: Block[];
}

export type Block =
  | { kind: 'heading'; depth: number; inside: Inline[] }
  | { kind: 'paragraph' | 'line'; inside: Inline[] }
  | { kind: 'code'; text: string; language: string }
  | { kind: 'quote'; inside: Block[] }
  | { kind: 'rule' }
  | { kind: 'list'; start: number | null; items: Item[] }
  | { kind: 'table'; sides: ('left' | 'center' | 'right')[]; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'plain'; text: string };

export interface Tree {
  blocks: Block[];
  whole: boolean; // All of it has its form; else some of it is plain.
}

export const depthMost = 20;
export const nodesMost = 6_000;

const unescape = (text: string): string =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '',
  );

class Maker {
  whole = true;
  private nodes = 0;

  // Whether one more, so deep, still fits.
  private fits(depth: number): boolean {
    if (depth <= depthMost && ++this.nodes <= nodesMost) return true;
    this.whole = false;
    return false;
  }

  inline(tokens: Token[] | undefined, depth: number): Inline[] {
    const out: Inline[] = [];
    const put = (each: Inline) => {
      // Text in a row is one text.
      const last = out.at(-1);
      if (typeof each === 'string' && typeof last === 'string') out[out.length - 1] = last + each;
      else out.push(each);
    };
    for (const token of tokens ?? []) {
      if (!this.fits(depth)) {
        put(token.raw);
        continue;
      }
      switch (token.type) {
        case 'strong':
        case 'em':
        case 'del':
          put({ kind: token.type, inside: this.inline(token.tokens, depth + 1) });
          break;
        case 'codespan':
          put({ kind: 'code', text: (token as Tokens.Codespan).text });
          break;
        case 'br':
          put({ kind: 'break' });
          break;
        case 'link':
          put({ kind: 'link', href: (token as Tokens.Link).href, inside: this.inline(token.tokens, depth + 1) });
          break;
        case 'image': {
          const { href, text } = token as Tokens.Image;
          put({ kind: 'link', href, inside: [text || href] });
          break;
        }
        case 'text':
          if ('tokens' in token && token.tokens) this.inline(token.tokens, depth + 1).forEach(put);
          else put(unescape((token as Tokens.Text).text));
          break;
        case 'escape':
          put((token as Tokens.Escape).text);
          break;
        default:
          put(token.raw);
      }
    }
    return out;
  }

  blocks(tokens: Token[], depth: number): Block[] {
    const out: Block[] = [];
    for (const token of tokens) {
      if (token.type === 'space' || token.type === 'def') continue;
      if (this.fits(depth)) out.push(this.block(token, depth));
      else {
        const last = out.at(-1);
        if (last?.kind === 'plain') last.text += token.raw;
        else out.push({ kind: 'plain', text: token.raw });
      }
    }
    return out;
  }

  private block(token: Token, depth: number): Block {
    switch (token.type) {
      case 'heading':
        return {
          kind: 'heading',
          depth: (token as Tokens.Heading).depth,
          inside: this.inline(token.tokens, depth + 1),
        };
      case 'paragraph':
        return { kind: 'paragraph', inside: this.inline(token.tokens, depth + 1) };
      case 'text':
        return {
          kind: 'line',
          inside: this.inline('tokens' in token && token.tokens ? token.tokens : [token], depth + 1),
        };
      case 'code':
        return { kind: 'code', text: (token as Tokens.Code).text, language: (token as Tokens.Code).lang ?? '' };
      case 'blockquote':
        return { kind: 'quote', inside: this.blocks(token.tokens ?? [], depth + 1) };
      case 'hr':
        return { kind: 'rule' };
      case 'list': {
        const { ordered, start, items } = token as Tokens.List;
        return {
          kind: 'list',
          start: ordered ? start || 1 : null,
          items: items.map((item) => ({
            ...(item.task ? { checked: item.checked === true } : {}),
            inside: this.blocks(
              item.tokens.filter((each) => each.type !== 'checkbox'),
              depth + 1,
            ),
          })),
        };
      }
      case 'table': {
        const { header, rows, align } = token as Tokens.Table;
        const cells = (row: Tokens.TableCell[]) => row.map((cell) => this.inline(cell.tokens, depth + 1));
        return {
          kind: 'table',
          sides: align.map((side) => side ?? 'left'),
          head: cells(header),
          rows: rows.map(cells),
        };
      }
      default:
        return { kind: 'plain', text: token.raw };
    }
  }
}

// Throws where the parser gives up (it goes down by recursion), and takes as long as the parser does: see parser.ts.
export function treeOf(text: string): Tree {
  const maker = new Maker();
  const blocks = maker.blocks(new Lexer({ gfm: true, breaks: false }).lex(text), 0);
  return { blocks, whole: maker.whole };
}
