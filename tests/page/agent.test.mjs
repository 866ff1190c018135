// The built-in agent as the page shows it: its tools by what they did, its questions, its plan, its cost.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { call, start_builtin } from '../e2e/harness/builtin.mjs';
import { suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

const status = (page, wanted) => until(async () => (await page.locator('header [data-shows]').getAttribute('data-shows')) === wanted, { what: `it shows ${wanted}` });

describe('the built-in agent', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('shows its plan, an edit as a diff, a command with its output, and what it may not do', async (t) => {
    const { server, model, read, write, work } = await start_builtin(t);
    write('sum.sh', 'echo start\necho $((1 + 1))\necho end\n');
    const plan = (...states) => ({ items: ['Read sum.sh', 'Mend it', 'Run it'].map((content, i) => ({ content, status: states[i] })) });
    model.rule('fix the sum', [
      { reasoning: 'I look first.', signature: 'c2ln', ...call('todo', plan('in_progress', 'pending', 'pending')) },
      call('read', { path: 'sum.sh' }),
      call('edit', { path: 'sum.sh', old_string: 'echo $((1 + 1))', new_string: 'echo $((1 + 2))' }, { text: 'I mend it.' }),
      call('bash', { command: 'sh sum.sh; printf "\\033[32mgreen\\033[0m\\n"', description: 'Run it' }),
      call('todo', plan('completed', 'completed', 'completed')),
      { text: ['The sum ', 'is **right** now.'] },
    ]);
    const page = await (await browser.person(t, server)).login('/chat?agentId=builtin');
    await page.getByRole('button', { name: 'Options' }).click();
    await page.getByTestId('folder-chip').click();
    await page.getByLabel('Working folder').fill(work);
    await page.getByTestId('launch-options').getByLabel('Permissions').selectOption('ask');
    await page.locator('form textarea').first().fill('fix the sum');
    await page.locator('form').getByRole('button', { name: 'Start' }).click();
    // It asks before it changes anything.
    await status(page, 'needsInput');
    const ask = page.locator('[data-ask][data-open=true]');
    await ask.getByText('Change sum.sh?').waitFor();
    // What is decided about: the edit, and where (R14.3).
    await ask.locator('[data-diff]').getByText('+echo $((1 + 2))', { exact: true }).waitFor();
    assert.match(await ask.getByTestId('ask-folder').innerText(), /^in /);
    await check_accessible(page, 'a permission that is asked for');
    await shot(page, 'permission');
    assert.equal(read('sum.sh'), 'echo start\necho $((1 + 1))\necho end\n');
    await ask.getByRole('button', { name: 'Allow once' }).click();
    await page.locator('[data-ask][data-open=true]').filter({ hasText: 'sh sum.sh' }).getByRole('button', { name: 'Allow once' }).click();
    await page.getByText('right', { exact: true }).waitFor();
    await status(page, 'completed');
    assert.equal(read('sum.sh'), 'echo start\necho $((1 + 2))\necho end\n');
    // The edit is open, because it is short: what went and what came.
    const edit = page.locator('[data-tool=edit]');
    await edit.scrollIntoViewIfNeeded();
    await edit.locator('[data-diff]').getByText('+echo $((1 + 2))', { exact: true }).waitFor();
    await edit.locator('[data-diff]').getByText('-echo $((1 + 1))', { exact: true }).waitFor();
    assert.match(await edit.getByRole('button').first().innerText(), /edit\s+sum\.sh\s+\+1\s*−1/);
    const bash = page.locator('[data-tool=bash]');
    await bash.getByRole('button').first().click();
    await bash.getByText('$ sh sum.sh', { exact: false }).waitFor();
    await until(async () => /start\s+3\s+end\s+green/.test(await bash.innerText()), { what: 'what it printed' });
    const done = page.locator('[data-tool=todo]').last();
    await done.scrollIntoViewIfNeeded();
    assert.equal(await done.getByTestId('todos').getByRole('listitem').count(), 3);
    assert.match(await done.getByRole('button').first().innerText(), /3\/3/);
    await check_accessible(page, 'a chat with diffs');
    await shot(page, 'diff');
    assert.match(await page.getByTestId('usage').innerText(), /tokens[\s\S]*5 tool calls/);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    // Each call with what it was about, the questions that were asked of a person, and nothing else, in the order of time.
    const lines = () => page.locator('[data-span]').evaluateAll((all) => all.map((each) => `${each.dataset.state} ${each.firstElementChild.innerText.replace(/\s+/g, ' ')}`));
    await page.getByTestId('timeline').waitFor();
    assert.deepEqual(await lines(), [
      'over Turn 1',
      'over todo Read sum.sh',
      'over read sum.sh',
      'over edit sum.sh',
      'over Question Change sum.sh?',
      'over bash sh sum.sh; printf "\\033[32mgreen\\033[0m\\n"',
      'over Question Run: sh sum.sh; printf "\\033[32mgreen\\033[0m\\n"',
      'over todo',
    ]);
    // A call leads back to where it was made.
    await page.locator('[data-span=tool]').nth(1).getByRole('link').click();
    await page.locator('[data-tool=read]').waitFor();
  });

  test('is denied with words, and hears them', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('write it', [call('write', { path: 'note.txt', content: 'x' }), { text: 'Then not.' }]);
    const { id } = await launch('write it', { permission: 'ask' });
    const page = await (await browser.person(t, server)).login(`/chat?taskId=${id}`);
    await page.getByRole('textbox', { name: 'Deny, and say what to do instead…' }).fill('not on a Friday');
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByText('Then not.').waitFor();
    assert.match(JSON.stringify(model.requests().at(-1).body), /not on a Friday/);
  });
});
