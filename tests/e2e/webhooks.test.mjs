// Notifications to people elsewhere (R17.2): at least once, with an id, in order, over kill -9, and only where they may go.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { demo, errand, Receiver, Server, tool, until } from './harness/index.mjs';

// A server that may reach these receivers.
async function start(t, ...receivers) {
  const server = new Server(t);
  fs.mkdirSync(server.data_dir, { recursive: true, mode: 0o700 });
  const hosts = receivers.map((receiver) => JSON.stringify(receiver.host)).join(', ');
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `[notify]\nprivate_hosts = [${hosts}]\npage_url = "https://errand.example/"\n`);
  return server.start();
}
const add = (server, url, more = {}) => server.expect(201, 'POST', '/api/webhooks', { url, ...more });
const webhook = async (server, id) => (await server.get('/api/webhooks')).webhooks.find((one) => one.id === id);
const about = (task) => (one) => one.json.data.task_id === task.id;

test('A receiver checks the signature with the library of Standard Webhooks', async (t) => {
  const library = await tool('standardwebhooks');
  assert.ok(library, 'standardwebhooks is installed by scripts/test (tests/e2e/package.json); ERRAND_E2E_TOOLS says where');
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  const { id, secret } = await add(server, receiver.url, { name: 'ci', on: ['failed', 'completed'] });
  assert.match(secret, /^whsec_/);
  const failed = await server.run('exit 3', { title: 'Ünïcode 标题 "quoted"' });
  const done = await server.run('true');
  const [first] = await receiver.some(1, about(failed));
  const [second] = await receiver.some(1, about(done));
  const verify = (one, key) => new library.Webhook(key).verify(one.text, one.headers);
  assert.deepEqual(verify(first, secret), {
    type: 'task.failed',
    timestamp: first.json.timestamp,
    data: {
      id: first.headers['webhook-id'], task_id: failed.id, title: 'Ünïcode 标题 "quoted"', kind: 'command', agent: 'command', batch_id: null, status: 'failed',
      reason: 'exit', request_id: null, question: null, text: null, url: `https://errand.example/chat?taskId=${failed.id}`,
    },
  });
  assert.equal(verify(second, secret).type, 'task.completed');
  assert.throws(() => new library.Webhook(secret).verify(first.text.replace('failed', 'fallen'), first.headers), /signature/i);
  assert.throws(() => verify(first, `whsec_${Buffer.alloc(32).toString('base64')}`), /signature/i);

  // While a secret is replaced, both are good.
  const { secret: fresh } = await server.expect(200, 'POST', `/api/webhooks/${id}/rotate`);
  assert.notEqual(fresh, secret);
  const again = await server.run('exit 4');
  const [third] = await receiver.some(1, about(again));
  for (const key of [secret, fresh]) assert.equal(verify(third, key).data.task_id, again.id);
  await until(async () => (await webhook(server, id)).delivered === 3, { what: 'three are delivered' });
});

test('A question is told with its id, and its text only where that is allowed', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  await add(server, `${receiver.url}?who=bare`, { content: 'none' });
  await add(server, `${receiver.url}?who=title`);
  await add(server, `${receiver.url}?who=text`, { content: 'text' });
  const task = await server.ask(demo.permission, { title: 'A private title' });
  const of = async (who) => (await receiver.some(1, (one) => one.path.endsWith(`who=${who}`)))[0];
  const { waiting_for } = await server.when(task.id, (now) => now.waiting_for?.request_id);
  const [bare, title, text] = [await of('bare'), await of('title'), await of('text')];
  for (const one of [bare, title, text]) {
    assert.equal(one.json.type, 'task.asked');
    assert.equal(one.json.data.request_id, waiting_for.request_id);
    assert.equal(one.json.data.question, 'permission');
  }
  assert.equal(bare.json.data.title, null);
  assert.doesNotMatch(bare.text, /private/);
  assert.equal(title.json.data.title, 'A private title');
  assert.equal(title.json.data.text, null);
  assert.equal(text.json.data.text, waiting_for.text);
  await server.cancel(task.id);
});

test('A receiver that fails or redirects gets the same notification again, and other tasks pass it', async (t) => {
  const receiver = await Receiver.start(t);
  const elsewhere = await Receiver.start(t);
  const server = await start(t, receiver, elsewhere);
  const { id } = await add(server, receiver.url);
  const seen = new Map();
  const answers = [500, { status: 302, headers: { location: elsewhere.url } }];
  receiver.answer = (one) => {
    const tries = seen.get(one.id) ?? 0;
    seen.set(one.id, tries + 1);
    return one.json.data.title === 'stubborn' ? (answers[tries] ?? 200) : 200;
  };
  const stubborn = await server.run('exit 1', { title: 'stubborn' });
  await receiver.some(1, about(stubborn));
  const other = await server.run('exit 1', { title: 'other' });
  await receiver.some(1, about(other));
  const [first, second] = await receiver.some(2, about(stubborn));
  assert.equal(second.id, first.id);
  assert.equal(second.text, first.text);
  await until(async () => /302/.test((await webhook(server, id)).error), { what: 'the redirect is said' });
  assert.equal(elsewhere.got.length, 0, 'no redirect is followed');
  assert.ok((await webhook(server, id)).next_try_at > new Date().toISOString());
});

test('A receiver that is slow is given 15 s, and then another try; it holds nobody else up', async (t) => {
  const slow = await Receiver.start(t);
  const quick = await Receiver.start(t);
  const server = await start(t, slow, quick);
  const { id } = await add(server, slow.url);
  await add(server, quick.url);
  slow.answer = (one, count) => (count === 1 ? 'hang' : 200);
  const first = await server.run('exit 1');
  await slow.some(1, about(first));
  const second = await server.run('exit 1');
  for (const task of [first, second]) await quick.some(1, about(task));
  assert.equal(slow.got.length, 1, 'one request at a time');
  const patient = { within: 120_000 };
  await slow.some(2, about(first), patient);
  await slow.some(1, about(second), patient);
  await until(async () => (await webhook(server, id)).delivered === 2, { what: 'both are delivered', ...patient });
  const [once, again] = slow.got.filter(about(first));
  assert.equal(again.id, once.id);
});

test('Over kill -9 a notification comes again under its id, and none is lost or out of order', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  const { id } = await add(server, receiver.url, { on: ['failed', 'completed'] });
  // Killed while the receiver has it and has not answered: nobody knows whether it arrived.
  receiver.answer = () => 'hang';
  const task = await server.run('exit 1', { title: 'one' });
  const [first] = await receiver.some(1);
  await server.kill9();
  receiver.answer = () => 500;
  await server.start();
  await receiver.some(2);
  assert.equal(receiver.got[1].id, first.id);
  // Killed between two tries, with a further end of the same task behind the first.
  await until(async () => (await webhook(server, id)).error, { what: 'the failed try is noted' });
  await server.expect(200, 'POST', `/api/tasks/${task.id}/retry`, {});
  await server.when(task.id, (now) => now.attempt === 2 && now.status === 'failed');
  await server.kill9();
  receiver.answer = () => 200;
  const before = receiver.got.length;
  await server.start();
  await until(async () => (await webhook(server, id)).delivered === 2, { what: 'both are delivered' });
  const rest = receiver.got.slice(before);
  assert.deepEqual([...new Set(rest.map((one) => one.id))].length, 2);
  assert.equal(rest[0].id, first.id, 'the first end comes first');
  assert.notEqual(rest.at(-1).id, first.id);
  assert.equal((await webhook(server, id)).waiting, 0);
  // What happened while no server ran the notifier is not lost either.
  const done = await server.run('sleep 0.3');
  await server.kill9();
  await server.start();
  await receiver.some(1, about(done));
  // A server that is told to stop does not wait for a receiver.
  await until(async () => (await webhook(server, id)).waiting === 0, { what: 'nothing is owed' });
  receiver.answer = () => 'hang';
  const stopped = await server.run('exit 1');
  const [under_way] = await receiver.some(1, about(stopped));
  assert.equal((await server.term()).code, 0);
  receiver.answer = () => 200;
  await server.start();
  const [, again] = await receiver.some(2, about(stopped));
  assert.equal(again.id, under_way.id);
});

test('A receiver that is gone is not asked again', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  const { id } = await add(server, receiver.url);
  receiver.answer = () => 410;
  await server.run('exit 1');
  await until(async () => (await webhook(server, id)).enabled === false, { what: 'it is switched off' });
  assert.match((await webhook(server, id)).disabled_because, /410/);
  receiver.answer = () => 200;
  const on = await server.expect(200, 'PATCH', `/api/webhooks/${id}`, { enabled: true });
  assert.deepEqual([on.enabled, on.disabled_because], [true, null]);
  const task = await server.run('exit 1');
  await receiver.some(1, about(task));
});

test('ntfy, Slack and Discord get what they read, and a hostile title does nothing there', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  await add(server, `http://${receiver.host}/my_topic`, { shape: 'ntfy', token: 'tk_1' });
  await add(server, `http://${receiver.host}/slack`, { shape: 'slack' });
  await add(server, `http://${receiver.host}/discord`, { shape: 'discord' });
  const task = await server.run('exit 1', { title: '<!channel> @everyone [x](https://evil.test) \u001b]0;owned\u0007' });
  await receiver.some(3);
  const at = (where) => receiver.got.find((one) => one.path === where);
  const link = `https://errand.example/chat?taskId=${task.id}`;
  assert.equal(at('/').headers.authorization, 'Bearer tk_1');
  assert.deepEqual(at('/').json, { topic: 'my_topic', title: 'Failed: <!channel> @everyone [x](https://evil.test)', message: 'exit', priority: 4, tags: ['x'], click: link });
  assert.equal(at('/slack').json.text, `*Failed:* &lt;!channel&gt; @everyone [x](https://evil.test)\nexit\n<${link}|Open in errand>`);
  assert.deepEqual(at('/discord').json, {
    content: `**Failed:** \\<\\!channel\\> \\@everyone \\[x\\]\\(https\\://evil.test\\)\nexit\n<${link}>`,
    allowed_mentions: { parse: [] },
  });
  for (const one of receiver.got) assert.match(one.id, /^ntf_/);
});

test('Private addresses and plain http are refused unless errand.toml names the host', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  const refused = async (url, status = 403) => (await server.expect(status, 'POST', '/api/webhooks', { url })).detail;
  for (const url of ['http://127.0.0.1:1/', 'https://localhost/x', 'https://169.254.169.254/latest/meta-data', 'https://[::1]/', 'https://10.0.0.1/'])
    assert.match(await refused(url), /private_hosts/);
  assert.match(await refused('http://example.com/'), /https/);
  await refused('https://user:password@example.com/', 400);
  await refused('nonsense', 400);
  // What a name turns out to be is looked at while connecting: this one is 127.0.0.1, and no text shows it.
  const port = receiver.host.split(':')[1];
  const numeric = await add(server, `https://0x7f.1:${port}/x`);
  const tried = await server.expect(200, 'POST', `/api/webhooks/${numeric.id}/test`);
  assert.deepEqual([tried.delivered, tried.status], [false, null]);
  assert.match(tried.error, /this machine or of a private network/);
  assert.equal(receiver.got.length, 0);
});

test('Secrets are told once and never listed; who may add a webhook is the owner', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  const made = await add(server, `${receiver.url}/t0ken?key=s3cret`);
  const listed = await server.get('/api/webhooks');
  assert.equal(JSON.stringify(listed).includes('s3cret') || JSON.stringify(listed).includes('t0ken') || JSON.stringify(listed).includes('whsec_'), false);
  assert.equal(listed.webhooks[0].url, `http://${receiver.host}/…`);
  assert.deepEqual({ ...made, secret: undefined }, { ...listed.webhooks[0], secret: undefined });
  assert.doesNotMatch(JSON.stringify(await server.get('/api/settings')), /s3cret|whsec_/);
  assert.doesNotMatch(server.log_tail(1000), /s3cret|t0ken|whsec_/);
  const { token } = await server.expect(201, 'POST', '/api/tokens', { name: 'helper', scopes: ['read', 'tasks', 'exec', 'approve'] });
  const helper = { headers: { authorization: `Bearer ${token}` } };
  await server.expect(403, 'GET', '/api/webhooks', undefined, helper);
  await server.expect(403, 'POST', '/api/webhooks', { url: receiver.url }, helper);
  await server.expect(403, 'POST', `/api/webhooks/${made.id}/test`, undefined, helper);
  for (const [body, words] of [
    [{}, /url/],
    [{ url: receiver.url, on: ['weekly'] }, /asked, failed/],
    [{ url: receiver.url, quiet: 'at night' }, /22:00-07:00/],
    [{ url: receiver.url, secret: 'short' }, /whsec_/],
    [{ url: receiver.url, token: 'x' }, /ntfy/],
    [{ url: receiver.url, more: 1 }, /more/],
  ])
    assert.match((await server.expect(400, 'POST', '/api/webhooks', body)).detail, words);
  await server.expect(204, 'DELETE', `/api/webhooks/${made.id}`);
  await server.expect(404, 'DELETE', `/api/webhooks/${made.id}`);
  await server.expect(404, 'POST', `/api/webhooks/${made.id}/test`);
});

test('errand notify adds, lists, tries, switches and removes', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  const cli = (...words) => errand(server, ['notify', ...words]);
  assert.match((await cli()).err, /errand notify add https:\/\/ntfy.sh/);
  const added = await cli('add', receiver.url, '--on', 'failed,completed', '--name', 'Ops', '--quiet-hours', '00:00-23:59', '--content', 'text');
  assert.equal(added.code, 0, added.err);
  assert.match(added.out, /^whsec_[A-Za-z0-9+/=]+\n$/);
  const [one] = (await server.get('/api/webhooks')).webhooks;
  assert.deepEqual([one.name, one.on, one.content, one.quiet, one.shape], ['Ops', ['failed', 'completed'], 'text', '00:00-23:59', 'standard']);
  assert.match((await cli('list')).out, new RegExp(`^${one.id}\tOps\tstandard\thttp://${receiver.host}/…\tfailed,completed\t0 delivered\n$`));
  const tested = await cli('test', one.id);
  assert.equal(tested.code, 0, tested.err);
  assert.equal(receiver.got[0].json.type, 'test', 'also in quiet hours');
  receiver.answer = () => 404;
  const refused = await cli('test', one.id);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /not delivered. The receiver answered 404/);
  assert.match((await cli('rotate', one.id)).out, /^whsec_/);
  assert.equal((await cli('off', one.id, '--json')).json.enabled, false);
  assert.match((await cli('list')).out, /\toff\n$/);
  assert.equal((await cli('on', one.id, '--json')).json.enabled, true);
  const piped = await errand(server, ['notify', 'add', '-', '--json'], { input: `http://${receiver.host}/piped\n` });
  assert.equal(piped.json.name, receiver.host.split(':')[0]);
  for (const { id } of (await server.get('/api/webhooks')).webhooks) assert.equal((await cli('remove', id)).code, 0);
  assert.equal((await cli('remove', one.id)).code, 3);
  assert.equal((await cli('add')).code, 2);
  assert.equal((await cli('add', 'http://10.0.0.1/')).code, 4);
});

test('Quiet hours hold notifications back', async (t) => {
  const receiver = await Receiver.start(t);
  const server = await start(t, receiver);
  const loud = await add(server, `${receiver.url}?loud`);
  // All day but one minute that is far from now.
  const hour = (new Date().getHours() + 12) % 24;
  const text = `${String(hour).padStart(2, '0')}:01-${String(hour).padStart(2, '0')}:00`;
  const quiet = await add(server, `${receiver.url}?quiet`, { quiet: text });
  const task = await server.run('exit 1');
  await receiver.some(1, about(task));
  await until(async () => (await webhook(server, quiet.id)).waiting === 1, { what: 'it waits' });
  assert.equal((await webhook(server, loud.id)).waiting, 0);
  assert.ok((await webhook(server, quiet.id)).next_try_at > new Date(Date.now() + 3_600_000).toISOString());
  assert.deepEqual(receiver.got.map((one) => one.path), ['/hook?loud']);
});
