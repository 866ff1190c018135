// An agent as a form shows it, and as the server takes it. Pure.
import type { Agent, AgentRequest, PermissionRule } from '../api/types';

export type Decision = 'ask' | 'allow' | 'deny';
// Where its tasks work: in the folder itself, or in a worktree of their own, from the last commit or with uncommitted work.
export type Isolate = 'none' | 'head' | 'dirty';
export interface AgentForm {
  name: string;
  driver: string;
  model: string;
  description: string;
  prompt: string;
  tools: string; // Names, with commas or spaces between them.
  permission: '' | Decision;
  rules: string; // "allow bash git *": one a line, the first that fits decides.
  atOnce: string;
  steps: string;
  cost: string;
  tokens: string;
  toolCalls: string;
  cpu: string; // Seconds,
  memory: string; // megabytes,
  processes: string; // of all that its tools start.
  skills: boolean;
  mcp: boolean;
  isolate: '' | Isolate;
  setup: string; // Run in a new worktree.
  options: string; // "effort = high": one a line, the driver's own.
}

const megabyte = 1_000_000;
const decisions = new Set<string>(['ask', 'allow', 'deny']);
const text = (value: string | number | null | undefined): string => String(value ?? '');
const everything = (rule: PermissionRule): boolean => rule.tool === '*' && !rule.pattern;

export function formOf(agent: Agent): AgentForm {
  const { budget, limits } = agent;
  const rules = agent.permission_rules;
  const last = rules.at(-1);
  const fallback = agent.permission ?? (last && everything(last) ? last.decision : '');
  const shown = !agent.permission && last && everything(last) ? rules.slice(0, -1) : rules;
  return {
    name: agent.name,
    driver: agent.driver,
    model: text(agent.model),
    description: text(agent.description),
    prompt: text(agent.prompt),
    tools: agent.tools.join(', '),
    permission: fallback,
    rules: shown.map(({ decision, tool, pattern }) => [decision, tool, pattern].filter(Boolean).join(' ')).join('\n'),
    atOnce: text(agent.max_concurrent),
    steps: text(agent.max_steps),
    cost: text(budget.cost_usd),
    tokens: text(budget.tokens),
    toolCalls: text(budget.tool_calls),
    cpu: text(limits.cpu_s),
    memory: text(limits.memory_bytes === null ? null : limits.memory_bytes / megabyte),
    processes: text(limits.processes),
    skills: agent.enable_skills,
    mcp: agent.enable_mcp,
    isolate: agent.isolate === 'worktree' ? (agent.isolate_base ?? 'head') : (agent.isolate ?? ''),
    setup: text(agent.isolate_setup),
    options: Object.entries(agent.options)
      .map(([name, value]) => `${name} = ${value}`)
      .join('\n'),
  };
}

export const newForm = (driver: string): AgentForm => ({
  name: '',
  driver,
  model: '',
  description: '',
  prompt: '',
  tools: '',
  permission: '',
  rules: '',
  atOnce: '',
  steps: '',
  cost: '',
  tokens: '',
  toolCalls: '',
  cpu: '',
  memory: '',
  processes: '',
  skills: false,
  mcp: false,
  isolate: '',
  setup: '',
  options: '',
});

const lines = (value: string): string[] =>
  value
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export function rulesOf(value: string): { rules: PermissionRule[]; wrong: string[] } {
  const rules: PermissionRule[] = [];
  const wrong: string[] = [];
  for (const line of lines(value)) {
    const [decision = '', tool, ...pattern] = line.split(/\s+/);
    if (!decisions.has(decision) || !tool) wrong.push(line);
    else
      rules.push({
        tool,
        decision: decision as Decision,
        ...(pattern.length > 0 ? { pattern: pattern.join(' ') } : {}),
      });
  }
  return { rules, wrong };
}

// What is wrong with it, by field: the server says the rest.
export function faults(form: AgentForm): Partial<Record<keyof AgentForm, string>> {
  const found: Partial<Record<keyof AgentForm, string>> = {};
  if (!form.name.trim()) found.name = 'agents.edit.needsName';
  if (rulesOf(form.rules).wrong.length > 0) found.rules = 'agents.edit.wrongRule';
  for (const key of ['atOnce', 'steps', 'cost', 'tokens', 'toolCalls', 'cpu', 'memory', 'processes'] as const) {
    const value = Number(form[key].replace(',', '.'));
    if (form[key].trim() && !(value > 0 && Number.isFinite(value))) found[key] = 'agents.edit.needsNumber';
  }
  if (lines(form.options).some((line) => !/^[\w.-]+\s*=/.test(line))) found.options = 'agents.edit.wrongOption';
  return found;
}

// Those that have a value; none where none has.
function present<T extends object>(all: T): { [K in keyof T]?: NonNullable<T[K]> } | undefined {
  const some = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  return some.length > 0 ? (Object.fromEntries(some) as { [K in keyof T]?: NonNullable<T[K]> }) : undefined;
}

// `before`: what the form does not show stays as it was.
export function bodyOf(form: AgentForm, before?: Agent): AgentRequest {
  const body: AgentRequest = { name: form.name.trim(), driver: form.driver };
  const amount = (value: string) => (value.trim() ? Number(value.replace(',', '.')) : undefined);
  const whole = (value: string) => (value.trim() ? Math.round(amount(value) ?? 0) : undefined);
  if (form.model.trim()) body.model = form.model.trim();
  if (form.description.trim()) body.description = form.description.trim();
  if (form.prompt.trim()) body.prompt = form.prompt;
  const tools = form.tools.split(/[\s,]+/).filter(Boolean);
  if (tools.length > 0) body.tools = tools;
  const { rules } = rulesOf(form.rules);
  if (rules.length > 0) {
    body.permission = form.permission ? [...rules, { tool: '*', decision: form.permission }] : rules;
  } else if (form.permission) {
    body.permission = form.permission;
  }
  const atOnce = whole(form.atOnce);
  if (atOnce) body.max_concurrent = atOnce;
  const steps = whole(form.steps);
  if (steps) body.max_steps = steps;
  const budget = present({
    ...before?.budget,
    cost_usd: amount(form.cost),
    tokens: whole(form.tokens),
    tool_calls: whole(form.toolCalls),
  });
  if (budget) body.budget = budget;
  const memory = amount(form.memory);
  const limits = present({
    ...before?.limits,
    cpu_s: whole(form.cpu),
    memory_bytes: memory === undefined ? undefined : Math.round(memory * megabyte),
    processes: whole(form.processes),
    nice: before?.limits.nice || undefined, // 0 is what it is where nobody says.
  });
  if (limits) body.limits = limits;
  if (form.skills) body.enable_skills = true;
  if (form.mcp) body.enable_mcp = true;
  if (form.isolate === 'none') body.isolate = 'none';
  else if (form.isolate) {
    body.isolate = 'worktree';
    // A base that nobody chose stays the server's.
    const unsaid = form.isolate === 'head' && before?.isolate === 'worktree' && !before.isolate_base;
    if (!unsaid) body.isolate_base = form.isolate;
  }
  if (form.setup.trim()) body.isolate_setup = form.setup.trim();
  const options = lines(form.options).map((line) => {
    const at = line.indexOf('=');
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
  if (options.length > 0) body.options = Object.fromEntries(options) as Record<string, string>;
  return body;
}

// Who says which models an agent of this driver can have: the agent itself, or one that is there and has the same driver.
export const modelsFrom = (driver: string, agent: Agent | undefined, agents: Agent[]): Agent | undefined =>
  agent?.driver === driver && agent.available ? agent : agents.find((each) => each.driver === driver && each.available);
