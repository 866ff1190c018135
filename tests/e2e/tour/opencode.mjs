// Records the tour of docs/opencode.md: node tests/e2e/tour/opencode.mjs
// The real errand and the real OpenCode in a terminal (script(1)), one command after the other, as a new user types them. What
// the model says comes from a script: there is none here. Prints what the terminal showed, without colours.
// Needs what scripts/test sets up (ERRAND_E2E_TOOLS, ERRAND_BIN).
import { spawnSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { start_model } from '../../model/server.mjs';
import { call, opencode_binary, opencode_config, opencode_env } from '../harness/opencode.mjs';
import { kill9, processes } from '../harness/processes.mjs';
import { binary, temporary_folder } from '../harness/server.mjs';
import { until } from '../harness/wait.mjs';

const undo = [];
const t = { after: (step) => undo.push(step), passed: true };
const model = await start_model();
undo.push(() => model.close());
const folder = temporary_folder(t, 'tour');
const project = path.join(folder, 'parser');
const bin = path.join(folder, 'bin');
for (const made of [project, bin]) fs.mkdirSync(made, { recursive: true });
fs.symlinkSync(opencode_binary, path.join(bin, 'opencode'));
fs.symlinkSync(path.resolve(binary), path.join(bin, 'errand'));
fs.writeFileSync(path.join(project, 'README.md'), '# parser\n\nReads configuration files: a lexer, a parser, a checker.\n');
fs.writeFileSync(path.join(project, 'Makefile'), 'test:\n\t@for n in 1 2 3 4 5; do echo "test $$n of 5: ok"; sleep 1; done; echo "5 tests, 0 failures"\n');
const env = opencode_env(folder, { PATH: `${bin}:${process.env.PATH}`, OPENCODE_CONFIG_CONTENT: JSON.stringify(opencode_config(model)), ERRAND_LISTEN: '127.0.0.1:0', TERM: 'xterm-256color', COLUMNS: '110' });

const plain = (text) =>
  text
    .replace(/\x1b\][^\x07\x1b]*(\x07|\x1b\\)/g, '')
    .replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
    .replace(/\r+\n/g, '\n')
    .replace(/^.*\r/gm, '')
    .replaceAll(folder, '~')
    .trimEnd();

async function type(command) {
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let shown = '';
  child.stdout.on('data', (chunk) => (shown += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  console.log(`$ ${command}\n${plain(shown)}\n`);
  return plain(shown);
}

const quiet = (...words) => spawnSync('errand', words, { cwd: project, env, encoding: 'utf8' }).stdout;
const at_rest = () => until(() => JSON.parse(quiet('list', '--json')).tasks.every((task) => ['completed', 'failed', 'cancelled'].includes(task.status)), { what: 'all is done', within: 120_000 });

model.rule('Run the tests in the background', [
  call('background_execute', { command: 'make test', description: 'the tests' }),
  call('read', { filePath: path.join(project, 'README.md') }),
  { text: 'The tests run in the background. Meanwhile: this project reads configuration files, in three steps (lexer, parser, checker).' },
], { tools: true });
model.rule('Have a fork of you', [
  call('background_task', { description: 'docs for the checker', agent: 'opencode', fork: true, prompt: 'Write a paragraph about the checker into CHECKER.md.' }),
  { text: 'A fork of this conversation writes it.' },
], { tools: true });
model.rule('Write a paragraph about the checker', [
  call('write', { filePath: path.join(project, 'CHECKER.md'), content: 'The checker is the last of the three steps.\n' }),
  { text: 'CHECKER.md says what the checker is for.' },
], { tools: true });

try {
  await type('errand opencode install');
  await type('opencode run "Run the tests in the background, and tell me what this project is."');
  await type('errand list');
  await type('opencode run -c "Have a fork of you document the checker."');
  await at_rest();
  const ids = JSON.parse(quiet('list', '--json')).tasks.map((task) => task.id);
  model.rule('And what came of it', [call('background_output', { task_id: ids.at(-1) }), { text: 'All five tests passed, and the checker is documented in CHECKER.md.' }], { tools: true });
  await type('errand list');
  await type('opencode run -c "And what came of it?"');
  await type(`errand output ${ids[0].slice(0, 18)}`);
} finally {
  // What was started in this folder: the server, its supervisor, its OpenCode.
  const ours = () => processes().filter((p) => p.state !== 'Z' && p.argv.some((word) => word.includes(folder)));
  for (const { pid } of ours()) kill9(pid);
  await until(() => ours().length === 0, { what: 'nothing is left', within: 30_000 });
  for (const step of undo.reverse()) await step();
}
