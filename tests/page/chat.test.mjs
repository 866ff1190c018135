// The Chat page in the real browser (R10.7, R5.1, R5.2, R5.6): from the first message to the last.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const status = (page, wanted) => until(async () => (await page.locator('header [data-shows]').getAttribute('data-shows')) === wanted, { what: `it shows ${wanted}` });
const transcript = (page) => page.getByTestId('transcript');
const task_id = (page) => new URL(page.url()).searchParams.get('taskId');
const send = async (page, text) => {
  await page.locator('form textarea').fill(text);
  await page.keyboard.press('Enter');
};

describe('the Chat page', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('makes the task of the first message, shows its work, asks, and goes on with the answer', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login('/tasks');
    await page.getByRole('link', { name: 'New Task' }).first().click();
    await page.getByRole('heading', { name: 'New task' }).waitFor();
    // Only the demonstration is there: the page says what is missing.
    await page.getByTestId('first-visit').getByText('errand setup', { exact: true }).waitFor();
    await page.getByTestId('first-visit').getByText(/builtin: No model is configured/).waitFor();
    await check_accessible(page, 'a new chat');
    await shot(page, 'new');
    await send(page, 'think tools usage ask text');
    await until(() => task_id(page), { what: 'the address names the task' });
    await status(page, 'needsInput');
    // Reasoning is folded; tools are one line each until they are opened.
    await page.getByTestId('reasoning').waitFor();
    assert.equal(await page.getByText('The user wants to see reasoning').isVisible(), false);
    await page.getByTestId('reasoning').getByText('Reasoning', { exact: true }).click();
    await page.getByText('The user wants to see reasoning').waitFor();
    assert.deepEqual(await page.locator('[data-tool]').evaluateAll((all) => all.map((each) => `${each.dataset.tool} ${each.dataset.state}`)), ['list done', 'read done', 'run failed']);
    await page.locator('[data-tool=run] button').first().click();
    await page.getByText("No rule to make target 'test'").waitFor();
    assert.match(await page.getByTestId('usage').innerText(), /1\.5K tokens[\s\S]*\$0\.0087[\s\S]*3 tool calls/);
    await check_accessible(page, 'a question in a chat');
    await shot(page, 'chat');
    await page.getByRole('button', { name: 'blue' }).click();
    await page.getByText('You chose blue').waitFor();
    await status(page, 'completed');
    await page.locator('[data-ask][data-open=false]').getByText('blue', { exact: true }).waitFor();
    // A screen reader is told at the boundaries, and the transcript itself is silent.
    await page.getByRole('status').filter({ hasText: 'is done.' }).waitFor({ state: 'attached' });
    assert.equal(await transcript(page).getAttribute('aria-live'), 'off');
    // The question stands where it was asked.
    const text = await transcript(page).innerText();
    assert.ok(text.indexOf('all made up') < text.indexOf('Which colour') && text.indexOf('Which colour') < text.indexOf('You chose'), text);
    await page.locator('[data-ask]').waitFor();
    await page.reload();
    await page.getByText('You chose blue').waitFor();
    await page.locator('[data-ask][data-open=false]').getByText('blue', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await until(async () => /Turn 1[\s\S]*list[\s\S]*read[\s\S]*run[\s\S]*Question/.test(await page.getByTestId('timeline').innerText()), { what: 'the timeline has all of it' });
    await check_accessible(page, 'the timeline');
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.getByText(task_id(page)).waitFor();
    await check_accessible(page, 'the details');
  });

  test('obeys a permission that is given, and one that is denied', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const task = await server.ask('permission');
    const page = await person.login(`/chat?taskId=${task.id}`);
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('You did not allow it').waitFor();
    const second = await server.ask('permission');
    await page.goto(`${server.url}/chat?taskId=${second.id}`);
    await page.getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('You allowed it').waitFor();
    await page.getByText('Allowed.').waitFor();
  });

  test('takes messages while it works, shows which are not read, resumes, retries and cancels', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const task = await server.ask('long 600');
    const page = await person.login(`/chat?taskId=${task.id}`);
    await status(page, 'running');
    await page.getByRole('combobox', { name: 'When the agent reads it' }).selectOption('queue');
    await send(page, 'then the docs');
    const message = page.locator('[data-role=user]').filter({ hasText: 'then the docs' });
    await message.getByText('Not read yet · after this turn').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await status(page, 'cancelled');
    await page.getByText('Cancelled. Retry starts it again.').waitFor();
    await check_accessible(page, 'a cancelled chat');

    await page.goto(`${server.url}/chat?agentId=demo`);
    await send(page, 'text one');
    await status(page, 'completed');
    await page.getByText('Send help to see what else I can show.').waitFor();
    await send(page, 'fail now');
    await status(page, 'failed');
    await page.getByText('demo_failure').waitFor();
    await page.getByText('Turn 2').waitFor();
    assert.equal((await server.task(task_id(page))).resume_count, 1);
    await page.locator('header').getByRole('button', { name: 'Retry' }).click();
    await until(async () => (await server.task(task_id(page))).attempt === 2, { what: 'a new attempt' });
    await server.at_rest(task_id(page));
    const id = task_id(page);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Task Management' }).waitFor();
    await page.goto(`${server.url}/chat?taskId=${id}`);
    person.allowed = /404/;
    await page.getByText('This task no longer exists.').waitFor();
  });

  test('streams a long answer without being jerked about, and jumps to the latest', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const task = await server.ask('text '.repeat(16));
    const page = await person.login(`/chat?taskId=${task.id}`);
    await page.getByText('A real agent would answer here').first().waitFor();
    await server.at_rest(task.id, { within: 30_000 });
    await status(page, 'completed');
    const from_end = () => transcript(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await until(async () => (await from_end()) < 40, { what: 'it stayed at the end' }).catch(async (error) => assert.fail(`${error.message}: ${await from_end()} px`));
    assert.ok((await page.locator('*').count()) < 900, 'only what is seen is drawn');
    await transcript(page).evaluate((box) => box.scrollTo(0, 0));
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await until(async () => (await from_end()) < 40, { what: 'it is at the end again' });
    const first = (await server.get(`/api/tasks/${task.id}/messages`)).messages[0];
    await page.goto(`${server.url}/chat?taskId=${task.id}#${first.id}`);
    await page.reload();
    await page.locator(`[data-message="${first.id}"]`).waitFor();
    assert.ok((await from_end()) > 500, 'a link to a message leads to it');
  });

  test('shows the log of a command as it grows, with colours, and finds and saves it', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const page = await person.login('/chat?agentId=command');
    await send(page, 'for i in $(seq 1 300); do printf "\\033[32mok\\033[0m line %s\\n" $i; done; sleep 600');
    await until(() => task_id(page), { what: 'the command is a task' });
    const id = task_id(page);
    await page.getByText('line 300', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await status(page, 'cancelled');
    assert.equal((await server.at_rest(id)).status, 'cancelled');
    const second = await server.run('for i in $(seq 1 300); do printf "\\033[32mok\\033[0m line %s\\n" $i; done; sleep 1; echo "the end"; echo saved > $ERRAND_ARTIFACTS/note.txt');
    await page.goto(`${server.url}/chat?taskId=${second.id}`);
    await page.getByText('the end').waitFor();
    await status(page, 'completed');
    await page.getByText('Finished with exit code 0.').waitFor();
    assert.match(await page.getByTestId('log-count').innerText(), /301 lines/);
    const green = page.getByTestId('log').getByText('ok', { exact: true }).first();
    assert.notEqual(await green.evaluate((each) => getComputedStyle(each).color), await page.getByTestId('log').evaluate((each) => getComputedStyle(each).color));
    await check_accessible(page, 'a log');
    await shot(page, 'log');
    await page.getByRole('searchbox', { name: 'Search the log' }).fill('line 29');
    await until(async () => /^11 lines/.test(await page.getByTestId('log-count').innerText()), { what: 'the search finds 29 and 290 to 299' });
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
    const text = fs.readFileSync(await saved.path(), 'utf8');
    assert.equal(text.trimEnd().split('\n').length, 301);
    await page.getByRole('tab', { name: 'Artifacts' }).click();
    const note = page.locator('[data-artifact="note.txt"]');
    await note.getByRole('button').first().click();
    await note.getByText('saved').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), note.getByRole('button', { name: /^Download/ }).click()]);
    assert.equal(fs.readFileSync(await file.path(), 'utf8'), 'saved\n');
    await check_accessible(page, 'the artifacts');
  });

  test('starts a task with the options that were set, and one for each line', async (t) => {
    const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
    const person = await browser.person(t, server);
    const page = await person.login('/chat?agentId=demo');
    await page.getByRole('button', { name: 'Options' }).click();
    const options = page.getByTestId('launch-options');
    await page.getByTestId('folder-chip').click();
    await page.getByLabel('Working folder').fill(server.folder);
    await options.getByLabel('Cost limit (USD)').fill('2.5');
    await options.getByLabel('Permissions').selectOption('deny');
    await check_accessible(page, 'the options of a new task');
    const [launched] = await Promise.all([page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/api/tasks')), send(page, 'text')]);
    assert.deepEqual(launched.postDataJSON(), { agent_id: 'demo', message: 'text', surface: 'page', work_dir: server.folder, permission: 'deny', budget: { cost_usd: 2.5 } });
    await until(() => task_id(page), { what: 'it is a task' });
    assert.equal((await server.task(task_id(page))).work_dir, server.folder);

    await page.goto(`${server.url}/chat?agentId=command`);
    await page.getByRole('button', { name: 'Options' }).click();
    await page.getByLabel('One task per line, as a batch').check();
    await page.locator('form textarea').fill('echo one\necho two\n\n  echo three && exit 3');
    await page.keyboard.press('Enter');
    await until(() => new URL(page.url()).searchParams.get('batch'), { what: 'the batch is shown' });
    await page.getByText('3 of 3 finished').waitFor();
    const { tasks } = await server.get(`/api/tasks?batch_id=${new URL(page.url()).searchParams.get('batch')}&sort=oldest`);
    assert.deepEqual(tasks.map((task) => task.exit_code), [0, 0, 3]);
  });

  test('leads to any message, however far back it is, and from any message to a fork', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.allowed = /422|400/; // An agent that cannot fork is refused.
    const task = await server.ask('noop', { title: 'a long talk' });
    await server.at_rest(task.id);
    for (let i = 1; i <= 120; i++) {
      await server.expect(202, 'POST', `/api/tasks/${task.id}/message`, { message: `noop number ${i}` });
      await server.at_rest(task.id);
    }
    const { messages } = await server.get(`/api/tasks/${task.id}/messages?limit=10`);
    const wanted = messages.find((message) => message.role === 'user' && message.parts[0].text === 'noop number 2');
    const page = await person.login(`/chat?taskId=${task.id}`);
    await page.getByText('noop number 120', { exact: true }).waitFor();
    assert.equal(await page.getByText('noop number 2', { exact: true }).count(), 0, 'it is not on the screen yet');
    await page.evaluate((hash) => (location.hash = hash), wanted.id);
    const found = page.locator(`[data-message="${wanted.id}"]`);
    await found.waitFor();
    await until(async () => {
      const [box, list] = [await found.boundingBox(), await transcript(page).boundingBox()];
      return box && box.y >= list.y - 4 && box.y + box.height <= list.y + list.height;
    }, { what: 'it is in view' });
    // Its link is its address.
    await person.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await found.hover();
    await found.getByRole('button', { name: 'Copy a link to this message' }).click();
    await until(async () => (await page.evaluate(() => navigator.clipboard.readText())) === `${server.url}/chat?taskId=${task.id}#${wanted.id}`, { what: 'the link is copied' });
    await found.getByRole('link', { name: 'Fork a new task from here' }).click();
    await page.getByTestId('fork-of').getByText('noop number 2', { exact: true }).waitFor();
    await check_accessible(page, 'a fork');
    const [launched] = await Promise.all([page.waitForResponse((reply) => reply.request().method() === 'POST' && reply.url().endsWith('/api/tasks')), send(page, 'text from here')]);
    assert.deepEqual(launched.request().postDataJSON(), { agent_id: 'demo', message: 'text from here', surface: 'page', fork: true, parent_session_id: task.session_id, parent_message_id: wanted.id });
    if (launched.status() === 201) assert.equal((await launched.json()).is_forked, true);
    else await page.getByText((await launched.json()).detail).waitFor();
  });

  test('shows what an agent wrote as text, never as a page', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const task = await server.ask('text <img src=x onerror="document.title=1"> [click](javascript:alert(1)) ![p](https://example.invalid/p.png)');
    const page = await person.login(`/chat?taskId=${task.id}`);
    await status(page, 'completed');
    await page.getByText('onerror=').first().waitFor();
    assert.equal(await transcript(page).locator('img').count(), 0);
    assert.equal(await transcript(page).locator('a[href^=javascript]').count(), 0);
  });
});
