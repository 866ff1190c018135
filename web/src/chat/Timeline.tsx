import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { api, call } from '../api/client';
import { isBusy, type Task, type TaskEvent } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { shortDuration } from '../lib/format';
import { useNow } from '../lib/hooks';
import { spansOf, type Span } from './timeline';

const eventsMost = 5000;
const tones: Record<Span['kind'], string> = {
  queue: 'bg-amber',
  turn: 'bg-blue',
  tool: 'bg-accent',
  ask: 'bg-violet',
  wait: 'bg-amber',
  stopping: 'bg-grey',
};

export default function Timeline({ task }: { task: Task }) {
  const { t } = useTranslation();
  const now = useNow();
  const events = useQuery<TaskEvent[]>({
    queryKey: ['timeline', task.id, task.updated_at],
    placeholderData: (old) => old,
    queryFn: async ({ signal }) => {
      const all: TaskEvent[] = [];
      for (let after = 0; all.length < eventsMost;) {
        const page = await call(
          api.GET('/api/tasks/{id}/events', {
            params: { path: { id: task.id }, query: { after, limit: 1000 } },
            signal,
          }),
        );
        const found = page.events as unknown as TaskEvent[];
        if (found.length === 0) break;
        all.push(...found.filter((event) => event.type !== 'message.delta' && event.type !== 'output'));
        after = found.at(-1)?.seq ?? 0;
        if (found.length < 1000) break;
      }
      return all;
    },
  });
  const spans = useMemo(() => spansOf(events.data ?? []), [events.data]);
  if (spans.length === 0)
    return <p className="p-6 text-muted">{events.isPending ? t('common.loading') : t('timeline.none')}</p>;
  const begin = Math.min(...spans.map((span) => span.from));
  const end = Math.max(...spans.map((span) => span.to ?? (isBusy(task) ? now : span.from)), begin + 1);
  const width = end - begin;
  return (
    <div className="min-h-0 flex-1 overflow-auto px-6 py-5 max-md:px-4">
      <div className="mb-3 flex flex-wrap gap-4 text-xs text-muted">
        {(['queue', 'turn', 'tool', 'ask'] as const).map((kind) => (
          <span key={kind} className="flex items-center gap-1.5">
            <span className={`size-2.5 rounded-sm ${tones[kind]}`} aria-hidden />
            {t(`timeline.${kind}`)}
          </span>
        ))}
        <span className="ml-auto tabular-nums">{t('timeline.total', { time: shortDuration(width) })}</span>
      </div>
      <ol className="flex flex-col gap-0.5" data-testid="timeline">
        {spans.map((span, i) => {
          const to = span.to ?? (isBusy(task) ? now : end);
          const label =
            span.kind === 'turn'
              ? t('chat.turn', { n: span.label })
              : span.kind === 'tool'
                ? span.label
                : span.kind === 'wait'
                  ? t(`timeline.${span.label}`)
                  : t(`timeline.${span.kind}`);
          return (
            <li
              key={i}
              className="grid grid-cols-[minmax(7rem,14rem)_1fr_5rem] items-center gap-3 rounded-lg py-1 hover:bg-hover"
            >
              <span
                className={`truncate ${span.depth ? 'pl-6 font-mono text-[12.5px] text-muted' : 'font-medium'}`}
                title={span.kind === 'ask' ? span.label : [label, span.detail].filter(Boolean).join(' ')}
              >
                {label}
                {span.detail && <span className="ml-2">{span.detail}</span>}
              </span>
              <span className="relative h-4 rounded bg-panel">
                <span
                  className={`absolute inset-y-0.5 min-w-0.5 rounded-sm ${span.failed ? 'bg-red' : tones[span.kind]} ${span.depth ? 'opacity-90' : 'opacity-70'}`}
                  style={{
                    left: `${(100 * (span.from - begin)) / width}%`,
                    width: `${Math.max(0.2, (100 * (to - span.from)) / width)}%`,
                  }}
                />
              </span>
              <span className="text-right text-xs text-muted tabular-nums">{shortDuration(to - span.from)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
