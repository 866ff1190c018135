// Who may speak to the server (R12.1, T28): the token, and the rules that keep web pages out. Every case of the tables is
// one request with one thing wrong; none of them may change or show anything.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';

import { errand, raw_request, request, Server, suite_scope } from './harness/index.mjs';

test('Health answers without a token, and says nothing more than that it is well', async (t) => {
  const server = await Server.start(t);
  const reply = await request({ port: server.port, path: '/api/health' });
  assert.equal(reply.status, 200);
  assert.ok(!reply.text.includes(server.token));
  assert.ok(!reply.text.includes(server.data_dir), 'no paths for strangers');
});

test('The token is made once, is the user\'s alone, and stays over restarts', async (t) => {
  const server = await Server.start(t);
  const file = path.join(server.data_dir, 'token');
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(server.data_dir).mode & 0o777, 0o700);
  for (const name of fs.readdirSync(server.data_dir)) {
    const stat = fs.lstatSync(path.join(server.data_dir, name));
    assert.equal(stat.mode & 0o077, 0, `${name} is for its user alone`);
  }
  assert.ok(server.token.length >= 43, '32 random bytes');
  const before = server.token;
  await server.restart();
  assert.equal(server.token, before);
  const card = JSON.parse(fs.readFileSync(path.join(server.data_dir, 'server.json'), 'utf8'));
  assert.equal(card.pid, server.child.pid);
  assert.equal(card.url, server.url);
  assert.equal(typeof card.version, 'string');
  for (const p of fs.readdirSync('/proc').filter((name) => name === String(server.child.pid))) {
    assert.ok(!fs.readFileSync(`/proc/${p}/cmdline`, 'utf8').includes(before));
    assert.ok(!fs.readFileSync(`/proc/${p}/environ`, 'utf8').includes(before));
  }
});

describe('Attacks', () => {
  const scope = suite_scope();
  let server;
  let task;

  before(async () => {
    server = await Server.start(scope);
    task = await server.run('true');
  });

  const create = { method: 'POST', target: '/api/tasks', body: '{"kind":"command","command":"true"}' };
  const good = () => ({ authorization: `Bearer ${server.token}`, host: `127.0.0.1:${server.port}` });

  // One request; `allowed` are the statuses that refuse it.
  async function refused(name, { method = 'GET', target = '/api/tasks', body, headers }, allowed) {
    const tasks = (await server.get('/api/tasks?total=true')).total;
    const reply = await request({ port: server.port, method, path: target, body, headers });
    assert.ok(allowed.includes(reply.status), `${name}: ${reply.status} ${reply.text.slice(0, 200)}`);
    assert.equal(reply.headers['access-control-allow-origin'], undefined, `${name}: no CORS`);
    assert.ok(!reply.text.includes(task.id), `${name}: shows nothing`);
    assert.equal((await server.get('/api/tasks?total=true')).total, tasks, `${name}: changes nothing`);
  }

  const targets = [
    ['GET', '/api/tasks'], ['POST', '/api/tasks'], ['GET', '/api/tasks/running/count'], ['GET', '/api/tasks/TASK'],
    ['DELETE', '/api/tasks/TASK'], ['POST', '/api/tasks/TASK/cancel'], ['POST', '/api/tasks/TASK/message'],
    ['POST', '/api/tasks/TASK/retry'], ['POST', '/api/tasks/TASK/answer'], ['GET', '/api/tasks/TASK/result'],
    ['GET', '/api/tasks/TASK/messages'], ['GET', '/api/tasks/TASK/events'], ['GET', '/api/tasks/TASK/stream'],
    ['GET', '/api/tasks/TASK/log'], ['GET', '/api/tasks/TASK/artifacts'], ['POST', '/api/tasks/clear'], ['GET', '/api/stream'],
    ['GET', '/api/batches/batch_x'], ['POST', '/api/sessions'], ['GET', '/api/sessions/ses_x'], ['GET', '/api/agents'],
    ['GET', '/api/settings'], ['GET', '/api/openapi.json'], ['GET', '/metrics'], ['GET', '/api/nothing/here'],
  ];

  test('Every route but health is 401 without the token, and with a wrong one', async () => {
    for (const [method, target] of targets) {
      const filled = target.replace('TASK', task.id);
      const body = method === 'POST' ? '{}' : undefined;
      for (const authorization of [undefined, 'Bearer wrong', `Bearer ${server.token.slice(0, -1)}`, `Bearer ${server.token}x`, `Basic ${server.token}`, server.token]) {
        const headers = { host: `127.0.0.1:${server.port}`, ...(authorization && { authorization }) };
        await refused(`${method} ${target} ${authorization}`, { method, target: filled, body, headers }, [401, 429]);
        if (authorization) break; // A wrong one for each route; all wrong ones for the first.
      }
    }
    for (const authorization of ['', 'Bearer', 'Bearer ', `bearer ${server.token.toUpperCase()}`, `Bearer ${server.token}, Bearer x`, 'Bearer null', 'Digest x']) {
      await refused(`authorization ${authorization.slice(0, 12)}`, { headers: { host: `127.0.0.1:${server.port}`, authorization } }, [400, 401, 429]);
    }
  });

  test('A token in the URL counts for nothing', async () => {
    for (const name of ['token', 'access_token', 'auth', 'key']) {
      await refused(name, { target: `/api/tasks?${name}=${server.token}`, headers: { host: `127.0.0.1:${server.port}` } }, [400, 401, 429]);
    }
  });

  test('A foreign Host is 421 or 403 even with the token (DNS rebinding)', async () => {
    const p = server.port;
    const hosts = [
      'evil.example', `evil.example:${p}`, `127.0.0.1.evil.example:${p}`, `localhost.evil.example:${p}`, `evil.localhost.example:${p}`,
      `2130706433:${p}`, `0x7f000001:${p}`, `127.1:${p}`, `0.0.0.0:${p}`, `[::]:${p}`, `[::ffff:127.0.0.1]:${p}`, `127.0.0.1:${p + 1}`,
      `127.0.0.2:${p}`, `localhost:${p}@evil.example`, `127.0.0.1:${p}.evil.example`, `evil.local:${p}`, `evil.internal:${p}`, `a,127.0.0.1:${p}`,
    ];
    for (const host of hosts) {
      await refused(`Host ${host}`, { headers: { ...good(), host } }, [400, 403, 421]);
      await refused(`POST, Host ${host}`, { ...create, headers: { ...good(), host } }, [400, 403, 421]);
    }
    for (const host of ['', ' ', '\t']) {
      const reply = await raw_request(p, `GET /api/tasks HTTP/1.1\r\nHost:${host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
      assert.ok([400, 421].includes(reply.status), `an empty Host: ${reply.status}`);
    }
    const without = await raw_request(p, `GET /api/tasks HTTP/1.1\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
    assert.ok([400, 421].includes(without.status), 'no Host at all');
    const twice = await raw_request(p, `GET /api/tasks HTTP/1.1\r\nHost: 127.0.0.1:${p}\r\nHost: evil.example\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
    assert.ok([400, 421].includes(twice.status), 'two Hosts');
  });

  test('A foreign Origin is 403 even with the token', async () => {
    const p = server.port;
    const origins = [
      'https://evil.example', 'http://evil.example', 'null', `http://127.0.0.1:${p + 1}`, `https://127.0.0.1:${p}`, `http://localhost:${p}.evil.example`,
      `http://127.0.0.1:${p}.evil.example`, `http://evil.example#127.0.0.1:${p}`, `http://127.0.0.1`, 'chrome-extension://abc', 'file://', `http://[::1]:${p + 1}`,
    ];
    for (const origin of origins) {
      await refused(`Origin ${origin}`, { ...create, headers: { ...good(), origin } }, [403]);
      await refused(`GET, Origin ${origin}`, { headers: { ...good(), origin } }, [403]);
    }
  });

  test('What a browser marks as coming from another site is 403', async () => {
    for (const site of ['cross-site', 'same-site', 'nonsense']) {
      await refused(`Sec-Fetch-Site ${site}`, { ...create, headers: { ...good(), 'sec-fetch-site': site } }, [403]);
    }
  });

  test('A body that a form could send is 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain;application/json', 'application/jsonx', '']) {
      await refused(`Content-Type ${type}`, { ...create, headers: { ...good(), 'content-type': type } }, [400, 415]);
    }
  });

  test('Preflights get no permission, and unknown methods none either', async () => {
    for (const method of ['OPTIONS', 'TRACE', 'PUT', 'PATCH', 'PROPFIND']) {
      const headers = { ...good(), origin: 'https://evil.example', 'access-control-request-method': 'POST' };
      await refused(method, { method, headers }, [400, 403, 404, 405, 501]);
    }
  });

  test('Other spellings of a path reach nothing that the token does not open', async () => {
    const spellings = ['//api/tasks', '/api//tasks', '/api/./tasks', '/api/x/../tasks', '/API/tasks', '/api/tasks/', '/api/%74asks', '/api/tasks%00', '/api/tasks;x',
      '/api/health/../tasks', '/api/health/%2e%2e/tasks', '/api/health%2f..%2ftasks', '/..%2f..%2fetc%2fpasswd', '/../../../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd'];
    for (const target of spellings) {
      const reply = await raw_request(server.port, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
      assert.ok([400, 401, 403, 404, 421, 429].includes(reply.status), `${target}: ${reply.status}`);
      assert.ok(!/root:/.test(reply.text));
    }
  });

  test('The absolute form of a target is held to the same Host rule', async () => {
    const line = (uri, host) => `GET ${uri} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
    const p = server.port;
    for (const [uri, host] of [['http://evil.example/api/tasks', `127.0.0.1:${p}`], [`http://127.0.0.1:${p}/api/tasks`, 'evil.example'], ['ftp://127.0.0.1/api/tasks', `127.0.0.1:${p}`]]) {
      const reply = await raw_request(p, line(uri, host));
      assert.ok([400, 403, 421].includes(reply.status), `${uri} ${host}: ${reply.status}`);
      assert.ok(!reply.text.includes(task.id));
    }
  });

  test('A cookie alone opens nothing', async () => {
    for (const cookie of ['errand=x', `errand_session=${server.token}`, `session=${server.token}`, `token=${server.token}`]) {
      await refused(`Cookie ${cookie.slice(0, 10)}`, { headers: { host: `127.0.0.1:${server.port}`, cookie } }, [401, 403, 429]);
    }
  });
});

test('Errors are problem details with a code and a sentence, and name no secret', async (t) => {
  const server = await Server.start(t);
  const reply = await request({ port: server.port, path: '/api/tasks', headers: { authorization: 'Bearer wrong' } });
  assert.match(reply.headers['content-type'], /^application\/problem\+json/);
  assert.equal(reply.json.status, 401);
  assert.ok(reply.json.code && reply.json.detail.length > 10);
  assert.equal(reply.headers['x-content-type-options'], 'nosniff');
  assert.ok(!reply.text.includes(server.token));
});

test('Guessing is slowed down, and the owner is still served (T29)', async (t) => {
  const server = await Server.start(t);
  const statuses = [];
  for (let i = 0; i < 30; i++) {
    statuses.push((await request({ port: server.port, path: '/api/tasks', headers: { authorization: `Bearer guess${i}` } })).status);
  }
  // Ten a minute; one more may have become due while thirty were sent.
  assert.deepEqual(statuses.slice(0, 10), Array(10).fill(401));
  assert.ok(statuses.slice(10).filter((status) => status === 429).length >= 18, String(statuses));
  assert.equal((await server.api('GET', '/api/tasks')).status, 200);
});

test('The link of `errand open --print` opens a session once (R12.1)', async (t) => {
  const server = await Server.start(t);
  const printed = await errand(server, ['open', '--print']);
  assert.equal(printed.code, 0, printed.err);
  const link = printed.out.trim();
  assert.ok(link.startsWith(server.url), link);
  assert.ok(!link.includes(server.token), 'the token is not in it');
  const code = new URL(link).hash.replace(/^#/, '').split('=').at(-1);
  assert.ok(code.length >= 20, 'the code is in the fragment, which is sent to nobody');
  const headers = { origin: server.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const login = await request({ port: server.port, method: 'POST', path: '/api/login', headers, body: { code } });
  assert.equal(login.status, 200, login.text);
  const cookie = login.headers['set-cookie'][0];
  assert.match(cookie, /HttpOnly/i);
  assert.match(cookie, /SameSite=Strict/i);
  const again = await request({ port: server.port, method: 'POST', path: '/api/login', headers, body: { code } });
  assert.equal(again.status, 401, 'a code works once');

  const pair = cookie.split(';')[0];
  const secret = Object.values(login.json).find((value) => typeof value === 'string' && value.length >= 20);
  const both = { cookie: pair, 'x-errand-session': secret };
  assert.equal((await request({ port: server.port, path: '/api/tasks', headers: both })).status, 200);
  assert.equal((await request({ port: server.port, path: '/api/tasks', headers: { cookie: pair } })).status, 401, 'the cookie alone is not enough');
  assert.equal((await request({ port: server.port, path: '/api/tasks', headers: { 'x-errand-session': secret } })).status, 401);
  const foreign = await request({ port: server.port, method: 'POST', path: '/api/tasks', headers: { ...both, origin: 'https://evil.example' }, body: { kind: 'command', command: 'true' } });
  assert.equal(foreign.status, 403);
  const own = await request({ port: server.port, method: 'POST', path: '/api/tasks', headers: { ...both, origin: server.url }, body: { kind: 'command', command: 'true' } });
  assert.equal(own.status, 201, own.text);
});
