// What happens to a task that no person does: a fork, a usage limit, subtasks, a compaction, a budget, pictures; each with
// the built-in agent on the scripted model, as the page shows it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, start_builtin } from '../e2e/harness/builtin.mjs';
import { suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const status = (page, wanted) => until(async () => (await page.locator('header [data-shows]').getAttribute('data-shows')) === wanted, { what: `it shows ${wanted}` });
const shown_in_list = (page, id, wanted) => until(async () => (await page.locator(`[data-task="${id}"] [data-shows]`).getAttribute('data-shows')) === wanted, { what: `the list shows ${wanted}` });
// A red dot of 1 x 1.
const dot = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

describe('what happens to a task', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('a fork from a message knows the conversation up to it, and goes its own way', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('first question', [{ text: 'The first answer.' }]);
    model.rule('second question', [{ text: 'The second answer.' }]);
    model.rule('go another way', [{ text: 'Another way it is.' }]);
    const { id } = await launch('first question', { title: 'The parent' });
    await server.at_rest(id);
    await server.expect(202, 'POST', `/api/tasks/${id}/message`, { message: 'second question' });
    await server.at_rest(id);
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${id}`);
    await page.getByText('The second answer.').waitFor();
    const { messages } = await server.get(`/api/tasks/${id}/messages`);
    const answer = messages.find((message) => message.role === 'assistant');
    await page.locator(`[data-actions="${answer.id}"]`).getByRole('link', { name: 'Fork a new task from here' }).click();
    await page.getByTestId('fork-of').getByText('The first answer.').waitFor();
    await page.locator('form textarea').fill('go another way');
    await page.keyboard.press('Enter');
    await page.getByText('Another way it is.').waitFor();
    await status(page, 'completed');
    const fork = new URL(page.url()).searchParams.get('taskId');
    assert.notEqual(fork, id);
    // The parent's conversation stands before its own, up to the message that was forked from and no further.
    const transcript = page.getByTestId('transcript');
    await transcript.getByText('first question', { exact: true }).waitFor();
    await transcript.getByText('The first answer.').waitFor();
    assert.equal(await transcript.getByText('second question').count(), 0);
    assert.equal((await server.task(fork)).is_forked, true);
    const asked = JSON.stringify(model.requests().at(-1).body.messages);
    assert.match(asked, /first question.*The first answer\..*go another way/s);
    assert.doesNotMatch(asked, /second question/);
    await check_accessible(page, 'a forked task');
    await shot(page, 'forked');
    await page.goto(`${server.url}/tasks`);
    await page.locator(`[data-task="${fork}"]`).getByText('forked', { exact: true }).waitFor();
    assert.equal(await page.locator(`[data-task="${id}"]`).getByText('forked', { exact: true }).count(), 0);
  });

  test('a usage limit is shown as a wait that ends by itself, with the time that is left', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('work', [{ status: 429, times: 1, retry_after: 600, error: { type: 'rate_limit_error', message: 'You hit your limit.' } }]);
    const { id } = await launch('work');
    await server.when(id, (task) => task.waiting_for?.kind === 'quota');
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${id}`);
    await status(page, 'quota');
    assert.equal(await page.locator('header [data-shows]').innerText(), 'Waiting');
    await until(async () => /Usage limit reached. Continues in (9|10):\d\d/.test(await page.getByTestId('transcript').innerText()), { what: 'the time that is left' });
    await check_accessible(page, 'a task that waits for a limit');
    await shot(page, 'quota');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.locator('[data-span=wait][data-state=open]').getByText('Usage limit').waitFor();
    await page.goto(`${server.url}/tasks`);
    await shown_in_list(page, id, 'quota');
    await page.locator(`[data-task="${id}"]`).getByText(/Usage limit reached. Continues in/).waitFor();
    // Nobody is asked: it needs no input.
    assert.match(await page.locator('[data-filter=needs-input]').innerText(), /0$/);
  });

  test('a usage limit is ended by a person: from the list of tasks, and from a task', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const absurd = { status: 429, times: 1, retry_after: 99999999999, error: { type: 'rate_limit_error', message: 'quota exceeded' } };
    model.rule('first', [{ ...absurd, text: 'Done.' }]);
    model.rule('second', [{ ...absurd, text: 'Done too.' }]);
    const first = await launch('first');
    await server.when(first.id, (task) => task.waiting_for?.kind === 'quota');
    const page = await (await browser.person(t, server)).login('/tasks');
    const limit = page.locator('[data-quota]');
    await limit.getByText(/^builtin\S* has reached its usage limit$/).waitFor();
    assert.match(await limit.innerText(), /Since .*\. Tried again at .* at the latest\. 1 task waits for it, 0 in the queue\./);
    await check_accessible(page, 'a usage limit above the list');
    await shot(page, 'usage-limit');
    await limit.getByRole('button', { name: 'Try again now' }).click();
    assert.equal((await server.at_rest(first.id)).result, 'Done.');
    await limit.waitFor({ state: 'detached' });

    const second = await launch('second');
    await server.when(second.id, (task) => task.waiting_for?.kind === 'quota');
    await page.goto(`${server.url}/chat?taskId=${second.id}`);
    await page.getByRole('button', { name: 'Try again now' }).click();
    assert.equal((await server.at_rest(second.id)).result, 'Done too.');
    await status(page, 'completed');
  });

  test('a task that waits for its subtasks says so, links to them, and is told when they end', async (t) => {
    const { server, model, launch, write, work } = await start_builtin(t);
    const gather = { ...call('background_output', {}), wait: 'gather' };
    model.rule('delegate', [
      call('background_execute', { command: 'until [ -e go ]; do sleep 0.1; done; echo done', description: 'Wait for the word', work_dir: work }, { text: 'I give it away.' }),
      gather,
      { text: 'It is done.' },
    ]);
    const { id, session_id } = await launch('delegate');
    await model.waiting('gather');
    const [child] = (await server.get(`/api/tasks?parent_session_id=${session_id}`)).tasks;
    Object.assign(gather.tool.input, { task_id: child.id, block: true, timeout: 60 });
    model.release('gather');
    await server.when(id, (task) => task.waiting_for?.kind === 'children');
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${id}`);
    await status(page, 'children');
    await page.getByTestId('transcript').getByText('Waiting for subtasks').waitFor();
    const link = page.getByTestId('subtasks').getByRole('link', { name: /Wait for the word/ });
    await link.waitFor();
    await check_accessible(page, 'a task that waits for its subtasks');
    await shot(page, 'children');
    await link.click();
    await until(() => new URL(page.url()).searchParams.get('taskId') === child.id, { what: 'it leads to the subtask' });
    await status(page, 'running');
    write('go', '');
    await status(page, 'completed');
    await page.goBack();
    await page.getByText('It is done.').waitFor();
    await status(page, 'completed');
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.locator('[data-span=wait][data-state=over]').getByText('Waiting for subtasks').waitFor();
  });

  test('a compaction is one folded line in its place, with the summary in it', async (t) => {
    const { server, model, launch, write } = await start_builtin(t);
    await server.kill9();
    fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `[models.small]\napi = "anthropic"\nbase_url = "${model.url}"\nkey_env = "ANTHROPIC_API_KEY"\nmodel = "small"\ncontext_tokens = 20000\noutput_tokens = 1000\n`);
    await server.start();
    write('long.txt', 'All work and no play makes Jack a dull boy.\n'.repeat(300));
    model.rule('read and read', [...Array.from({ length: 6 }, (_, i) => call('read', { path: 'long.txt' }, { usage: { input: 4000 * (i + 1), output: 50 } })), { text: 'Read enough.' }], { tools: true });
    model.rule('<conversation>', [{ text: 'SUMMARY: the file was read several times.' }], { tools: false });
    model.rule('<summary>', [call('read', { path: 'long.txt' }), { text: 'Read enough.' }], { tools: true });
    const { id } = await launch('read and read', { model: 'small' });
    await server.at_rest(id, { within: 30_000 });
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${id}`);
    await page.getByText('Read enough.').waitFor();
    const note = page.locator('[data-note=compaction]').first();
    await until(async () => {
      if (await note.count()) return true;
      await page.getByTestId('transcript').hover();
      await page.mouse.wheel(0, -400);
      return false;
    }, { what: 'the note is there' });
    await note.getByText('The conversation was summarised to fit the model').waitFor();
    assert.equal(await note.getByText('SUMMARY: the file was read several times.').isVisible(), false);
    await note.locator('summary').click();
    await note.getByText('SUMMARY: the file was read several times.').waitFor();
    await check_accessible(page, 'a compaction');
    await shot(page, 'compaction');
  });

  test('a picture that a tool gives back is shown, and nothing is fetched for it', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('draw', [call('bash', { command: `printf %s '${dot}'` }), { text: 'There it is.' }]);
    const { id } = await launch('draw');
    await server.at_rest(id);
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${id}`);
    const requests = [];
    page.on('request', (request) => requests.push(request.url()));
    const tool = page.locator('[data-tool=bash]');
    await tool.getByRole('button').first().click();
    const picture = tool.getByRole('img', { name: 'Picture from the tool' });
    await until(async () => (await picture.evaluate((img) => img.complete && img.naturalWidth)) === 1, { what: 'the picture is there' });
    assert.deepEqual(requests.filter((url) => !url.startsWith('data:') && !url.startsWith(server.url)), []);
  });

  test('a budget is a meter that fills, and says what ended the task', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const tokens = { usage: { input: 700, output: 100 } };
    model.rule('spend', [{ ...call('list', {}), ...tokens, wait: 'half' }, { ...call('list', { path: '.' }), ...tokens, wait: 'more' }, { text: 'Done.', ...tokens }]);
    const { id } = await launch('spend', { budget: { tokens: 1000, wall_s: 3600 } });
    await model.waiting('half');
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${id}`);
    const meter = page.getByTestId('budget');
    await until(async () => (await meter.getAttribute('aria-valuenow')) === '0', { what: 'it is empty' });
    model.release('half');
    await model.waiting('more');
    await until(async () => (await meter.getAttribute('aria-valuenow')) === '80', { what: 'it fills' });
    assert.equal(await meter.getAttribute('aria-label'), '800 of 1,000 tokens');
    await page.getByRole('tab', { name: 'Details' }).click();
    await page.getByRole('tabpanel').getByText('800 of 1,000 tokens').waitFor();
    await page.getByRole('tabpanel').getByText(/time: 0:\d\d of 1:00:00/).waitFor();
    await check_accessible(page, 'a budget in the details');
    // What its subtasks use is taken from it too.
    const parent = await server.task(id);
    model.rule('a small part', [{ text: 'Here it is.', usage: { input: 60, output: 40 } }]);
    const child = await launch('a small part', { parent_session_id: parent.session_id });
    await server.at_rest(child.id);
    await page.getByRole('tabpanel').getByText('900 of 1,000 tokens').waitFor();
    await page.getByRole('tab', { name: 'Chat' }).click();
    await until(async () => (await meter.getAttribute('aria-label')) === '900 of 1,000 tokens', { what: 'the subtask is counted' });
    model.release('more');
    await status(page, 'failed');
    assert.match(await page.getByTestId('failure').innerText(), /budget/i);
    await until(async () => (await meter.getAttribute('aria-valuenow')) === '100', { what: 'it is full' });
    await shot(page, 'budget');
  });
});
