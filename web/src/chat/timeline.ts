// The spans of a task's life, from its events: waiting in line, turns, tool calls, questions. Pure.
import type { TaskEvent } from '../api/types';
import { toolView } from './tools';

export interface Span {
  kind: 'queue' | 'turn' | 'tool' | 'ask' | 'wait' | 'stopping';
  label: string;
  detail?: string;
  from: number;
  to: number | null; // Null: it is not over.
  failed: boolean;
  depth: number;
}

export function spansOf(events: TaskEvent[]): Span[] {
  const spans: Span[] = [];
  let main: Span | null = null;
  let turn = 0;
  const open = new Map<string, Span>();
  const begin = (span: Omit<Span, 'to' | 'failed'>): Span => {
    const made = { ...span, to: null, failed: false };
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
    } else if (event.type === 'tool.started') {
      open.set(
        event.data.call_id,
        begin({
          kind: 'tool',
          label: event.data.name,
          detail: toolView(event.data.name, event.data.input).summary,
          from: at,
          depth: 1,
        }),
      );
    } else if (event.type === 'tool.completed') {
      const span = open.get(event.data.call_id);
      if (span) Object.assign(span, { to: Math.max(at, span.from), failed: event.data.is_error });
      open.delete(event.data.call_id);
    } else if (event.type === 'ask.created') {
      open.set(event.data.request_id, begin({ kind: 'ask', label: event.data.text, from: at, depth: 1 }));
    } else if (event.type === 'ask.answered') {
      const span = open.get(event.data.request_id);
      if (span) span.to = at;
      open.delete(event.data.request_id);
    }
  }
  // A task that found a slot at once waited in no line.
  return spans.filter((span) => span.kind !== 'queue' || span.to === null || span.to - span.from >= 20);
}
