// Labels as people write them: name=value, one a line. Pure.
import type { TaskEdit } from '../api/types';

const form = /^\s*([^=:\s]+)\s*[=:]\s*(.*\S)\s*$/;

export function labelsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const found = form.exec(line);
      return found ? [[found[1]!, found[2]!] as const] : [];
    }),
  );
}

export const labelsText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');

// What has to be changed so that these are its labels: what is left out is removed. Undefined: nothing.
export function labelChange(before: Record<string, string>, text: string): TaskEdit['labels'] | undefined {
  const after = labelsIn(text);
  const change: Record<string, string | null> = {};
  for (const [name, value] of Object.entries(after)) if (before[name] !== value) change[name] = value;
  for (const name of Object.keys(before)) if (!(name in after)) change[name] = null;
  return Object.keys(change).length > 0 ? change : undefined;
}
