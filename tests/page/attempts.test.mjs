// Attempts side by side in the real browser: compared, tested, one taken and the rest discarded, and taken back. On a real
// repository, with two models that do the same differently.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { call, start_builtin } from '../e2e/harness/builtin.mjs';
import { Repository } from '../e2e/harness/repository.mjs';
import { suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const writes = (text) => [call('write', { path: 'result.txt', content: `${text}\n` }), { text: `I wrote ${text}.` }];
const row = (page, id) => page.locator(`[data-attempt="${id}"]`);
const state = (page, id, wanted) => until(async () => (await row(page, id).getAttribute('data-state')) === wanted, { what: `${id} is ${wanted}` });

describe('attempts', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  async function two(t) {
    const own = await start_builtin(t);
    const repo = new Repository(t);
    own.model.rule('write the result', writes('good'), { model: 'model-a' });
    const [first, ...rest] = writes('bad');
    own.model.rule('write the result', [{ wait: 'b', ...first }, ...rest], { model: 'model-b' });
    const { batch_id, tasks } = await own.server.expect(201, 'POST', '/api/batches', {
      agents: [{ agent_id: 'builtin', model: 'model-a' }, { agent_id: 'builtin', model: 'model-b' }],
      launch: { message: 'write the result', work_dir: repo.top, permission: 'allow' },
    });
    return { ...own, repo, batch: batch_id, a: tasks[0].id, b: tasks[1].id };
  }

  test('are compared live, tested, and one is taken while the other is discarded; both can be taken back', async (t) => {
    const { server, model, repo, batch, a, b } = await two(t);
    await server.at_rest(a);
    await model.waiting('b');
    await server.when(b, (task) => task.isolation?.state === 'ready');
    const person = await browser.person(t, server);
    const page = await person.login(`/tasks?batch=${batch}`);
    await page.getByRole('link', { name: 'Compare attempts' }).click();
    await row(page, a).getByText('1 file').waitFor();
    await row(page, a).getByText('model-a').waitFor();
    const take = (id) => row(page, id).getByRole('button', { name: 'Take this one' });
    assert.ok(await take(a).isDisabled(), 'the other one is at work');
    model.release('b');
    await row(page, b).getByText('1 file').waitFor();
    await until(async () => !(await take(a).isDisabled()), { what: 'both have ended' });
    await check_accessible(page, 'attempts');

    await page.getByLabel('Test command').fill('touch leftover.txt; grep -q good result.txt');
    await page.getByRole('button', { name: 'Run the test' }).click();
    await row(page, a).locator('[data-test=passed]').waitFor();
    await row(page, b).locator('[data-test=failed]').getByText('Exit code 1').waitFor();
    await shot(page, 'attempts');

    await take(a).click();
    const message = page.getByLabel('Commit message');
    await until(async () => (await message.inputValue()) === 'write the result\n\nI wrote good.', { what: 'the message is made' });
    await check_accessible(page, 'the dialog');
    await message.fill('The good one');
    await page.getByRole('dialog').getByRole('button', { name: 'Take this one' }).click();
    await state(page, a, 'merged');
    await state(page, b, 'discarded');
    assert.equal(repo.git('log', '-1', '--format=%s'), 'The good one\n');
    assert.equal(repo.read('result.txt'), 'good\n');
    assert.ok(!repo.has('leftover.txt'));

    await row(page, b).getByRole('button', { name: 'Bring them back' }).click();
    await state(page, b, 'ready');
    await row(page, a).getByRole('button', { name: 'Undo the merge' }).click();
    await state(page, a, 'ready');
    assert.ok(!repo.has('result.txt'));
    // What it printed is a click away.
    await row(page, b).locator('[data-test=failed]').click();
    await page.waitForURL(/tab=log/);
  });

  test('are started from the form of a new task, which leads to where they are compared', async (t) => {
    const { server, model } = await start_builtin(t);
    const repo = new Repository(t);
    model.rule('write the result', writes('good'), { model: 'model-a' });
    model.rule('write the result', writes('bad'), { model: 'model-b' });
    const person = await browser.person(t, server);
    const page = await person.login('/chat?agentId=builtin');
    await page.getByRole('button', { name: 'Options' }).click();
    const options = page.getByTestId('launch-options');
    await options.getByLabel('Model', { exact: true }).fill('model-a');
    await options.getByLabel('Permissions').selectOption('allow');
    await options.getByRole('button', { name: 'Add an agent' }).click();
    await options.getByRole('button', { name: 'Add an agent' }).click();
    await options.getByLabel('Agent of attempt 2').selectOption('builtin');
    await options.getByLabel('Model of attempt 2').fill('model-b');
    await options.getByLabel('Set-up command of a worktree').fill('echo prepared; touch prepared.txt');
    await check_accessible(page, 'the form with attempts');
    await shot(page, 'attempts-form');
    await options.getByRole('button', { name: 'Remove attempt 3' }).click();
    await page.getByTestId('isolated').filter({ hasText: '2 attempts' }).waitFor();
    await page.getByTestId('folder-chip').click();
    await page.getByTestId('folder-choice').getByLabel('Working folder').fill(repo.top);
    await page.getByPlaceholder('What should be done?').fill('write the result');
    await page.getByRole('button', { name: 'Start 2 attempts' }).click();
    await page.waitForURL(/\/attempts\?batch=/);
    await page.getByText('model-b').waitFor();
    const { tasks } = await server.get('/api/tasks');
    assert.equal(tasks.length, 2);
    for (const { id } of tasks) assert.equal((await server.at_rest(id)).isolation.state, 'ready');
    for (const { id } of tasks) await row(page, id).getByText('1 file').waitFor();
    // What prepared a worktree can be read with its changes.
    await page.goto(`${server.url}/chat?taskId=${tasks[0].id}&tab=changes`);
    await page.getByTestId('set-up-log').getByText('Output of the set-up command').click();
    await page.getByTestId('set-up-log').getByText('prepared').last().waitFor();
  });

  test('say what is in the way, in Chinese too, and change nothing then', async (t) => {
    const { server, model, repo, batch, a, b } = await two(t);
    model.release('b');
    await server.at_rest(a);
    await server.at_rest(b);
    repo.write('result.txt', 'mine\n');
    const head = repo.head();
    const person = await browser.person(t, server);
    person.allowed = /409/; // Refusals are what this is about.
    const page = await person.login(`/attempts?batch=${batch}`);
    await row(page, a).waitFor();
    await page.getByTestId('language').click();
    await row(page, a).getByRole('button', { name: '采用此方案' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '采用此方案' }).click();
    await page.getByTestId('refusal').getByText('result.txt').waitFor();
    assert.equal(repo.head(), head);
    assert.equal(repo.read('result.txt'), 'mine\n');
    assert.equal((await server.task(b)).isolation.state, 'ready');
    await page.keyboard.press('Escape');
    // Of a batch of other tasks there is nothing to compare.
    const other = await server.run('true', { batch_id: 'new' });
    await page.goto(`${server.url}/attempts?batch=${other.batch_id}`);
    await page.getByRole('heading', { name: '没有可以对比的内容。' }).waitFor();
  });
});
