import { expect, it } from 'vitest';

import { attemptsOf, changed, launchOf, modelsOf, noOptions, textsOf, wordsOf } from './launch';

const demo = { id: 'demo', driver: 'demo' };
const shell = { id: 'command', driver: 'command' };

it('a launch says what was set and nothing else', () => {
  expect(launchOf('hi', demo, noOptions)).toEqual({ agent_id: 'demo', message: 'hi', surface: 'page' });
  expect(launchOf('ls', shell, noOptions)).toEqual({ kind: 'command', command: 'ls', surface: 'page' });
  expect(
    launchOf('hi', demo, {
      ...noOptions,
      folder: ' /src/app ',
      folders: '/a\n\n /b\n',
      model: 'm',
      permission: 'ask',
      cost: '2,5',
      minutes: '1.5',
      skills: true,
      mcp: true,
      sandbox: 'strict',
    }),
  ).toEqual({
    agent_id: 'demo',
    message: 'hi',
    surface: 'page',
    work_dir: '/src/app',
    add_dirs: ['/a', '/b'],
    model: 'm',
    permission: 'ask',
    budget: { cost_usd: 2.5 },
    timeout_s: 90,
    enable_skills: true,
    enable_mcp: true,
  });
  expect(launchOf('ls', shell, { ...noOptions, model: 'm', sandbox: 'strict', cost: '1' })).toEqual({
    kind: 'command',
    command: 'ls',
    surface: 'page',
    sandbox: 'strict',
  });
});

it('what is no number is not sent', () => {
  for (const text of ['', ' ', 'x', '-1', '0', '1e999'])
    expect(launchOf('hi', demo, { ...noOptions, cost: text, minutes: text })).toEqual({
      agent_id: 'demo',
      message: 'hi',
      surface: 'page',
    });
});

it('a fork names the conversation and the message that it begins behind', () => {
  expect(launchOf('go', demo, noOptions, { session: 'ses_1', message: 'msg_2' })).toEqual({
    agent_id: 'demo',
    message: 'go',
    surface: 'page',
    fork: true,
    parent_session_id: 'ses_1',
    parent_message_id: 'msg_2',
  });
});

it('each line is a task where that is asked for', () => {
  expect(textsOf('a\n\n b \nc', { ...noOptions, perLine: true })).toEqual(['a', 'b', 'c']);
  expect(textsOf('a\nb', noOptions)).toEqual(['a\nb']);
  expect(changed(noOptions)).toBe(0);
  expect(changed({ ...noOptions, mcp: true, cost: '1' })).toBe(2);
});

it('a command has every option of a launch', () => {
  expect(
    launchOf('make', shell, {
      ...noOptions,
      title: ' Build ',
      idle: '2',
      env: 'CC=clang\nFLAGS=-O2 -g = \n\nnonsense\n1X=no',
      artifacts: '*.log\n\nout/**',
      notify: 'error:\n/warn.*/i',
      cpu: '60',
      memory: '512',
      processes: '10',
      priority: '-5',
      interactive: true,
      isolate: 'dirty',
    }),
  ).toEqual({
    kind: 'command',
    command: 'make',
    surface: 'page',
    title: 'Build',
    idle_timeout_s: 120,
    env: { CC: 'clang', FLAGS: '-O2 -g = ' },
    artifacts: ['*.log', 'out/**'],
    notify_on: ['error:', '/warn.*/i'],
    limits: { cpu_s: 60, memory_bytes: 512_000_000, processes: 10 },
    priority: -5,
    allow_interactive: true,
    isolate: 'worktree',
    isolate_base: 'dirty',
  });
  expect(launchOf('make', shell, { ...noOptions, priority: 'x', cpu: '-1', env: '=' })).toEqual({
    kind: 'command',
    command: 'make',
    surface: 'page',
  });
});

it('a command has the rare options too, and what is no number is left out', () => {
  expect(
    launchOf('make', shell, {
      ...noOptions,
      description: 'Nightly',
      labels: 'team = web\nci:yes\n=none\nempty=',
      passEnv: 'SSH_AUTH_SOCK\n\nLANG',
      hang: 'restart',
      restarts: '2',
      progress: '5',
      keep: '0.5',
      files: '64',
      output: '1,5',
      nice: '-3',
      overLimit: true,
      tokens: '9', // Of agents.
    }),
  ).toEqual({
    kind: 'command',
    command: 'make',
    surface: 'page',
    description: 'Nightly',
    labels: { team: 'web', ci: 'yes' },
    pass_env: ['SSH_AUTH_SOCK', 'LANG'],
    on_hang: 'restart',
    max_restarts: 2,
    progress_every_s: 300,
    retention_s: 43_200,
    limits: { open_files: 64, output_bytes: 1_500_000, nice: -3 },
    authorize_over_limit: true,
  });
  expect(launchOf('make', shell, { ...noOptions, hang: 'fail', restarts: '2', nice: 'x', keep: '0' })).toEqual({
    kind: 'command',
    command: 'make',
    surface: 'page',
    on_hang: 'fail',
  });
  expect(launchOf('hi', demo, { ...noOptions, cost: '1', tokens: '1000', turns: '2', calls: '3.2' }).budget).toEqual({
    cost_usd: 1,
    tokens: 1000,
    turns: 2,
    tool_calls: 4,
  });
});

it('a task can be told to work in the folder itself, whatever is usual', () => {
  expect(launchOf('hi', demo, { ...noOptions, isolate: 'none' })).toMatchObject({ isolate: 'none' });
  expect(launchOf('hi', demo, { ...noOptions, isolate: 'none' })).not.toHaveProperty('isolate_base');
});

it('files go with the words', () => {
  const file = { name: 'a.png', media_type: 'image/png', url: 'data:image/png;base64,AA==' };
  expect(wordsOf('look', [])).toEqual({ message: 'look' });
  expect(wordsOf('look', [file])).toEqual({
    content: [
      { type: 'text', text: 'look' },
      { type: 'file', ...file },
    ],
  });
  expect(launchOf('look', demo, noOptions, undefined, [file])).not.toHaveProperty('message');
});

it('models are those that the agent is known to have worked with', () => {
  const of = (agent_id: string, model: string | null) => ({ agent_id, model });
  const tasks = [of('a', 'one'), of('b', 'other'), of('a', null), of('a', 'two'), of('a', 'one'), of('a', '')];
  expect(modelsOf({ id: 'a', model: 'own' }, tasks)).toEqual(['own', 'one', 'two']);
  expect(modelsOf({ id: 'c', model: null }, tasks)).toEqual([]);
  expect(modelsOf(undefined, tasks)).toEqual([]);
});

it('attempts are one launch for several agents, without what is theirs', () => {
  const others = [
    { agent: 'builtin', model: ' m2 ' },
    { agent: 'claude', model: '' },
  ];
  expect(attemptsOf('fix it', demo, { ...noOptions, model: 'm1', folder: '/src', setup: 'npm ci', others })).toEqual({
    agents: [{ agent_id: 'demo', model: 'm1' }, { agent_id: 'builtin', model: 'm2' }, { agent_id: 'claude' }],
    launch: { message: 'fix it', surface: 'page', work_dir: '/src', isolate_setup: 'npm ci' },
  });
  expect(attemptsOf('x', demo, { ...noOptions, isolate: 'dirty', others }).launch).toEqual({
    message: 'x',
    surface: 'page',
    isolate_base: 'dirty',
  });
  expect(changed({ ...noOptions, others })).toBe(1);
});

it('a set-up command is for a new worktree only', () => {
  const setup = ' npm ci ';
  expect(launchOf('hi', demo, { ...noOptions, setup })).toEqual({ agent_id: 'demo', message: 'hi', surface: 'page' });
  expect(launchOf('hi', demo, { ...noOptions, setup, isolate: 'none' })).not.toHaveProperty('isolate_setup');
  expect(launchOf('hi', demo, { ...noOptions, setup, isolate: 'head' })).toMatchObject({
    isolate: 'worktree',
    isolate_setup: 'npm ci',
  });
});
