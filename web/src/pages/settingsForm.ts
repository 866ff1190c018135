// The settings that can be changed while the server runs, as fields, and what a change of them sends. Pure.
import type { Settings, SettingsChange, ToolsFamily } from '../api/types';

// What somebody types, and how it is counted on the wire.
export const fields = {
  max_concurrent: { unit: 1, none: false },
  max_memory: { unit: 1 << 30, none: true },
  idle_timeout_s: { unit: 60, none: true },
  ask_timeout_s: { unit: 60, none: true },
  retention_s: { unit: 86_400, none: true },
  loop_max: { unit: 1, none: true },
  fork_tokens: { unit: 1, none: false },
  fork_tool_result_chars: { unit: 1, none: false },
} as const;
export type NumberField = keyof typeof fields;
export interface SettingsForm extends Record<NumberField, string> {
  wake: boolean;
  tools_family: ToolsFamily;
  default_agent: string; // "auto": the first that can be used.
  max_per_agent: string; // "reviewer = 2": one a line.
  max_per_model: string;
}
export const maps = ['max_per_agent', 'max_per_model'] as const;

const linesOf = (limits: Record<string, number>): string =>
  Object.entries(limits)
    .map(([name, most]) => `${name} = ${most}`)
    .join('\n');
// Null: a line of it is none.
export function limitsOf(text: string): Record<string, number> | null {
  const limits: Record<string, number> = {};
  for (const line of text.split('\n').filter((each) => each.trim())) {
    const [, name, most] = /^\s*(.+?)\s*=\s*(\d{1,6})\s*$/.exec(line) ?? [];
    if (!name || !most || Number(most) < 1) return null;
    limits[name] = Number(most);
  }
  return limits;
}

export function formOf(settings: Settings): SettingsForm {
  const shown = (key: NumberField): string => {
    const value = settings[key];
    return value === null || value === 0 ? '' : String(Math.round((100 * value) / fields[key].unit) / 100);
  };
  return {
    max_concurrent: shown('max_concurrent'),
    max_memory: shown('max_memory'),
    idle_timeout_s: shown('idle_timeout_s'),
    ask_timeout_s: shown('ask_timeout_s'),
    retention_s: shown('retention_s'),
    loop_max: shown('loop_max'),
    fork_tokens: shown('fork_tokens'),
    fork_tool_result_chars: shown('fork_tool_result_chars'),
    wake: settings.wake,
    tools_family: settings.tools_family,
    default_agent: settings.default_agent,
    max_per_agent: linesOf(settings.max_per_agent),
    max_per_model: linesOf(settings.max_per_model),
  };
}

const value = (key: NumberField, text: string): number | null => {
  if (!text.trim()) return fields[key].none ? 0 : null;
  const given = Number(text.replace(',', '.'));
  return Number.isFinite(given) && given > 0 ? Math.round(given * fields[key].unit) : null;
};
export const wrongFields = (form: SettingsForm): (NumberField | (typeof maps)[number])[] => [
  ...(Object.keys(fields) as NumberField[]).filter((key) => value(key, form[key]) === null),
  ...maps.filter((key) => limitsOf(form[key]) === null),
];

// Only what differs from what holds now: a setting that nobody touched is not pinned by this.
export function changeOf(form: SettingsForm, settings: Settings): SettingsChange {
  const before = formOf(settings);
  const change: SettingsChange = {};
  for (const key of Object.keys(fields) as NumberField[]) {
    const now = value(key, form[key]);
    if (form[key].trim() !== before[key] && now !== null) change[key] = now;
  }
  if (form.wake !== before.wake) change.wake = form.wake;
  if (form.tools_family !== before.tools_family) change.tools_family = form.tools_family;
  if (form.default_agent !== before.default_agent) change.default_agent = form.default_agent;
  for (const key of maps) {
    const now = limitsOf(form[key]);
    if (form[key].trim() !== before[key] && now) change[key] = now;
  }
  return change;
}
