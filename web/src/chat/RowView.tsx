// One row of a conversation, of each kind.
import { BellRing, Brain, ChevronRight, Clock, FoldVertical, Info, TriangleAlert } from 'lucide-react';
import { memo, useState, type ReactNode } from 'react';

import { useTranslation } from '../i18n/i18n';
import { LongText } from '../ui/LongText';
import { AskCard } from './AskCard';
import { Markdown, MarkdownText } from './markdown';
import { MessageActions, messageText } from './Message';
import { modeOf } from './sent';
import { ToolCard } from './ToolCard';
import type { Row } from './transcript';

interface UserProps {
  row: Extract<Row, { kind: 'user' }>;
  taskId: string;
  atWork: boolean; // It has begun: what it has not read waits.
}

function UserRow({ row, taskId, atWork }: UserProps) {
  const { t } = useTranslation();
  const { message } = row;
  const pending = row.pending && atWork;
  // Only pictures that are here already: nothing is fetched because a message names it.
  const pictures = message.parts.flatMap((part) =>
    part.type === 'file' && part.url.startsWith('data:image/') ? [part] : [],
  );
  const text = messageText({
    ...message,
    parts: message.parts.filter((part) => !pictures.some((each) => each === part)),
  });
  const mode = modeOf(taskId, text);
  return (
    <div
      className="group mt-5 mb-1 flex flex-col items-end"
      data-message={message.id}
      data-role="user"
      data-pending={pending}
    >
      <div
        className={`max-w-[85%] rounded-2xl rounded-br-md px-4 py-2.5 whitespace-pre-wrap break-words ${pending ? 'border border-dashed border-amber bg-amber-soft' : 'bg-accent-soft'}`}
      >
        {pictures.map((file, i) => (
          <img key={i} src={file.url} alt={file.name} className="mb-2 max-h-72 max-w-full rounded-lg last:mb-0" />
        ))}
        <LongText text={text} className="" />
      </div>
      <div className="mt-0.5 flex min-h-6 flex-row-reverse items-center gap-2 text-xs text-muted">
        {pending && (
          <span className="flex items-center gap-1 text-amber">
            <Clock size={12} aria-hidden />
            {t('chat.pending')}
            {mode && ` · ${t(`chat.pendingMode.${mode}`)}`}
          </span>
        )}
        <span className="md:opacity-0 md:group-focus-within:opacity-100 md:group-hover:opacity-100">
          <MessageActions message={message} taskId={taskId} />
        </span>
      </div>
    </div>
  );
}

// What the agent was told that nobody wrote: a summary in the place of what was before, a note of a fork. Long ones folded.
function NoteRow({ row }: { row: Extract<Row, { kind: 'system' }> }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const compaction = row.name === 'compaction';
  // A notice is a report: a heading, and what there is to say.
  const notice = row.message.role === 'user';
  const began = row.name === 'began';
  const long = compaction || (notice && !began) || row.text.length > 280 || row.text.split('\n').length > 4;
  const title = row.text.split('\n', 1)[0]?.replace(/^#+\s*/, '') ?? '';
  if (!long)
    return (
      <p
        className="my-3 flex gap-2.5 rounded-xl bg-panel px-4 py-2.5 text-sm text-muted"
        data-note={row.name ?? 'note'}
      >
        <Info size={15} className="mt-0.5 shrink-0" aria-hidden />
        <span className="min-w-0 whitespace-pre-wrap break-words">
          {began ? t('chat.note.began', { why: row.text }) : row.text}
        </span>
      </p>
    );
  const Icon = compaction ? FoldVertical : notice ? BellRing : Info;
  return (
    <details
      className="my-3 rounded-xl border border-line bg-panel px-4 py-2.5 text-sm"
      data-note={row.name ?? 'note'}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="flex list-none items-center gap-2.5 font-medium text-muted">
        <Icon size={15} className="shrink-0" aria-hidden />
        <span className="min-w-0 truncate">{compaction ? t('chat.note.compaction') : title}</span>
        <span className="ml-auto shrink-0 text-xs font-normal underline underline-offset-2">{t('chat.note.show')}</span>
      </summary>
      <div className="mt-2 max-h-96 overflow-auto text-muted" tabIndex={0}>
        {open && <MarkdownText text={notice ? row.text.slice(row.text.indexOf('\n') + 1) : row.text} />}
      </div>
    </details>
  );
}

function ReasoningRow({ row }: { row: Extract<Row, { kind: 'reasoning' }> }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false); // What is folded is not read either.
  return (
    <details
      className="group/fold my-1.5 -ml-3 text-muted max-md:-ml-2"
      data-testid="reasoning"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="flex w-fit list-none items-center gap-2 rounded-lg px-3 py-1 text-[13px] font-medium hover:bg-hover hover:text-text">
        <Brain size={15} className={row.live ? 'animate-pulse text-blue' : ''} aria-hidden />
        {row.live ? t('chat.thinking') : t('chat.thought')}
        <ChevronRight size={14} className="transition-transform group-open/fold:rotate-90" aria-hidden />
      </summary>
      <div className="mt-1 mb-2 ml-[19px] border-l-2 border-line py-1 pl-4 text-[13px]">
        {open && <MarkdownText text={row.text} />}
      </div>
    </details>
  );
}

interface RowProps {
  row: Row;
  taskId: string;
  folder: string | null;
  busy: boolean;
  waiting: string | undefined; // The question that is open.
}

export const RowView = memo(function RowView({ row, taskId, folder, busy, waiting }: RowProps): ReactNode {
  const { t } = useTranslation();
  switch (row.kind) {
    case 'user':
      return <UserRow row={row} taskId={taskId} atWork={busy} />;
    case 'block':
      return (
        <div data-message={row.message.id} data-role="assistant">
          <Markdown text={row.text} live={row.live} />
        </div>
      );
    case 'reasoning':
      return <ReasoningRow row={row} />;
    case 'tool':
      return <ToolCard row={row} asks={waiting === row.call.call_id} />;
    case 'ask':
      return <AskCard taskId={taskId} folder={folder} ask={row.ask} open={waiting === row.ask.id && !row.ask.answer} />;
    case 'file':
      // Only a picture that is here already: nothing is fetched because an agent named it.
      if (/^data:image\//.test(row.file.url))
        return (
          <img
            src={row.file.url}
            alt={row.file.name}
            className="my-2 max-h-96 max-w-full rounded-xl border border-line"
          />
        );
      return <p className="chip my-2">{row.file.name}</p>;
    case 'system':
      return <NoteRow row={row} />;
    case 'foot':
      return (
        <div className="mt-0.5 mb-1 -ml-1.5">
          <MessageActions message={row.message} taskId={taskId} />
        </div>
      );
    case 'warning':
      return (
        <p className="my-2 flex items-start gap-2 rounded-xl bg-amber-soft px-3 py-2 text-sm text-amber">
          <TriangleAlert size={15} className="mt-0.5 shrink-0" aria-hidden />
          {row.warning.text}
        </p>
      );
    case 'interrupted':
      return <p className="my-2 text-sm text-muted italic">{t('chat.interrupted')}</p>;
    case 'turn':
      return (
        <div className="mt-5 flex items-center gap-3 text-xs text-muted" role="separator">
          <span className="h-px flex-1 bg-line" />
          {t('chat.turn', { n: row.turn })}
          <span className="h-px flex-1 bg-line" />
        </div>
      );
  }
});
