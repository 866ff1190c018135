// T7: readers that do not read. They cost bounded memory, slow nobody, and are dropped (R10.3, P8).
import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';

import { assert_within, Follower, marker, open_files, patience, percentile, rss_bytes, Server, until, window_of } from './harness/index.mjs';

const stalled = 1000;

// A connection that asks for a stream and then never reads.
function stalled_reader(server, target) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port: server.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.on('close', () => (socket.dropped = true));
    socket.once('connect', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${server.token}\r\nAccept: text/event-stream\r\n\r\n`);
      socket.pause();
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

test('T7: 1,000 stalled readers cost bounded memory, slow nobody, and are dropped', { timeout: 600_000 }, async (t) => {
  const server = await Server.start(t);
  // 100 MB of output a second: more than the kernel keeps for any connection, and than anybody could be sent.
  const seconds = 40;
  const task = await server.run(`yes $(printf '%0999d' 0) | head -c 5000000 >block; i=0; while [ $i -lt ${seconds * 20} ]; do cat block; i=$((i+1)); sleep 0.045; done; sleep ${marker()}`, {
    work_dir: server.folder,
    limits: { output_bytes: 1 << 20 },
    timeout_s: 3600,
  });
  const reader = new Follower(server, `/api/tasks/${task.id}/stream`);
  await until(() => reader.received > 20, { what: 'output flows' });

  const probe = async (count) => {
    const times = [];
    for (let i = 0; i < count; i++) {
      const began = performance.now();
      assert.equal((await server.api('GET', `/api/tasks/${task.id}`, undefined, { check: false })).status, 200);
      times.push(performance.now() - began);
    }
    return percentile(times, 0.99);
  };
  const calm = await probe(200);
  const before = rss_bytes(server.child.pid);
  const files = open_files(server.child.pid);
  const sockets = [];
  for (let i = 0; i < stalled; i += 50) sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => stalled_reader(server, `/api/tasks/${task.id}/stream`)))));
  await until(() => open_files(server.child.pid) >= files + stalled * 0.99, { what: 'all are connected' });
  let most = 0;
  let busy = 0;
  for (let i = 0; i < 20; i++) {
    await window_of(500);
    most = Math.max(most, rss_bytes(server.child.pid));
    busy = Math.max(busy, await probe(50));
  }
  const grown = (most - before) / (1 << 20);
  t.diagnostic(`${stalled} stalled readers: RSS +${grown.toFixed(1)} MiB; GET p99 ${calm.toFixed(1)} ms calm, at most ${busy.toFixed(1)} ms with them; a live reader got ${reader.received} events`);
  assert.ok(grown <= 64 * patience, `RSS grew by ${grown} MiB`);
  assert_within(busy, Math.max(200, 3 * calm) * patience, 'others are served');
  const received = reader.received;
  await until(() => reader.received > received + 20, { what: 'the live reader goes on' });
  await until(() => open_files(server.child.pid) <= files + stalled * 0.01, { within: 60_000 * patience, what: 'readers that take nothing for 30 s are dropped' });
  assert.deepEqual(reader.books(), { gaps: 0, repeats: 0, malformed: 0, resets: 0 });
  for (const socket of sockets) socket.destroy();
  await reader.stop();
  await server.cancel(task.id);
});
