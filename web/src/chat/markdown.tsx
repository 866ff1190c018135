// Markdown to React elements. No HTML passes: what an agent writes is text, and a tag in it is shown as it stands. Images
// of other servers are links: nothing is fetched because an agent wrote an address.
import { Square, SquareCheck } from 'lucide-react';
import { Lexer, type Token, type Tokens } from 'marked';
import { Fragment, memo, type ReactNode } from 'react';

import { CopyButton } from '../ui/CopyLine';
import { highlight } from './highlight';

const lex = (text: string): Token[] => new Lexer({ gfm: true, breaks: false }).lex(text);

interface Known {
  text: string;
  blocks: string[];
  starts: number[];
}

// The blocks of a text, and only its last two again where it grew: so streaming costs the same at the end as at the
// beginning. The last two, because what is typed next may still join them.
export function makeSplitter(): (key: string, text: string) => string[] {
  const known = new Map<string, Known>();
  return (key, text) => {
    const old = known.get(key);
    if (old?.text === text) return old.blocks;
    const grew =
      old !== undefined && old.starts.length > 1 && text.length > old.text.length && text.startsWith(old.text);
    const kept = grew ? Math.max(0, old.blocks.length - 2) : 0;
    let at = grew ? (old.starts[kept] ?? 0) : 0;
    const next: Known = {
      text,
      blocks: grew ? old.blocks.slice(0, kept) : [],
      starts: grew ? old.starts.slice(0, kept) : [],
    };
    for (const token of lex(text.slice(at))) {
      if (token.type !== 'space') {
        next.blocks.push(token.raw);
        next.starts.push(at);
      }
      at += token.raw.length;
    }
    // The lexer changed something (tabs, line ends): then places in the text mean nothing, and it is read from its beginning.
    if (at !== text.length) next.starts = [];
    known.set(key, next);
    return next.blocks;
  };
}

// An inline mark that was opened and not closed yet would show its raw signs: it is closed for the time being.
export function heal(text: string): string {
  const fences = text.match(/^ {0,3}(```+|~~~+)/gm);
  if (fences && fences.length % 2 === 1) return text;
  const line = text.slice(text.lastIndexOf('\n') + 1);
  if ((line.match(/`/g)?.length ?? 0) % 2 === 1) return text + '`';
  if ((line.match(/\*\*/g)?.length ?? 0) % 2 === 1) return line.endsWith('**') ? text.slice(0, -2) : text + '**';
  return text;
}

const safe = (href: string): string | null => {
  try {
    const url = new URL(href, location.href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
};

const unescape = (text: string): string =>
  text.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '',
  );

function Anchor({ href, children }: { href: string; children: ReactNode }) {
  const url = safe(href);
  if (!url) return <>{children}</>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener" className="text-accent-text underline underline-offset-2">
      {children}
    </a>
  );
}

function inline(tokens: Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, i) => {
    switch (token.type) {
      case 'strong':
        return (
          <strong key={i} className="font-semibold">
            {inline(token.tokens)}
          </strong>
        );
      case 'em':
        return <em key={i}>{inline(token.tokens)}</em>;
      case 'del':
        return <del key={i}>{inline(token.tokens)}</del>;
      case 'codespan':
        return (
          <code key={i} className="rounded-md bg-grey-soft px-1.5 py-0.5 font-mono text-[0.88em] break-words">
            {(token as Tokens.Codespan).text}
          </code>
        );
      case 'br':
        return <br key={i} />;
      case 'link':
        return (
          <Anchor key={i} href={(token as Tokens.Link).href}>
            {inline(token.tokens)}
          </Anchor>
        );
      case 'image':
        return (
          <Anchor key={i} href={(token as Tokens.Image).href}>
            {(token as Tokens.Image).text || (token as Tokens.Image).href}
          </Anchor>
        );
      case 'text':
        return 'tokens' in token && token.tokens ? (
          <Fragment key={i}>{inline(token.tokens)}</Fragment>
        ) : (
          <Fragment key={i}>{unescape((token as Tokens.Text).text)}</Fragment>
        );
      case 'escape':
        return <Fragment key={i}>{(token as Tokens.Escape).text}</Fragment>;
      default:
        return <Fragment key={i}>{token.raw}</Fragment>;
    }
  });
}

const tones = { comment: 'text-muted italic', string: 'text-green', number: 'text-amber', keyword: 'text-violet' };

export function Code({ text, language }: { text: string; language?: string | undefined }) {
  return (
    <div className="group relative my-3 overflow-hidden rounded-xl border border-line bg-code">
      {language && (
        <div className="flex h-8 items-center border-b border-line px-4 font-mono text-xs text-muted">{language}</div>
      )}
      <pre tabIndex={0} className="overflow-x-auto px-4 py-3 font-mono text-[12.5px] leading-relaxed">
        <code>
          {highlight(text, language).map((piece, i) =>
            piece.tone ? (
              <span key={i} className={tones[piece.tone]}>
                {piece.text}
              </span>
            ) : (
              piece.text
            ),
          )}
        </code>
      </pre>
      <div
        className={`absolute top-0 right-1 ${language ? '' : 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100'}`}
      >
        <CopyButton text={text} />
      </div>
    </div>
  );
}

const headings = ['text-xl', 'text-lg', 'text-base', 'text-[15px]', 'text-sm', 'text-sm'];

function block(token: Token, key: number): ReactNode {
  switch (token.type) {
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      // A level below the page's own.
      const Tag = `h${Math.min(6, depth + 1)}` as 'h2';
      return (
        <Tag key={key} className={`mt-5 mb-2 font-semibold ${headings[depth - 1]}`}>
          {inline(tokens)}
        </Tag>
      );
    }
    case 'paragraph':
      return (
        <p key={key} className="my-2.5">
          {inline(token.tokens)}
        </p>
      );
    case 'text':
      return <Fragment key={key}>{inline('tokens' in token && token.tokens ? token.tokens : [token])}</Fragment>;
    case 'code':
      return <Code key={key} text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang} />;
    case 'blockquote':
      return (
        <blockquote key={key} className="my-3 border-l-3 border-line-strong pl-4 text-muted">
          {(token.tokens ?? []).map(block)}
        </blockquote>
      );
    case 'hr':
      return <hr key={key} className="my-5" />;
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      const content = items.map((item, i) => (
        <li key={i} className={`my-1 ${item.task ? '-ml-5 list-none' : 'pl-1'}`}>
          {item.task &&
            (item.checked ? (
              <SquareCheck size={15} className="mr-2 inline-block align-[-2px] text-accent-text" aria-hidden />
            ) : (
              <Square size={15} className="mr-2 inline-block align-[-2px] text-muted" aria-hidden />
            ))}
          {item.tokens.filter((each) => each.type !== 'checkbox').map(block)}
        </li>
      ));
      return ordered ? (
        <ol key={key} start={start || 1} className="my-2.5 list-decimal pl-6 marker:text-muted">
          {content}
        </ol>
      ) : (
        <ul key={key} className="my-2.5 list-disc pl-6 marker:text-muted">
          {content}
        </ul>
      );
    }
    case 'table': {
      const { header, rows, align } = token as Tokens.Table;
      const side = (i: number) =>
        align[i] === 'right' ? 'text-right' : align[i] === 'center' ? 'text-center' : 'text-left';
      return (
        <div key={key} className="card my-3 w-fit max-w-full overflow-x-auto" tabIndex={0}>
          <table className="border-collapse text-[13px]">
            <thead className="bg-panel">
              <tr>
                {header.map((cell, i) => (
                  <th key={i} className={`px-4 py-2 font-medium text-muted ${side(i)}`}>
                    {inline(cell.tokens)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, r) => (
                <tr key={r} className="border-t border-line">
                  {row.map((cell, i) => (
                    <td key={i} className={`px-4 py-2 align-top ${side(i)}`}>
                      {inline(cell.tokens)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case 'space':
    case 'def':
      return null;
    default:
      return (
        <p key={key} className="my-2.5 whitespace-pre-wrap">
          {token.raw}
        </p>
      );
  }
}

export const Markdown = memo(function Markdown({ text, live = false }: { text: string; live?: boolean }) {
  return (
    <div className={`markdown leading-relaxed break-words ${live ? 'caret' : ''}`}>
      {lex(live ? heal(text) : text).map(block)}
    </div>
  );
});
