// One line on what a task is doing or did: what somebody who glances at the list wants to know.
import type { Task } from '../api/types';
import { shown } from '../lib/hidden';

export interface Summary {
  kind: 'ask' | 'wait' | 'tool' | 'queue' | 'error' | 'result' | 'output' | 'none';
  text: string;
}

// What a terminal would obey has no place in a line of a list.
const escapes =
  // eslint-disable-next-line no-control-regex -- Control characters are what it looks for.
  /\u001b(?:\[[0-9;?]*[A-Za-z]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|.)|[\u0000-\u0008\u000b-\u001f\u007f]/g;
const lines = (text: string): string[] => text.replace(escapes, '').trim().split('\n');
const firstLine = (text: string): string => lines(text)[0]?.slice(0, 240) ?? '';
const lastLine = (text: string): string => lines(text).at(-1)?.slice(0, 240) ?? '';

// What is asked, without the folder that the task works in anyway: what is left is what there is to decide about.
export function askText(text: string, folder: string | null): string {
  if (!folder || folder === '/') return text;
  const short = text.replaceAll(`${folder}/`, '');
  return short.endsWith(`\nIn ${folder}`) ? short.slice(0, -`\nIn ${folder}`.length) : short;
}

export function summary(task: Task): Summary {
  const working = task.status === 'running' || task.status === 'resumed';
  const waits = working ? task.waiting_for?.kind : undefined;
  if (waits === 'quota' || waits === 'children') return { kind: 'wait', text: task.waiting_for?.text ?? '' };
  if (task.waiting_for?.text) return { kind: 'ask', text: firstLine(askText(task.waiting_for.text, task.work_dir)) };
  if (task.status === 'pending') return { kind: 'queue', text: String(task.queue_position ?? '') };
  if (task.status === 'failed' && task.error) return { kind: 'error', text: firstLine(task.error.message) };
  if (working) {
    const tool = task.progress.recent_tools.at(-1);
    if (tool) return { kind: 'tool', text: firstLine(tool.summary || tool.name) };
    if (task.kind === 'command') return { kind: 'output', text: String(task.progress.output_lines) };
    return { kind: 'none', text: '' };
  }
  if (task.result && task.kind === 'command') return { kind: 'result', text: lastLine(task.result) };
  if (task.result) return { kind: 'result', text: firstLine(task.result).replace(/[*_`#>]+/g, '') };
  return { kind: 'none', text: '' };
}

// A long title is cut by the server, and ends with an ellipsis: here is what it was cut from, for those who point at it.
const mostOfIt = 500;
export function wholeTitle(task: Pick<Task, 'title' | 'description' | 'command' | 'prompt'>): string {
  if (!task.title.endsWith('…')) return shown(task.title);
  const start = task.title.slice(0, -1);
  const whole = [task.description, task.command, task.prompt].map((text) => text?.trim() ?? '');
  const found = whole.find((text) => text.startsWith(start));
  const words = found ?? task.title;
  return shown(words.length > mostOfIt ? `${words.slice(0, mostOfIt)}…` : words);
}
