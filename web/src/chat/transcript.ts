// The conversation of a task as the page keeps it: a snapshot, and the events behind it. Pure: the same events give the
// same transcript, whether they were read or streamed, and one that is already in it changes nothing.
import type { Message, Part, StoredEvent } from '../api/types';

// Where in a message something happened that is no part of it.
export interface Place {
  message: string | null;
  part: number; // So many parts were there,
  offset: number; // and so much of the last one's text.
}
export interface Ask extends Place {
  id: string;
  kind: string;
  text: string;
  options: string[];
  workDir: string | null; // Of a permission: what is decided about.
  diff: string | null;
  patterns: { pattern: string; text: string }[];
  answer: { decision: string; by: string; words: string } | null;
}
export interface Warning extends Place {
  seq: number;
  code: string;
  text: string;
}

export interface Transcript {
  seq: number; // Of the last event that is in it.
  messages: Message[]; // Oldest first.
  more: boolean; // There are earlier ones on the server.
  asks: Ask[];
  warnings: Warning[];
}

// What a rule or the agent's default decided, nobody was asked.
export const byItself = (by: string): boolean => by === 'rule' || by === 'policy';

export const empty: Transcript = { seq: 0, messages: [], more: false, asks: [], warnings: [] };

const textOf = (part: Part | undefined): string =>
  part && (part.type === 'text' || part.type === 'reasoning') ? part.text : '';

function here(messages: Message[]): Place {
  const last = messages.at(-1);
  return { message: last?.id ?? null, part: last?.parts.length ?? 0, offset: textOf(last?.parts.at(-1)).length };
}

function change(messages: Message[], id: string, by: (message: Message) => Message): Message[] {
  const at = messages.findLastIndex((message) => message.id === id);
  const found = messages[at];
  if (!found) return messages;
  const copy = messages.slice();
  copy[at] = by(found);
  return copy;
}

// Pieces of the same kind in a row are one part. The server does so while a message is written and not when it is whole:
// here it is always so, and a place in a message means the same before and after.
export function whole(message: Message): Message {
  const parts: Part[] = [];
  for (const part of message.parts) {
    const last = parts.at(-1);
    if ((part.type === 'text' || part.type === 'reasoning') && last?.type === part.type)
      parts[parts.length - 1] = { type: part.type, text: last.text + part.text };
    else parts.push(part);
  }
  return parts.length === message.parts.length ? message : { ...message, parts };
}

function put(messages: Message[], written: Message): Message[] {
  const message = whole(written);
  const at = messages.findLastIndex((each) => each.id === message.id);
  if (at < 0) return [...messages, message].sort((a, b) => a.seq - b.seq);
  const copy = messages.slice();
  copy[at] = message;
  return copy;
}

function append(parts: Part[], type: 'text' | 'reasoning', text: string): Part[] {
  const last = parts.at(-1);
  if (last?.type === type) return [...parts.slice(0, -1), { type, text: last.text + text }];
  return [...parts, { type, text }];
}

export function apply(state: Transcript, event: StoredEvent): Transcript {
  if (event.seq <= state.seq) return state;
  const next = { ...state, seq: event.seq };
  switch (event.type) {
    case 'message.created':
    case 'message.completed':
      next.messages = put(state.messages, event.data.message);
      break;
    case 'message.delta': {
      const { message_id, type, text } = event.data;
      next.messages = change(state.messages, message_id, (message) => ({
        ...message,
        parts: append(message.parts, type, text),
      }));
      break;
    }
    case 'tool.started': {
      const { message_id, call_id, name, input } = event.data;
      next.messages = change(state.messages, message_id, (message) => ({
        ...message,
        parts: [...message.parts, { type: 'tool_call', call_id, name, input }],
      }));
      break;
    }
    case 'tool.completed': {
      const owner = state.messages.findLast((message) =>
        message.parts.some((part) => part.type === 'tool_call' && part.call_id === event.data.call_id),
      );
      if (owner)
        next.messages = change(state.messages, owner.id, (message) => ({
          ...message,
          parts: [...message.parts, { type: 'tool_result', ...event.data }],
        }));
      break;
    }
    case 'ask.created': {
      const { request_id, kind, text, options, work_dir, diff, patterns } = event.data;
      next.asks = [
        ...state.asks,
        {
          id: request_id,
          kind,
          text,
          options: options ?? [],
          workDir: work_dir ?? null,
          diff: diff ?? null,
          patterns: patterns ?? [],
          answer: null,
          ...here(state.messages),
        },
      ];
      break;
    }
    case 'ask.answered':
      next.asks = state.asks.map((ask) =>
        ask.id === event.data.request_id && !ask.answer
          ? {
              ...ask,
              answer: {
                decision: event.data.decision,
                by: event.data.by,
                words: event.data.answer ?? event.data.message ?? '',
              },
            }
          : ask,
      );
      break;
    case 'task.warning':
      next.warnings = [
        ...state.warnings,
        { seq: event.seq, code: event.data.code, text: event.data.text, ...here(state.messages) },
      ];
      break;
  }
  return next;
}

export const applyAll = (state: Transcript, events: StoredEvent[]): Transcript => events.reduce(apply, state);

// What people see of a transcript, one row each: short rows scroll well, however long the conversation is.
export type Row =
  | { kind: 'user'; key: string; message: Message; pending: boolean }
  | { kind: 'system'; key: string; message: Message; text: string; name: string | undefined }
  | { kind: 'block'; key: string; message: Message; text: string; first: boolean; live: boolean }
  | { kind: 'reasoning'; key: string; message: Message; text: string; live: boolean }
  | {
      kind: 'tool';
      key: string;
      message: Message;
      call: Extract<Part, { type: 'tool_call' }>;
      result: Extract<Part, { type: 'tool_result' }> | null;
      live: boolean;
    }
  | { kind: 'file'; key: string; message: Message; file: Extract<Part, { type: 'file' }> }
  | { kind: 'ask'; key: string; ask: Ask }
  | { kind: 'warning'; key: string; warning: Warning }
  | { kind: 'interrupted'; key: string }
  | { kind: 'foot'; key: string; message: Message }
  | { kind: 'turn'; key: string; turn: number };

// What kind of note a system message is, where its driver says so: a compaction, a preamble.
const noteName = (part: Part | undefined): string | undefined =>
  part?.type === 'notice' || part?.type === 'text' ? (part as { name?: string }).name : undefined;

// Splits Markdown into its blocks, and splits a text that only grew from its last block on.
export type Splitter = (key: string, text: string) => string[];

export function rowsOf(state: Transcript, split: Splitter, working: boolean): Row[] {
  const rows: Row[] = [];
  const asked = state.asks.filter((ask) => !ask.answer || !byItself(ask.answer.by));
  const asks = Map.groupBy(asked, (ask) => ask.message);
  const warnings = Map.groupBy(state.warnings, (warning) => warning.message);
  const lastAssistant = state.messages.findLast((message) => message.role === 'assistant');
  let turn = state.messages[0]?.turn ?? 1;
  for (const ask of asks.get(null) ?? []) rows.push({ kind: 'ask', key: ask.id, ask });
  for (const warning of warnings.get(null) ?? []) rows.push({ kind: 'warning', key: `w${warning.seq}`, warning });
  for (const [i, message] of state.messages.entries()) {
    if (message.turn > turn) {
      turn = message.turn;
      rows.push({ kind: 'turn', key: `turn${turn}-${message.id}`, turn });
    }
    if (message.role === 'user') {
      // What was told it by no person (a subtask ended) is a note.
      const told = message.parts.filter((part) => part.type === 'notice');
      if (told.length === 0 || told.length < message.parts.length)
        rows.push({ kind: 'user', key: message.id, message, pending: message.completed_at === null });
      told.forEach((part, n) =>
        rows.push({ kind: 'system', key: `${message.id}/${n}`, message, text: part.text, name: part.name ?? 'notice' }),
      );
    } else if (message.role === 'system')
      rows.push({
        kind: 'system',
        key: message.id,
        message,
        text: message.parts.map((part) => ('text' in part ? part.text : '')).join('\n'),
        name: noteName(message.parts[0]),
      });
    else
      assistantRows(
        message,
        rows,
        split,
        working && message === lastAssistant && message.completed_at === null,
        asks.get(message.id) ?? [],
      );
    if (message.role !== 'assistant')
      for (const ask of asks.get(message.id) ?? []) rows.push({ kind: 'ask', key: ask.id, ask });
    // Equal ones in a row are one row.
    for (const warning of (warnings.get(message.id) ?? []).slice(-20))
      rows.push({ kind: 'warning', key: `w${warning.seq}`, warning });
    if (message.interrupted && message.role === 'assistant') rows.push({ kind: 'interrupted', key: `${message.id}!` });
    // Under the last of an answer's messages: what can be done with it.
    if (message.role === 'assistant' && message.completed_at && state.messages[i + 1]?.role !== 'assistant')
      rows.push({ kind: 'foot', key: `${message.id}_`, message });
  }
  return rows;
}

function assistantRows(message: Message, rows: Row[], split: Splitter, open: boolean, asks: Ask[]): void {
  let first = true;
  const text = (key: string, value: string, live: boolean) => {
    // A paragraph that has not begun yet is no row.
    const all = split(key, value);
    const blocks = all.length > 1 && all.at(-1)?.trim() === '' ? all.slice(0, -1) : all;
    blocks.forEach((block, i) => {
      rows.push({
        kind: 'block',
        key: `${key}.${i}`,
        message,
        text: block,
        first,
        live: live && i === blocks.length - 1,
      });
      first = false;
    });
  };
  const results = new Map(
    message.parts.flatMap((part) => (part.type === 'tool_result' ? [[part.call_id, part] as const] : [])),
  );
  const put = (ask: Ask) => rows.push({ kind: 'ask', key: ask.id, ask });
  for (const ask of asks) if (ask.part === 0) put(ask);
  message.parts.forEach((part, i) => {
    const key = `${message.id}/${i}`;
    const live = open && i === message.parts.length - 1;
    const inside = asks.filter((ask) => ask.part === i + 1);
    if (part.type === 'text') {
      let from = 0;
      for (const ask of inside) {
        if (ask.offset > from) text(`${key}@${from}`, part.text.slice(from, ask.offset), false);
        from = Math.max(from, ask.offset);
        put(ask);
      }
      if (from < part.text.length) text(`${key}@${from}`, part.text.slice(from), live);
      return;
    }
    if (part.type === 'reasoning') rows.push({ kind: 'reasoning', key, message, text: part.text, live });
    else if (part.type === 'notice') rows.push({ kind: 'system', key, message, text: part.text, name: noteName(part) });
    else if (part.type === 'tool_call') {
      const result = results.get(part.call_id) ?? null;
      rows.push({ kind: 'tool', key, message, call: part, result, live: open && result === null });
    } else if (part.type === 'file') rows.push({ kind: 'file', key, message, file: part });
    inside.forEach(put);
  });
}
