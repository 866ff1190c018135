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

export function launchOf(text: string, agent: { id: string; driver: string }, options: Options, fork?: Fork): Launch {
  const command = agent.driver === 'command';
  const body: Launch = {
    ...(command ? { kind: 'command', command: text } : { agent_id: agent.id, message: text }),
    surface: 'page',
  };
  if (options.folder.trim()) body.work_dir = options.folder.trim();
  const minutes = amount(options.minutes);
  if (minutes) body.timeout_s = Math.round(minutes * 60);
  if (command) {
    if (options.sandbox) body.sandbox = options.sandbox;
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
