// The transcript of a task, live. First the stream is told to bring everything of the task; then the snapshot is read;
// then what came meanwhile and is not in it is put behind it. So nothing is missed and nothing is doubled, also when the
// page is reloaded in the middle of a sentence or the server is killed. Shown 20 times a second at most.
import { useCallback, useEffect, useRef, useState } from 'react';

import { api, ApiError, call } from '../api/client';
import type { StoredEvent } from '../api/types';
import { onEvents, onReset, watchTask } from '../live/live';
import { applyAll, empty, whole, type Transcript } from './transcript';

const newest = 2_000_000_000;
const pageSize = 100;
const frameMs = 50;
// Questions and warnings stand in the events alone; so many are read for them.
const eventsMost = 3000;

export interface LiveTranscript {
  transcript: Transcript | null; // Null until it was read.
  error: ApiError | null;
  loadEarlier: () => Promise<void>;
  retry: () => void;
}

const readEvents = async (id: string, upTo: number, signal: AbortSignal): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let after = 0; after < upTo;) {
    const page = await call(
      api.GET('/api/tasks/{id}/events', { params: { path: { id }, query: { after, limit: 1000 } }, signal }),
    );
    const found = page.events;
    if (found.length === 0) break;
    events.push(...found.filter((event) => event.seq <= upTo));
    after = found.at(-1)?.seq ?? upTo;
  }
  return events;
};

async function readSnapshot(id: string, signal: AbortSignal): Promise<Transcript> {
  const page = await call(
    api.GET('/api/tasks/{id}/messages', {
      params: { path: { id }, query: { before: newest, limit: pageSize } },
      signal,
    }),
  );
  let marks: Pick<Transcript, 'asks' | 'warnings'> = empty;
  if (page.seq <= eventsMost) marks = applyAll(empty, await readEvents(id, page.seq, signal));
  return {
    seq: page.seq,
    messages: page.messages.map(whole),
    more: page.more,
    asks: marks.asks,
    warnings: marks.warnings,
  };
}

// For one task as long as it lives: whoever shows another one is another component (a key).
export function useTranscript(id: string): LiveTranscript {
  const current = useRef<Transcript | null>(null); // The newest; what is shown may be a frame behind it.
  const [transcript, setTranscript] = useState<Transcript | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    const abort = new AbortController();
    let waiting: StoredEvent[] = [];
    let frame: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let failures = 0;
    let reading = false;
    let stale = false; // Asked for again while it was being read.
    const take = (next: Transcript) => {
      current.current = next;
      setTranscript(next);
    };

    const flush = () => {
      frame = undefined;
      if (!current.current || reading || waiting.length === 0) return;
      const before = current.current;
      const next = waiting.filter((event) => event.seq > before.seq);
      waiting = [];
      // A gap cannot be (the stream has none), but if there were one, the snapshot is read again rather than guessed.
      if (next.length > 0 && next[0]!.seq > before.seq + 1) return void read();
      take(applyAll(before, next));
    };
    const read = async () => {
      if (reading) {
        stale = true;
        return;
      }
      reading = true;
      stale = false;
      try {
        take(await readSnapshot(id, abort.signal));
        failures = 0;
        setError(null);
        reading = false;
        if (stale) return void read();
        flush();
      } catch (failure) {
        reading = false;
        if (abort.signal.aborted) return;
        const known = failure instanceof ApiError ? failure : new ApiError(0, 'unreachable', String(failure));
        if (known.status === 0 || known.status >= 500)
          again = setTimeout(() => void read(), Math.min(5000, 300 * 2 ** failures++));
        if (!current.current) setError(known);
      }
    };
    const stopEvents = onEvents((events) => {
      for (const event of events) if (event.task_id === id && event.type !== 'task.deleted') waiting.push(event);
      if (waiting.length > 0) frame ??= setTimeout(flush, frameMs);
    });
    const stopReset = onReset(() => void read());
    const stopWatch = watchTask(id, () => void read());
    // The stream may be down while the task can be read all the same.
    const soon = setTimeout(() => !current.current && void read(), 400);
    return () => {
      abort.abort();
      stopEvents();
      stopReset();
      stopWatch();
      clearTimeout(frame);
      clearTimeout(again);
      clearTimeout(soon);
    };
  }, [id, attempt]);

  const loadEarlier = useCallback(async () => {
    const before = current.current;
    const first = before?.messages[0];
    if (!before?.more || !first) return;
    const page = await call(
      api.GET('/api/tasks/{id}/messages', { params: { path: { id }, query: { before: first.seq, limit: pageSize } } }),
    );
    const now = current.current;
    if (!now || now.messages[0]?.id !== first.id) return;
    current.current = { ...now, messages: [...page.messages.map(whole), ...now.messages], more: page.more };
    setTranscript(current.current);
  }, [id]);
  const retry = useCallback(() => {
    setError(null);
    setAttempt((n) => n + 1);
  }, []);

  return { transcript, error, loadEarlier, retry };
}
