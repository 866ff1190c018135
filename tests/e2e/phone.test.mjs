// Phones (R17.1): paired by what `errand phone` prints, logged in by their own key, limited, and gone when they are revoked.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { demo, errand, in_time, modules_of, patient_ms, Phone, read_qr, Server, until } from './harness/index.mjs';

// `errand phone`, once it has printed the code. `done` is its end.
async function phone_verb(server, words = []) {
  let printed = '';
  const done = errand(server, ['phone', ...words], { within: 150_000, signal_after: (out) => void (printed = out) });
  await until(() => /and type {2}[A-Z2-9]{4}-[A-Z2-9]{4}\n/.test(printed), { what: 'a code is printed' });
  return { printed, done, code: /and type {2}(\S+)/.exec(printed)[1] };
}

test('errand phone prints a code to scan and one to type; the phone that uses it is named, and the code is used up', async (t) => {
  const server = await Server.start(t);
  const { printed, done, code } = await phone_verb(server);
  const link = read_qr(modules_of(printed));
  assert.equal(link, `${server.url}/pair#${code.replace('-', '')}`);
  assert.match(printed, new RegExp(`Or open {2}${server.url}/pair {2}and type`));
  const phone = await Phone.pair(server, { code: code.toLowerCase(), name: 'My phone' });
  const { code: exit, err } = await done;
  assert.equal(exit, 0, err);
  assert.match(err, new RegExp(`paired My phone \\(${phone.device.id}\\)`));
  assert.match(err, /approve/, 'what it may do is said');
  await server.expect(401, 'POST', '/api/pair', { code, name: 'again', key: await phone.public_key() }, { headers: { authorization: undefined } });

  const list = await errand(server, ['device', 'list']);
  assert.match(list.out, new RegExp(`^${phone.device.id}  read,tasks,approve +My phone`));
  assert.equal((await errand(server, ['device', '--json'])).json.devices.length, 1);
});

test('A phone reads, answers and starts agents; commands, tokens and the server are not its business', async (t) => {
  const server = await Server.start(t);
  const phone = await Phone.pair(server);
  await phone.login();
  const task = await phone.expect(201, 'POST', '/api/tasks', { agent_id: 'demo', message: demo.permission });
  const { waiting_for } = await server.when(task.id, (now) => now.waiting_for?.request_id);
  await phone.expect(200, 'POST', `/api/tasks/${task.id}/answer`, { request_id: waiting_for.request_id, decision: 'allow' });
  await server.at_rest(task.id);
  const answered = (await server.events(task.id)).find((event) => event.type === 'ask.answered');
  assert.equal(answered.data.by, phone.device.id, 'who answered is known');
  for (const [method, target, body] of [
    ['POST', '/api/tasks', { command: 'true' }],
    ['GET', '/api/tokens'],
    ['POST', '/api/tokens', { name: 'mine', scopes: ['read'] }],
    ['GET', '/api/devices'],
    ['POST', '/api/devices/codes', {}],
    ['POST', '/api/login/codes'],
    ['GET', '/api/webhooks'],
    ['PATCH', '/api/settings', { max_concurrent: 1 }],
  ])
    assert.equal((await phone.api(method, target, body)).status, 403, `${method} ${target}`);
  assert.equal((await phone.api('GET', `/api/devices/${phone.device.id}`)).json.name, 'Pixel');

  const reader = await Phone.pair(server, { scopes: ['read'] });
  assert.equal((await reader.api('GET', '/api/tasks')).status, 200);
  assert.equal((await reader.api('POST', '/api/tasks', { agent_id: 'demo', message: 'noop' })).status, 403);
  await server.expect(400, 'POST', '/api/devices/codes', { scopes: ['admin'] });
});

test('A revoked phone is refused at once, and what it has open is closed', async (t) => {
  const server = await Server.start(t);
  const phone = await Phone.pair(server);
  const other = await Phone.pair(server, { name: 'stays' });
  const task = await server.ask(demo.long);
  const streams = [phone, phone, other].map((each, i) => server.stream(i === 1 ? `/api/tasks/${task.id}/stream` : '/api/stream', { headers: each.headers }));
  for (const stream of streams) assert.equal((await stream.opened).status, 200);
  // A call that waits.
  const waiting = phone.api('GET', `/api/tasks/${task.id}/result?block=true&timeout_s=60`).then(({ status }) => status, () => 'closed');
  await until(async () => (await server.api('GET', '/metrics', undefined, { check: false })).text.match(/http_streams 3\n/), { what: 'three streams are open' });
  const revoked = await errand(server, ['device', 'revoke', phone.device.id]);
  assert.equal(revoked.code, 0, revoked.err);
  await in_time(Promise.all([streams[0].closed, streams[1].closed]), patient_ms, 'its streams are closed');
  // 401: where the call came behind the revocation.
  assert.ok(['closed', 401].includes(await in_time(waiting, patient_ms, 'its call is closed')));
  assert.equal((await phone.api('GET', '/api/tasks')).status, 401);
  const again = await phone.try_login();
  assert.equal(again.status, 401);
  assert.match(again.json.detail, /errand phone/);
  assert.equal((await other.api('GET', '/api/tasks')).status, 200);
  await server.cancel(task.id);
  await streams[2].seen((event) => event.data.task_id === task.id && event.event === 'task.status');
  streams[2].cut();
  assert.equal((await errand(server, ['device', 'revoke', phone.device.id])).code, 3);
});

test('Phones outlive the server, which is killed; their sessions too', async (t) => {
  const server = await Server.start(t);
  const phone = await Phone.pair(server);
  await server.restart();
  assert.equal((await phone.api('GET', '/api/tasks')).status, 200, 'nobody has to log in again');
  await phone.login();
  assert.equal((await phone.api('GET', '/api/tasks')).status, 200);
});

test('Who guesses codes ends the one that is open, and is told to wait', async (t) => {
  const server = await Server.start(t);
  const { done } = await phone_verb(server);
  const probe = await Phone.pair(server, {}); // A key to try with; takes a code of its own.
  const guess = (i) => server.api('POST', '/api/pair', { code: `AAAA-AAA${'ABCDEFGHJKLMNPQRSTUVWXYZ'[i]}`, name: 'x', key: 'x' }, { headers: { authorization: undefined } });
  assert.equal((await guess(0)).status, 400, 'what is no key uses up nothing');
  const key = await probe.public_key();
  const statuses = [];
  for (let i = 0; i < 12; i++)
    statuses.push((await server.api('POST', '/api/pair', { code: `AAAAAAA${'ABCDEFGHJKLM'[i]}`, name: 'x', key }, { headers: { authorization: undefined } })).status);
  assert.deepEqual(new Set(statuses.slice(0, 10)), new Set([401]));
  assert.equal(statuses.at(-1), 429);
  const ended = await done;
  assert.notEqual(ended.code, 0);
  assert.match(ended.err, /wrong codes/);
});

test('Behind a proxy its word counts where it is listed, and nobody else can speak for it', async (t) => {
  const name = 'errand.example';
  const headers = { host: name, 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7', origin: `https://${name}` };
  const proxied = new Server(t, { args: ['--behind-proxy'] });
  fs.mkdirSync(proxied.data_dir, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(proxied.data_dir, 'errand.toml'), `proxies = ["192.0.2.0/24"]\n[notify]\npage_url = "https://${name}/"\n`);
  await proxied.start();
  // From loopback, where the proxy usually is; the name is that of the page.
  assert.equal((await proxied.api('GET', '/api/health', undefined, { headers })).status, 200);
  const { url } = await proxied.expect(201, 'POST', '/api/devices/codes', {});
  assert.match(url, new RegExp(`^https://${name}/pair#`));
  assert.equal((await proxied.api('GET', '/api/health', undefined, { headers: { ...headers, 'tailscale-funnel-request': '?1' } })).status, 403);
  assert.equal((await proxied.api('GET', '/api/health', undefined, { headers: { ...headers, origin: 'https://evil.example' } })).status, 403);

  // Without the setting the same words are a client's own: a page of https is not ours.
  const direct = await Server.start(t, { args: ['--allow-host', name] });
  assert.equal((await direct.api('GET', '/api/health', undefined, { headers })).status, 403);

  const wrong = new Server(t);
  fs.mkdirSync(wrong.data_dir, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(wrong.data_dir, 'errand.toml'), 'proxies = ["proxy.lan"]\n');
  await assert.rejects(wrong.start(), /proxies: "proxy.lan" is no address/);
});

test('errand phone starts no server in the place of one that is gone: no other knows its code', async (t) => {
  const server = await Server.start(t);
  const { done } = await phone_verb(server);
  await server.kill9();
  const ended = await done;
  assert.equal(ended.code, 5, ended.err);
  assert.notEqual(server.card()?.pid, undefined, 'what the killed one left is still there');
  assert.equal(server.card().pid, server.pid);
});
