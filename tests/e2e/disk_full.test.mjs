// T16: a full disk. Nothing is acknowledged that is not stored, reading goes on, and it recovers without a restart.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { patience, until } from './harness/index.mjs';
import { fill, server_on_small_disk } from './harness/small_disk.mjs';

test('T16: at every fill level creation is 507 or stored, reading goes on, and it recovers by itself', async (t) => {
  const small = await server_on_small_disk(t, 64);
  if (!small) return t.skip('this user may not mount a small tmpfs');
  const { server, disk } = small;
  const kept = [(await server.run('echo kept')).id];
  await server.at_rest(kept[0]);
  const stream = server.stream('/api/stream');
  await stream.opened;
  let refused = 0;
  for (const left of [2 << 20, 512 << 10, 128 << 10, 32 << 10, 4 << 10, 0]) {
    const release = fill(disk, left);
    for (let i = 0; i < 400; i++) {
      const reply = await server.api('POST', '/api/tasks', { kind: 'command', command: 'true', description: 'x'.repeat(2000) });
      if (reply.status === 201) {
        kept.push(reply.json.id);
        continue;
      }
      assert.equal(reply.status, 507, reply.text);
      assert.match(reply.json.detail, /disk|space|full/i);
      refused++;
      break;
    }
    assert.equal((await server.task(kept[0])).status, 'completed', 'reading goes on');
    assert.equal((await server.api('GET', '/api/tasks?limit=5')).status, 200);
    release();
    await until(async () => {
      const reply = await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' });
      if (reply.status === 201) kept.push(reply.json.id);
      return reply.status === 201;
    }, { within: 5_000 * patience, what: `it takes work again (${left} bytes were left)` });
  }
  t.diagnostic(`${kept.length} tasks acknowledged, refused at ${refused} of 6 levels`);
  assert.ok(refused >= 3, 'the disk really was full');
  stream.cut();
  await until(async () => (await server.get('/api/tasks?status=pending,running')).tasks.length === 0, { within: 60_000 * patience, what: 'nothing is stuck' });
  await server.restart();
  for (const id of kept) {
    const task = await server.task(id);
    assert.ok(['completed', 'failed'].includes(task.status), `${id} ${task.status}`);
  }
  assert.equal((await server.get('/api/tasks?total=true')).total, kept.length, 'what was refused was not stored');
});

test('T16: a start on a full disk says so, keeps what runs running, and lets people delete', async (t) => {
  const small = await server_on_small_disk(t, 64);
  if (!small) return t.skip('this user may not mount a small tmpfs');
  const { server, disk } = small;
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push((await server.run('head -c 100000 /dev/zero')).id);
  for (const id of ids) await server.at_rest(id);
  const go = path.join(server.folder, 'go');
  const work = (await server.run(`while [ ! -e ${go} ]; do sleep 0.05; done`)).id;
  await until(async () => (await server.task(work)).status === 'running', { what: 'the command runs' });
  for (const how of ['kill9', 'term']) {
    await server[how]();
    const release = fill(disk, 0);
    await server.start();
    assert.equal((await server.get('/api/health')).status, 'full');
    const refused = await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' });
    assert.equal(refused.status, 507, refused.text);
    assert.equal((await server.task(work)).status, 'running');
    assert.equal((await server.api('DELETE', `/api/tasks/${ids.pop()}`)).status, 204, 'there is a way out');
    release();
    await until(async () => (await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' })).status === 201,
      { within: 5_000 * patience, what: 'it takes work again' });
    assert.equal((await server.get('/api/health')).status, 'ok');
  }
  fs.writeFileSync(go, '');
  assert.equal((await server.at_rest(work)).status, 'completed');
});

test('T16: deleting works on a full disk, so that there is a way out', async (t) => {
  const small = await server_on_small_disk(t, 64);
  if (!small) return t.skip('this user may not mount a small tmpfs');
  const { server, disk } = small;
  const ids = [];
  for (let i = 0; i < 10; i++) ids.push((await server.run('head -c 100000 /dev/zero')).id);
  for (const id of ids) await server.at_rest(id);
  fill(disk, 0);
  for (const id of ids) {
    const reply = await server.api('DELETE', `/api/tasks/${id}`);
    assert.ok([204, 507].includes(reply.status), reply.text);
    if (reply.status === 507) t.diagnostic('a delete was refused with 507');
  }
});
