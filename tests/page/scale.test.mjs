// A long list is jumped through by pages: what is on the screen is read and drawn, and nothing else.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, until } from './harness/browser.mjs';

const many = 100_000;
// While so many are made and done, the server and the page have much to do.
const patient = { within: 180_000 };

describe('a long list', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test(`of ${many} tasks scrolls to any place, and stays there while tasks arrive`, async (t) => {
    const server = await Server.start(t);
    let next = 0;
    const worker = async () => {
      while (next < many) await server.launch({ agent_id: 'demo', message: 'noop', title: `task ${next++}` }, { check: false });
    };
    await Promise.all(Array.from({ length: 32 }, worker));
    const page = await (await browser.person(t, server)).login();
    page.setDefaultTimeout(patient.within);
    const requests = [];
    page.on('request', (request) => request.url().includes('/api/tasks?') && requests.push(request.url()));
    const list = page.getByTestId('task-list');
    await until(async () => (await page.locator('[data-filter=all] span').innerText()).replace(/\D/g, '') === String(many), { what: 'all are counted', ...patient });
    for (const part of [0.25, 0.75, 0.99, 0.5]) {
      await list.evaluate((box, where) => box.scrollTo(0, box.scrollHeight * where), part);
      await until(
        async () => {
          const rows = await page.locator('[data-task]').evaluateAll((all) => all.map((row) => Number(row.getAttribute('aria-rowindex'))));
          return rows.length > 5 && Math.abs(Math.min(...rows) / many - part) < 0.05;
        },
        { what: `the rows at ${100 * part} % are there`, ...patient },
      );
    }
    assert.ok((await page.locator('[data-task]').count()) < 60, 'few rows are drawn');
    assert.ok(requests.length < 40, `${requests.length} requests`);
    const before = await page.locator('[data-task]').evaluateAll((all) => all.map((row) => row.dataset.task));
    await server.ask('noop', { title: 'a new one' });
    await page.getByRole('button', { name: '1 new task' }).waitFor();
    const after = await page.locator('[data-task]').evaluateAll((all) => all.map((row) => row.dataset.task));
    assert.equal(after.filter((id) => before.includes(id)).length, before.length, 'no row moved');
    await page.getByRole('button', { name: '1 new task' }).click();
    await page.getByRole('link', { name: 'a new one', exact: true }).waitFor();
    // Who goes through it by the keyboard sees where they are, down and up again.
    const seen = (row) =>
      until(
        () =>
          page.evaluate((index) => {
            const box = document.querySelector('[data-testid=task-list]').getBoundingClientRect();
            const current = document.querySelector(`[data-task][aria-current][aria-rowindex="${index}"]`)?.getBoundingClientRect();
            return current && current.top >= box.top + 36 && current.bottom <= box.bottom;
          }, row + 1),
        { what: `row ${row} is seen whole` },
      );
    for (let i = 0; i < 25; i++) await page.keyboard.press('j');
    await seen(25);
    for (let i = 0; i < 20; i++) await page.keyboard.press('k');
    await seen(5);
    // In groups a part of it is shown, which says so, and more where somebody wants it.
    await page.getByTestId('group').selectOption('batch');
    await page.getByTestId('grouped-bound').getByText(/The first 500 of 100,001 tasks/).waitFor();
    await page.getByTestId('grouped-bound').getByRole('button', { name: 'Show more' }).click();
    await page.getByTestId('grouped-bound').getByText(/The first 1,000 of 100,001 tasks/).waitFor();
    assert.equal(await page.locator('[data-task]').count(), 1000);
  });
});
