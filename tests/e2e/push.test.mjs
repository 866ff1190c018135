// Web push (R17.2): encrypted for the phone alone, owed as every notification is, and only where it may go. The push service is
// ours: it checks who sends and decrypts as a browser does.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { demo, Phone, PushService, Server, until } from './harness/index.mjs';

async function start(t, service) {
  const server = new Server(t);
  fs.mkdirSync(server.data_dir, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `[notify]\nprivate_hosts = ["${service.host}"]\npage_url = "https://errand.example/"\n`);
  return server.start();
}
const about = (task) => (one) => one.message.task_id === task.id;
const push_of = async (phone) => phone.expect(200, 'GET', `/api/devices/${phone.device.id}/push`);

async function subscribed(server, service, more = {}) {
  const phone = await Phone.pair(server);
  const { key, subscription } = await push_of(phone);
  assert.equal(subscription, null);
  assert.equal(Buffer.from(key, 'base64url').length, 65);
  await phone.expect(200, 'PUT', `/api/devices/${phone.device.id}/push`, { ...service.subscribe(), ...more });
  return { phone, key };
}

test('A question reaches the phone, encrypted for it alone, in our name, and the phone answers it', async (t) => {
  const service = await PushService.start(t);
  const server = await start(t, service);
  const { phone, key } = await subscribed(server, service);
  const task = await server.ask(demo.permission, { title: 'Tidy "up" 标题' });
  const { waiting_for } = await server.when(task.id, (now) => now.waiting_for?.request_id);
  const [one] = await service.some(1, about(task));
  assert.equal(one.sender.key, key, 'the key that the browser was given');
  assert.equal(one.sender.claims.sub, 'https://errand.example');
  assert.equal(one.headers.urgency, 'high');
  assert.deepEqual(one.message, {
    id: one.message.id, type: 'asked', task_id: task.id, title: 'Tidy "up" 标题', question: 'permission', request_id: waiting_for.request_id, reason: null, text: waiting_for.text,
  });
  assert.match(one.message.id, /^ntf_/);
  await phone.expect(200, 'POST', `/api/tasks/${task.id}/answer`, { request_id: one.message.request_id, decision: 'allow' });
  assert.equal((await server.at_rest(task.id)).status, 'completed');
  const failed = await server.run('exit 3');
  const [second] = await service.some(1, about(failed));
  assert.deepEqual([second.message.type, second.message.reason, second.headers.urgency], ['failed', 'exit', 'normal']);
  await until(async () => (await push_of(phone)).subscription.delivered === 2, { what: 'both are delivered' });
  assert.deepEqual(new Set(service.got.map(({ message }) => message.task_id)), new Set([task.id, failed.id]), 'nothing that needs nobody');
  // It is a notification of the phone's, and no webhook.
  assert.deepEqual((await server.get('/api/webhooks')).webhooks, []);
  assert.equal((await server.api('POST', `/api/webhooks/${phone.device.id}/test`)).status, 404);
  assert.equal((await server.get('/api/devices')).devices[0].push.delivered, 2);
});

test('The rules are the phone own: occasions and content; a test comes at once', async (t) => {
  const service = await PushService.start(t);
  const server = await start(t, service);
  const { phone } = await subscribed(server, service, { on: ['completed'], content: 'none' });
  const secret = await server.run('true', { title: 'A private title' });
  const [one] = await service.some(1, about(secret));
  assert.equal(one.message.title, null);
  assert.doesNotMatch(one.text, /private/);
  const tried = await phone.expect(200, 'POST', `/api/devices/${phone.device.id}/push/test`);
  assert.equal(tried.delivered, true);
  assert.equal(service.got.at(-1).message.type, 'test');
  await phone.expect(204, 'DELETE', `/api/devices/${phone.device.id}/push`);
  assert.equal((await push_of(phone)).subscription, null);
  await phone.expect(404, 'POST', `/api/devices/${phone.device.id}/push/test`);
});

test('What fails is sent again with the same id, over kill -9; who sends stays the same', async (t) => {
  const service = await PushService.start(t);
  const server = await start(t, service);
  const { key } = await subscribed(server, service);
  service.answer = () => ({ status: 429, headers: { 'retry-after': '1' } });
  const task = await server.run('exit 1');
  await service.some(1, about(task));
  await server.restart();
  service.answer = () => 201;
  const tries = await service.some(2, about(task));
  assert.equal(new Set(tries.map(({ message }) => message.id)).size, 1);
  assert.deepEqual(new Set(tries.map(({ sender }) => sender.key)), new Set([key]));
});

test('A browser that is gone (404, 410) is forgotten; a phone that is revoked is told nothing', async (t) => {
  const service = await PushService.start(t);
  const server = await start(t, service);
  const phones = [];
  for (const status of [404, 410]) {
    service.answer = () => status;
    const { phone } = await subscribed(server, service);
    phones.push(phone);
    const task = await server.run('exit 1');
    await service.some(1, about(task));
    await until(async () => (await push_of(phone)).subscription === null, { what: `forgotten after ${status}` });
  }
  assert.equal((await server.get('/api/devices')).devices.length, 2, 'the phones are still paired');
  service.answer = () => 201;
  const { phone: last } = await subscribed(server, service);
  const { phone: stays } = await subscribed(server, service);
  await server.expect(204, 'DELETE', `/api/devices/${last.device.id}`);
  const task = await server.run('exit 1');
  const told = await service.some(1, about(task));
  await until(async () => (await push_of(stays)).subscription.delivered === 1, { what: 'the other one has it' });
  assert.deepEqual(told.map(({ browser }) => browser), [3]);
});

test('A subscription goes to a push service and nowhere else, and one phone cannot speak for another', async (t) => {
  const service = await PushService.start(t);
  const server = await start(t, service);
  const phone = await Phone.pair(server);
  const other = await Phone.pair(server);
  const own = `/api/devices/${phone.device.id}/push`;
  const { keys } = service.subscribe();
  await push_of(phone);
  for (const endpoint of ['http://127.0.0.1:1/x', 'https://10.0.0.1/x', 'https://localhost/x', 'https://evil.example/push', 'http://fcm.googleapis.com/x', 'https://fcm.googleapis.com.evil.example/x', 'file:///etc/passwd'])
    assert.ok([400, 403].includes((await phone.api('PUT', own, { endpoint, keys })).status), endpoint);
  for (const wrong of [{ ...keys, p256dh: 'AAAA' }, { ...keys, auth: 'AAAA' }, { p256dh: keys.p256dh }])
    await phone.expect(400, 'PUT', own, { endpoint: 'https://fcm.googleapis.com/fcm/send/x', keys: wrong });
  for (const [method, body] of [['GET'], ['PUT', { ...service.subscribe() }], ['DELETE']]) assert.equal((await other.api(method, own, body)).status, 404, method);
  assert.equal((await push_of(phone)).subscription, null);
});
