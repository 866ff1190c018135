// The pictures of the README: node tests/page/screenshots.mjs FOLDER. Not a test: run it when the page's looks change.
import fs from 'node:fs';
import path from 'node:path';

import { call, start_builtin } from '../e2e/harness/builtin.mjs';
import { Browser, until } from './harness/browser.mjs';

const folder = path.resolve(process.argv[2] ?? 'docs/screenshots');
fs.mkdirSync(folder, { recursive: true });
const undo = [];
const t = { after: (step) => undo.unshift(step), passed: true };
try {
  const { server, model, launch, write } = await start_builtin(t, { args: ['--max-concurrent', '8'] });
  write('retry.ts', 'export const waits = [1000, 1000, 1000];\nexport const most = 3;\n');
  const used = { usage: { input: 21_400, output: 1_350 }, model: 'claude-sonnet-4-5' };
  const plan = (...states) => ({ items: ['Find where uploads are retried', 'Wait longer after each failure', 'Run the tests'].map((content, i) => ({ content, status: states[i] })) });
  model.rule('uploads', [
    { reasoning: 'The waits are all equal; they should grow.', signature: 'c2ln', text: 'I look for the retries first.', ...call('grep', { pattern: 'waits', glob: '*.ts' }), ...used },
    call('todo', plan('completed', 'in_progress', 'pending'), used),
    call('read', { path: 'retry.ts' }, used),
    call('edit', { path: 'retry.ts', old_string: 'export const waits = [1000, 1000, 1000];', new_string: 'export const waits = [1000, 4000, 15000]; // ms, with jitter' }, used),
    call('bash', { command: 'npm test -- retry', description: 'Run the tests of the retries' }, { text: 'Each wait is longer than the one before now. Next the **tests**:', ...used }),
    { text: 'Done.' },
  ]);
  const browser = await Browser.open(t);
  const shows = (page, task, state) => until(async () => (await page.locator(`[data-task="${task.id}"] [data-shows]`).getAttribute('data-shows')) === state);
  const done = await server.ask('think tools usage text', { title: 'Summarise the billing service' });
  await server.at_rest(done.id);
  const release = await server.run('echo built; echo uploaded', { title: 'Upload the nightly build', batch_id: 'new' });
  const lint = await server.run('echo "src/app.ts:12: unused variable"; exit 1', { title: 'Run the linters', batch_id: release.batch_id });
  const chinese = await server.ask('text', { title: '修复登录页面的换行' });
  for (const task of [release, lint, chinese]) await server.at_rest(task.id);
  const stopped = await server.ask('long 600', { title: 'Benchmark every branch' });
  await server.cancel(stopped.id);
  await server.run('for i in $(seq 1 900); do printf "\\033[32mok\\033[0m   %s test_case_%s\\n" $i $i; [ $((i % 7)) = 0 ] && printf "\\033[33mslow\\033[0m %s took 1.2 s\\n" $i; sleep 0.2; done', { title: 'make -j2 test', batch_id: release.batch_id });
  const refactor = await server.ask('tools long 600', { title: 'Refactor the React list' });
  await server.run('sleep 600', { title: 'Collect the call sites', parent_session_id: refactor.session_id });
  const question = await server.ask('think tools usage ask', { title: 'Pick a colour for the new chart' });
  const uploads = await launch('Make the uploads wait longer after each failure', { title: 'Retry uploads with growing waits', budget: { tokens: 250_000 }, permission: [{ tool: 'edit', decision: 'allow' }, { tool: '*', decision: 'ask' }] });
  for (let i = 0; i < 3; i++) await server.ask('long 600', { title: ['Investigate the flaky docs build', 'Upgrade the CI pipeline', 'Translate the manual'][i] });
  await server.when(question.id, (task) => task.waiting_for);
  await server.when(uploads.id, (task) => task.waiting_for);
  await server.when(refactor.id, (task) => task.progress.tool_calls === 3);
  const person = await browser.person(t, server, { viewport: { width: 1280, height: 820 } });
  const page = await person.login('/tasks');
  await shows(page, question, 'needsInput');
  await page.getByRole('button', { name: 'Show subtasks: Refactor the React list' }).click();
  await page.locator('[data-depth="1"]').waitFor();
  await page.locator('[data-batch]').first().getByText('/').waitFor();
  const take = (name, from = page) => from.screenshot({ path: path.join(folder, `${name}.png`) });
  await take('tasks');
  await page.goto(`${server.url}/chat?taskId=${uploads.id}`);
  await page.getByRole('button', { name: 'Allow once' }).waitFor();
  await take('chat');
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByTestId('timeline').waitFor();
  await take('timeline');
  const command = (await server.get('/api/tasks?kind=command&status=running&q=make')).tasks[0];
  await page.goto(`${server.url}/chat?taskId=${command.id}`);
  await until(async () => (await page.getByTestId('log').innerText()).split('\n').length > 30);
  await take('log');
  await page.goto(`${server.url}/tasks`);
  await page.getByTestId('theme').click();
  await page.getByTestId('language').click();
  await shows(page, question, 'needsInput');
  await take('tasks-dark-zh');
  const phone = await browser.person(t, server, { phone: true, deviceScaleFactor: 1 });
  const small = await phone.login('/tasks');
  await shows(small, question, 'needsInput');
  await take('phone', small);
} finally {
  for (const step of undo) await step();
}
