import { describe, expect, it } from 'vitest';

import type { Agent } from '../api/types';
import { bodyOf, faults, formOf, modelsFrom, newForm, rulesOf } from './agentForm';

const agent = (more: Partial<Agent> = {}): Agent => ({
  id: 'agent_1',
  name: 'reviewer',
  driver: 'builtin',
  model: null,
  description: null,
  builtin: false,
  permission: null,
  permission_rules: [],
  granted: [],
  max_concurrent: null,
  budget: { tokens: null, cost_usd: null, turns: null, tool_calls: null, wall_s: null },
  limits: { cpu_s: null, memory_bytes: null, processes: null, open_files: null, output_bytes: null, nice: 0 },
  max_steps: null,
  enable_skills: false,
  enable_mcp: false,
  isolate: null,
  isolate_base: null,
  isolate_setup: null,
  options: {},
  prompt: null,
  tools: [],
  available: true,
  unavailable_reason: null,
  capabilities: { message_while_running: true, resume: true, fork: true, reattach: true, permissions: true },
  program: null,
  ...more,
});

describe('the form of an agent', () => {
  it('sends what was set and nothing else', () => {
    expect(bodyOf({ ...newForm('demo'), name: ' mine ' })).toEqual({ name: 'mine', driver: 'demo' });
    expect(
      bodyOf({
        ...newForm('builtin'),
        name: 'reviewer',
        model: 'm',
        description: 'd',
        prompt: 'You review.\n',
        tools: 'read, grep  bash',
        permission: 'ask',
        rules: 'allow read\ndeny bash rm *\n',
        atOnce: '2',
        steps: '40',
        cost: '1,5',
        tokens: '100000',
        cpu: '60',
        memory: '512.5',
        skills: true,
        mcp: true,
        options: 'effort = high\n',
      }),
    ).toEqual({
      name: 'reviewer',
      driver: 'builtin',
      model: 'm',
      description: 'd',
      prompt: 'You review.\n',
      tools: ['read', 'grep', 'bash'],
      permission: [
        { tool: 'read', decision: 'allow' },
        { tool: 'bash', decision: 'deny', pattern: 'rm *' },
        { tool: '*', decision: 'ask' },
      ],
      max_concurrent: 2,
      max_steps: 40,
      budget: { cost_usd: 1.5, tokens: 100_000 },
      limits: { cpu_s: 60, memory_bytes: 512_500_000 },
      enable_skills: true,
      enable_mcp: true,
      options: { effort: 'high' },
    });
  });
  it('shows an agent as it is, and gives the same agent back', () => {
    const known = agent({
      permission_rules: [
        { tool: 'bash', pattern: 'git *', decision: 'allow' },
        { tool: '*', decision: 'deny' },
      ],
      budget: { cost_usd: 2, tokens: null, turns: 7, tool_calls: null },
      limits: { cpu_s: null, memory_bytes: 1_000_000, processes: 9, open_files: 64, output_bytes: null, nice: 5 },
      options: { effort: 'low' },
      tools: ['read'],
      max_steps: 9,
      isolate: 'worktree',
      isolate_setup: 'npm ci',
    } as unknown as Partial<Agent>);
    const form = formOf(known);
    expect(form).toMatchObject({ rules: 'allow bash git *', permission: 'deny', cost: '2', steps: '9', tools: 'read' });
    expect(form).toMatchObject({ cpu: '', memory: '1', processes: '9', setup: 'npm ci' });
    // What the form does not show (turns, open files, nice, its own work tree) stays.
    expect(bodyOf(form, known)).toEqual({
      name: 'reviewer',
      driver: 'builtin',
      tools: ['read'],
      permission: [
        { tool: 'bash', pattern: 'git *', decision: 'allow' },
        { tool: '*', decision: 'deny' },
      ],
      max_steps: 9,
      budget: { cost_usd: 2, turns: 7 },
      limits: { memory_bytes: 1_000_000, processes: 9, open_files: 64, nice: 5 },
      options: { effort: 'low' },
      isolate: 'worktree',
      isolate_setup: 'npm ci',
    });
    expect(bodyOf(formOf(agent({ permission: 'allow' })))).toMatchObject({ permission: 'allow' });
  });
  it('says what is wrong before it is sent', () => {
    expect(faults({ ...newForm('demo'), name: 'x' })).toEqual({});
    expect(
      Object.keys(
        faults({ ...newForm('demo'), rules: 'maybe bash', cost: 'much', options: 'effort high', atOnce: '-1' }),
      ).sort(),
    ).toEqual(['atOnce', 'cost', 'name', 'options', 'rules']);
    expect(rulesOf('allow\nask read')).toEqual({ rules: [{ tool: 'read', decision: 'ask' }], wrong: ['allow'] });
  });
  it('says where its tasks work', () => {
    const named = { ...newForm('builtin'), name: 'a' };
    expect(bodyOf({ ...named, isolate: 'none' })).toMatchObject({ isolate: 'none' });
    expect(bodyOf({ ...named, isolate: 'dirty' })).toMatchObject({ isolate: 'worktree', isolate_base: 'dirty' });
    expect(formOf(agent({ isolate: 'worktree', isolate_base: null })).isolate).toBe('head');
    expect(formOf(agent({ isolate: 'none' })).isolate).toBe('none');
    expect(bodyOf(formOf(agent()))).not.toHaveProperty('isolate');
  });
});

describe('whose models are offered', () => {
  const claude = agent({ id: 'c', driver: 'claude' });
  const gone = agent({ id: 'g', driver: 'acp', available: false });
  it('its own, or those of one with the same driver that is there', () => {
    const mine = agent();
    expect(modelsFrom('builtin', mine, [claude, mine])).toBe(mine);
    expect(modelsFrom('claude', mine, [mine, claude])).toBe(claude);
    expect(modelsFrom('claude', undefined, [mine, claude])).toBe(claude);
    expect(modelsFrom('acp', gone, [gone, claude])).toBeUndefined();
  });
});
