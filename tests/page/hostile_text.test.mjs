// An agent's text cannot break its page: texts that cost a parser the square of their length, or its stack, or a browser its
// layout. Streamed and stored they can be read, and the page's thread is never held for long.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { start_builtin } from '../e2e/harness/builtin.mjs';
import { suite_scope } from '../e2e/harness/server.mjs';
import { Browser, shot, until } from './harness/browser.mjs';

const row = (cell, columns) => `|${`${cell}|`.repeat(columns)}\n`;
const texts = {
  'quotes in quotes': '> '.repeat(3000) + 'word',
  'lists in lists': '- '.repeat(3000) + 'word',
  'many more of them': '- - '.repeat(20_000) + 'word',
  'stars around a letter': '*'.repeat(20_000) + 'word' + '*'.repeat(20_000),
  'marks that never close': 'word' + '*a_'.repeat(8000),
  'a long word and an @': 'word' + 'a'.repeat(50_000) + '@',
  'a wide table': row('head', 200) + row('-', 200) + row('word', 200).repeat(300),
  'half a megabyte in a line': 'word '.repeat(100_000),
  'code in a line': '```js\n' + 'word "\\"'.repeat(20_000) + '\n```',
};
const ordinary = 'A **word** in a sentence with `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |';
const most_ms = 200;

// Every task of the page's thread that held it for over 50 ms, as the browser tells it.
const watch = () => {
  window.long_tasks = [];
  new PerformanceObserver((list) => window.long_tasks.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({ type: 'longtask', buffered: true });
};
const go = (page, where) => page.evaluate((path) => history.pushState({}, '', path), where);

describe('hostile text', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('can be read, streamed and stored, and holds the page for no longer than ordinary text', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const person = await browser.person(t, server);
    await person.context.addInitScript(watch);
    const page = await person.login('/tasks');
    const all = { ordinary, ...texts };
    const ids = {};
    const measured = [];

    // What the page's thread was held for, at most, while this was shown and the page used.
    const show = async (page, name, id, how) => {
      await page.evaluate(() => (window.long_tasks.length = 0));
      await go(page, `/chat?taskId=${id}`);
      const transcript = page.getByTestId('transcript');
      await transcript.getByText('Behind it.').waitFor();
      await until(async () => (await page.locator('header [data-shows]').getAttribute('data-shows')) === 'completed', { what: `${name} is done` });
      // Until what is given up on is given up on.
      await until(async () => (await transcript.getByTestId('unformatted').count()) > 0 || !/in quotes|in lists|more of them|around a letter|never close/.test(name), { what: `${name} is settled` });
      if (/table/.test(name)) await until(async () => (await transcript.locator('th').count()) === 200 && (await transcript.locator('td').count()) === 800, { what: 'the table is one' });
      await transcript.evaluate((box) => box.scrollTo(0, 0));
      await transcript.getByText('Before it.').waitFor();
      // All of it, if need be in steps.
      await until(
        async () => {
          if ((await transcript.innerText()).includes('word')) return true;
          await transcript.getByTestId('more-text').first().click();
          return false;
        },
        { what: `${name} can be read` },
      );
      // It answers.
      await page.getByRole('textbox').last().fill(`typed: ${name}`);
      assert.equal(await page.getByRole('textbox').last().inputValue(), `typed: ${name}`);
      await page.getByRole('textbox').last().fill('');
      const longest = Math.max(0, ...(await page.evaluate(() => window.long_tasks)));
      measured.push({ name, how, longest });
      if (how === 'stored') await shot(page, `hostile-${name.replaceAll(' ', '-')}`);
    };

    for (const [name, text] of Object.entries(all)) {
      const said = `Before it.\n\n${text}\n\nBehind it.`;
      model.rule(`say: ${name}`, [{ text: said.match(/[\s\S]{1,2000}/g), chunk_ms: 5 }]);
      ids[name] = (await launch(`say: ${name}`)).id;
      await show(page, name, ids[name], 'streamed');
    }
    // As somebody finds it who comes later: nothing is known yet.
    await page.close();
    const later = await person.login('/tasks');
    for (const name of Object.keys(all)) await show(later, name, ids[name], 'stored');

    for (const each of measured) t.diagnostic(`${each.how} ${each.name}: ${each.longest} ms`);
    // A busy machine holds ordinary text up too: that much is not the text's doing.
    const usual = Math.max(...measured.filter(({ name }) => name === 'ordinary').map(({ longest }) => longest));
    for (const { name, how, longest } of measured) assert.ok(longest <= most_ms + usual, `${name}, ${how}, held the page for ${longest} ms (ordinary text: ${usual} ms)`);
  });

  test('shows a long table by and by', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const page = await (await browser.person(t, server)).login('/tasks');
    model.rule('table', [{ text: row('head', 4) + row('-', 4) + Array.from({ length: 120 }, (_, i) => row(`cell ${i}`, 4)).join('') }]);
    const { id } = await launch('table');
    await go(page, `/chat?taskId=${id}`);
    const rows = page.locator('tbody tr');
    await until(async () => (await rows.count()) === 50, { what: 'the first 50 rows' });
    await page.getByRole('button', { name: 'Show 50 more of 120 rows' }).click();
    await page.getByRole('button', { name: 'Show 20 more of 120 rows' }).click();
    await until(async () => (await rows.count()) === 120, { what: 'all rows' });
    assert.equal(await page.locator('thead').count(), 1);
    await page.getByText('cell 119').first().waitFor();
  });

  test('hides nothing in a name, and no row is empty', async (t) => {
    const { server } = await start_builtin(t);
    const evil = 'invoice\u202Efdp.exe\u200B';
    for (const title of [evil, '\u200B\u2800', '\u05E9\u05DC\u05D5\u05DD']) await server.launch({ kind: 'command', command: 'true', title });
    const page = await (await browser.person(t, server)).login('/tasks');
    const names = () => page.locator('[data-task] [data-do=open].truncate').evaluateAll((all) => all.map((each) => each.textContent));
    await until(async () => (await names()).length === 3, { what: 'three rows' });
    assert.deepEqual((await names()).sort(), ['invoice\\u202efdp.exe\\u200b', 'true', '\u05E9\u05DC\u05D5\u05DD']);
    await page.getByText('invoice').click();
    await page.getByRole('heading', { name: 'invoice\\u202efdp.exe\\u200b' }).waitFor();
    await until(async () => (await page.title()).includes('invoice\\u202efdp'), { what: 'the title of the tab' });
    await shot(page, 'hidden-name');
  });
});
