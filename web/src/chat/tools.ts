// What people are shown of a tool call: what kind of tool it is, one line that says what it did, and what is worth more than
// its JSON. Knows the names and arguments of the tools that agents have in common (errand's own, OpenCode's, Claude's), and
// makes the best of the others. Pure: an agent's words are text here and nothing else.
import { isOwnTool } from '../lib/families';

export type Family = 'shell' | 'read' | 'write' | 'edit' | 'search' | 'list' | 'todo' | 'web' | 'task' | 'other';

export interface Todo {
  text: string;
  state: 'pending' | 'in_progress' | 'completed';
}

export interface ToolView {
  family: Family;
  summary: string;
  detail?: string; // Beside it, smaller: "in src", "lines 10–50".
  added?: number;
  removed?: number;
  diff?: string; // As a unified diff.
  content?: string; // A file that was written whole.
  command?: string;
  todos?: Todo[];
}

const families: [RegExp, Family][] = [
  [/^(task|agent|session_manager|look_at)$/, 'task'],
  [/^(bash|shell|run|exec|run_command|execute_command|run_terminal_cmd|run_shell_command)$/, 'shell'],
  [/^(read|read_file|view|cat|notebookread|read_many_files)$/, 'read'],
  [/^(write|write_file|create_file)$/, 'write'],
  [
    /^(edit|multiedit|edit_file|str_replace|str_replace_based_edit_tool|patch|apply_patch|replace|notebookedit)$/,
    'edit',
  ],
  [/^(grep|search|ripgrep|search_file_content|toolsearch|codesearch)$/, 'search'],
  [/^(glob|list|ls|list_directory|find)$/, 'list'],
  [/^(todo|todowrite|todoread|todo_write|update_plan|write_todos)$/, 'todo'],
  [/^(webfetch|web_fetch|websearch|web_search|fetch|google_web_search)$/, 'web'],
];

export function familyOf(name: string): Family {
  const lower = name.toLowerCase();
  if (isOwnTool(lower)) return 'task';
  return families.find(([pattern]) => pattern.test(lower))?.[1] ?? 'other';
}

const firstLine = (text: string): string => {
  const [line = '', ...more] = text.trim().split('\n');
  return more.length > 0 ? `${line} …` : line;
};
const lineCount = (text: string): number => (text === '' ? 0 : text.replace(/\n$/, '').split('\n').length);

type Input = Record<string, unknown>;
const word = (input: Input, ...keys: string[]): string | undefined => {
  for (const key of keys) {
    const value = input[key];
    if (typeof value === 'string' && value !== '') return value;
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(' ');
  }
  return undefined;
};
const whole = (input: Input, key: string): number | undefined =>
  typeof input[key] === 'number' ? input[key] : undefined;

const linesMost = 600;
const editsMost = 200; // More of one call are counted by nobody.
const context = 3;

// The lines that differ, with a few around them. Longer texts are compared at both ends only: that is exact enough to read.
export function lineDiff(before: string, after: string, most = linesMost * linesMost): string {
  const [a, b] = [before, after].map((text) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))) as [
    string[],
    string[],
  ];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [gone, came] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const from = Math.max(0, head - context);
  const out = a.slice(from, head).map((line) => ` ${line}`);
  out.push(...(gone.length * came.length <= most ? changes(gone, came) : replaced(gone, came)));
  out.push(...a.slice(a.length - tail, a.length - tail + context).map((line) => ` ${line}`));
  return out.join('\n');
}
const replaced = (gone: string[], came: string[]): string[] => [
  ...gone.map((line) => `-${line}`),
  ...came.map((line) => `+${line}`),
];
// By the longest common subsequence.
function changes(a: string[], b: string[]): string[] {
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      best[i * width + j] =
        a[i] === b[j]
          ? best[(i + 1) * width + j + 1]! + 1
          : Math.max(best[(i + 1) * width + j]!, best[i * width + j + 1]!);
  const out: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(` ${a[i++]}`);
      j++;
    } else if (j >= b.length || (i < a.length && best[(i + 1) * width + j]! >= best[i * width + j + 1]!)) {
      out.push(`-${a[i++]}`);
    } else {
      out.push(`+${b[j++]}`);
    }
  }
  return out;
}
const counted = (diff: string): Pick<ToolView, 'added' | 'removed' | 'diff'> => ({
  diff,
  added: diff.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++')).length,
  removed: diff.split('\n').filter((line) => line.startsWith('-') && !line.startsWith('---')).length,
});

function edits(input: Input): string | undefined {
  const list = Array.isArray(input.edits) ? (input.edits as Input[]).slice(0, editsMost) : [input];
  // All of them together cost what one may.
  const one = (each: Input): string | undefined => {
    const before = each.old_string ?? each.oldString ?? each.old_str ?? each.old_text;
    const after = each.new_string ?? each.newString ?? each.new_str ?? each.new_text;
    if (typeof before !== 'string' || typeof after !== 'string') return undefined;
    return lineDiff(before, after, Math.floor((linesMost * linesMost) / list.length));
  };
  const several = list.map((each) => one(each ?? {}));
  const diffs = several.filter((each) => each !== undefined);
  const left = Array.isArray(input.edits) ? input.edits.length - list.length : 0;
  if (diffs.length > 0 && left > 0) diffs.push(`@@ … +${left}`);
  return diffs.length > 0 ? diffs.join('\n@@\n') : word(input, 'patch', 'diff', 'input');
}

function todosOf(input: Input): Todo[] | undefined {
  const list = input.items ?? input.todos ?? input.plan;
  if (!Array.isArray(list)) return undefined;
  return list.slice(0, 200).flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const item = each as Input;
    const text = word(item, 'content', 'step', 'description', 'title', 'text');
    const state = item.status === 'completed' || item.status === 'in_progress' ? item.status : 'pending';
    return text ? [{ text, state }] : [];
  });
}

export function toolView(name: string, given: unknown): ToolView {
  const family = familyOf(name);
  if (typeof given === 'string') return { family, summary: firstLine(given) };
  const input = (typeof given === 'object' && given !== null ? given : {}) as Input;
  const file = word(input, 'path', 'file_path', 'filePath', 'file', 'filename', 'notebook_path', 'absolute_path');
  switch (family) {
    case 'shell': {
      const command = word(input, 'command', 'cmd', 'script');
      if (command === undefined) break;
      const why = word(input, 'description');
      return { family, command, summary: firstLine(command), ...(why ? { detail: why } : {}) };
    }
    case 'read': {
      if (!file) break;
      const first = whole(input, 'offset');
      const count = whole(input, 'limit');
      const range = first ? (count ? `${first}–${first + count - 1}` : `${first}–`) : count ? `1–${count}` : '';
      return { family, summary: file, ...(range ? { detail: range } : {}) };
    }
    case 'write': {
      const content = word(input, 'content', 'contents', 'text', 'file_text') ?? '';
      if (file) return { family, summary: file, content, added: lineCount(content) };
      break;
    }
    case 'edit': {
      const diff = edits(input);
      if (diff !== undefined)
        return { family, summary: file ?? /^\*\*\* \w+ File: (.+)$/m.exec(diff)?.[1] ?? '', ...counted(diff) };
      break;
    }
    case 'search':
    case 'list': {
      const pattern = word(input, 'pattern', 'query', 'regex');
      const where = [file, word(input, 'glob', 'include')].filter(Boolean).join(' ');
      if (pattern) return { family, summary: pattern, ...(where ? { detail: where } : {}) };
      return { family, summary: file ?? '.' };
    }
    case 'todo': {
      const todos = todosOf(input);
      if (!todos) break;
      const done = todos.filter((each) => each.state === 'completed').length;
      const now = todos.find((each) => each.state === 'in_progress') ?? todos.find((each) => each.state === 'pending');
      return { family, todos, summary: now?.text ?? '', detail: `${done}/${todos.length}` };
    }
    case 'task': {
      const what = word(input, 'description', 'task_id', 'batch_id', 'command', 'message', 'prompt', 'key');
      const who = word(input, 'agent', 'subagent_type');
      return { family, summary: firstLine(what ?? ''), ...(who ? { detail: who } : {}) };
    }
  }
  const said =
    word(input, 'command', 'url', 'query', 'pattern', 'title', 'description', 'prompt', 'name', 'text') ?? file;
  const any = said ?? Object.values(input).find((value) => typeof value === 'string');
  return { family, summary: typeof any === 'string' ? firstLine(any) : '' };
}

// A picture that a tool gave back, and nothing that is fetched: its bytes are in the text.
export const pictureOf = (output: string): string | undefined =>
  /^\s*(data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)\s*$/.exec(output)?.[1];
