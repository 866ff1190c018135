// What calls of models used and cost (R15.3): a plot and the same numbers as a table. What has no price is "?", never $0.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { api, call } from '../api/client';
import type { UsageReport, UsageSum } from '../api/types';
import { useTranslation, type Language, type Translate } from '../i18n/i18n';
import '../i18n/more';
import { compact, cost, number } from '../lib/format';
import { shown } from '../lib/hidden';
import { useStore } from '../lib/store';
import { connection } from '../live/live';
import { bars, dayRange, tokensOf, type Bar } from './usage';

const groupings = ['day', 'model', 'agent', 'folder'] as const;
type By = (typeof groupings)[number];
const spans = [7, 30, 90, 365] as const;

function costText(sum: UsageSum): string {
  if (sum.cost_usd === null) return '?';
  return `${sum.unpriced_calls > 0 ? '≥ ' : ''}${cost(sum.cost_usd)}`;
}

const keyText = (sum: UsageSum, t: Translate): string => (sum.key ? shown(sum.key) : t('usage.unknownKey'));

// One row of bars for each: their lengths are shares of the longest. Drawn by us; the table beside it says the same.
function Plot({ all, label, tone }: { all: Bar[]; label: string; tone: string }) {
  const height = 140;
  const width = 720;
  const step = width / Math.max(1, all.length);
  const bar = Math.max(1, Math.min(40, step * 0.72));
  return (
    <figure className="card px-4 pt-3 pb-2">
      <figcaption className="text-sm font-medium">{label}</figcaption>
      <svg
        viewBox={`0 0 ${width} ${height + 4}`}
        preserveAspectRatio="none"
        className="mt-2 h-36 w-full"
        role="img"
        aria-label={label}
        data-testid="usage-plot"
      >
        <line x1={0} x2={width} y1={height + 1} y2={height + 1} stroke="var(--line-strong)" strokeWidth={1} />
        {all.map(({ key, share, text, unknown }, i) => (
          <rect
            key={key}
            x={i * step + (step - bar) / 2}
            width={bar}
            y={height - Math.max(unknown || share > 0 ? 2 : 0, share * height)}
            height={Math.max(unknown || share > 0 ? 2 : 0, share * height)}
            rx={2}
            fill={unknown ? 'var(--muted)' : tone}
          >
            <title>{text}</title>
          </rect>
        ))}
      </svg>
      <div className="flex justify-between gap-4 text-[11px] text-muted" aria-hidden>
        <span className="truncate">{all[0]?.label}</span>
        <span className="truncate">{all.length > 1 ? all.at(-1)?.label : ''}</span>
      </div>
    </figure>
  );
}

const columns = ['calls', 'input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const;

function Numbers({ report, by, language }: { report: UsageReport; by: By; language: Language }) {
  const { t } = useTranslation();
  const cells = (sum: UsageSum) => (
    <>
      {columns.map((column) => (
        <td key={column} className="px-3 py-1.5 text-right tabular-nums" title={number(sum[column], language)}>
          {compact(sum[column], language)}
        </td>
      ))}
      <td
        className="px-3 py-1.5 text-right font-medium tabular-nums"
        title={sum.cost_usd === null ? t('usage.noPrice') : ''}
      >
        {costText(sum)}
      </td>
    </>
  );
  return (
    <div className="card overflow-x-auto" tabIndex={0} role="region" aria-label={t('usage.table')}>
      <table className="w-full min-w-160 text-[13px]">
        <thead className="text-muted">
          <tr className="border-b border-line">
            <th scope="col" className="px-3 py-2 text-left font-medium">
              {t(`usage.by.${by}`)}
            </th>
            {columns.map((column) => (
              <th key={column} scope="col" className="px-3 py-2 text-right font-medium">
                {t(`usage.columns.${column}`)}
              </th>
            ))}
            <th scope="col" className="px-3 py-2 text-right font-medium">
              {t('usage.columns.cost')}
            </th>
          </tr>
        </thead>
        <tbody>
          {report.groups.map((sum) => (
            <tr key={sum.key} className="border-b border-line" data-usage={sum.key}>
              <th scope="row" className="max-w-80 truncate px-3 py-1.5 text-left font-normal" title={keyText(sum, t)}>
                <bdi>{keyText(sum, t)}</bdi>
              </th>
              {cells(sum)}
            </tr>
          ))}
        </tbody>
        <tfoot className="font-semibold">
          <tr data-usage-total>
            <th scope="row" className="px-3 py-2 text-left">
              {t('usage.total')}
            </th>
            {cells(report.total)}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

export function UsagePage() {
  const { t, language } = useTranslation();
  const [by, setBy] = useState<By>('day');
  const [days, setDays] = useState<number>(30);
  const live = useStore(connection).state === 'live';
  useEffect(() => {
    document.title = `${t('nav.usage')} · errand`;
  }, [t]);
  const { from, utc_offset_min, days: shownDays } = dayRange(days, new Date());
  const report = useQuery({
    queryKey: ['usage', by, from],
    queryFn: ({ signal }) => call(api.GET('/api/usage', { params: { query: { by, from, utc_offset_min } }, signal })),
    staleTime: 0,
    refetchInterval: live ? 15_000 : false, // Sums have no event of their own.
  });
  const data = report.data;
  const plotted = data ? bars(data, by, shownDays) : { cost: [], tokens: [] };
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <header className="flex flex-wrap items-start gap-4 px-6 pt-5 pb-4 max-md:px-4">
        <div className="min-w-0 flex-1">
          <h1 className="text-[22px] leading-tight font-semibold tracking-tight">{t('nav.usage')}</h1>
          <p className="mt-0.5 text-muted max-md:hidden">{t('usage.subtitle')}</p>
        </div>
        <select
          className="field w-auto"
          aria-label={t('usage.groupBy')}
          value={by}
          onChange={(event) => setBy(event.target.value as By)}
        >
          {groupings.map((each) => (
            <option key={each} value={each}>
              {t(`usage.by.${each}`)}
            </option>
          ))}
        </select>
        <select
          className="field w-auto"
          aria-label={t('usage.span')}
          value={days}
          onChange={(event) => setDays(Number(event.target.value))}
        >
          {spans.map((each) => (
            <option key={each} value={each}>
              {t('usage.days', { count: each })}
            </option>
          ))}
        </select>
      </header>
      <div className="flex flex-col gap-4 px-6 pb-8 max-md:px-4">
        {report.isError && (
          <p role="alert" className="text-red">
            {t('usage.failed')}
          </p>
        )}
        {data && data.total.calls === 0 && <p className="text-muted">{t('usage.none')}</p>}
        {data && data.total.calls > 0 && (
          <>
            <p className="text-lg" data-testid="usage-total">
              <span className="font-semibold">{costText(data.total)}</span>
              <span className="ml-3 text-muted">
                {t('usage.tokens', { n: compact(tokensOf(data.total), language) })} ·{' '}
                {t('usage.calls', { count: data.total.calls, n: number(data.total.calls, language) })}
              </span>
            </p>
            {data.total.unpriced_calls > 0 && (
              <p className="text-sm text-amber">
                {t('usage.unpriced', {
                  count: data.total.unpriced_calls,
                  n: number(data.total.unpriced_calls, language),
                })}
              </p>
            )}
            <div className="grid gap-4 lg:grid-cols-2">
              <Plot all={plotted.cost} label={t('usage.plotCost')} tone="var(--accent)" />
              <Plot all={plotted.tokens} label={t('usage.plotTokens')} tone="var(--green)" />
            </div>
            <Numbers report={data} by={by} language={language} />
            {data.more && <p className="text-sm text-muted">{t('usage.more')}</p>}
          </>
        )}
      </div>
    </div>
  );
}
