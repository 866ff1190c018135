// Markdown to React elements. No HTML passes: what an agent writes is text, and a tag in it is shown as it stands. Images
// of other servers are links: nothing is fetched because an agent wrote an address. Who reads the text, and what is done where
// that would take too long: parser.ts.
import { Square, SquareCheck } from 'lucide-react';
import { Fragment, memo, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';

import { useTranslation } from '../i18n/i18n';
import { number } from '../lib/format';
import { CopyButton } from '../ui/CopyLine';
import { LongText, More, useShown } from '../ui/LongText';
import { fenceOf, heal, makeSplitter, tableOf } from './blocks';
import { highlight } from './highlight';
import { parser, type Outcome } from './parser';
import type { Block, Inline } from './tree';

const safe = (href: string): string | null => {
  try {
    const url = new URL(href, location.href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
};

function Anchor({ href, children }: { href: string; children: ReactNode }) {
  const url = safe(href);
  if (!url) return <>{children}</>;
  return (
    <a href={url} target="_blank" rel="noreferrer noopener" className="text-accent-text underline underline-offset-2">
      {children}
    </a>
  );
}

function inline(nodes: Inline[]): ReactNode {
  return nodes.map((node, i) => {
    if (typeof node === 'string') return <Fragment key={i}>{node}</Fragment>;
    switch (node.kind) {
      case 'strong':
        return (
          <strong key={i} className="font-semibold">
            {inline(node.inside)}
          </strong>
        );
      case 'em':
        return <em key={i}>{inline(node.inside)}</em>;
      case 'del':
        return <del key={i}>{inline(node.inside)}</del>;
      case 'code':
        return (
          <code key={i} className="rounded-md bg-grey-soft px-1.5 py-0.5 font-mono text-[0.88em] break-words">
            {node.text}
          </code>
        );
      case 'break':
        return <br key={i} />;
      case 'link':
        return (
          <Anchor key={i} href={node.href}>
            {inline(node.inside)}
          </Anchor>
        );
    }
  });
}

const tones = { comment: 'text-muted italic', string: 'text-green', number: 'text-amber', keyword: 'text-violet' };

const codeStep = 60_000;

export function Code({ text, language }: { text: string; language?: string | undefined }) {
  const { shown, rest, more } = useShown(text, codeStep);
  return (
    <div className="group relative my-3 overflow-hidden rounded-xl border border-line bg-code">
      {language && (
        <div className="flex h-8 items-center border-b border-line px-4 font-mono text-xs text-muted">{language}</div>
      )}
      <pre tabIndex={0} className="overflow-x-auto px-4 py-3 font-mono text-[12.5px] leading-relaxed">
        <code>
          {highlight(shown, language).map((piece, i) =>
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
      <More rest={rest} onClick={more} />
      <div
        className={`absolute top-0 right-1 ${language ? '' : 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100'}`}
      >
        <CopyButton text={text} />
      </div>
    </div>
  );
}

const headings = ['text-xl', 'text-lg', 'text-base', 'text-[15px]', 'text-sm', 'text-sm'];
const sides = { left: 'text-left', center: 'text-center', right: 'text-right' };
type TableBlock = Extract<Block, { kind: 'table' }>;

const TableHead = ({ table }: { table: TableBlock }) => (
  <thead className="bg-panel">
    <tr>
      {table.head.map((cell, i) => (
        <th key={i} className={`px-4 py-2 font-medium text-muted ${sides[table.sides[i] ?? 'left']}`}>
          {inline(cell)}
        </th>
      ))}
    </tr>
  </thead>
);
const TableRows = ({ table }: { table: TableBlock }) => (
  <tbody>
    {table.rows.map((row, r) => (
      <tr key={r} className="border-t border-line">
        {row.map((cell, i) => (
          <td key={i} className={`px-4 py-2 align-top ${sides[table.sides[i] ?? 'left']}`}>
            {inline(cell)}
          </td>
        ))}
      </tr>
    ))}
  </tbody>
);
const TableBox = ({ children }: { children: ReactNode }) => (
  <div className="card my-3 w-fit max-w-full overflow-x-auto" tabIndex={0}>
    <table className="border-collapse text-[13px]">{children}</table>
  </div>
);

function block(node: Block, key: number): ReactNode {
  switch (node.kind) {
    case 'heading': {
      // A level below the page's own.
      const Tag = `h${Math.min(6, node.depth + 1)}` as 'h2';
      return (
        <Tag key={key} className={`mt-5 mb-2 font-semibold ${headings[node.depth - 1]}`}>
          {inline(node.inside)}
        </Tag>
      );
    }
    case 'paragraph':
      return (
        <p key={key} className="my-2.5">
          {inline(node.inside)}
        </p>
      );
    case 'line':
      return <Fragment key={key}>{inline(node.inside)}</Fragment>;
    case 'code':
      return <Code key={key} text={node.text} language={node.language} />;
    case 'quote':
      return (
        <blockquote key={key} className="my-3 border-l-3 border-line-strong pl-4 text-muted">
          {node.inside.map(block)}
        </blockquote>
      );
    case 'rule':
      return <hr key={key} className="my-5" />;
    case 'list': {
      const content = node.items.map((item, i) => (
        <li key={i} className={`my-1 ${item.checked === undefined ? 'pl-1' : '-ml-5 list-none'}`}>
          {item.checked !== undefined &&
            (item.checked ? (
              <SquareCheck size={15} className="mr-2 inline-block align-[-2px] text-accent-text" aria-hidden />
            ) : (
              <Square size={15} className="mr-2 inline-block align-[-2px] text-muted" aria-hidden />
            ))}
          {item.inside.map(block)}
        </li>
      ));
      return node.start !== null ? (
        <ol key={key} start={node.start} className="my-2.5 list-decimal pl-6 marker:text-muted">
          {content}
        </ol>
      ) : (
        <ul key={key} className="my-2.5 list-disc pl-6 marker:text-muted">
          {content}
        </ul>
      );
    }
    case 'table':
      return (
        <TableBox key={key}>
          <TableHead table={node} />
          <TableRows table={node} />
        </TableBox>
      );
    case 'plain':
      return <LongText key={key} text={node.text} className="my-2.5" />;
  }
}

interface Read {
  text: string;
  outcome: Outcome;
}

// Remembers what was read last of a text that grows. A render that is thrown away does no harm: what it read stays true.
function makeReader() {
  let last: Read | null = null;
  // The best that is known of `text`. `answer`: what the worker said last.
  return (text: string, live: boolean, answer: Read | null): Read | null => {
    if (answer && text.startsWith(answer.text) && answer.text.length > (last?.text.length ?? -1)) last = answer;
    // Also what is open yet is read at once where it can be, with its marks closed.
    const outcome = parser.now(live ? heal(text) : text);
    if (outcome) last = { text, outcome };
    if (last && !text.startsWith(last.text)) last = null;
    return last;
  };
}

// What is known of a text, which may be what was known of its beginning.
function useOutcome(text: string, live: boolean): Read | null {
  const [read] = useState(makeReader);
  const [answer, setAnswer] = useState<Read | null>(null);
  const takeBack = useRef<(() => void) | null>(null); // Of the question that is under way.
  const known = useMemo(() => read(text, live, answer), [read, text, live, answer]);
  useEffect(() => {
    // One at a time, the next one with the answer; and what failed is not tried again with each further word, but once it is
    // all there.
    if (known?.text === text || takeBack.current || (live && known?.outcome === 'failed')) return;
    takeBack.current = parser.ask(text, (outcome) => {
      takeBack.current = null;
      setAnswer({ text, outcome });
    });
  }, [text, live, known, answer]);
  useEffect(() => () => takeBack.current?.(), []);
  return known;
}

function Unformatted() {
  const { t } = useTranslation();
  return (
    <p className="my-1 text-xs text-muted italic" data-testid="unformatted">
      {t('chat.unformatted')}
    </p>
  );
}

function Parsed({ text, live }: { text: string; live: boolean }) {
  const known = useOutcome(text, live);
  if (!known || known.outcome === 'failed')
    return (
      <>
        <LongText text={text} className="my-2.5" />
        {known?.text === text && <Unformatted />}
      </>
    );
  const rest = text.slice(known.text.length);
  return (
    <>
      {known.outcome.blocks.map(block)}
      {rest.trim() !== '' && <LongText text={rest} className="my-2.5" />}
      {!known.outcome.whole && <Unformatted />}
    </>
  );
}

// A long table is read and drawn some rows at a time.
const cellsMost = 800;
const rowsMost = 50;

const TablePart = memo(function TablePart({ text, columns, first }: { text: string; columns: number; first: boolean }) {
  const known = useOutcome(text, false);
  // While its rows come, those that were read: the others follow in a moment.
  const tree = known && known.outcome !== 'failed' ? known.outcome.blocks : [];
  const [table] = tree;
  // Whatever else it is: what stands there.
  if (tree.length !== 1 || table?.kind !== 'table')
    return (
      <tbody>
        <tr>
          <td colSpan={columns} className="px-4 py-2 whitespace-pre-wrap">
            {text}
          </td>
        </tr>
      </tbody>
    );
  return (
    <>
      {first && <TableHead table={table} />}
      <TableRows table={table} />
    </>
  );
});

function LongTable({ table, step }: { table: NonNullable<ReturnType<typeof tableOf>>; step: number }) {
  const { head, columns, rows } = table;
  const { t, language } = useTranslation();
  const [parts, setParts] = useState(1);
  const further = Math.min(parts, 8); // So many parts are shown next.
  const left = rows.length - parts * step;
  return (
    <>
      <TableBox>
        {Array.from({ length: Math.min(parts, Math.ceil(rows.length / step)) }, (_, i) => (
          <TablePart
            key={i}
            text={head + rows.slice(i * step, (i + 1) * step).join('\n')}
            columns={columns}
            first={i === 0}
          />
        ))}
      </TableBox>
      {left > 0 && (
        <button type="button" className="btn mb-3" onClick={() => setParts(parts + further)}>
          {t('chat.moreRows', {
            n: number(Math.min(left, further * step), language),
            all: number(rows.length, language),
          })}
        </button>
      )}
    </>
  );
}

function Content({ text, live }: { text: string; live: boolean }) {
  const fence = useMemo(() => fenceOf(text), [text]);
  const table = useMemo(() => tableOf(text), [text]);
  if (fence) return <Code text={fence.text} language={fence.language} />;
  if (table && table.rows.length > 0) {
    const step = Math.min(rowsMost, Math.max(2, Math.floor(cellsMost / table.columns)));
    return <LongTable table={table} step={step} />;
  }
  return <Parsed text={text} live={live} />;
}

// One block of a text: see makeSplitter.
export const Markdown = memo(function Markdown({ text, live = false }: { text: string; live?: boolean }) {
  return (
    <div className={`markdown leading-relaxed break-words ${live ? 'caret' : ''}`}>
      <Content text={text} live={live} />
    </div>
  );
});

// A whole text, some blocks at a time.
const blocksStep = 100;

export function MarkdownText({ text }: { text: string }) {
  const { t } = useTranslation();
  const [split] = useState(makeSplitter);
  const [most, setMost] = useState(blocksStep);
  const blocks = split('', text);
  return (
    <>
      {blocks.slice(0, most).map((each, i) => (
        <Markdown key={i} text={each} />
      ))}
      {blocks.length > most && (
        <button type="button" className="btn my-2" onClick={() => setMost(most + blocksStep)}>
          {t('chat.more')}
        </button>
      )}
    </>
  );
}
