// Notifications elsewhere, in the settings: added, tried, switched off and removed; in both languages, without a complaint of axe.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { Receiver } from '../e2e/harness/receiver.mjs';
import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, until } from './harness/browser.mjs';

describe('webhooks', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('a webhook is added, tried, switched off and removed; its secret is shown once', async (t) => {
    const receiver = await Receiver.start(t);
    const server = new Server(t);
    fs.mkdirSync(server.data_dir, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `[notify]\nprivate_hosts = ["${receiver.host}"]\n`);
    await server.start();
    const person = await browser.person(t, server);
    person.allowed = /403/; // A private address is refused.
    const page = await person.login('/settings');
    const section = page.getByTestId('webhooks');
    const address = section.getByLabel('Send to');
    await address.fill('http://10.0.0.1/hook');
    await section.getByRole('button', { name: 'Add' }).click();
    await section.getByRole('alert').getByText('private_hosts').waitFor();
    await address.fill(`${receiver.url}/t0ken`);
    await section.getByRole('checkbox', { name: 'completes' }).check();
    await section.getByRole('button', { name: 'Add' }).click();
    await section.getByText(/^whsec_/).waitFor();
    await section.getByText(`http://${receiver.host}/… · asks you, fails, completes`).waitFor();
    assert.equal(await page.getByText('t0ken').count(), 0);
    await section.getByRole('button', { name: 'Test' }).click();
    await page.getByText('Delivered. Look whether it arrived.').waitFor();
    assert.equal(receiver.got[0].json.type, 'test');
    await check_accessible(page, 'settings with a webhook');
    const task = await server.ask('noop', { title: 'a title' });
    await receiver.some(1, (one) => one.json.data.task_id === task.id && one.json.type === 'task.completed');

    await until(async () => (await server.get('/api/webhooks')).webhooks[0].delivered === 1, { what: 'its answer was heard' });
    await section.getByRole('switch').click();
    await until(async () => (await server.get('/api/webhooks')).webhooks[0].enabled === false, { what: 'it is switched off' });
    await page.getByLabel('Language').selectOption('zh');
    await section.getByText('已送达 1 条，等待 0 条，放弃 0 条').waitFor();
    await page.reload();
    await section.getByRole('button', { name: '移除' }).waitFor();
    assert.equal(await section.getByText(/^whsec_/).count(), 0, 'told once');
    await section.getByRole('button', { name: '移除' }).click();
    await until(async () => (await server.get('/api/webhooks')).webhooks.length === 0, { what: 'it is removed' });
  });
});
