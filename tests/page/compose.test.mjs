// What goes with a message and beside it in the real browser: files, names of files, launch options, the conversations, and
// where the page's own messages stand.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const task_id = (page) => new URL(page.url()).searchParams.get('taskId');
const box = (page) => page.locator('form textarea');
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64');
const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe('writing to a task', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('files are picked, pasted and dropped, shown before they are sent, and reach the task', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login('/chat?agentId=demo');
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: pixel },
      { name: 'notes.md', mimeType: '', buffer: Buffer.from('# notes') },
    ]);
    await page.locator('[data-attached="notes.md"]').waitFor();
    const give = (kind, name) =>
      page.evaluate(
        ([event, called]) => {
          const data = new DataTransfer();
          data.items.add(new File(['hello'], called, { type: 'text/plain' }));
          const target = document.querySelector('form textarea');
          target.dispatchEvent(
            event === 'paste'
              ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
              : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
          );
        },
        [kind, name],
      );
    await give('paste', 'pasted.txt');
    await page.locator('[data-attached="pasted.txt"]').waitFor();
    await give('drop', 'dropped.txt');
    await page.locator('[data-attached="dropped.txt"]').waitFor();
    await page.getByRole('button', { name: 'Remove dropped.txt' }).click();
    await check_accessible(page, 'a message with files');
    await shot(page, 'attached');
    await box(page).fill('text with files');
    await page.keyboard.press('Enter');
    await until(() => task_id(page), { what: 'the task is there' });
    const sent = (await server.get(`/api/tasks/${task_id(page)}/messages`)).messages[0].parts;
    assert.deepEqual(
      sent.map((part) => (part.type === 'file' ? `${part.name} ${part.media_type} ${part.url.slice(0, 22)}` : part.text)),
      ['text with files', 'dot.png image/png data:image/png;base64,', 'notes.md text/plain data:text/plain;base64', 'pasted.txt text/plain data:text/plain;base64'].map((each) => each.replace(/(data:.{17}).*/, '$1')),
    );
    assert.equal(Buffer.from(sent[2].url.split(',')[1], 'base64').toString(), '# notes');
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    // A further message of a task that is there.
    await server.at_rest(task_id(page));
    await page.locator('input[type=file]').setInputFiles([{ name: 'more.txt', mimeType: 'text/plain', buffer: Buffer.from('more') }]);
    await box(page).fill('text again');
    await page.keyboard.press('Enter');
    await until(async () => (await server.get(`/api/tasks/${task_id(page)}/messages`)).messages.some((each) => each.parts.some((part) => part.name === 'more.txt')), { what: 'it went with the message' });
    await until(async () => (await page.locator('[data-attached]').count()) === 0, { what: 'it is no draft any more' });
    // What is too much is said.
    await page.locator('input[type=file]').setInputFiles([{ name: 'big.bin', mimeType: '', buffer: Buffer.alloc(5_000_001) }]);
    await page.getByText('can have at most 5.0 MB together').waitFor();
    assert.equal(await page.locator('[data-attached]').count(), 0);
  });

  test('an @ completes files of the folder, by the keyboard', async (t) => {
    const server = await Server.start(t);
    const folder = path.join(server.folder, 'project');
    fs.mkdirSync(path.join(folder, 'source'), { recursive: true });
    for (const name of ['setup.md', 'source/main.cc', 'source/many.cc']) fs.writeFileSync(path.join(folder, name), 'x');
    const task = await server.ask('text', { work_dir: folder });
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${task.id}`);
    await box(page).pressSequentially('look at @s');
    const hints = page.getByTestId('file-hints').getByRole('option');
    await until(async () => (await hints.count()) === 2, { what: 'what begins so' });
    assert.deepEqual(await hints.allInnerTexts(), ['setup.md', 'source/']);
    await check_accessible(page, 'completion of a file');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.equal(await box(page).inputValue(), 'look at @source/');
    await until(async () => (await hints.allInnerTexts()).join() === 'source/main.cc,source/many.cc', { what: 'what is in the folder' });
    await page.keyboard.press('Tab');
    assert.equal(await box(page).inputValue(), 'look at @source/main.cc ');
    assert.equal(await hints.count(), 0);
    // Whoever wants no help sends what is written.
    await box(page).pressSequentially('and @se');
    await hints.first().waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.locator('[data-role=user]').filter({ hasText: 'look at @source/main.cc and @se' }).waitFor();
  });

  test('a command has every option of a launch', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login('/chat?agentId=command');
    await page.getByRole('button', { name: 'Options' }).click();
    await page.getByText('More options').click();
    await page.getByRole('textbox', { name: 'Title' }).fill('Say it');
    await page.getByRole('textbox', { name: /^Environment/ }).fill('WORD=hello\nOTHER=there');
    await page.getByRole('textbox', { name: /^Files to keep/ }).fill('*.txt');
    await check_accessible(page, 'the options of a command');
    await shot(page, 'command-options');
    await box(page).fill('echo "$WORD $OTHER"');
    await page.keyboard.press('Enter');
    await until(() => task_id(page), { what: 'the task is there' });
    const done = await server.at_rest(task_id(page));
    assert.equal(done.title, 'Say it');
    assert.equal(done.result.trim(), 'hello there');
  });

  test('conversations stand beside the chat where there is room, live, and can be put away', async (t) => {
    const server = await Server.start(t);
    const first = await server.ask('text', { title: 'the first talk' });
    await server.run('true', { title: 'no talk at all' });
    await server.at_rest(first.id);
    const person = await browser.person(t, server);
    const page = await person.login(`/chat?taskId=${first.id}`);
    const list = page.getByTestId('conversations');
    await list.getByRole('link', { name: /the first talk/ }).waitFor();
    assert.equal(await list.locator('[aria-current=page]').getAttribute('data-conversation'), first.id);
    const second = await server.ask('ask', { title: 'the second talk' });
    await list.getByRole('link', { name: /the second talk/ }).click();
    await page.getByRole('heading', { name: 'the second talk' }).waitFor();
    await until(async () => /Needs input/.test(await list.locator(`[data-conversation="${second.id}"]`).innerText()), { what: 'its state is live' });
    assert.equal(await list.getByText('no talk at all').count(), 0);
    await check_accessible(page, 'conversations beside a chat');
    await shot(page, 'conversations');
    await list.getByRole('button', { name: 'Hide the conversations' }).click();
    await list.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('button', { name: 'Show the conversations' }).click();
    await list.waitFor();
    const small = await (await browser.person(t, server, { phone: true })).login(`/chat?taskId=${first.id}`);
    await small.getByTestId('transcript').waitFor();
    assert.equal(await small.getByTestId('conversations').count(), 0);
  });

  test('a message of the page covers neither Send nor what is pressed above', async (t) => {
    const server = await Server.start(t);
    for (const phone of [false, true]) {
      const person = await browser.person(t, server, { phone });
      person.allowed = /404|409/;
      const task = await server.ask('long 600');
      const page = await person.login(`/chat?taskId=${task.id}`);
      await page.locator('header [data-shows=running]').waitFor();
      await page.locator('input[type=file]').setInputFiles([{ name: 'big.bin', mimeType: '', buffer: Buffer.alloc(5_000_001) }]);
      const told = await page.getByRole('alert').filter({ hasText: 'at most' }).boundingBox();
      for (const button of [page.getByRole('button', { name: 'Send' }), page.getByRole('button', { name: 'Cancel' }), box(page)])
        assert.equal(overlap(told, await button.boundingBox()), false, `${phone ? 'phone' : 'desktop'}: ${JSON.stringify(told)}`);
      await shot(page, phone ? 'told-phone' : 'told');
      await server.cancel(task.id);
    }
  });

  test('the timeline tells model, tools and waiting apart, also on a phone', async (t) => {
    const server = await Server.start(t);
    const task = await server.ask('think tools ask text');
    await server.when(task.id, (each) => each.waiting_for);
    const page = await (await browser.person(t, server, { phone: true })).login(`/chat?taskId=${task.id}&tab=timeline`);
    await page.getByTestId('timeline').waitFor();
    await until(async () => (await page.locator('[data-spent=wait]').count()) > 0, { what: 'it waits' });
    assert.match(await page.getByTestId('spent').innerText(), /Model[\s\S]*Tools[\s\S]*Waiting/);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `the page is ${wide} px wide`);
    // A name has the width of the screen, not a column of it.
    const name = await page.locator('[data-span=ask] > span').first().boundingBox();
    assert.ok(name.width > 300, `${name.width}`);
    await check_accessible(page, 'the timeline on a phone');
    await shot(page, 'timeline-phone');
  });
});
