// What many MCP clients cost: memory of a thousand calls that wait, and CPU time of a call that lists.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';

import { patience, Server, until } from './harness/index.mjs';

const waits = 1_000;
const wait_bytes_max = 20 * 1024;
const lists = 5_000;

const resident = (pid) => Number(/^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
const cpu_s = (pid) => {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

function post(server, method, params, id) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {}, 'errand/session': 'ses_load' } },
  });
  return (
    `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\n` +
    `Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ${method}\r\nMcp-Name: ${params.name}\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

test('A thousand calls that wait cost little, and all of them get the result', { skip: patience > 1 ? 'sanitizers measure themselves' : false }, async (t) => {
  const server = await Server.start(t);
  const { id } = await server.launch({ kind: 'command', command: 'while [ ! -e go ]; do sleep 0.2; done; echo gone', work_dir: server.folder, parent_session_id: 'ses_load', timeout_s: 600 });
  const sockets = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  let answers = 0;
  const open = (n) =>
    Promise.all(
      Array.from({ length: n }, async () => {
        const socket = net.connect(server.port, '127.0.0.1');
        sockets.push(socket);
        socket.on('data', (chunk) => (answers += chunk.includes('gone') ? 1 : 0));
        await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
        socket.write(post(server, 'tools/call', { name: 'background_output', arguments: { task_id: id, block: true, timeout: 600 } }, sockets.length));
      }),
    );
  const metrics = async () => (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } })).text();
  const under_way = (n) => until(async () => Number(/^errand_http_requests_total (\d+)/m.exec(await metrics())[1]) > n, { what: `${n} requests`, within: 60_000 });
  // The first hundred warm up what is made once.
  await open(100);
  await under_way(100);
  const before = resident(server.child.pid);
  await open(waits);
  await under_way(waits + 100);
  const each = (resident(server.child.pid) - before) / waits;
  t.diagnostic(`a call that waits: ${(each / 1024).toFixed(1)} KiB`);
  fs.writeFileSync(`${server.folder}/go`, '');
  await until(() => answers === waits + 100, { what: 'all answers', within: 60_000 });
  assert.ok(each < wait_bytes_max, `${each} bytes`);
});

test('Listing is cheap', { skip: patience > 1 ? 'sanitizers measure themselves' : false }, async (t) => {
  const server = await Server.start(t);
  for (let i = 0; i < 3; ++i) await server.launch({ kind: 'command', command: 'true', parent_session_id: 'ses_load' });
  const connections = 8;
  const before = cpu_s(server.child.pid);
  const began = process.hrtime.bigint();
  await Promise.all(
    Array.from({ length: connections }, async (_, n) => {
      const socket = net.connect(server.port, '127.0.0.1');
      t.after(() => socket.destroy());
      let text = '';
      const request = post(server, 'tools/call', { name: 'background_list', arguments: {} }, n);
      await new Promise((resolve, reject) => {
        let done = 0;
        socket.on('error', reject);
        socket.on('connect', () => socket.write(request));
        socket.on('data', (chunk) => {
          text += chunk;
          const head = text.indexOf('\r\n\r\n');
          if (head < 0) return;
          const length = Number(/content-length: (\d+)/i.exec(text)[1]);
          if (text.length < head + 4 + length) return;
          assert.match(text, /^HTTP\/1\.1 200/);
          text = '';
          if (++done === lists / connections) return resolve();
          socket.write(request);
        });
      });
    }),
  );
  const cpu = cpu_s(server.child.pid) - before;
  const wall = Number(process.hrtime.bigint() - began) / 1e9;
  // The machine may be busy with other things: what is told is what it cost, and it is held to a bound that only a
  // mistake would break.
  t.diagnostic(`background_list: ${Math.round(lists / cpu)} calls a second of CPU time, ${Math.round(lists / wall)} a second here`);
  assert.ok(lists / cpu > 500, `${lists / cpu} calls a second of CPU time`);
});
