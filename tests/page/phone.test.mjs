// A phone's browser (R17.1): paired over what `errand phone` printed, it answers a task's question; it can be installed, says
// when the server is away, keeps nothing of a task, and is out when it is revoked.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { errand } from '../e2e/harness/cli.mjs';
import { demo } from '../e2e/harness/demo.mjs';
import { modules_of, read_qr } from '../e2e/harness/qr.mjs';
import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, shot, until } from './harness/browser.mjs';

// What `errand phone` printed, and its end.
async function phone_verb(server) {
  let printed = '';
  const done = errand(server, ['phone'], { within: 150_000, signal_after: (out) => void (printed = out) });
  await until(() => /and type {2}\S+\n/.test(printed), { what: 'a code is printed' });
  return { printed, done, code: /and type {2}(\S+)/.exec(printed)[1] };
}

async function paired(t, browser, server) {
  const { printed, done } = await phone_verb(server);
  const person = await browser.person(t, server, { phone: true });
  const page = await person.context.newPage();
  await page.goto(read_qr(modules_of(printed)));
  await page.getByLabel('What this phone is called').fill('Test phone');
  await page.getByRole('button', { name: 'Pair' }).click();
  await page.waitForURL(`${server.url}/tasks`);
  assert.equal((await done).code, 0);
  const [device] = (await server.get('/api/devices')).devices;
  return { person, page, device };
}

describe('a phone', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('A question of a task is answered from a phone that was paired over what errand phone printed', async (t) => {
    const server = await Server.start(t);
    const { printed, done, code } = await phone_verb(server);
    const task = await server.ask(demo.permission, { title: 'May I?' });
    await server.when(task.id, (now) => now.waiting_for?.kind === 'permission');
    const person = await browser.person(t, server, { phone: true });
    const page = await person.context.newPage();
    // The camera opens the link.
    await page.goto(read_qr(modules_of(printed)));
    await page.getByRole('heading', { name: 'Pair this phone' }).waitFor();
    assert.equal(await page.getByLabel('Code').inputValue(), code.replace('-', ''));
    assert.equal(new URL(page.url()).hash, '', 'the code does not stay in the address');
    await check_accessible(page, 'pairing on a phone');
    await shot(page, 'phone-pair');
    await page.getByLabel('What this phone is called').fill('Test phone');
    await page.getByRole('button', { name: 'Pair' }).click();
    const { code: exit, err } = await done;
    assert.equal(exit, 0, err);
    assert.match(err, /paired Test phone/);

    await page.waitForURL(`${server.url}/tasks`);
    await page.getByText('May I?').first().waitFor();
    await page.goto(`${server.url}/chat?taskId=${task.id}`);
    await page.locator('[data-ask][data-open=true]').getByRole('button', { name: 'Allow' }).click();
    const answered = await server.at_rest(task.id);
    assert.equal(answered.status, 'completed');
    const [device] = (await server.get('/api/devices')).devices;
    assert.equal((await server.events(task.id)).find((event) => event.type === 'ask.answered').data.by, device.id);
    assert.deepEqual(device.scopes, ['read', 'tasks', 'approve']);
    assert.deepEqual(await person.context.cookies(), [], 'a phone has no cookie');

    // The key cannot be taken out, and is all that there is.
    const kept = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const request = indexedDB.open('errand');
          request.onsuccess = () => {
            const read = request.result.transaction('device').objectStore('device').getAll();
            read.onsuccess = async () => {
              const [own] = read.result;
              const taken = await crypto.subtle.exportKey('pkcs8', own.key).then(() => 'taken', (error) => error.name);
              resolve({ count: read.result.length, extractable: own.key.extractable, taken, id: own.id });
            };
          };
        }),
    );
    assert.deepEqual(kept, { count: 1, extractable: false, taken: 'InvalidAccessError', id: device.id });
    const words = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    assert.doesNotMatch(words, /errand_device/, 'a session is kept nowhere');
  });

  test('A wrong code says so, and the right one can be typed', async (t) => {
    const server = await Server.start(t);
    const { done, code } = await phone_verb(server);
    const person = await browser.person(t, server, { phone: true });
    person.allowed = /401/;
    const page = await person.tab('/pair');
    await page.getByLabel('Code').fill('AAAA-AAAA');
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByRole('alert').getByText('errand phone').waitFor();
    await page.getByLabel('Code').fill(code.toLowerCase());
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.waitForURL(`${server.url}/tasks`);
    assert.equal((await done).code, 0);
  });

  test('It can be installed, keeps nothing of a task, and says when the server is away', async (t) => {
    const server = await Server.start(t, { keep_port: true });
    const { person, page } = await paired(t, browser, server);
    const task = await server.ask(demo.short, { title: 'A secret plan' });
    await server.at_rest(task.id);
    await page.getByText('A secret plan').first().waitFor();
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await until(() => page.evaluate(() => navigator.serviceWorker.controller !== null), { what: 'the worker is there' });
    const devtools = await person.context.newCDPSession(page);
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
    // A private window, which every test's is, cannot install anything.
    assert.deepEqual(installabilityErrors.map((each) => each.errorId).filter((id) => id !== 'in-incognito'), []);
    const manifest = await devtools.send('Page.getAppManifest');
    assert.deepEqual(manifest.errors, []);
    assert.deepEqual(await page.evaluate(() => caches.keys()), [], 'nothing is cached');

    person.expects_failures = true;
    person.allowed = /503|Failed to fetch/;
    await server.kill9();
    await page.getByText('Connection lost').filter({ visible: true }).first().waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'errand cannot be reached' }).waitFor();
    assert.doesNotMatch(await page.content(), /secret plan/);
    await server.start();
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByText('A secret plan').first().waitFor();
  });

  test('The owner sees the phone in the settings and revokes it: it is out at once, and can be paired again', async (t) => {
    const server = await Server.start(t);
    const { person, page } = await paired(t, browser, server);
    await page.getByRole('main').waitFor();
    const owner = await browser.person(t, server);
    const settings = await owner.login('/settings');
    const row = settings.getByTestId('devices');
    await row.getByText('Test phone').waitFor();
    await check_accessible(settings, 'settings with a phone');
    person.expects_failures = true;
    person.allowed = /401/;
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText('No phone is paired.').waitFor();
    await page.getByRole('heading', { name: 'Open errand from your terminal' }).waitFor();
    await page.getByText('not paired, or was revoked').waitFor();
    await settings.getByLabel('Language').selectOption('zh');
    await row.getByText('没有已配对的手机。').waitFor();
    await page.getByRole('link', { name: 'Type its code' }).click();
    const { code, done } = await phone_verb(server);
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.waitForURL(`${server.url}/tasks`);
    assert.equal((await done).code, 0);
    await page.getByRole('main').waitFor();
  });

  test('A phone ends itself in its settings', async (t) => {
    const server = await Server.start(t);
    const { person, page } = await paired(t, browser, server);
    await page.goto(`${server.url}/settings`);
    await page.getByTestId('own-device').getByText('read, tasks, approve').waitFor();
    await check_accessible(page, 'a phone in its settings');
    assert.equal(await page.getByTestId('webhooks').count(), 0, "what is the owner's is not shown");
    // Its own stream is closed with it, and is refused when it comes back.
    person.expects_failures = true;
    person.allowed = /401/;
    await page.getByRole('button', { name: 'Unpair' }).click();
    await page.getByRole('heading', { name: 'Open errand from your terminal' }).waitFor();
    assert.deepEqual((await server.get('/api/devices')).devices, []);
  });
});
