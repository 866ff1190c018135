// What a task has used, and how much of what it and its subtasks may use: the fullest of its budgets is the one that ends it.
import { atWork, type Task } from '../api/types';
import { useTranslation, type Translate } from '../i18n/i18n';
import { compact, cost, duration, ms, number, taskDuration } from '../lib/format';
import { useNow } from '../lib/hooks';
import { useSpent, type Spent } from './useSpent';

export interface Share {
  key: keyof NonNullable<Task['budget']>;
  used: number;
  most: number;
}

export function shares(task: Task, spent: Spent, now: number): Share[] {
  if (!task.budget) return [];
  const start = ms(task.started_at);
  const used: Record<Share['key'], number> = {
    ...spent,
    wall_s:
      start === null ? 0 : Math.max(0, (atWork(task.status) ? now : (ms(task.completed_at) ?? now)) - start) / 1000,
  };
  return (Object.keys(used) as Share['key'][]).flatMap((key) => {
    const most = task.budget?.[key];
    return typeof most === 'number' && most > 0 ? [{ key, used: used[key], most }] : [];
  });
}

export const shareText = ({ key, used, most }: Share, t: Translate, language: string): string => {
  const show = (value: number) =>
    key === 'cost_usd' ? cost(value) : key === 'wall_s' ? duration(1000 * value) : number(value, language);
  return t(`chat.budget.${key}`, { used: show(used), most: show(most) });
};

export function Meter({ share }: { share: Share }) {
  const { t, language } = useTranslation();
  const part = Math.min(1, share.used / share.most);
  const text = shareText(share, t, language);
  const tone = part >= 1 ? 'bg-red' : part >= 0.8 ? 'bg-amber' : 'bg-accent';
  return (
    <span
      role="meter"
      aria-label={text}
      title={text}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(100 * part)}
      data-testid="budget"
      className="inline-flex items-center gap-1.5"
    >
      <span className="inline-block h-1.5 w-12 overflow-hidden rounded-full bg-grey-soft">
        <span className={`block h-full rounded-full ${tone}`} style={{ width: `${100 * part}%` }} />
      </span>
      {Math.round(100 * part)} %
    </span>
  );
}

export function Usage({ task }: { task: Task }) {
  const { t, language } = useTranslation();
  const { input_tokens, output_tokens, cost_usd, unpriced } = task.progress.usage;
  const now = useNow();
  const time = taskDuration(task, now);
  const fullest = shares(task, useSpent(task), now).sort((a, b) => b.used / b.most - a.used / a.most)[0];
  return (
    <span
      className="flex shrink-0 items-center gap-3 text-xs whitespace-nowrap text-muted tabular-nums"
      data-testid="usage"
    >
      {input_tokens + output_tokens > 0 && (
        <span
          title={t('chat.tokens', { input: number(input_tokens, language), output: number(output_tokens, language) })}
        >
          {compact(input_tokens + output_tokens, language)} {t('chat.tokensUnit')}
        </span>
      )}
      {cost_usd === null && <span title={t('chat.noPrice')}>$?</span>}
      {cost_usd !== null && cost_usd > 0 && (
        <span>
          {unpriced && '≥ '}
          {cost(cost_usd)}
        </span>
      )}
      {fullest && <Meter share={fullest} />}
      {task.progress.tool_calls > 0 && (
        <span className="max-md:hidden">{t('tasks.row.toolCalls', { count: task.progress.tool_calls })}</span>
      )}
      {time && <span>{time}</span>}
    </span>
  );
}
