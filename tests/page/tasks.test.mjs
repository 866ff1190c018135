// The Tasks page in the real browser (R10.5, R10.6, seed 001): its words, its actions, live without reloading.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const row = (page, task) => page.locator(`[data-task="${task.id}"]`);
const badge = (page, task) => row(page, task).locator('[data-shows]');
const has_status = (page, task, status) => until(async () => (await badge(page, task).getAttribute('data-shows')) === status, { what: `${task.title} shows ${status}` });
// Rows move while tasks begin and end. As a person does, it reads whom the question is about before it says yes.
const confirmed = (page, task, action) =>
  until(
    async () => {
      await row(page, task).getByRole('button', { name: new RegExp(`^${action}`) }).click();
      const dialog = page.getByRole('dialog');
      const right = (await dialog.innerText()).includes(task.title);
      await (right ? dialog.getByRole('button', { name: action }).click() : page.keyboard.press('Escape'));
      return right;
    },
    { what: `${action} ${task.title}` },
  );
const chip = (page, name) => page.locator(`[data-filter="${name}"]`);
const count_of = async (page, name) => Number((await chip(page, name).locator('span').innerText()).replace(/\D/g, ''));
const address = (page) => new URL(page.url());

describe('the Tasks page', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('says in seed 001 words that there is nothing yet', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login('/');
    await page.getByRole('heading', { name: 'Task Management' }).waitFor();
    assert.equal(address(page).pathname, '/tasks');
    assert.equal(address(page).hash, '', 'the code is not in the address any more');
    await page.getByText('Monitor and manage your running agent tasks.').waitFor();
    await page.getByText('No tasks yet. Start a chat to create your first task.').waitFor();
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['', 'Task Name', 'Agent', 'Status', 'Model', 'Started', 'Duration', 'Actions']);
    assert.equal(await page.getByTestId('running-badge').count(), 0, 'no badge at 0');
    await check_accessible(page, 'empty');
    await shot(page, 'empty');
  });

  test('follows tasks from their start to their end, counts them, and badges the sidebar', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login();
    await page.getByText('No tasks yet').waitFor();
    const tasks = [];
    for (const message of ['long 600', 'long 601', 'ask which', 'long 602', 'long 603']) tasks.push(await server.ask(message));
    // Three at work at once; the one that asks holds no slot.
    await has_status(page, tasks[0], 'running');
    await has_status(page, tasks[2], 'needsInput');
    await has_status(page, tasks[4], 'pending');
    assert.match(await row(page, tasks[2]).innerText(), /Which colour should the demonstration use\?/);
    await until(async () => /Number 1 in the queue/.test(await row(page, tasks[4]).innerText()), { what: 'its place in line is shown' });
    await until(async () => (await page.getByTestId('running-badge').innerText()).startsWith('4'), { what: 'the badge counts' });
    assert.deepEqual(await Promise.all(['all', 'needs-input', 'running', 'pending', 'completed'].map((name) => count_of(page, name))), [5, 1, 4, 1, 0]);
    await until(async () => (await page.title()).startsWith('(4)'), { what: 'the title counts' });
    assert.match(await page.locator('link[rel=icon]').getAttribute('href'), /^data:/, 'the icon has a dot');

    await chip(page, 'needs-input').click();
    await until(async () => (await page.locator('[data-task]').count()) === 1, { what: 'one asks' });
    assert.equal(address(page).searchParams.get('status'), 'needs-input');
    await page.goBack();

    // Cancel, by the row's own button.
    await confirmed(page, tasks[0], 'Cancel');
    await has_status(page, tasks[0], 'cancelled');
    await has_status(page, tasks[4], 'running');
    await until(async () => (await page.locator('[data-task]').last().getAttribute('data-task')) === tasks[0].id, { what: 'what is done stands last' });
    await row(page, tasks[0]).getByRole('button', { name: /^Retry/ }).click();
    await has_status(page, tasks[0], 'pending');
    assert.match(await row(page, tasks[0]).innerText(), /attempt 2/);
    await confirmed(page, tasks[1], 'Delete');
    await until(async () => (await row(page, tasks[1]).count()) === 0, { what: 'the deleted one is gone' });
    assert.equal((await server.api('GET', `/api/tasks/${tasks[1].id}`)).status, 404);
    await check_accessible(page, 'tasks');
  });

  test('shows a cancelled command as cancelling until its processes are gone', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login();
    // Deaf to SIGTERM: only SIGKILL after the grace time ends it.
    const task = await server.run("trap '' TERM; echo up; while :; do sleep 0.2; done", { title: 'stubborn' });
    await server.when(task.id, (seen) => seen.progress.output_lines > 0);
    await row(page, task).getByRole('button', { name: /^Cancel/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await has_status(page, task, 'cancelling');
    await has_status(page, task, 'cancelled');
    assert.equal((await server.task(task.id)).stopping, false);
  });

  test('keeps search, filter, agent and order in the address', async (t) => {
    const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
    const person = await browser.person(t, server);
    const page = await person.login();
    const backup = await server.run('true', { title: 'backup the wiki' });
    const broken = await server.run('exit 3', { title: 'broken backup' });
    const other = await server.ask('noop', { title: '修复登录页面' });
    for (const task of [backup, broken, other]) await server.at_rest(task.id);
    const shown = async (...titles) => until(async () => (await page.locator('[data-task] a[title]').filter({ hasText: /./ }).allInnerTexts()).filter(Boolean).join() === titles.join(), { what: titles.join() });
    await shown('broken backup', '修复登录页面', 'backup the wiki'); // What failed first (R15.1).
    await page.keyboard.press('/');
    await page.keyboard.type('backup');
    await shown('broken backup', 'backup the wiki');
    await until(() => address(page).searchParams.get('q') === 'backup', { what: 'the search is in the address' });
    await chip(page, 'failed').click();
    await shown('broken backup');
    assert.equal(await count_of(page, 'all'), 2, 'the chips count what the search finds');
    await page.reload();
    await shown('broken backup');
    assert.equal(await page.getByRole('searchbox').inputValue(), 'backup');
    await page.goto(`${server.url}/tasks?q=%E4%BF%AE%E5%A4%8D`);
    await shown('修复登录页面');
    await page.goto(`${server.url}/tasks?agent=command&sort=oldest`);
    await shown('backup the wiki', 'broken backup');
    await page.goto(`${server.url}/tasks?q=nothing-has-this`);
    await page.getByText('No task matches this filter.').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await shown('broken backup', '修复登录页面', 'backup the wiki'); // What failed first (R15.1).
  });

  test('shows that a long title was cut, and all of it to who points at it', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login();
    const prompt = `noop ${'and look at the login page once more '.repeat(4)}`.trim();
    const task = await server.ask(prompt);
    const link = row(page, task).locator('a').first();
    await until(async () => (await link.innerText()).length <= 80 && (await link.innerText()).endsWith('…'), { what: 'the title says that it was cut' });
    assert.equal(await link.getAttribute('title'), prompt);
    await link.click();
    await page.locator(`h1[title="${prompt}"]`).waitFor();
  });

  test('selects one, a range and all that match, and says how many before it acts', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login();
    const tasks = [];
    for (let i = 0; i < 6; i++) tasks.push(await server.ask('long 600', { title: `job ${i}` }));
    await has_status(page, tasks[5], 'pending');
    await row(page, tasks[5]).getByRole('checkbox').click();
    await row(page, tasks[3]).getByRole('checkbox').click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    await page.getByRole('toolbar').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'Cancel 3 tasks?' }).waitFor();
    await check_accessible(page, 'a question');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    for (const task of tasks.slice(3)) await has_status(page, task, 'cancelled');
    // j moves, x selects, Escape lets go.
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
    await page.getByRole('button', { name: 'Select all 6 that match' }).click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'Retry 3 tasks?' }).waitFor();
    await page.getByText('This does not apply to 3 of the selected tasks. They stay unchanged.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'Delete 6 tasks?' }).waitFor();
    await page.getByRole('dialog').getByText('all tasks').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No tasks yet').waitFor();
    assert.equal((await server.get('/api/tasks')).tasks.length, 0);
  });

  test('shows a batch with its progress and acts on all of it', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.allowed = /404/; // The batch is asked for once more when its last task is gone.
    const page = await person.login();
    const first = await server.run('exit 1', { batch_id: 'new', title: 'one' });
    const second = await server.run('sleep 600', { batch_id: first.batch_id, title: 'two' });
    const alone = await server.ask('noop', { title: 'alone' });
    await has_status(page, first, 'failed');
    // The batch is one row (R15.1), which leads to it.
    await row(page, first).getByRole('link', { name: '2 tasks: one' }).click();
    await page.getByText('1 of 2 finished').waitFor();
    await until(async () => (await row(page, alone).count()) === 0, { what: 'only the batch is shown' });
    await page.getByRole('button', { name: 'Cancel the batch' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the batch' }).click();
    await has_status(page, second, 'cancelled');
    await page.getByText('2 of 2 finished').waitFor();
    await page.getByRole('button', { name: 'Delete finished tasks' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete finished tasks' }).click();
    await page.getByText('No task matches this filter.').waitFor();
  });

  test('shows subtasks below their parent, and nowhere else then', async (t) => {
    const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
    const page = await (await browser.person(t, server)).login('/tasks?sort=newest');
    const parent = await server.ask('long 600', { title: 'the parent' });
    const child = await server.ask('long 600', { title: 'the child', parent_session_id: parent.session_id });
    const deep = await server.run('sleep 600', { title: 'the grandchild', parent_session_id: child.session_id });
    const after = await server.ask('noop', { title: 'another' });
    const shown = () => page.locator('[data-task]').evaluateAll((all) => all.map((each) => `${each.dataset.depth} ${each.querySelector('a').textContent}`));
    const shows = (wanted) => until(async () => JSON.stringify(await shown()) === JSON.stringify(wanted), { what: wanted.join(', ') }).catch(async (error) => assert.fail(`${error.message}: ${await shown()}`));
    await has_status(page, after, 'completed');
    await shows(['0 another', '0 the grandchild', '0 the child', '0 the parent']);
    await row(page, parent).getByRole('button', { name: 'Show subtasks: the parent' }).click();
    await shows(['0 another', '0 the grandchild', '0 the parent', '1 the child']);
    await row(page, child).getByRole('button', { name: 'Show subtasks: the child' }).click();
    await shows(['0 another', '0 the parent', '1 the child', '2 the grandchild']);
    await check_accessible(page, 'the tree');
    // They are live there, and can be acted on.
    await server.cancel(deep.id);
    await has_status(page, deep, 'cancelled');
    const late = await server.run('true', { title: 'a late one', parent_session_id: parent.session_id });
    await shows(['0 another', '0 the parent', '1 the child', '2 the grandchild', '1 a late one']);
    await has_status(page, late, 'completed');
    // By the keyboard: down to the parent, and left closes it.
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowLeft');
    await shows(['0 a late one', '0 another', '0 the child', '1 the grandchild', '0 the parent']);
  });

  test('is in Chinese and in the dark for those who want it, and remembers', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    const page = await person.login();
    const task = await server.ask('ask');
    await has_status(page, task, 'needsInput');
    await page.getByTestId('language').click();
    await page.getByRole('heading', { name: '任务管理' }).waitFor();
    assert.deepEqual(await page.getByRole('columnheader').allInnerTexts(), ['', '任务名称', '代理', '状态', '模型', '开始时间', '持续时间', '操作']);
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh');
    await page.getByTestId('theme').click();
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    await check_accessible(page, 'dark and Chinese');
    // Before any of the page's own code runs, so nothing flashes.
    await page.route('**/assets/index-*.js', (route) => route.abort());
    person.expects_failures = true;
    await page.reload({ waitUntil: 'commit' });
    await until(async () => (await theme()) === 'dark', { what: 'it is dark at once' });
    person.expects_failures = false;
    await page.unroute('**/assets/index-*.js');
    await page.reload();
    await page.getByRole('heading', { name: '任务管理' }).waitFor();
    const { agents } = await server.get('/api/agents');
    for (const [where, word] of [['/chat', '新任务'], ['/agents', '代理'], ['/settings', '设置']]) {
      await page.goto(server.url + where);
      await page.getByRole('heading', { name: word, exact: true }).waitFor();
      // What the server says of its agents is in English, and is not the page's.
      let text = await page.locator('main').innerText();
      const said = agents.flatMap((agent) => [agent.unavailable_reason, agent.description, agent.name, ...agent.tools]).filter(Boolean);
      // The longest first: a name may be a word of a sentence.
      for (const words of said.sort((a, b) => b.length - a.length)) text = text.replaceAll(words, '');
      const latin = text.match(/[A-Za-z]{4,}( [a-z]+){2,}/g) ?? [];
      assert.deepEqual(latin, [], `no English sentence on ${where}`);
      await check_accessible(page, `${where} in Chinese, dark`);
    }
  });

  test('is led by the keyboard alone', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login();
    const task = await server.ask('noop', { title: 'the only one' });
    await has_status(page, task, 'completed');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('j');
    await page.locator(`[data-task="${task.id}"][aria-current]`).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'the only one' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.getByRole('heading', { name: 'Task Management' }).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'New task' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Commands' }).waitFor();
    await page.keyboard.type('only');
    await page.getByRole('option', { name: /the only one/ }).waitFor();
    await check_accessible(page, 'the palette');
    await page.getByRole('option', { name: /the only one/ }).click();
    await page.getByRole('heading', { name: 'the only one' }).waitFor();
  });

  test('fits a phone', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server, { phone: true });
    const page = await person.login();
    const task = await server.ask('tools and a title that is far too wide for the narrow screen of a telephone');
    await has_status(page, task, 'completed');
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok((await overflow()) <= 0, 'nothing sticks out');
    await check_accessible(page, 'tasks on a phone');
    await shot(page, 'phone');
    await row(page, task).locator('[data-shows]').click();
    await page.getByText('Two tools answered').waitFor();
    assert.ok((await overflow()) <= 0, 'nor in the chat');
    await check_accessible(page, 'chat on a phone');
    await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    assert.ok((await overflow()) <= 0, 'nor in the settings');
  });
});
