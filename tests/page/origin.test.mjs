// T28 in a real browser: somebody is logged in to errand and visits another site, which tries what browsers let a site
// try. It learns nothing, and nothing happens.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';

import { Server } from '../e2e/harness/server.mjs';
import { Browser } from './harness/browser.mjs';

// Two sites: one on another port of the same host, to which errand's cookies are no third party's; one under a name.
const name = 'evil.example';

// What a script of the other site can do with `url`; each answers what it learned, null where that is nothing.
const tries = {
  'read the tasks': async (url) => (await fetch(`${url}/api/tasks`, { credentials: 'include' })).text(),
  'read the tasks unseen': async (url) => (await fetch(`${url}/api/tasks`, { credentials: 'include', mode: 'no-cors' })).text(),
  'read the health': async (url) => (await fetch(`${url}/api/health`)).text(),
  'launch with JSON': async (url) =>
    (await fetch(`${url}/api/tasks`, { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{"kind":"command","command":"true"}' })).text(),
  'launch with what needs no question': async (url) =>
    (await fetch(`${url}/api/tasks`, { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{"kind":"command","command":"true"}' })).text(),
  'launch by a beacon': (url) => (navigator.sendBeacon(`${url}/api/tasks`, '{"kind":"command","command":"true"}'), null),
  'call a tool': async (url) =>
    (await fetch(`${url}/mcp`, { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"background_execute","arguments":{"command":"true"}}}' })).text(),
  'take a login': async (url) => (await fetch(`${url}/api/login`, { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{"code":"x"}' })).text(),
  'follow the stream': (url) =>
    new Promise((resolve) => {
      const stream = new EventSource(`${url}/api/stream`, { withCredentials: true });
      stream.onopen = () => resolve('open');
      stream.onerror = () => resolve(null);
    }),
  'load it as a script': (url) =>
    new Promise((resolve) => {
      const script = document.createElement('script');
      script.onload = () => resolve('loaded');
      script.onerror = () => resolve(null);
      script.src = `${url}/api/tasks`;
      document.head.append(script);
    }),
  'post a form': (url) =>
    new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.name = 'target';
      document.body.append(frame);
      const form = document.createElement('form');
      Object.assign(form, { method: 'POST', enctype: 'text/plain', action: `${url}/api/tasks`, target: 'target' });
      const field = document.createElement('input');
      Object.assign(field, { name: '{"kind":"command","command":"true","title":"', value: '"}' });
      form.append(field);
      document.body.append(form);
      frame.onload = () => resolve(null); // Whatever came of it is judged by what is stored.
      form.submit();
    }),
  'frame the page': (url) =>
    new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.onload = () => {
        try {
          resolve(frame.contentDocument ? null : frame.contentWindow.length > 0 ? 'framed' : null);
        } catch {
          resolve(null);
        }
      };
      frame.src = `${url}/tasks`;
      document.body.append(frame);
    }),
};

test('another site learns nothing and starts nothing (T28)', async (t) => {
  const server = await Server.start(t);
  const site = http.createServer((_, reply) => reply.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title><body>'));
  await new Promise((ready) => site.listen(0, '127.0.0.1', ready));
  t.after(() => site.close());
  const { port } = site.address();
  const browser = await Browser.open(t, { args: [`--host-resolver-rules=MAP ${name} 127.0.0.1`] });
  const person = await browser.person(t, server);
  person.allowed = /./; // The other site's console is full of refusals.
  await person.login();
  const owner = await person.context.cookies(server.url);
  assert.ok(owner.length > 0, 'the person is logged in');
  const task = await server.run('echo the only one');
  await server.at_rest(task.id);

  for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://${name}:${port}`]) {
    for (const [what, attempt] of Object.entries(tries)) {
      const page = await person.context.newPage();
      await page.goto(origin);
      const learned = await page.evaluate(`Promise.resolve().then(() => (${attempt})(${JSON.stringify(server.url)})).then((text) => text || null, () => null)`);
      assert.equal(learned, null, `${origin}: ${what}`);
      await page.close();
    }
  }

  // The site's name becomes this machine's address (DNS rebinding): the page is there, and errand is asked by that name.
  const rebound = await person.context.newPage();
  const reply = await rebound.goto(`http://${name}:${server.port}/api/tasks`);
  assert.ok([403, 421].includes(reply.status()), `asked by another name: ${reply.status()}`);
  assert.doesNotMatch(await rebound.content(), /the only one/);

  // A window that the other site opened is out of its reach.
  const opener = await person.context.newPage();
  await opener.goto(`http://127.0.0.1:${port}`);
  const [opened] = await Promise.all([person.context.waitForEvent('page'), opener.evaluate((url) => void (globalThis.other = open(`${url}/tasks`)), server.url)]);
  await opened.waitForLoadState();
  const reached = await opener.evaluate(() => {
    try {
      return String(globalThis.other.document.title);
    } catch (error) {
      return error.name;
    }
  });
  assert.ok(['SecurityError', 'TypeError'].includes(reached), reached);

  const { tasks, total } = await server.get('/api/tasks?total=true');
  assert.deepEqual([total, tasks.map((each) => each.id)], [1, [task.id]], 'nothing was started');
});
