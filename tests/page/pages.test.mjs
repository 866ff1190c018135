// The other pages, and what joins them: agents, settings, subtasks, messages that steer and interrupt, addresses that are none.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, until } from './harness/browser.mjs';

describe('the other pages', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('Agents lists what is installed, and leads to a chat with it', async (t) => {
    const server = await Server.start(t);
    const page = await (await browser.person(t, server)).login('/agents');
    const { agents } = await server.get('/api/agents');
    for (const agent of agents) await page.getByRole('heading', { name: agent.name, exact: true }).waitFor();
    for (const agent of agents.filter((each) => !each.available)) await page.getByText(agent.unavailable_reason).first().waitFor();
    await check_accessible(page, 'agents');
    await page.getByRole('link', { name: 'New Task: command' }).click();
    await page.getByRole('radio', { name: /command/ }).waitFor();
    assert.equal(await page.getByRole('radio', { name: /^command/ }).isChecked(), true);
    assert.equal(new URL(page.url()).searchParams.get('agentId'), 'command');
  });

  test('an agent of one own is made, given work, changed and deleted', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.allowed = /400|409|422/;
    const page = await person.login('/agents');
    await page.getByRole('button', { name: 'New agent' }).click();
    const form = page.getByTestId('agent-form');
    await form.getByRole('button', { name: 'Create agent' }).click();
    await form.getByText('Enter a name.').waitFor();
    await form.getByLabel('Name').fill('reviewer');
    await form.getByLabel('Driver', { exact: true }).selectOption('demo');
    await form.getByLabel('Description').fill('Reviews changes');
    await form.getByLabel('Rules').fill('deny bash rm *');
    await form.getByLabel('Tasks at once').fill('1');
    await check_accessible(page, 'the form of an agent');
    await form.getByRole('button', { name: 'Create agent' }).click();
    const card = page.locator('[data-agent=reviewer]');
    await card.getByText('Reviews changes').waitFor();
    const made = (await server.get('/api/agents')).agents.find((agent) => agent.name === 'reviewer');
    assert.equal(made.driver, 'demo');
    assert.equal(made.max_concurrent, 1);
    assert.deepEqual(made.permission_rules.map(({ tool, decision }) => `${decision} ${tool}`), ['deny bash']);
    await card.getByRole('button', { name: 'Edit: reviewer' }).click();
    await form.getByLabel('Description').fill('Reviews everything');
    await form.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Reviews everything').waitFor();
    assert.deepEqual((await server.get('/api/agents')).agents.find((agent) => agent.name === 'reviewer').permission_rules, made.permission_rules, 'the rest stays');
    await card.getByRole('link', { name: 'New Task: reviewer' }).click();
    await page.locator('form textarea').fill('text');
    await page.keyboard.press('Enter');
    await until(() => new URL(page.url()).searchParams.get('taskId'), { what: 'it works' });
    const task = await server.task(new URL(page.url()).searchParams.get('taskId'));
    assert.equal(task.agent_id, made.id);
    assert.equal(task.agent, 'reviewer');
    await page.goto(`${server.url}/agents`);
    await card.getByRole('button', { name: 'Delete: reviewer' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await until(async () => (await card.count()) === 0, { what: 'it is gone' });
  });

  test('Settings shows what is in force, and changes what is this browser own', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.allowed = /409|400|422/;
    const page = await person.login('/settings');
    const at_once = page.getByRole('textbox', { name: /^Tasks at once/ });
    await until(async () => (await at_once.inputValue()) === '3', { what: 'the setting is shown' });
    await check_accessible(page, 'settings');
    // What the server can change while it runs is changed here, and holds.
    const save = page.getByRole('button', { name: 'Save' });
    assert.equal(await save.isDisabled(), true);
    await at_once.fill('none');
    await page.getByText('Tasks at once: enter a number above 0.').waitFor();
    assert.equal(await save.isDisabled(), true);
    await at_once.fill('5');
    await save.click();
    await page.getByText('Settings saved.').waitFor();
    assert.equal((await server.get('/api/settings')).max_concurrent, 5);
    const of_agents = page.getByRole('textbox', { name: /^Limits per agent/ });
    await of_agents.fill('demo');
    await page.getByText('Limits per agent: write one “name = number” per line.').waitFor();
    await of_agents.fill('demo = 2');
    await save.click();
    await until(async () => JSON.stringify((await server.get('/api/settings')).max_per_agent) === '{"demo":2}', { what: 'the limit of one agent holds' });
    await page.reload();
    await until(async () => (await at_once.inputValue()) === '5', { what: 'it is kept' });
    assert.equal(await of_agents.inputValue(), 'demo = 2');
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.getByRole('combobox', { name: 'Language' }).selectOption('zh');
    await page.getByRole('heading', { name: '设置', exact: true }).waitFor();
    await page.getByRole('combobox', { name: '发送键' }).selectOption('mod-enter');
    await page.getByRole('link', { name: '对话' }).click();
    // By its name: the settings have texts of their own, and stay until the chat is there.
    await page.getByRole('textbox', { name: '需要做什么？' }).fill('noop');
    await page.keyboard.press('Enter');
    await until(() => page.locator('form button[type=submit]').isEnabled(), { what: 'there is an agent to send it to' });
    await page.keyboard.press('Control+Enter');
    await until(() => new URL(page.url()).searchParams.get('taskId'), { what: 'Ctrl+Enter sends' });
  });

  test('a task shows what it launched, and those lead back', async (t) => {
    const server = await Server.start(t);
    const parent = await server.ask('long 600', { title: 'the parent' });
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${parent.id}`);
    await page.getByTestId('transcript').waitFor();
    const child = await server.run('echo hi', { title: 'the child', parent_session_id: parent.session_id });
    await page.getByTestId('subtasks').getByText('the child').waitFor();
    await until(async () => (await page.getByTestId('subtasks').locator('[data-shows]').getAttribute('data-shows')) === 'completed', { what: 'its state is live' });
    await check_accessible(page, 'a chat with subtasks');
    await page.getByTestId('subtasks').getByText('the child').click();
    await page.getByRole('heading', { name: 'the child' }).waitFor();
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.locator('dl').getByRole('link', { name: 'the parent' }).or(page.locator('dl').getByRole('link', { name: parent.id })).first().click();
    await page.getByRole('heading', { name: 'the parent' }).waitFor();
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.getByRole('tree').getByText('the child').waitFor();
    await page.goto(`${server.url}/tasks?parent=${parent.session_id}`);
    await page.locator(`[data-task="${child.id}"]`).waitFor();
    assert.equal(await page.locator('[data-task]').count(), 1);
  });

  test('a message steers the turn that runs, or takes its place', async (t) => {
    const server = await Server.start(t);
    const task = await server.ask('long 600');
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${task.id}`);
    const box = page.locator('form textarea');
    await page.getByText('1 of 600 s').waitFor();
    await box.fill('steered in');
    await box.press('Enter');
    const steered = page.locator('[data-role=user]').filter({ hasText: 'steered in' });
    await steered.waitFor();
    await page.getByRole('combobox', { name: 'When the agent reads it' }).selectOption('interrupt');
    await box.fill('text instead');
    await box.press('Enter');
    await page.getByText('A real agent would answer here').waitFor();
    await until(async () => (await page.locator('header [data-shows]').getAttribute('data-shows')) === 'completed', { what: 'the new turn ends' });
    assert.equal(await page.getByText('Not read yet').count(), 0);
    const texts = (await server.get(`/api/tasks/${task.id}/messages`)).messages.filter((message) => message.role === 'user').map((message) => message.parts[0].text);
    assert.deepEqual(texts, ['long 600', 'steered in', 'text instead']);
  });

  test('an address that is none says so and leads back', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.allowed = /404/;
    const page = await person.login('/nowhere');
    await page.getByText('This page does not exist.').waitFor();
    await page.getByRole('link', { name: 'Back to the tasks' }).click();
    await page.getByRole('heading', { name: 'Task Management' }).waitFor();
    await page.goto(`${server.url}/chat?taskId=task_01m7g21m0b1j7k068q6vhd3f3g`);
    await page.getByText('This task no longer exists.').waitFor();
    await check_accessible(page, 'a task that is gone');
  });

  test('a task that is deleted elsewhere is gone here too', async (t) => {
    const server = await Server.start(t);
    const person = await browser.person(t, server);
    person.allowed = /404/;
    const task = await server.ask('long 600', { title: 'short lived' });
    const page = await person.login(`/chat?taskId=${task.id}`);
    await page.getByText('1 of 600 s').waitFor();
    await server.expect(204, 'DELETE', `/api/tasks/${task.id}`);
    await page.getByText('This task no longer exists.').waitFor();
  });
});
