// What stands in the page's addresses, checked: an address may come from anywhere.
import type { TaskQuery } from './api/types';

export const filters = ['needs-input', 'running', 'pending', 'completed', 'failed', 'cancelled'] as const;
export type Filter = (typeof filters)[number];
export const sorts = ['attention', 'newest', 'oldest', 'updated'] as const;
export type Sort = (typeof sorts)[number];

export const groupings = ['folder', 'batch', 'session'] as const;
export type Grouping = (typeof groupings)[number];

export interface TaskSearch {
  q?: string;
  status?: Filter;
  agent?: string;
  kind?: 'agent' | 'command';
  batch?: string;
  parent?: string;
  sort?: Sort; // Without one: what needs somebody comes first.
  show?: 'archived' | 'pinned';
  flat?: '1'; // The tasks of a batch one by one.
  group?: Grouping;
}

const text = (value: unknown, most = 200): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, most) : undefined;
const oneOf = <T extends string>(value: unknown, allowed: readonly T[]): T | undefined =>
  allowed.includes(value as T) ? (value as T) : undefined;

// Without the names that have no value: they are not in the address either.
const present = <T extends object>(all: T): T =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as T;

export const taskSearch = (search: Record<string, unknown>): TaskSearch =>
  present({
    q: text(search.q),
    status: oneOf(search.status, filters),
    agent: text(search.agent),
    kind: oneOf(search.kind, ['agent', 'command'] as const),
    batch: text(search.batch),
    parent: text(search.parent),
    sort: oneOf(search.sort, sorts),
    show: oneOf(search.show, ['archived', 'pinned'] as const),
    flat: oneOf(search.flat, ['1'] as const),
    group: oneOf(search.group, groupings),
  });

export const attemptsSearch = (search: Record<string, unknown>): { batch?: string } =>
  present({ batch: text(search.batch) });

export const chatTabs = ['chat', 'log', 'changes', 'timeline', 'artifacts', 'details'] as const;
export type ChatTab = (typeof chatTabs)[number];
export interface ChatSearch {
  taskId?: string;
  agentId?: string;
  tab?: ChatTab;
  forkOf?: string; // A task whose conversation a new one begins with,
  at?: string; // up to and with this message.
}
export const chatSearch = (search: Record<string, unknown>): ChatSearch =>
  present({
    taskId: text(search.taskId),
    agentId: text(search.agentId),
    tab: oneOf(search.tab, chatTabs),
    forkOf: text(search.forkOf),
    at: text(search.at),
  });

// The same filter as the API's own words. A resumed task is running; what needs input is at work, and waits for a person.
const states: Record<Filter, TaskQuery> = {
  'needs-input': { waiting_for: 'permission,answer' },
  running: { status: 'running,resumed' },
  pending: { status: 'pending' },
  completed: { status: 'completed' },
  failed: { status: 'failed' },
  cancelled: { status: 'cancelled' },
};
export const taskQuery = (search: TaskSearch): TaskQuery =>
  present({
    q: search.q,
    ...(search.status ? states[search.status] : {}),
    agent_id: search.agent,
    kind: search.kind,
    batch_id: search.batch,
    parent_session_id: search.parent,
    sort: search.sort ?? 'attention',
    archived: search.show === 'archived' ? ('true' as const) : undefined,
    pinned: search.show === 'pinned' ? true : undefined,
    // In a batch, below a session or in a group, each task is what one came for.
    fold_batches: search.batch || search.parent || search.flat || search.group ? undefined : true,
  });
