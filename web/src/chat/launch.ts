// What the page sends to start tasks: the words, and what was set beside them. Pure.
import type { Launch, NewAttempts } from '../api/types';
import { labelsIn } from '../tasks/labels';

// Another agent that is to do the same work.
export interface Other {
  agent: string;
  model: string;
}

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
  setup: string; // A command that prepares a new worktree.
  others: Other[]; // They try it, too, each in a worktree of its own.
  title: string;
  idle: string; // Minutes.
  env: string; // NAME=value, one a line.
  artifacts: string; // Patterns, one a line.
  notify: string; // Texts to look for in the output, one a line.
  cpu: string; // Seconds.
  memory: string; // MB.
  processes: string;
  files: string; // Open ones, of each process.
  output: string; // MB.
  nice: string;
  priority: string;
  description: string;
  labels: string; // name=value, one a line.
  passEnv: string; // Names of the server's own variables, one a line.
  hang: '' | 'fail' | 'restart';
  restarts: string; // At most, of one that hangs.
  progress: string; // Minutes between reports to the parent.
  keep: string; // Days that it is kept after its end.
  tokens: string;
  turns: string;
  calls: string; // Of tools.
  overLimit: boolean; // Runs even if as many run already as may.
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
  setup: '',
  others: [],
  title: '',
  idle: '',
  env: '',
  artifacts: '',
  notify: '',
  cpu: '',
  memory: '',
  processes: '',
  files: '',
  output: '',
  nice: '',
  priority: '',
  description: '',
  labels: '',
  passEnv: '',
  hang: '',
  restarts: '',
  progress: '',
  keep: '',
  tokens: '',
  turns: '',
  calls: '',
  overLimit: false,
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

// A whole number, also below zero; undefined where nothing, or no number, is written.
const whole = (text: string): number | undefined => {
  const value = Number(text.trim() || NaN);
  return Number.isInteger(value) ? value : undefined;
};
// Without the names that have no value; undefined where none has.
function given<T extends object>(all: T): Partial<T> | undefined {
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  return set.length > 0 ? (Object.fromEntries(set) as Partial<T>) : undefined;
}
const up = (value: number | undefined): number | undefined => (value ? Math.ceil(value) : undefined);
const times = (value: number | undefined, by: number): number | undefined =>
  value ? Math.round(value * by) : undefined;

// What commands can have, and agents with them.
function forBoth(options: Options): Partial<Launch> {
  const limits = given({
    cpu_s: up(amount(options.cpu)),
    memory_bytes: times(amount(options.memory), 1e6),
    processes: up(amount(options.processes)),
    open_files: up(amount(options.files)),
    output_bytes: times(amount(options.output), 1e6),
    nice: whole(options.nice),
  });
  const [artifacts, pass] = [lines(options.artifacts), lines(options.passEnv)];
  return (
    given({
      title: options.title.trim() || undefined,
      description: options.description.trim() || undefined,
      idle_timeout_s: times(amount(options.idle), 60),
      on_hang: options.hang || undefined,
      max_restarts: options.hang === 'restart' ? up(amount(options.restarts)) : undefined,
      progress_every_s: times(amount(options.progress), 60),
      retention_s: times(amount(options.keep), 86_400),
      env: variables(options.env),
      pass_env: pass.length > 0 ? pass : undefined,
      labels: given(labelsIn(options.labels)) as Record<string, string> | undefined,
      artifacts: artifacts.length > 0 ? artifacts : undefined,
      limits,
      priority: whole(options.priority),
      authorize_over_limit: options.overLimit || undefined,
    }) ?? {}
  );
}

export const isSeveral = (options: Options): boolean => options.others.length > 0;
// It works in a worktree of its own because somebody said so here.
export const hasWorktree = (options: Options): boolean =>
  isSeveral(options) || (options.isolate !== '' && options.isolate !== 'none');

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
    ...forBoth(options),
  };
  if (options.isolate === 'none') body.isolate = 'none';
  else if (options.isolate) {
    body.isolate = 'worktree';
    body.isolate_base = options.isolate;
  }
  if (options.setup.trim() && hasWorktree(options)) body.isolate_setup = options.setup.trim();
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
  const budget = given({
    cost_usd: amount(options.cost) || undefined,
    tokens: up(amount(options.tokens)),
    turns: up(amount(options.turns)),
    tool_calls: up(amount(options.calls)),
  });
  if (budget) body.budget = budget;
  if (options.skills !== null) body.enable_skills = options.skills;
  if (options.mcp !== null) body.enable_mcp = options.mcp;
  if (fork) Object.assign(body, { fork: true, parent_session_id: fork.session, parent_message_id: fork.message });
  return body;
}

// The same work for several agents: each has a worktree of its own, whatever else was chosen.
export function attemptsOf(
  text: string,
  agent: { id: string; driver: string },
  options: Options,
  files: Attachment[] = [],
): NewAttempts {
  const launch: Launch = launchOf(text, agent, options, undefined, files);
  for (const key of ['agent_id', 'model', 'isolate'] as const) delete launch[key];
  const who = ({ agent, model }: Other) => ({ agent_id: agent, ...(model.trim() ? { model: model.trim() } : {}) });
  return { agents: [{ agent: agent.id, model: options.model }, ...options.others].map(who), launch };
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
