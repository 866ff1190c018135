// The spans of a task's life, from its events: waiting in line, turns, tool calls, questions. Pure.
import type { StoredEvent } from '../api/types';
import { toolView } from './tools';
import { byItself } from './transcript';

export interface Span {
  kind: 'queue' | 'turn' | 'tool' | 'ask' | 'wait' | 'stopping';
  label: string;
  detail?: string;
  from: number;
  to: number | null; // Null: it is not over.
  failed: boolean;
  depth: number;
  attempt: number;
  restarts?: number; // Of a turn: how often it was restarted before this.
  message?: string; // Where in the conversation it is.
}

// Where a scale of so many milliseconds has its marks: at most six, at numbers that people count in.
export function ticksOf(width: number): number[] {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000];
  for (let minutes = 1; minutes < 1_000_000; minutes *= 2) steps.push(minutes * 60_000);
  const step = steps.find((each) => width / each <= 6) ?? width;
  return Array.from({ length: Math.floor(width / step) + 1 }, (_, i) => i * step).filter((tick) => tick < width * 0.97);
}

export function spansOf(events: StoredEvent[]): Span[] {
  const spans: Span[] = [];
  let main: Span | null = null;
  let turn = 0;
  let attempt = 1;
  const open = new Map<string, Span>();
  const begin = (span: Omit<Span, 'to' | 'failed' | 'attempt'>): Span => {
    const made = { ...span, to: null, failed: false, attempt };
    spans.push(made);
    return made;
  };
  const closeAll = (at: number) => {
    for (const span of open.values()) span.to ??= at;
    open.clear();
  };
  for (const event of events) {
    const at = Date.parse(event.at);
    if (event.type === 'task.created' || event.type === 'task.status') {
      const { status, stopping } = event.data.task;
      attempt = event.data.task.attempt;
      const kind: Span['kind'] | null =
        status === 'pending'
          ? 'queue'
          : status === 'running' || status === 'resumed'
            ? 'turn'
            : stopping
              ? 'stopping'
              : null;
      if (main && (main.kind !== kind || (kind === 'turn' && event.data.task.turn !== turn))) {
        main.to = at;
        main.failed = status === 'failed';
        main = null;
        closeAll(at);
      }
      if (kind && !main) {
        turn = event.data.task.turn;
        main = begin({ kind, label: kind === 'turn' ? String(turn) : '', from: at, depth: 0 });
      }
      // What no person can end: a provider's limit, subtasks.
      const waits = event.data.task.waiting_for?.kind;
      const span = open.get('wait');
      if (waits === 'quota' || waits === 'children') {
        if (!span) open.set('wait', begin({ kind: 'wait', label: waits, from: at, depth: 1 }));
      } else if (span) {
        span.to = at;
        open.delete('wait');
      }
    } else if (event.type === 'task.warning' && event.data.code === 'restart' && main?.kind === 'turn') {
      // It hung and is run again: the turn is the same, and the work is not.
      const restarts: number = (main.restarts ?? 0) + 1;
      Object.assign(main, { to: at, failed: true });
      closeAll(at);
      main = begin({ kind: 'turn', label: String(turn), from: at, depth: 0, restarts });
    } else if (event.type === 'tool.started') {
      open.set(
        event.data.call_id,
        begin({
          kind: 'tool',
          label: event.data.name,
          detail: toolView(event.data.name, event.data.input).summary,
          from: at,
          depth: 1,
          message: event.data.message_id,
        }),
      );
    } else if (event.type === 'tool.completed') {
      const span = open.get(event.data.call_id);
      if (span) Object.assign(span, { to: Math.max(at, span.from), failed: event.data.is_error });
      open.delete(event.data.call_id);
    } else if (event.type === 'message.completed') {
      // A call that never began has its result there and nowhere else.
      for (const part of event.data.message.parts) {
        const span = part.type === 'tool_result' ? open.get(part.call_id) : undefined;
        if (part.type !== 'tool_result' || !span) continue;
        Object.assign(span, { to: Math.max(at, span.from), failed: part.is_error });
        open.delete(part.call_id);
      }
    } else if (event.type === 'ask.created') {
      // A permission has the name of the call that it is about: they are two spans.
      const [detail = ''] = event.data.text.split('\n', 1);
      open.set(
        `ask ${event.data.request_id}`,
        begin({ kind: 'ask', label: event.data.text, detail, from: at, depth: 1 }),
      );
    } else if (event.type === 'ask.answered') {
      const span = open.get(`ask ${event.data.request_id}`);
      if (!span) continue;
      open.delete(`ask ${event.data.request_id}`);
      if (byItself(event.data.by)) spans.splice(spans.indexOf(span), 1);
      else span.to = at;
    }
  }
  // A task that found a slot at once waited in no line.
  return spans.filter((span) => span.kind !== 'queue' || span.to === null || span.to - span.from >= 20);
}

// What a turn spent its time on: on people and limits that it waited for, on tools, and what is left, on its model.
export type Spent = 'model' | 'tool' | 'wait';
export interface Stretch {
  kind: Spent;
  from: number;
  to: number;
}

// The stretches of a turn, one behind the other. What runs side by side counts once; waiting counts before tools, because a
// tool that waits for a permission does nothing. `now`: where what is not over ends.
export function stretchesOf(turn: Span, spans: Span[], now: number): Stretch[] {
  const end = Math.max(turn.from, turn.to ?? now);
  const inside = spans.flatMap((span) => {
    const kind: Spent | null =
      span.kind === 'tool' ? 'tool' : span.kind === 'ask' || span.kind === 'wait' ? 'wait' : null;
    if (!kind || span.depth === 0) return [];
    const [from, to] = [Math.max(span.from, turn.from), Math.min(span.to ?? now, end)];
    return to > from ? [{ kind, from, to }] : [];
  });
  const cuts = [...new Set([turn.from, end, ...inside.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  const opens = Map.groupBy(inside, (each) => each.from);
  const closes = Map.groupBy(inside, (each) => each.to);
  const open: Record<Spent, number> = { model: 0, tool: 0, wait: 0 };
  const all: Stretch[] = [];
  for (const [i, from] of cuts.entries()) {
    for (const each of closes.get(from) ?? []) open[each.kind]--;
    for (const each of opens.get(from) ?? []) open[each.kind]++;
    const to = cuts[i + 1];
    if (to === undefined) break;
    const kind: Spent = open.wait > 0 ? 'wait' : open.tool > 0 ? 'tool' : 'model';
    const last = all.at(-1);
    if (last?.kind === kind) last.to = to;
    else all.push({ kind, from, to });
  }
  return all;
}

export function totalsOf(stretches: Stretch[]): Record<Spent, number> {
  const sums: Record<Spent, number> = { model: 0, tool: 0, wait: 0 };
  for (const { kind, from, to } of stretches) sums[kind] += to - from;
  return sums;
}
