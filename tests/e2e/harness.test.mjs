// The checkers themselves: a follower that could not see a gap would prove nothing.
import assert from 'node:assert/strict';
import http from 'node:http';
import { spawn } from 'node:child_process';
import { test } from 'node:test';

import { alive, check_contract, Follower, marked, marker, raw_request, request, SseParser, tool, until } from './harness/index.mjs';

// A server that sends these events to each connection in turn, and then cuts it.
async function scripted(t, connections) {
  let next = 0;
  const seen = [];
  const server = http.createServer((call, reply) => {
    seen.push(call.headers['last-event-id']);
    const events = connections[next++];
    if (!events) {
      reply.writeHead(204).end();
      return;
    }
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [seq, type] of events) reply.write(`id: ${seq}\nevent: ${type}\ndata: {"seq":${seq},"type":"${type}","data":{}}\n\n`);
    reply.write(': beat\n\nid: 99\nevent: output\nda', () => reply.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { port: server.address().port, token: 'x', ready: Promise.resolve(), seen };
}

async function books(t, connections, options) {
  const server = await scripted(t, connections);
  const follower = new Follower(server, '/', options);
  await follower.done;
  return { ...follower.books(), seen: server.seen };
}

test('A follower that is cut and resumed sees nothing wrong where nothing is', async (t) => {
  const counted = await books(t, [[[1, 'a'], [2, 'b']], [[3, 'c']], [], [[4, 'end']]]);
  assert.deepEqual(counted, { gaps: 0, repeats: 0, malformed: 0, resets: 0, seen: [undefined, '2', '3', '3'] });
});

test('A follower counts a gap, a repeat, disorder and a reset', async (t) => {
  assert.equal((await books(t, [[[1, 'a'], [3, 'b'], [4, 'end']]])).gaps, 1);
  assert.equal((await books(t, [[[1, 'a'], [2, 'b']], [[2, 'b'], [3, 'end']]])).repeats, 1);
  assert.deepEqual(await books(t, [[[1, 'a'], [3, 'b'], [2, 'c'], [4, 'end']]]).then(({ gaps, repeats }) => [gaps, repeats]), [1, 1]);
  assert.equal((await books(t, [[[1, 'reset'], [1, 'end']]])).resets, 1);
  assert.equal((await books(t, [[[1, 'a'], [3, 'end']]], { dense: false })).gaps, 0);
});

test('The parser takes bytes cut anywhere, in the middle of a character too', () => {
  const bytes = Buffer.from('id: 1\nevent: x\ndata: {"text":"漢字"}\n\n: beat\n\ndata: {}\n\nid: 2\nda');
  for (let size = 1; size < bytes.length; size++) {
    const parser = new SseParser();
    const events = [];
    for (let at = 0; at < bytes.length; at += size) events.push(...parser.push(bytes.subarray(at, at + size)));
    assert.deepEqual(events, [{ id: '1', event: 'x', data: { text: '漢字' } }, { id: undefined, event: 'message', data: {} }]);
    assert.equal(parser.comments, 1);
  }
});

test('Marked processes are found whatever they did to themselves, and gone when they are', async () => {
  const mark = marker();
  const child = spawn('env', ['-i', 'setsid', '/bin/sh', '-c', `sleep ${mark}`], { stdio: 'ignore' });
  await until(() => marked(mark).some((p) => p.argv[0] === 'sleep'), { what: 'it is found' });
  for (const p of marked(mark)) process.kill(p.pid, 'SIGKILL');
  await until(() => marked(mark).length === 0, { what: 'it is gone' });
  await until(() => !alive(child.pid), { what: 'a zombie is not alive' });
});

test('until says what never came true', async () => {
  await assert.rejects(until(() => false, { within: 30, what: 'pigs fly' }), /pigs fly/);
  await assert.rejects(until(() => assert.fail('why'), { within: 30, what: 'x' }), /why/);
});

test('A reply that is cut is an error, and raw bytes come back as they are', async (t) => {
  const server = http.createServer((call, reply) => {
    reply.writeHead(200, { 'content-length': 10, 'content-type': 'application/json' });
    reply.write('{"a":', () => call.url === '/cut' && reply.destroy());
    if (call.url !== '/cut') reply.end('    1}'.slice(-5));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address();
  await assert.rejects(request({ port, path: '/cut' }));
  assert.deepEqual((await request({ port, path: '/' })).json, { a: 1 });
  assert.equal((await raw_request(port, 'nonsense\r\n\r\n')).status, 400);
});

test('A reply that is not as the API document says fails the test that saw it', async (t) => {
  if (!(await tool('ajv/dist/2020.js'))) return t.skip('the pinned tools are not installed: run scripts/test');
  const thing = { type: 'object', required: ['id'], properties: { id: { type: 'string' } }, additionalProperties: false };
  const problem = { description: 'wrong', content: { 'application/problem+json': { schema: { type: 'object', required: ['code'] } } } };
  const get = { responses: { 200: { description: 'ok', content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } }, '4XX': { $ref: '#/components/responses/Problem' } } };
  const document = { openapi: '3.1.0', paths: { '/things/{id}': { get }, '/things/all': { get } }, components: { schemas: { Thing: thing }, responses: { Problem: problem } } };
  const server = http.createServer((_, reply) => reply.setHeader('content-type', 'application/json').end(JSON.stringify(document)));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const at = { port: server.address().port, token: 'x' };
  const reply = (status, json, type = 'application/json') => ({ status, json, headers: { 'content-type': type }, text: JSON.stringify(json) });
  await check_contract(at, 'GET', '/things/7?x=y', reply(200, { id: 'a' }));
  await check_contract(at, 'GET', '/things/7', reply(404, { code: 'not_found' }, 'application/problem+json'));
  await assert.rejects(check_contract(at, 'GET', '/things/7', reply(200, { id: 1 })), /must be string/);
  await assert.rejects(check_contract(at, 'GET', '/things/7', reply(200, { id: 'a', more: 1 })), /additional/);
  await assert.rejects(check_contract(at, 'GET', '/things/7', reply(404, {}, 'application/problem+json')), /code/);
  await assert.rejects(check_contract(at, 'GET', '/things/7', reply(201, { id: 'a' })), /status/);
  await assert.rejects(check_contract(at, 'GET', '/things/7', reply(200, { id: 'a' }, 'text/json')), /text\/json/);
  await assert.rejects(check_contract(at, 'POST', '/things/7', reply(201, { id: 'a' })), /not in the API document/);
});
