// Leaving and coming back loses and doubles nothing (R5.6): reload, several tabs, a killed server; and who may see it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { errand } from '../e2e/harness/cli.mjs';
import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, until } from './harness/browser.mjs';

const connection = (page, wanted) => until(async () => (await page.getByTestId('connection').getAttribute('data-state')) === wanted, { what: `the connection is ${wanted}` });
// The demo counts "1 of N s", "2 of N s", ...: every number once, in order, is what nothing lost and nothing doubled means.
async function counted(page) {
  const text = await page.getByTestId('transcript').innerText();
  return [...text.matchAll(/(\d+) of \d+ s/g)].map((match) => Number(match[1]));
}
const is_whole = (numbers) => numbers.every((n, i) => n === i + 1);

describe('coming back', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('a reload in the middle of a sentence goes on from exactly there', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const task = await server.ask('long 6');
    const page = await person.login(`/chat?taskId=${task.id}`);
    for (const least of [1, 3]) {
      await until(async () => (await counted(page)).length >= least, { what: `${least} seconds are shown` });
      await page.reload();
    }
    await page.getByText('I worked for 6 s.').waitFor();
    const numbers = await counted(page);
    assert.ok(numbers.length === 6 && is_whole(numbers), String(numbers));
  });

  test('a database that was deleted is said on the page, in English and Chinese, and the tasks can still be read', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.expects_failures = true;
    const task = await server.ask('hello');
    await server.at_rest(task.id);
    const page = await person.login('/tasks');
    await page.locator(`[data-task="${task.id}"]`).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    fs.rmSync(path.join(server.data_dir, 'errand.db'));
    assert.equal((await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' })).status, 503);
    await page.reload();
    const alert = page.getByRole('alert');
    await alert.getByText('The database file was deleted or replaced while the server was running', { exact: false }).waitFor();
    await alert.getByText('errand.db.rescued', { exact: false }).first().waitFor();
    await page.locator(`[data-task="${task.id}"]`).waitFor();
    await check_accessible(page, 'a page that says what is the matter');
    await page.getByTestId('language').click();
    await alert.getByText('数据库在服务器运行时被删除或替换', { exact: false }).waitFor();
  });

  test('a killed server comes back, and every tab goes on with nothing lost and nothing doubled', async (t) => {
    const server = await Server.start(t, { keep_port: true });
    const person = await browser.person(t, server);
    person.expects_failures = true;
    const task = await server.ask('long 8');
    const chat = await person.login(`/chat?taskId=${task.id}`);
    const list = await person.tab('/tasks');
    await list.locator(`[data-task="${task.id}"]`).waitFor();
    await until(async () => (await counted(chat)).length >= 2, { what: 'it works' });
    await server.kill9();
    await connection(chat, 'broken');
    await connection(list, 'broken');
    // What was being written is not lost, though it cannot be sent now.
    await chat.locator('form textarea').fill('after the crash');
    await chat.keyboard.press('Enter');
    await chat.getByText('The server cannot be reached.', { exact: false }).waitFor();
    assert.equal(await chat.locator('form textarea').inputValue(), 'after the crash');
    await server.start();
    await connection(chat, 'live');
    await connection(list, 'live');
    await chat.getByText('I worked for 8 s.').waitFor();
    const numbers = await counted(chat);
    assert.ok(numbers.length === 8 && is_whole(numbers), String(numbers));
    await until(async () => (await list.locator(`[data-task="${task.id}"] [data-shows]`).getAttribute('data-shows')) === 'completed', { what: 'the list knows too' });
    await chat.locator('form textarea').press('Enter');
    await chat.locator('[data-role=user]').filter({ hasText: 'after the crash' }).waitFor();
    await server.at_rest(task.id);
    const texts = (await server.get(`/api/tasks/${task.id}/messages`)).messages.filter((message) => message.role === 'user').map((message) => message.parts[0].text);
    assert.deepEqual(texts, ['long 8', 'after the crash']);
  });

  test('a part of the page that could not be fetched comes when it can, and the page is not loaded anew', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.expects_failures = true;
    let refused = 0;
    await person.context.route(/SavedViews/, (route) => (refused++ < 1 ? route.abort('connectionrefused') : route.continue()));
    const page = await person.login('/tasks?status=failed');
    await page.evaluate(() => (window.stays = true));
    await page.getByRole('button', { name: 'Save this view' }).waitFor();
    assert.ok(refused > 0, 'it was refused once');
    assert.equal(await page.evaluate(() => window.stays), true);
  });

  test('eight tabs share one stream, and each sees what happens in the others', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const first = await person.login('/tasks');
    const tabs = [first];
    for (let i = 0; i < 7; i++) tabs.push(await person.tab('/tasks'));
    for (const page of tabs) await page.getByText('No tasks yet').waitFor();
    const task = await server.ask('noop', { title: 'seen by all' });
    for (const page of tabs) await page.locator(`[data-task="${task.id}"]`).waitFor();
    assert.equal((await server.get('/api/health')).streams, 1);
    await tabs[7].locator(`[data-task="${task.id}"]`).getByRole('button', { name: /^Delete/ }).click();
    await tabs[7].getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    for (const page of tabs) await page.getByText('No tasks yet').waitFor();
  });

  test('works where there is no shared worker', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    await person.context.addInitScript(() => delete globalThis.SharedWorker);
    const page = await person.login('/tasks');
    await connection(page, 'live');
    const task = await server.ask('tools', { title: 'live all the same' });
    await until(async () => (await page.locator(`[data-task="${task.id}"] [data-shows]`).getAttribute('data-shows')) === 'completed', { what: 'it is followed' });
  });

  test('who has no session is told how to get one, and a link opens every waiting tab', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.allowed = /401/;
    const waiting = await person.tab('/tasks');
    await waiting.getByRole('heading', { name: 'Open errand from your terminal' }).waitFor();
    await waiting.getByText('errand open', { exact: true }).waitFor();
    await check_accessible(waiting, 'locked');
    const page = await person.login('/settings');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await waiting.getByRole('heading', { name: 'Task Management' }).waitFor();
    // The code worked once.
    const printed = await errand(server, ['open', '--print']);
    const link = printed.out.trim();
    const once = await person.context.newPage();
    await once.goto(link);
    await once.getByRole('heading', { name: 'Task Management' }).waitFor();
    const stranger = await browser.person(t, server);
    stranger.allowed = /401/;
    const late = await stranger.context.newPage();
    await late.goto(link);
    await late.getByText('This code was already used or has expired', { exact: false }).waitFor();
    assert.equal(new URL(late.url()).hash, '');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Open errand from your terminal' }).waitFor();
  });
});
