import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDownToLine, Download, Search, WrapText } from 'lucide-react';
import { memo, useEffect, useMemo, useRef, useState } from 'react';

import { api, ApiError, call, fetchText } from '../api/client';
import { isBusy, type Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { download } from '../lib/clipboard';
import { bytes, number } from '../lib/format';
import { onEvents, watchTask } from '../live/live';
import { showError } from '../tasks/actions';
import { pieces, plain } from './ansi';
import { AttemptSwitch, type Chosen } from './AttemptSwitch';
import { LogLines, runsOf } from './log';

const readMost = 4 << 20; // Of a longer log the end is shown; the whole is there to download.

interface Log {
  lines: LogLines; // The same one, and more in it each time.
  cut: boolean; // Its beginning is not here.
  run: number; // Whose log it is,
  runs: number[]; // of these of its attempt.
}

// The log of an attempt (of its last run, or of one) as far as it goes, read on whenever the task says that it printed
// something.
function useLog(task: Task, attempt: number, run: number | null): { log: Log | null; error: string | null } {
  const [log, setLog] = useState<Log | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { id } = task;
  const busy = isBusy(task);
  useEffect(() => {
    const abort = new AbortController();
    let lines = new LogLines();
    let next = -1;
    let shown = 0; // The run that was read so far.
    let reading = false;
    let more = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      timer = undefined;
      if (reading) {
        more = true;
        return;
      }
      reading = true;
      more = false;
      try {
        const first = next < 0;
        const where = first ? `offset=-${readMost}&limit=${readMost}` : `offset=${next}&limit=${readMost}`;
        const which = run === null ? `attempt=${attempt}` : `run=${run}`;
        const response = await fetchText(`/api/tasks/${id}/log?${which}&${where}`, abort.signal);
        const text = await response.text();
        const of = Number(response.headers.get('X-Log-Run') ?? 0);
        if (!first && of !== shown) {
          // It was restarted meanwhile: the new run has a log of its own, from its beginning.
          lines = new LogLines();
          next = -1;
          more = true;
        } else {
          next = Number(response.headers.get('X-Log-Next') ?? 0);
          const size = Number(response.headers.get('X-Log-Size') ?? 0);
          setError(null);
          if (first || text) {
            lines.push(text);
            // Who asks for one run is told nothing of the others.
            const runs = run === null ? runsOf(response.headers.get('X-Log-Runs'), of) : null;
            const [read, cut] = [lines, size > readMost];
            setLog((old) => ({
              lines: read,
              run: of,
              runs: runs ?? old?.runs ?? [of],
              cut: first ? cut : (old?.cut ?? false) || read.first > 1,
            }));
          }
          if (next < size) more = true;
        }
        shown = of;
      } catch (failure) {
        if (abort.signal.aborted) return;
        if (failure instanceof ApiError && failure.status > 0) setError(failure.message);
        else timer ??= setTimeout(() => void read(), 1000);
      }
      reading = false;
      if (more) timer ??= setTimeout(() => void read(), 100);
    };
    const stop = onEvents((events) => {
      if (
        events.some(
          (event) =>
            event.task_id === id && (event.type === 'output' || event.type === 'task.status' || event.type === 'end'),
        )
      )
        timer ??= setTimeout(() => void read(), 100);
    });
    const unwatch = watchTask(id, () => void read());
    void read();
    return () => {
      abort.abort();
      stop();
      unwatch();
      clearTimeout(timer);
    };
  }, [id, attempt, run, busy]);
  return { log, error };
}

// A line that is longer is a file: its beginning is shown, and so many marks in it.
const charactersMost = 10_000;
const marksMost = 200;

const Line = memo(function Line({ text, found }: { text: string; found: string }) {
  const { t } = useTranslation();
  const over = text.length - charactersMost;
  if (over > 0)
    return (
      <>
        <Line text={text.slice(0, charactersMost)} found={found} />
        <span className="text-muted italic">{t('log.lineCut', { size: bytes(over) })}</span>
      </>
    );
  if (!found) {
    return pieces(text).map((piece, i) => (
      <span key={i} className={piece.className}>
        {piece.text}
      </span>
    ));
  }
  const shown = plain(text);
  const lower = shown.toLowerCase();
  const out = [];
  let from = 0;
  for (
    let at = lower.indexOf(found);
    at >= 0 && out.length < 2 * marksMost;
    at = lower.indexOf(found, at + found.length)
  ) {
    out.push(
      shown.slice(from, at),
      <mark key={at} className="rounded bg-amber-soft text-amber">
        {shown.slice(at, at + found.length)}
      </mark>,
    );
    from = at + found.length;
  }
  return [...out, shown.slice(from)];
});

export default function LogView({ task }: { task: Task }) {
  const { t, language } = useTranslation();
  // The last one, and with it each new one, unless somebody chose another.
  const [chosen, setChosen] = useState<Chosen>(null);
  const attempt = typeof chosen === 'number' ? chosen : task.attempt;
  // An attempt that was restarted has several runs: the last one, unless somebody chose another.
  const [run, setRun] = useState<number | null>(null);
  const { log, error } = useLog(task, attempt, run);
  const [search, setSearch] = useState('');
  const [follow, setFollow] = useState(true);
  const [wrap, setWrap] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const found = search.trim().toLowerCase();
  // Where the lines that are shown are; null: all of them.
  const hits = useMemo(() => (log && found ? log.lines.search(found).slice() : null), [log, found]);
  const count = hits?.length ?? log?.lines.count ?? 0;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => 20,
    overscan: 30,
    paddingStart: 8,
    paddingEnd: 8,
  });
  useEffect(() => {
    if (follow && count > 0) virtual.scrollToIndex(count - 1, { align: 'end' });
  }, [follow, count, virtual]);
  useEffect(() => virtual.measure(), [wrap, virtual]);

  const save = async () => {
    try {
      const { artifacts } = await call(api.GET('/api/tasks/{id}/artifacts', { params: { path: { id: task.id } } }));
      const whole = artifacts.find((each) => each.kind === 'log' && each.run === log?.run);
      const path = whole
        ? `/api/tasks/${task.id}/artifacts/${encodeURIComponent(whole.id)}`
        : `/api/tasks/${task.id}/log?attempt=${attempt}&limit=8388608`;
      download(await (await fetchText(path)).blob(), `${task.id}.log`);
    } catch (failure) {
      showError(failure);
    }
  };
  const toggle = (on: boolean) => `btn ${on ? 'bg-accent-soft text-accent-text' : ''}`;
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-6 py-2 max-md:px-4">
        <AttemptSwitch
          attempts={task.attempt}
          chosen={chosen}
          onChoose={(next) => {
            setChosen(next);
            setRun(null);
          }}
        />
        {log && log.runs.length > 1 && (
          <select
            className="field w-auto"
            aria-label={t('log.run')}
            data-testid="log-run"
            value={run ?? log.run}
            onChange={(event) => {
              const next = Number(event.target.value);
              setRun(next === log.runs.at(-1) ? null : next);
            }}
          >
            {log.runs.map((each) => (
              <option key={each} value={each}>
                {t('artifacts.run', { n: each })}
              </option>
            ))}
          </select>
        )}
        <div className="relative min-w-32 flex-1 md:max-w-sm">
          <Search size={15} className="pointer-events-none absolute top-2.5 left-3 text-muted" aria-hidden />
          <input
            type="search"
            className="field pl-9"
            placeholder={t('log.search')}
            aria-label={t('log.search')}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        </div>
        <span
          className="text-xs whitespace-nowrap text-muted tabular-nums max-md:order-last max-md:basis-full"
          data-testid="log-count"
        >
          {t('log.lines', { count, n: number(count, language) })} · {bytes(task.progress.output_bytes)}
        </span>
        <span className="ml-auto flex gap-2">
          <button type="button" className={toggle(follow)} aria-pressed={follow} onClick={() => setFollow(!follow)}>
            <ArrowDownToLine size={15} aria-hidden />
            <span className="max-md:sr-only">{t('log.follow')}</span>
          </button>
          <button type="button" className={toggle(wrap)} aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
            <WrapText size={15} aria-hidden />
            <span className="max-md:sr-only">{t('log.wrap')}</span>
          </button>
          <button type="button" className="btn" onClick={() => void save()}>
            <Download size={15} aria-hidden />
            <span className="max-md:sr-only">{t('log.download')}</span>
          </button>
        </span>
      </div>
      {log?.cut && (
        <p className="bg-amber-soft px-6 py-1.5 text-sm text-amber">{t('log.cut', { size: bytes(readMost) })}</p>
      )}
      <div
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('log.label')}
        data-testid="log"
        onWheel={(event) => event.deltaY < 0 && setFollow(false)}
        className="min-h-0 flex-1 overflow-auto bg-code font-mono text-[12.5px] leading-5 outline-none"
      >
        {count === 0 ? (
          <p className="p-6 font-sans text-muted">
            {error ??
              (log === null
                ? t('common.loading')
                : found
                  ? t('log.noneMatch')
                  : isBusy(task)
                    ? t('log.noneYet')
                    : t('log.none'))}
          </p>
        ) : (
          <div className="relative min-w-full" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map((item) => {
              const at = hits ? (hits[item.index] ?? 0) : item.index;
              return (
                <div
                  key={item.key}
                  ref={wrap ? virtual.measureElement : undefined}
                  data-index={item.index}
                  className="absolute top-0 left-0 flex min-w-full"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <span className="w-16 shrink-0 pr-4 text-right text-muted select-none" aria-hidden>
                    {(log?.lines.first ?? 1) + at}
                  </span>
                  <span
                    className={`pr-6 ${wrap ? 'w-[calc(100vw-22rem)] break-all whitespace-pre-wrap max-md:w-[calc(100vw-5rem)]' : 'whitespace-pre'}`}
                  >
                    <Line text={log?.lines.line(at) ?? ''} found={found} />
                  </span>
                </div>
              );
            })}
          </div>
        )}
      </div>
    </div>
  );
}
