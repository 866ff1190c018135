// Bad input gets a clear error, and nothing is lost or half done (R12.3, T11): malformed HTTP and JSON, wrong types,
// unknown fields, sizes, depths, unknown ids, illegal moves.
import assert from 'node:assert/strict';
import net from 'node:net';
import { before, describe, test } from 'node:test';

import { raw_request, Server, suite_scope, until } from './harness/index.mjs';

describe('Bad input', () => {
  const scope = suite_scope();
  let server;
  let done;

  before(async () => {
    server = await Server.start(scope);
    done = await server.run('true');
    await server.at_rest(done.id);
  });

  // The reply is a problem whose sentence matches, and nothing was stored.
  async function refused(status, method, target, body, words, options) {
    const reply = await server.api(method, target, body, options);
    const what = `${method} ${target} ${typeof body === 'string' ? body.slice(0, 60) : JSON.stringify(body)?.slice(0, 100)}`;
    assert.equal(reply.status, status, `${what} -> ${reply.status} ${reply.text.slice(0, 300)}`);
    assert.match(reply.headers['content-type'], /^application\/problem\+json/, what);
    for (const name of ['type', 'title', 'status', 'detail', 'code']) assert.ok(name in reply.json, `${what}: ${name}`);
    if (words) assert.match(reply.json.detail, words, what);
    assert.ok(reply.json.detail.length > 10 && reply.json.detail.length < 600, `${what}: one sentence that helps`);
    assert.equal((await server.get('/api/tasks?total=true')).total, 1, `${what}: nothing was stored`);
  }

  test('JSON that is none, or not what is asked for', async () => {
    const bodies = ['', ' ', '{', '}', '[]', 'null', '1', '"x"', '{"kind":"command","command":"true"', '{"kind":"command","command":"true"} x', "{'kind':'command'}",
      '{"kind":"command","command":"true",}', '{"kind":"command" "command":"true"}', '{"kind":"command","command":"\u0001"}', '{"kind":"command","command":"\\ud800"}', '{"kind":"command","command":NaN}',
      '{"kind":"command","command":"true","kind":"agent"}', '\ufeff{"kind":"command","command":"true"}', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), '{"a":1e999}'];
    for (const body of bodies) await refused(400, 'POST', '/api/tasks', body);
  });

  test('Wrong types and values are refused by name', async () => {
    const command = { kind: 'command', command: 'true' };
    const cases = [
      [{ kind: 'robot', command: 'true' }, /kind/], [{ kind: 'command' }, /command/], [{ ...command, command: '' }, /command/], [{ ...command, command: 7 }, /command/],
      [{ ...command, command: [] }, /command/], [{ ...command, command: ['a', 1] }, /command/], [{ ...command, command: 'a\0b' }, /command|NUL|zero/i], [{ ...command, timeout_s: 'soon' }, /timeout_s/], [{ ...command, timeout_s: -5 }, /timeout_s/],
      [{ ...command, timeout_s: 1e300 }, /timeout_s/], [{ ...command, env: ['A=1'] }, /env/], [{ ...command, env: { A: 1 } }, /env/], [{ ...command, env: { 'A=B': '1' } }, /env/], [{ ...command, work_dir: 'relative' }, /work_dir/],
      [{ ...command, labels: 'x' }, /labels/], [{ ...command, priority: 'high' }, /priority/], [{ ...command, limits: { output_bytes: -1 } }, /output_bytes/], [{ ...command, limits: { wings: 2 } }, /wings/], [{ ...command, on_hang: 'cry' }, /on_hang/],
      [{ ...command, permission: 'maybe' }, /permission/], [{ ...command, sandbox: 'glass' }, /sandbox/], [{ ...command, retention_s: -7 }, /retention_s/], [{ ...command, title: ['x'] }, /title/], [{ ...command, is_this_a_field: 1 }, /is_this_a_field/],
      [{ ...command, agent_id: 'demo', message: 'both' }, /./], [{ agent_id: 'demo' }, /message/], [{ message: 'to whom' }, /agent_id/], [{ agent_id: 'demo', message: 7 }, /message/], [{ agent_id: 'demo', content: 'x' }, /content/], [{}, /./],
    ];
    for (const [body, words] of cases) await refused(400, 'POST', '/api/tasks', body, words);
    const nobody = await server.api('POST', '/api/tasks', { agent_id: 'nobody', message: 'x' });
    assert.ok([400, 404].includes(nobody.status));
    assert.match(nobody.json.detail, /nobody/);
    for (const task of [command, { agent_id: 'demo', message: 'noop' }])
      for (const work_dir of ['/no/such/folder', '/dev/null']) {
        const nowhere = await server.expect(400, 'POST', '/api/tasks', { ...task, work_dir });
        assert.equal(nowhere.reason, 'bad_work_dir');
        assert.match(nowhere.detail, /work_dir \/(no|dev)/);
      }
  });

  test('Unknown and wrong query parameters are refused by name', async () => {
    const cases = ['status=sleeping', 'kind=robot', 'limit=0', 'limit=100000', 'limit=x', 'cursor=nonsense', 'offset=-1', 'created_after=yesterday', 'sort=random', 'total=maybe', 'colour=red', 'label=nocolon', 'limit=5&limit=6'];
    for (const query of cases) await refused(400, 'GET', `/api/tasks?${query}`, undefined, new RegExp(query.split('=')[0]));
    for (const rest of ['/events?after=x', '/events?after=-1', '/events?limit=0', '/messages?limit=many', '/result?timeout_s=x', '/log?format=pdf', '/stream?after=x', '/log?attempt=0']) await refused(400, 'GET', `/api/tasks/${done.id}${rest}`);
    const ahead = server.stream(`/api/tasks/${done.id}/stream`, { headers: { 'last-event-id': 'abc' } });
    await ahead.closed;
    assert.equal(ahead.status, 400);
  });

  test('Unknown ids are 404, bad ones too, on every route that takes one', async () => {
    for (const id of ['task_00000000000000000000000000', 'task_', 'nonsense', 'ses_00000000000000000000000000', '%F0%9F%92%A9', 'a'.repeat(300)]) {
      for (const [method, rest, body] of [['GET', ''], ['DELETE', ''], ['POST', '/cancel', {}], ['POST', '/message', { message: 'x' }], ['POST', '/retry', {}], ['POST', '/answer', { request_id: 'r', answer: 'x' }],
        ['GET', '/result'], ['GET', '/messages'], ['GET', '/events'], ['GET', '/stream'], ['GET', '/log'], ['GET', '/artifacts'], ['GET', '/artifacts/x']]) {
        const reply = await server.api(method, `/api/tasks/${id}${rest}`, body);
        assert.ok([400, 404].includes(reply.status), `${method} ${id.slice(0, 30)}${rest}: ${reply.status}`);
        assert.ok(reply.json.detail);
      }
    }
    for (const target of ['/api/sessions/ses_00000000000000000000000000', '/api/batches/batch_00000000000000000000000000', '/api/unknown', '/nothing']) assert.equal((await server.api('GET', target)).status, 404, target);
    assert.equal((await server.api('POST', '/api/sessions/ses_00000000000000000000000000/notices/ntc_0/taken', {})).status, 404);
  });

  test('Wrong methods are 405 and name the right ones', async () => {
    for (const [method, target] of [['PUT', '/api/tasks'], ['POST', '/api/tasks/running/count'], ['DELETE', '/api/health'], ['PUT', `/api/tasks/${done.id}`], ['GET', `/api/tasks/${done.id}/cancel`]]) {
      const reply = await server.api(method, target);
      assert.equal(reply.status, 405, `${method} ${target}`);
      assert.ok(reply.headers.allow);
    }
  });

  test('Moves that the state does not allow are 409 and change nothing', async () => {
    const before = await server.task(done.id);
    await refused(409, 'POST', `/api/tasks/${done.id}/cancel`, {}, /completed/);
    await refused(409, 'POST', `/api/tasks/${done.id}/retry`, {}, /./);
    const answered = await server.api('POST', `/api/tasks/${done.id}/answer`, { request_id: 'req_x', decision: 'allow' });
    assert.ok([404, 409].includes(answered.status));
    const messaged = await server.api('POST', `/api/tasks/${done.id}/message`, { message: 'hello command' });
    assert.ok([400, 409, 422, 501].includes(messaged.status), `a command takes no messages: ${messaged.status}`);
    const after = await server.task(done.id);
    assert.deepEqual({ ...after, progress: 0 }, { ...before, progress: 0 });
  });

  test('T11: a body over 8 MiB is 413 from its length, unread', async () => {
    const reply = await raw_request(server.port, `POST /api/tasks HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${(8 << 20) + 1}\r\n\r\n`);
    assert.equal(reply.status, 413, reply.text);
    const huge = await raw_request(server.port, `POST /api/tasks HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n`);
    assert.ok([400, 413].includes(huge.status));
    const within = await server.api('POST', '/api/tasks', { agent_id: 'demo', message: `help ${'x'.repeat(1 << 20)}` });
    assert.ok([201, 400, 413].includes(within.status), String(within.status));
    if (within.status === 201) {
      await server.api('DELETE', `/api/tasks/${within.json.id}`);
    }
  });

  test('T11: JSON deeper than 64 is 400; headers over 32 KiB are 431; a long target is refused', async () => {
    await refused(400, 'POST', '/api/tasks', `{"kind":"command","command":"true","labels":${'['.repeat(100)}${']'.repeat(100)}}`);
    await refused(400, 'POST', '/api/tasks', '['.repeat(100_000));
    const many = await raw_request(server.port, `GET /api/tasks HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n${'X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1000)}\r\n`);
    assert.equal(many.status, 431, many.text.slice(0, 100));
    const target = await raw_request(server.port, `GET /api/tasks?q=${'x'.repeat(100_000)} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
    assert.ok([400, 414, 431].includes(target.status));
  });

  test('Malformed HTTP and smuggling are 400 and the connection closes', async () => {
    const host = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\n`;
    const cases = [
      'nonsense\r\n\r\n', 'GET\r\n\r\n', `GET /api/tasks\r\n${host}\r\n`, `GET /api/tasks HTTP/9.9\r\n${host}\r\n`, `GET  /api/tasks HTTP/1.1\r\n${host}\r\n`, `GET /api/tasks HTTP/1.1\r\n${host}Bad Header: x\r\n\r\n`,
      `GET /api/tasks HTTP/1.1\r\n${host}X: a\r\n folded\r\n\r\n`, `POST /api/tasks HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
      `POST /api/tasks HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/tasks HTTP/1.1\r\n\r\n`, `POST /api/tasks HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      `POST /api/tasks HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n`, `POST /api/tasks HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: -1\r\n\r\n`, `POST /api/tasks HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 0x10\r\n\r\n`,
      `GET /api/\x00tasks HTTP/1.1\r\n${host}\r\n`, `GET /api/tasks%zz HTTP/1.1\r\n${host}\r\n`, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ];
    for (const bytes of cases) {
      const reply = await raw_request(server.port, Buffer.from(bytes, 'latin1'), { within: 12_000, enough: () => false });
      assert.ok(reply.status === 0 || (reply.status >= 400 && reply.status < 600), `${JSON.stringify(bytes.slice(0, 80))}: ${reply.status}`);
      assert.ok(reply.closed, `${JSON.stringify(bytes.slice(0, 80))}: closed`);
      assert.equal((reply.text.match(/HTTP\/1\.1 /g) ?? []).length <= 1, true, 'no second reply to a smuggled request');
    }
    assert.equal((await server.get('/api/tasks?total=true')).total, 1);
  });

  test('A client that leaves in the middle, or sends one byte at a time, harms nobody', async () => {
    for (let i = 0; i < 50; i++) {
      const socket = net.connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.write(`POST /api/tasks HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"kind":`);
      socket.destroy();
    }
    assert.equal((await server.get('/api/tasks?total=true')).total, 1);
    const text = `GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`;
    const socket = net.connect(server.port, '127.0.0.1');
    let reply = '';
    socket.on('data', (chunk) => (reply += chunk));
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.setNoDelay(true);
    for (const byte of text) await new Promise((resolve) => socket.write(byte, resolve));
    await until(() => reply.startsWith('HTTP/1.1 200'), { what: 'it is served' });
    socket.destroy();
  });

  test('Text in any script, with any control character, comes back as it went in', async () => {
    const texts = ['ẞ—“quotes” \\ / \b\f\n\r\t', '漢字かな交じり文', '👩‍👩‍👧‍👦 🏳️‍🌈', '\u2028\u2029', '</script><img src=x onerror=alert(1)>', '\u001b]52;c;aGk=\u0007', "'; DROP TABLE tasks; --", 'x'.repeat(100_000)];
    for (const text of texts) {
      const task = await server.ask('help', { description: text.slice(0, 1000), labels: { text: text.slice(0, 200).replace(/\p{Cc}/gu, ' ') } });
      assert.equal((await server.task(task.id)).description, text.slice(0, 1000));
      await server.api('DELETE', `/api/tasks/${task.id}`);
    }
  });
});
