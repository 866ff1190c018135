// How people keep their records, on the page (R15, issue 16 items 5, 8 and 9): what needs them first, batches as rows, rename, pin,
// archive, export, usage with plots.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { start_builtin } from '../e2e/harness/builtin.mjs';
import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, until } from './harness/browser.mjs';

const row = (page, task) => page.locator(`[data-task="${task.id}"]`);
const order = (page) => page.locator('[data-task]').evaluateAll((rows) => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((each) => each.dataset.task));
const menu_of = async (page, task, item) => {
  await row(page, task).getByRole('button', { name: /More actions/ }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

describe('records', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('What needs somebody comes first, and a permission is answered in its row', async (t) => {
    const server = await Server.start(t);
    const done = await server.at_rest((await server.run('true')).id);
    const failed = await server.at_rest((await server.run('exit 3')).id);
    const asks = await server.ask('permission please');
    await server.when(asks.id, (task) => task.waiting_for?.kind === 'permission');
    const last = await server.at_rest((await server.run('echo last')).id);
    const page = await (await browser.person(t, server)).login();
    await row(page, last).waitFor();
    await until(async () => JSON.stringify(await order(page)) === JSON.stringify([asks.id, failed.id, last.id, done.id]), { what: 'the order of R15.1' });
    await check_accessible(page, 'rows that ask');
    await row(page, asks).getByRole('button', { name: /^Allow/ }).click();
    await server.at_rest(asks.id);
    await until(async () => (await order(page))[0] === failed.id, { what: 'what was answered asks no more' });
  });

  test('A batch is one row that counts its failures and opens its tasks', async (t) => {
    const server = await Server.start(t);
    const first = await server.at_rest((await server.run('exit 4', { batch_id: 'new', title: 'The first' })).id);
    const second = await server.at_rest((await server.run('true', { batch_id: first.batch_id, title: 'The second' })).id);
    const page = await (await browser.person(t, server)).login();
    await row(page, first).waitFor();
    assert.equal(await page.locator('[data-task]').count(), 1);
    assert.match(await row(page, first).innerText(), /2 tasks: The first/);
    assert.match(await row(page, first).innerText(), /1 failed/);
    await check_accessible(page, 'a batch as a row');
    await row(page, first).getByRole('link', { name: /2 tasks/ }).click();
    await row(page, second).waitFor();
    assert.equal(await page.locator('[data-task]').count(), 2);
  });

  test('A task is renamed, pinned, archived and saved from its menu, and found again', async (t) => {
    const server = await Server.start(t);
    const one = await server.at_rest((await server.ask('hello <b>there</b>')).id);
    const two = await server.at_rest((await server.run('true')).id);
    const page = await (await browser.person(t, server)).login();
    await row(page, two).waitFor();
    await row(page, one).getByRole('button', { name: /More actions/ }).click();
    await page.getByTestId('task-menu').waitFor();
    await check_accessible(page, 'the menu');
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    await page.getByLabel('Title').fill('A better name');
    await check_accessible(page, 'renaming');
    await page.keyboard.press('Enter');
    await until(async () => /A better name/.test(await row(page, one).innerText()), { what: 'the new title' });
    assert.equal((await server.task(one.id)).title, 'A better name');

    await menu_of(page, one, 'Labels…');
    await page.getByLabel('name=value, one per line').fill('team=web\nci=yes');
    await check_accessible(page, 'labels');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until(async () => (await server.task(one.id)).labels.team === 'web', { what: 'the labels are stored' });
    await page.reload();
    await menu_of(page, one, 'Labels…');
    assert.deepEqual((await page.getByLabel('name=value, one per line').inputValue()).split('\n').sort(), ['ci=yes', 'team=web']);
    await page.getByLabel('name=value, one per line').fill('team=api');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until(async () => JSON.stringify((await server.task(one.id)).labels) === '{"team":"api"}', { what: 'one is changed, one is gone' });

    await menu_of(page, one, 'Pin to the top');
    await until(async () => (await order(page))[0] === one.id, { what: 'the pinned one is first' });
    await row(page, one).getByRole('img', { name: 'Pinned' }).waitFor();

    await menu_of(page, two, 'Archive');
    await row(page, two).waitFor({ state: 'detached' });
    await page.getByLabel('Show', { exact: true }).selectOption('archived');
    await row(page, two).waitFor();
    await menu_of(page, two, 'Unarchive');
    await page.getByLabel('Show', { exact: true }).selectOption('');
    await row(page, two).waitFor();

    const downloading = page.waitForEvent('download');
    await menu_of(page, one, 'Save as HTML');
    const saved = await (await downloading).path();
    assert.match(fs.readFileSync(saved, 'utf8'), /&lt;b&gt;there&lt;\/b&gt;/);
  });

  test('The usage page shows sums, plots and a table in both languages; an unknown price is a question mark', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.set_default({ text: 'done', usage: { input: 1000, output: 200, cache_read: 3000, cache_write: 400 } });
    await server.at_rest((await launch('hi', { model: 'claude-sonnet-4-5' })).id);
    await server.at_rest((await launch('hi', { model: 'nobody-knows-this' })).id);
    const page = await (await browser.person(t, server)).login('/usage');
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await until(async () => /≥ \$0\.0/.test(await page.getByTestId('usage-total').innerText()), { what: 'the total is at least' });
    assert.equal(await page.getByTestId('usage-plot').count(), 2);
    await page.getByLabel('Group by').selectOption('model');
    const unknown = page.locator('[data-usage="nobody-knows-this"]');
    await unknown.waitFor();
    assert.match(await unknown.innerText(), /\?$/);
    assert.doesNotMatch(await page.locator('table').innerText(), /\$0(?!\.0*[1-9])/);
    await check_accessible(page, 'usage');
    await page.getByTestId('language').click();
    await page.getByRole('heading', { name: '用量' }).waitFor();
    await check_accessible(page, 'usage in Chinese');
  });
});
