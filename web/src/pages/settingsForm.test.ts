import { expect, it } from 'vitest';

import type { Settings } from '../api/types';
import { changeOf, formOf, wrongFields } from './settingsForm';

const settings = {
  max_concurrent: 3,
  max_memory: 1.5 * 2 ** 30,
  idle_timeout_s: 300,
  ask_timeout_s: null,
  retention_s: null,
  loop_max: 0,
  fork_tokens: 100_000,
  fork_tool_result_chars: 1500,
  wake: false,
  tools_family: 'background',
  default_agent: 'auto',
  max_per_agent: { reviewer: 2 },
  max_per_model: {},
} as unknown as Settings;

it('settings are shown in the units that people think in', () => {
  expect(formOf(settings)).toEqual({
    max_concurrent: '3',
    max_memory: '1.5',
    idle_timeout_s: '5',
    ask_timeout_s: '',
    retention_s: '',
    loop_max: '',
    fork_tokens: '100000',
    fork_tool_result_chars: '1500',
    wake: false,
    tools_family: 'background',
    default_agent: 'auto',
    max_per_agent: 'reviewer = 2',
    max_per_model: '',
  });
});

it('limits by name are lines, and a line that is none is said before it is sent', () => {
  const form = formOf(settings);
  expect(changeOf({ ...form, max_per_agent: 'reviewer = 2\n\n my agent=3 ' }, settings)).toEqual({
    max_per_agent: { reviewer: 2, 'my agent': 3 },
  });
  expect(changeOf({ ...form, max_per_agent: '' }, settings)).toEqual({ max_per_agent: {} });
  for (const wrong of ['reviewer', 'reviewer = 0', '= 3', 'a = b'])
    expect(wrongFields({ ...form, max_per_model: wrong })).toEqual(['max_per_model']);
});

it('only what was changed is sent', () => {
  const form = formOf(settings);
  expect(changeOf(form, settings)).toEqual({});
  expect(changeOf({ ...form, max_concurrent: '5', retention_s: '1,5', wake: true }, settings)).toEqual({
    max_concurrent: 5,
    retention_s: 129_600,
    wake: true,
  });
  expect(changeOf({ ...form, idle_timeout_s: '' }, settings)).toEqual({ idle_timeout_s: 0 });
  expect(changeOf({ ...form, max_memory: '2' }, settings)).toEqual({ max_memory: 2 ** 31 });
  expect(changeOf({ ...form, tools_family: 'bgagent' }, settings)).toEqual({ tools_family: 'bgagent' });
  expect(changeOf({ ...form, default_agent: 'claude' }, settings)).toEqual({ default_agent: 'claude' });
});

it('what is no number is said, and not sent', () => {
  const form = { ...formOf(settings), max_concurrent: '', loop_max: 'x' };
  expect(wrongFields(form)).toEqual(['max_concurrent', 'loop_max']);
  expect(changeOf(form, settings)).toEqual({});
});
