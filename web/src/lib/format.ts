// Times, durations and sizes for people. Pure: the language and the time come from the caller.
export const ms = (iso: string | null | undefined): number | null => (iso ? Date.parse(iso) : null);

// "0:07", "2:15", "1:02:03", "2d 4h".
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86_400)];
  if (days > 0) return `${days}d ${hours % 24}h`;
  if (hours > 0) return `${hours}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${minutes}:${two(seconds % 60)}`;
}

// "840 ms", "2.4 s", "1:05": how long a tool took.
export function shortDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return duration(milliseconds);
}

// To make one of these takes longer than a row of the list: they are made once.
function once<T>(make: (language: string) => T): (language: string) => T {
  const made = new Map<string, T>();
  return (language) => {
    let format = made.get(language);
    if (format === undefined) made.set(language, (format = make(language)));
    return format;
  };
}
const relative = once((language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'narrow' }));
const dates = once((language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium' }));
const times = once((language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }));
const numbers = once((language) => new Intl.NumberFormat(language));
const compacts = once((language) => new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 }));
const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

// "2m ago", "2分钟前"; what is younger than a few seconds is "now".
export function ago(then: number, now: number, language: string): string {
  const format = relative(language);
  const past = Math.max(0, now - then);
  if (past < 3000) return language === 'zh' ? '刚刚' : format.format(0, 'second');
  if (past > 30 * 86_400_000) return dates(language).format(then);
  for (const [unit, size] of units) if (past >= size) return format.format(-Math.floor(past / size), unit);
  return format.format(0, 'second');
}

export const dateTime = (iso: string, language: string): string => times(language).format(Date.parse(iso));

export const number = (value: number, language: string): string => numbers(language).format(value);

// "1.2k", "3.4M": token counts.
export const compact = (value: number, language: string): string => compacts(language).format(value);

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  for (const [unit, size] of [
    ['GB', 1e9],
    ['MB', 1e6],
    ['kB', 1e3],
  ] as const)
    if (value >= size) return `${(value / size).toFixed(value < size * 100 ? 1 : 0)} ${unit}`;
  return `${value} B`;
}

export const cost = (usd: number): string =>
  usd === 0 ? '$0' : usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;

// "sonnet-4-5" of "anthropic/claude-sonnet-4-5-20250929": what tells models apart in a narrow column.
export const shortModel = (model: string): string =>
  model
    .replace(/^.*\//, '')
    .replace(/^claude-/, '')
    .replace(/-20\d{6}$/, '');

// How long a task has worked: from its start to its end, or to now.
export function taskDuration(
  task: { started_at: string | null; completed_at: string | null; status: string },
  now: number,
): string | null {
  const start = ms(task.started_at);
  if (start === null) return null;
  const working = task.status === 'running' || task.status === 'resumed';
  const end = working ? now : (ms(task.completed_at) ?? now);
  return !working && end - start < 1000 ? '<1 s' : duration(end - start);
}

export const shortId = (id: string): string => id.replace(/^([a-z]+_).*(.{6})$/, '$1…$2');
