import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { api, call } from '../api/client';
import { isBusy, type Task, type StoredEvent } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { shortDuration } from '../lib/format';
import { useNow } from '../lib/hooks';
import { askText } from '../tasks/summary';
import { AttemptSwitch, type Chosen } from './AttemptSwitch';
import { spansOf, stretchesOf, ticksOf, totalsOf, type Span, type Spent } from './timeline';

const eventsMost = 5000;
const tones: Record<Span['kind'], string> = {
  queue: 'bg-amber',
  turn: 'bg-line-strong',
  tool: 'bg-accent',
  ask: 'bg-violet',
  wait: 'bg-amber',
  stopping: 'bg-grey',
};
// What a turn spent its time on. A command has no model.
const spent: readonly Spent[] = ['model', 'tool', 'wait'];
const spentTones: Record<Spent, string> = { model: 'bg-blue', tool: 'bg-accent/50', wait: 'bg-amber' };
// On a phone the name stands above its bar: beside it there would be room for neither.
const grid = 'grid grid-cols-[minmax(7rem,18rem)_minmax(0,1fr)_4.5rem] gap-x-3 max-md:grid-cols-[minmax(0,1fr)_4rem]';

export default function Timeline({ task }: { task: Task }) {
  const { t } = useTranslation();
  const now = useNow();
  const events = useQuery<StoredEvent[]>({
    queryKey: ['timeline', task.id, task.updated_at],
    placeholderData: (old) => old,
    queryFn: async ({ signal }) => {
      const all: StoredEvent[] = [];
      for (let after = 0; all.length < eventsMost;) {
        const page = await call(
          api.GET('/api/tasks/{id}/events', {
            params: { path: { id: task.id }, query: { after, limit: 1000 } },
            signal,
          }),
        );
        const found = page.events;
        if (found.length === 0) break;
        all.push(...found.filter((event) => event.type !== 'message.delta' && event.type !== 'output'));
        after = found.at(-1)?.seq ?? 0;
        if (found.length < 1000) break;
      }
      return all;
    },
  });
  const [chosen, setChosen] = useState<Chosen>(null);
  const shown = chosen ?? task.attempt;
  const spans = useMemo(
    () => spansOf(events.data ?? []).filter((span) => shown === 'all' || span.attempt === shown),
    [events.data, shown],
  );
  if (spans.length === 0)
    return (
      <div className="p-6 text-muted max-md:p-4">
        <AttemptSwitch attempts={task.attempt} chosen={chosen} all onChoose={setChosen} />
        <p className={task.attempt > 1 ? 'mt-4' : ''}>{events.isPending ? t('common.loading') : t('timeline.none')}</p>
      </div>
    );
  const begin = Math.min(...spans.map((span) => span.from));
  const end = Math.max(...spans.map((span) => span.to ?? (isBusy(task) ? now : span.from)), begin + 1);
  const width = end - begin;
  const kinds = (['queue', 'turn', 'tool', 'ask', 'wait'] as const).filter((kind) =>
    spans.some((span) => span.kind === kind),
  );
  const agent = task.kind === 'agent';
  const turns = agent
    ? new Map(
        spans.flatMap((span) =>
          span.kind === 'turn' ? [[span, stretchesOf(span, spans, isBusy(task) ? now : end)]] : [],
        ),
      )
    : null;
  const totals = turns && totalsOf([...turns.values()].flat());
  const at = (time: number) => `${(100 * (time - begin)) / width}%`;
  const ticks = ticksOf(width);
  const label = (span: Span) => {
    if (span.kind === 'turn') {
      const words = t('chat.turn', { n: span.label });
      const again = span.restarts ? ` · ${t('timeline.restarted', { count: span.restarts })}` : '';
      return `${shown === 'all' && task.attempt > 1 ? `${t('tasks.row.attempt', { n: span.attempt })} · ` : ''}${words}${again}`;
    }
    if (span.kind === 'tool') return span.label;
    return t(`timeline.${span.kind === 'wait' ? span.label : span.kind}`);
  };
  return (
    <div className="min-h-0 flex-1 overflow-auto px-6 py-5 max-md:px-4">
      <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 text-xs text-muted">
        <AttemptSwitch attempts={task.attempt} chosen={chosen} all onChoose={setChosen} />
        {kinds
          .filter((kind) => !totals || kind !== 'turn')
          .map((kind) => (
            <span key={kind} className="flex items-center gap-1.5">
              <span className={`size-2.5 rounded-sm ${tones[kind]}`} aria-hidden />
              {t(`timeline.${kind}`)}
            </span>
          ))}
        <span className="ml-auto tabular-nums">{t('timeline.total', { time: shortDuration(width) })}</span>
      </div>
      {totals && (
        <p className="mb-4 flex flex-wrap gap-x-5 gap-y-1 text-sm tabular-nums" data-testid="spent">
          {spent.map((kind) => (
            <span key={kind} className="flex items-center gap-1.5">
              <span className={`h-2.5 w-5 rounded-sm ${spentTones[kind]}`} aria-hidden />
              {t(`timeline.spent.${kind}`)} <span className="text-muted">{shortDuration(totals[kind])}</span>
            </span>
          ))}
        </p>
      )}
      <div className={`${grid} mb-1 border-b border-line pb-1 text-[11px] text-muted tabular-nums`} aria-hidden>
        <span className="max-md:hidden" />
        <span className="relative h-4">
          {ticks.map((tick) => (
            <span
              key={tick}
              className={`absolute whitespace-nowrap ${tick === 0 ? '' : '-translate-x-1/2'}`}
              style={{ left: at(begin + tick) }}
            >
              {tick === 0 ? '0' : shortDuration(tick)}
            </span>
          ))}
        </span>
      </div>
      <ol className="flex flex-col" data-testid="timeline">
        {spans.map((span, i) => {
          const to = span.to ?? (isBusy(task) ? now : end);
          const name = label(span);
          const detail = span.kind === 'ask' ? askText(span.detail ?? '', task.work_dir) : span.detail;
          const words = [name, detail].filter(Boolean).join(' ');
          return (
            <li
              key={i}
              className={`${grid} h-8 items-center rounded-lg hover:bg-hover max-md:h-13 max-md:grid-rows-[1.75rem_1.25rem]`}
              data-span={span.kind}
              data-state={span.failed ? 'failed' : span.to === null && isBusy(task) ? 'open' : 'over'}
            >
              <span
                className={`truncate pl-1 max-md:col-span-2 ${span.depth ? 'pl-5 text-[13px]' : 'font-medium'}`}
                title={span.kind === 'ask' ? span.label : words}
              >
                {span.message ? (
                  <Link
                    to="/chat"
                    search={{ taskId: task.id }}
                    hash={span.message}
                    className="hover:underline"
                    title={words}
                  >
                    {name}
                  </Link>
                ) : (
                  name
                )}
                {detail && ' '}
                {detail && <span className="ml-1 font-mono text-xs text-muted">{detail}</span>}
              </span>
              <span className="relative h-full">
                {ticks.map((tick) => (
                  <span
                    key={tick}
                    className="absolute inset-y-0 w-px bg-line opacity-70"
                    style={{ left: at(begin + tick) }}
                    aria-hidden
                  />
                ))}
                {turns
                  ?.get(span)
                  ?.map((stretch) => (
                    <span
                      key={stretch.from}
                      className={`absolute top-1/2 h-4 -translate-y-1/2 first-of-type:rounded-l last-of-type:rounded-r ${spentTones[stretch.kind]}`}
                      style={{ left: at(stretch.from), width: `${(100 * (stretch.to - stretch.from)) / width}%` }}
                      data-spent={stretch.kind}
                    />
                  )) ?? (
                  <span
                    className={`absolute top-1/2 min-w-1 -translate-y-1/2 rounded ${span.depth ? 'h-3' : 'h-4'} ${span.failed ? 'bg-red' : tones[span.kind]} ${span.to === null && isBusy(task) ? 'animate-pulse' : ''}`}
                    style={{ left: at(span.from), width: `${(100 * (to - span.from)) / width}%` }}
                  />
                )}
              </span>
              <span className="text-right text-xs text-muted tabular-nums">{shortDuration(to - span.from)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
