// What the page sends to start tasks: the words, and what was set beside them. Pure.
import type { Launch } from '../api/types';

export interface Options {
  folder: string;
  folders: string; // Further ones, one a line.
  model: string;
  permission: '' | 'ask' | 'allow' | 'deny';
  cost: string;
  minutes: string;
  skills: boolean | null; // Null: as the agent is set up.
  mcp: boolean | null;
  sandbox: '' | 'off' | 'workspace' | 'strict';
  isolate: '' | 'none' | 'head' | 'dirty'; // A worktree of its own, from the last commit or with what is not committed.
  title: string;
  idle: string; // Minutes.
  env: string; // NAME=value, one a line.
  artifacts: string; // Patterns, one a line.
  notify: string; // Texts to look for in the output, one a line.
  cpu: string; // Seconds.
  memory: string; // MB.
  processes: string;
  priority: string;
  interactive: boolean; // Starts also what looks as if it waited for a person.
  perLine: boolean; // Each line is a task of one batch.
}
export const noOptions: Options = {
  folder: '',
  folders: '',
  model: '',
  permission: '',
  cost: '',
  minutes: '',
  skills: null,
  mcp: null,
  sandbox: '',
  isolate: '',
  title: '',
  idle: '',
  env: '',
  artifacts: '',
  notify: '',
  cpu: '',
  memory: '',
  processes: '',
  priority: '',
  interactive: false,
  perLine: false,
};

export interface Fork {
  session: string;
  message: string;
}

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
// A number above nothing, or none: what is half typed is not sent.
const amount = (text: string): number | undefined => {
  const value = Number(text.replace(',', '.'));
  return text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : undefined;
};

// "NAME=value", one a line; what is none is left out.
function variables(text: string): Record<string, string> | undefined {
  const all = text.split('\n').flatMap((line) => {
    const found = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line);
    return found ? [[found[1]!, found[2]!] as const] : [];
  });
  return all.length > 0 ? Object.fromEntries(all) : undefined;
}

// A file that goes with the words, its bytes in the address.
export interface Attachment {
  name: string;
  media_type: string;
  url: string;
}
type Words = { message: string } | { content: NonNullable<Launch['content']> };
export const wordsOf = (text: string, files: Attachment[]): Words =>
  files.length === 0
    ? { message: text }
    : { content: [{ type: 'text', text }, ...files.map((file) => ({ type: 'file' as const, ...file }))] };

// What commands can have, and agents with them.
function forCommands(options: Options): Partial<Launch> {
  const body: Partial<Launch> = {};
  if (options.title.trim()) body.title = options.title.trim();
  const idle = amount(options.idle);
  if (idle) body.idle_timeout_s = Math.round(idle * 60);
  const env = variables(options.env);
  if (env) body.env = env;
  if (lines(options.artifacts).length > 0) body.artifacts = lines(options.artifacts);
  const [cpu, memory, processes] = [options.cpu, options.memory, options.processes].map(amount);
  if (cpu || memory || processes)
    body.limits = {
      ...(cpu ? { cpu_s: Math.ceil(cpu) } : {}),
      ...(memory ? { memory_bytes: Math.round(memory * 1e6) } : {}),
      ...(processes ? { processes: Math.ceil(processes) } : {}),
    };
  const priority = Number(options.priority.trim() || NaN);
  if (Number.isInteger(priority)) body.priority = priority;
  return body;
}

export function launchOf(
  text: string,
  agent: { id: string; driver: string },
  options: Options,
  fork?: Fork,
  files: Attachment[] = [],
): Launch {
  const command = agent.driver === 'command';
  const body: Launch = {
    ...(command ? { kind: 'command', command: text } : { agent_id: agent.id, ...wordsOf(text, files) }),
    surface: 'page',
    ...forCommands(options),
  };
  if (options.isolate === 'none') body.isolate = 'none';
  else if (options.isolate) {
    body.isolate = 'worktree';
    body.isolate_base = options.isolate;
  }
  if (options.folder.trim()) body.work_dir = options.folder.trim();
  const minutes = amount(options.minutes);
  if (minutes) body.timeout_s = Math.round(minutes * 60);
  if (command) {
    if (options.sandbox) body.sandbox = options.sandbox;
    if (lines(options.notify).length > 0) body.notify_on = lines(options.notify);
    if (options.interactive) body.allow_interactive = true;
    return body;
  }
  if (lines(options.folders).length > 0) body.add_dirs = lines(options.folders);
  if (options.model.trim()) body.model = options.model.trim();
  if (options.permission) body.permission = options.permission;
  const cost = amount(options.cost);
  if (cost) body.budget = { cost_usd: cost };
  if (options.skills !== null) body.enable_skills = options.skills;
  if (options.mcp !== null) body.enable_mcp = options.mcp;
  if (fork) Object.assign(body, { fork: true, parent_session_id: fork.session, parent_message_id: fork.message });
  return body;
}

// One launch, or one for each line, all of one batch.
export const textsOf = (text: string, options: Options): string[] => (options.perLine ? lines(text) : [text]);

export const changed = (options: Options): number =>
  (Object.keys(noOptions) as (keyof Options)[]).filter((key) => key !== 'folder' && options[key] !== noOptions[key])
    .length;

// Models that an agent is known to have worked with: its own, and those of its newest tasks.
export function modelsOf(
  agent: { id: string; model?: string | null } | undefined,
  tasks: { agent_id: string; model: string | null }[],
): string[] {
  const used = tasks.filter((task) => task.agent_id === agent?.id).map((task) => task.model);
  return [...new Set([agent?.model, ...used])].filter((model) => typeof model === 'string' && model !== '') as string[];
}
