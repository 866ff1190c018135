// Notifications on a phone, in Chromium. A headless Chromium has no push service: its `subscribe` is replaced by one that
// hands out a subscription of the push service of the tests, which takes and decrypts what errand sends; the decrypted message
// is given to the page's service worker by the browser's own debugging interface, as its push service would.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { demo } from '../e2e/harness/demo.mjs';
import { PushService } from '../e2e/harness/push_service.mjs';
import { Server, suite_scope } from '../e2e/harness/server.mjs';
import { Browser, check_accessible, until } from './harness/browser.mjs';

const subscribes = (subscription) => {
  let current = null;
  PushManager.prototype.getSubscription = () => Promise.resolve(current);
  PushManager.prototype.subscribe = ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly || applicationServerKey.length !== 65) throw new TypeError('not as a browser wants it');
    current = {
      options: { applicationServerKey: applicationServerKey.buffer },
      toJSON: () => subscription,
      unsubscribe: () => ((current = null), Promise.resolve(true)),
    };
    return Promise.resolve(current);
  };
};

async function start(t, browser, service) {
  const server = new Server(t);
  fs.mkdirSync(server.data_dir, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `[notify]\nprivate_hosts = ["${service.host}"]\n`);
  await server.start();
  const person = await browser.person(t, server, { phone: true, permissions: ['notifications'] });
  await person.context.addInitScript(subscribes, service.subscribe());
  const { code } = await server.expect(201, 'POST', '/api/devices/codes', {});
  const page = await person.tab('/pair');
  await page.getByLabel('Code').fill(code);
  await page.getByRole('button', { name: 'Pair' }).click();
  await page.waitForURL(`${server.url}/tasks`);
  await page.goto(`${server.url}/settings`);
  await page.getByRole('switch', { name: 'Notifications on this phone' }).click();
  await page.getByTestId('push').getByRole('button', { name: 'Test' }).waitFor();
  return { server, person, page };
}

// What the push service got, given to the worker as the browser would. One session for all: who leaves may take with him what
// is on its way.
async function delivery(person, page, server) {
  const devtools = await person.context.newCDPSession(page);
  const found = new Promise((resolve) =>
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => registrations.forEach((each) => each.scopeURL === `${server.url}/` && resolve(each.registrationId))),
  );
  await devtools.send('ServiceWorker.enable');
  const registrationId = await found;
  return (data) => devtools.send('ServiceWorker.deliverPushMessage', { origin: server.url, registrationId, data });
}
const shown = (page) =>
  page.evaluate(async () =>
    (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body, tag, actions, data }) => ({ title, body, tag, actions: (actions ?? []).map(({ action }) => action), id: data.id })),
  );

// A tap, which nobody can make on a headless screen: the event that the browser would send to the worker. It is not a trusted
// one, for which a browser's own waitUntil() does nothing but throw: the worker stays awake by itself for as long as this takes.
const tap = (person, how) =>
  person.context.serviceWorkers()[0].evaluate(async ({ action, reply }) => {
    const [notification] = await self.registration.getNotifications();
    const event = new NotificationEvent('notificationclick', { notification, action });
    if (reply !== undefined) Object.defineProperty(event, 'reply', { value: reply });
    Object.defineProperty(event, 'waitUntil', { value: () => undefined });
    self.dispatchEvent(event);
  }, how);

describe('push on a phone', async () => {
  const scope = suite_scope();
  const browser = await Browser.open(scope);

  test('A question is shown with its actions, and answered there by the phone', async (t) => {
    const service = await PushService.start(t);
    const { server, person, page } = await start(t, browser, service);
    await check_accessible(page, 'notifications of a phone');
    const deliver = await delivery(person, page, server);
    const shows = (wanted, what) =>
      until(async () => wanted(await shown(page)), { what }).catch(async (error) => assert.fail(`${error.message}: ${JSON.stringify(await shown(page))}`));
    const [device] = (await server.get('/api/devices')).devices;
    assert.deepEqual([device.push.on, device.push.content], [['asked', 'failed'], 'text']);

    const task = await server.ask(demo.permission, { title: 'May I?' });
    const [one] = await service.some(1, ({ message }) => message.task_id === task.id);
    await deliver(one.text);
    await shows((all) => all.some(({ id }) => id === one.message.id), 'it is shown');
    const [notice] = await shown(page);
    assert.equal(notice.title, 'Needs your permission: May I?');
    assert.equal(notice.body, one.message.text);
    assert.deepEqual(notice.actions, ['allow', 'deny']);
    await tap(person, { action: 'allow' });
    assert.equal((await server.at_rest(task.id)).status, 'completed');
    const answered = (await server.events(task.id)).find((event) => event.type === 'ask.answered');
    assert.deepEqual([answered.data.by, answered.data.decision], [device.id, 'allow']);
    await shows((all) => all.length === 0, 'it is gone');

    const question = await server.ask(demo.question, { title: 'Which one' });
    const [two] = await service.some(1, ({ message }) => message.task_id === question.id);
    await deliver(two.text);
    await shows((all) => all.some(({ id }) => id === two.message.id), 'the question is shown');
    assert.deepEqual((await shown(page))[0].actions, ['reply']);
    await tap(person, { action: 'reply', reply: ' blue ' });
    const done = await server.at_rest(question.id);
    assert.equal(done.status, 'completed');
    assert.equal((await server.events(question.id)).find((event) => event.type === 'ask.answered').data.decision, 'answer');

    // Answered too late: the person is told, and finds the task.
    await shows((all) => all.length === 0, 'the question is gone');
    await deliver(two.text);
    await shows((all) => all.some(({ id }) => id === two.message.id), 'it is shown again');
    person.allowed = /409/;
    await tap(person, { action: 'reply', reply: 'red' });
    await shows(([first]) => first?.title === 'Your answer did not arrive', 'it says so');
  });

  test('The rules are changed, tried and switched off in the settings', async (t) => {
    const service = await PushService.start(t);
    const { server, page } = await start(t, browser, service);
    const section = page.getByTestId('push');
    const push = async () => (await server.get('/api/devices')).devices[0].push;
    await section.getByRole('button', { name: 'Test' }).click();
    await page.getByText('Sent. It arrives in a moment.').waitFor();
    assert.equal(service.got.at(-1).message.type, 'test');
    await section.getByRole('checkbox', { name: 'completes' }).click();
    await until(async () => (await push()).on.includes('completed'), { what: 'the occasion is there' });
    await section.getByLabel('What to tell of a task').selectOption('none');
    await until(async () => (await push()).content === 'none', { what: 'the content is changed' });
    const task = await server.ask('noop', { title: 'A secret plan' });
    const [one] = await service.some(1, ({ message }) => message.task_id === task.id);
    assert.doesNotMatch(one.text, /secret/);
    await section.getByRole('switch').click();
    await until(async () => (await push()) === null, { what: 'it is switched off' });
  });
});
