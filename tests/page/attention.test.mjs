// What waits for a person, wherever they look (issue 16, items 5, 8 and 11): the questions above the list, groups, the attempts
// of a task, the models that can be chosen, and all of it on a phone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, start_builtin } from '../e2e/harness/builtin.mjs';
import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const row = (page, task) => page.locator(`[data-task="${task.id}"]`);
const fits = async (page, what) => {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${what}: the page is ${wide} px wide`);
};

describe('attention', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('Every open question stands above the list with its diff and folder, and is answered there', async (t) => {
    const { server, model, work, launch, asking, write, read } = await start_builtin(t);
    write('a.txt', 'one\ntwo\n');
    model.rule('change it', [call('read', { path: 'a.txt' }), call('edit', { path: 'a.txt', old_string: 'two', new_string: 'three' }), { text: 'Done.' }]);
    const edits = await launch('change it', { permission: 'ask' });
    await asking(edits.id);
    const asks = await server.ask('permission please');
    await server.when(asks.id, (task) => task.waiting_for?.kind === 'permission');
    const page = await (await browser.person(t, server)).login();
    const inbox = page.getByTestId('inbox');
    await inbox.getByText('2 questions for you').waitFor();
    const question = inbox.locator(`[data-question="${edits.id}"]`);
    assert.match(await question.locator('[data-diff]').innerText(), /-two[^]*\+three/);
    assert.match(await question.getByTestId('ask-folder').innerText(), new RegExp(`in .*${path.basename(work)}$`));
    assert.equal(await page.getByTestId('asking-badge').innerText(), '2\n2 tasks need your input');
    await check_accessible(page, 'the questions above the list');
    await shot(page, 'inbox');
    // Whatever the list shows.
    await page.getByRole('button', { name: /^Failed/ }).click();
    await page.getByText('No task matches this filter.').waitFor();
    assert.ok(await question.isVisible());

    await question.getByRole('button', { name: 'Allow once' }).click();
    await server.at_rest(edits.id);
    assert.equal(read('a.txt'), 'one\nthree\n');
    await inbox.getByText('1 question for you').waitFor();
    await inbox.getByRole('button', { name: /1 question/ }).click();
    await inbox.locator('[data-question]').waitFor({ state: 'detached' });
    await page.reload();
    await inbox.getByText('1 question for you').waitFor();
    assert.equal(await inbox.locator('[data-question]').count(), 0, 'closed it stays closed');
    await inbox.getByRole('button', { name: /1 question/ }).click();
    await inbox.getByRole('button', { name: 'Deny', exact: true }).click();
    await inbox.waitFor({ state: 'detached' });
    await page.getByTestId('asking-badge').waitFor({ state: 'detached' });
  });

  test('The list stands in groups by folder, batch or session; a group is closed, and its tasks are chosen', async (t) => {
    const server = await Server.start(t);
    const [one, two] = ['one', 'two'].map((name) => path.join(server.folder, name));
    for (const folder of [one, two]) fs.mkdirSync(folder);
    const first = await server.at_rest((await server.run('true', { work_dir: one, batch_id: 'new' })).id);
    const failed = await server.at_rest((await server.run('exit 3', { work_dir: two, batch_id: first.batch_id })).id);
    const alone = await server.at_rest((await server.run('true', { work_dir: one })).id);
    const session = await server.expect(201, 'POST', '/api/sessions', { title: 'My other agent' });
    const launched = await server.at_rest((await server.run('true', { work_dir: one, parent_session_id: session.id })).id);
    const page = await (await browser.person(t, server)).login();
    await row(page, alone).waitFor();
    await page.getByTestId('group').selectOption('folder');
    const group = (key) => page.locator(`[data-group="${key}"]`);
    await row(page, first).waitFor();
    const groups = () => page.locator('[data-group]').evaluateAll((all) => all.map((each) => [each.dataset.group, [...each.querySelectorAll('[data-task]')].map((task) => task.dataset.task)]));
    assert.deepEqual(await groups(), [[two, [failed.id]], [one, [launched.id, alone.id, first.id]]], 'what needs somebody is first');
    assert.match(await group(two).innerText(), /~\/two\s+1\s+1 failed/);
    await check_accessible(page, 'groups');
    await shot(page, 'groups');
    // Keys go through the groups, and what is selected is acted on.
    for (const key of ['j', 'j', 'x']) await page.keyboard.press(key);
    assert.equal(await row(page, launched).getAttribute('aria-selected'), 'true');
    await page.keyboard.press('Escape');
    await group(one).getByRole('button', { name: 'Close the group' }).click();
    await row(page, alone).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('group'), 'folder', 'it is in the address');

    await page.getByTestId('group').selectOption('batch');
    await row(page, alone).waitFor();
    assert.deepEqual((await groups()).map(([key, ids]) => [key, ids.length]), [[first.batch_id, 2], ['', 2]]);
    await page.getByTestId('group').selectOption('session');
    await group(session.id).getByRole('link', { name: 'My other agent' }).waitFor();
    // A new one comes into its group by itself.
    const fresh = await server.run('true', { work_dir: one, parent_session_id: session.id });
    await group(session.id).locator(`[data-task="${fresh.id}"]`).waitFor();
    await page.getByTestId('group').selectOption('');
    await page.locator('[data-group]').first().waitFor({ state: 'detached' });
    await row(page, alone).waitFor();
  });

  test('Each attempt has its log and its timeline, and so has each run of one that hung', async (t) => {
    const server = await Server.start(t);
    const count = path.join(server.folder, 'count');
    fs.writeFileSync(count, '');
    const task = await server.run(`echo x >> ${count}; echo "time $(wc -l < ${count})"; [ $(wc -l < ${count}) -lt 2 ] && kill -STOP $$; exit 3`, { idle_timeout_s: 1, on_hang: 'restart', max_restarts: 1 });
    await server.at_rest(task.id, { within: 60_000 });
    await server.expect(200, 'POST', `/api/tasks/${task.id}/retry`, {});
    await server.when(task.id, (one) => one.attempt === 2 && one.status === 'failed');
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${task.id}`);
    const log = page.getByTestId('log');
    await log.getByText('time 3').waitFor();
    await page.getByTestId('attempt').selectOption('1');
    await log.getByText('time 2').waitFor();
    await page.getByTestId('log-run').selectOption('1');
    await log.getByText('time 1').waitFor();
    await check_accessible(page, 'the log of an earlier run');
    await page.getByTestId('attempt').selectOption('2');
    await log.getByText('time 3').waitFor();
    await page.getByTestId('log-run').waitFor({ state: 'detached' });

    await page.getByRole('tab', { name: 'Timeline' }).click();
    const turns = () => page.getByTestId('timeline').locator('[data-span="turn"]').evaluateAll((all) => all.map((each) => each.firstElementChild.textContent));
    await until(async () => (await turns()).length === 1, { what: 'the last attempt alone' });
    await page.getByTestId('attempt').selectOption('1');
    await until(async () => JSON.stringify(await turns()) === JSON.stringify(['Turn 1', 'Turn 1 · restarted']), { what: 'both runs of the first' });
    await page.getByTestId('attempt').selectOption('all');
    await until(async () => (await turns()).length === 3, { what: 'all of them' });
    assert.match((await turns())[2], /^attempt 2 · Turn/);
    await check_accessible(page, 'the timeline of all attempts');
    await shot(page, 'attempts');
  });

  test('A model is chosen from what the provider lists, or named', async (t) => {
    const { server, model } = await start_builtin(t);
    model.rule('hello', [{ text: 'Hi.' }]);
    const page = await (await browser.person(t, server)).login('/chat?agentId=builtin');
    await page.getByRole('button', { name: 'Options' }).click();
    assert.equal(model.listings(), 0, 'nobody is asked before somebody wants to know');
    await page.getByTestId('model').focus();
    await page.getByTestId('models-said').getByText('1 model of the provider, or type a name.').waitFor();
    const offered = await page.getByTestId('model').evaluate((input) => [...input.list.options].map((option) => option.value));
    assert.ok(offered.includes('scripted'), offered.join());
    await check_accessible(page, 'the models of a provider');
    await shot(page, 'models');
    await page.getByTestId('model').fill('another-model');
    await page.getByRole('textbox', { name: /message|prompt/i }).or(page.locator('textarea').first()).first().fill('hello');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Hi.').waitFor();
    const [task] = (await server.get('/api/tasks')).tasks;
    assert.equal(task.model, 'another-model');
    // The same list is there for an agent that is made.
    await page.goto(`${server.url}/agents`);
    await page.getByRole('button', { name: 'New agent' }).click();
    const form = page.getByTestId('agent-form');
    await form.getByLabel('Model').focus();
    await form.getByText('1 model of the provider, or type a name.').waitFor();
    await form.getByLabel('Name').fill('mine');
    await form.getByLabel('Model').fill('scripted');
    await form.getByRole('button', { name: 'Create agent' }).click();
    await until(async () => (await server.get('/api/agents')).agents.some((agent) => agent.name === 'mine' && agent.model === 'scripted'), { what: 'it is made with its model' });
  });

  test('On a phone filters, questions, groups and the timeline fit', async (t) => {
    const server = await Server.start(t);
    const folder = path.join(server.folder, 'a-folder-with-a-rather-long-name', 'and-another-one-below-it');
    fs.mkdirSync(folder, { recursive: true });
    const done = await server.at_rest((await server.ask('tools', { work_dir: folder })).id);
    const asks = await server.ask('permission please', { work_dir: folder });
    await server.when(asks.id, (task) => task.waiting_for?.kind === 'permission');
    const page = await (await browser.person(t, server, { phone: true })).login();
    await row(page, done).waitFor();
    await page.getByTestId('inbox').waitFor();
    await fits(page, 'the list with a question');
    // At least one row of the list is seen below the question.
    const list = await page.getByTestId('task-list').boundingBox();
    assert.ok(list.height >= 84, `the list is ${list.height} px high`);
    await check_accessible(page, 'the list on a phone');
    await shot(page, 'phone-list');
    await page.getByTestId('inbox').getByRole('button', { name: /question/ }).click();
    await page.getByTestId('filters').click();
    for (const name of ['Agent', 'Order', 'Show', 'Group']) {
      const box = await page.getByRole('combobox', { name, exact: true }).boundingBox();
      assert.ok(box.width >= 120 && box.x >= 0 && box.x + box.width <= 390, `${name}: ${JSON.stringify(box)}`);
    }
    await shot(page, 'phone-filters');
    await check_accessible(page, 'filters on a phone');
    await page.getByTestId('group').selectOption('folder');
    await page.locator('[data-group]').first().waitFor();
    await fits(page, 'groups');
    await shot(page, 'phone-groups');
    await page.goto(`${server.url}/chat?taskId=${done.id}&tab=timeline`);
    await page.getByTestId('timeline').waitFor();
    await fits(page, 'the timeline');
    for (const bar of await page.getByTestId('timeline').locator('li').all()) {
      const box = await bar.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
    }
    await check_accessible(page, 'the timeline on a phone');
    await shot(page, 'phone-timeline');
  });
});
