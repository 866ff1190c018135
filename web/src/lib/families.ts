// The families of names that errand's own tools go by: `background_task` is also `superagents_task`, and so on. A record of
// what the API's document names: one that is missing here, or too many, does not compile.
import type { ToolsFamily } from '../api/types';

const known: Record<ToolsFamily, true> = { background: true, superagents: true, asyncagents: true, bgagent: true };
export const toolFamilies = Object.keys(known) as ToolsFamily[];

const prefix = `^(?:${toolFamilies.join('|')})_`;
const own = new RegExp(prefix);
const launching = new RegExp(`${prefix}(?:task|execute)$`);

export const isOwnTool = (name: string): boolean => own.test(name);
// Whether a call of this tool starts a task.
export const isLaunch = (name: string): boolean => launching.test(name);
