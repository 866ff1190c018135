// A disk that takes seconds for each commit: what is printed waits in the run's log and not in the server's memory, and
// nothing of it is lost.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { patience, rss_bytes, Server, slow_disk, slow_disk_skip as skip, until, window_of } from './harness/index.mjs';

test('A store that takes 5 s a commit and commands that print 100 MB/s: memory stays, and the output is whole', { skip, timeout: 300_000 }, async (t) => {
  const disk = slow_disk(t);
  const server = await Server.start(t, { env: disk.env, args: ['--max-concurrent', '8'] });
  // Both streams in turn, in pieces that are shown whole: as much as an event can hold, twenty times a second.
  const block = path.join(server.folder, 'block');
  fs.writeFileSync(block, 'x'.repeat(31).concat('\n').repeat(1000));
  const seconds = 15;
  const loud = `end=$(( $(date +%s) + ${seconds} )); n=0; while [ $(date +%s) -lt $end ]; do for i in 1 2 3 4 5 6 7 8; do cat block; cat block >&2; done; n=$((n+1)); done; echo "printed $((n*16*32000)) and this"`;
  const calm = await server.run('true');
  await server.at_rest(calm.id);
  const ids = [];
  for (let i = 0; i < 6; i++) ids.push((await server.run(loud, { work_dir: server.folder, limits: { output_bytes: 4 << 20 }, timeout_s: 600 })).id);
  await until(async () => (await server.task(ids[5])).progress.output_bytes > 0, { within: 30_000 * patience, what: 'they print' });
  const before = rss_bytes(server.child.pid);
  disk.slow({ syncs: 5_000 });
  let most = before;
  const ends = performance.now() + seconds * 1000;
  while (performance.now() < ends) {
    most = Math.max(most, rss_bytes(server.child.pid));
    await window_of(50);
  }
  const grown = (most - before) / (1 << 20);
  t.diagnostic(`six commands, 5 s a sync: RSS +${grown.toFixed(1)} MiB`);
  assert.ok(grown <= 96, `RSS +${grown.toFixed(1)} MiB`);
  disk.quick();
  for (const id of ids) {
    const task = await server.at_rest(id, { within: 120_000 * patience });
    assert.equal(task.status, 'completed');
    // What was printed last on one stream may stand before what the other one still had on its way.
    const log = await server.api('GET', `/api/tasks/${id}/log?tail=2&grep=printed`);
    const printed = /printed (\d+) and this\n/.exec(log.json?.text ?? log.text);
    assert.ok(printed, `its last line is in the log: ${log.text.slice(-200)}`);
    // Every byte is told of: none is missing between what was printed and what was stored.
    assert.equal(task.progress.output_bytes, Number(printed[1]) + printed[0].length, 'all of it is counted');
  }
});

test('Past the bytes that may wait to be stored, a caller is told to come back', { skip, timeout: 120_000 }, async (t) => {
  const disk = slow_disk(t);
  const server = await Server.start(t, { env: disk.env });
  const holder = await server.run('sleep 600', { timeout_s: 600 });
  await until(async () => (await server.task(holder.id)).status === 'running', { what: 'it runs' });
  const before = rss_bytes(server.child.pid);
  disk.slow({ syncs: 3_000 });
  // 40 times 4 MiB: more than twice what may wait.
  const body = { agent_id: 'demo', message: `silent 600 ${'x'.repeat(4 << 20)}` };
  const replies = [];
  const sending = [];
  for (let i = 0; i < 40; i++) {
    sending.push(server.api('POST', '/api/tasks', body, { check: false }).then((reply) => replies.push(reply)));
    await window_of(20);
  }
  await until(() => replies.some((reply) => reply.status === 503), { within: 20_000 * patience, what: 'one is refused' });
  const most = rss_bytes(server.child.pid);
  disk.quick();
  await Promise.all(sending);
  const refused = replies.filter((reply) => reply.status === 503);
  for (const reply of refused) assert.equal(reply.headers.get?.('retry-after') ?? reply.headers['retry-after'], '1');
  const grown = (most - before) / (1 << 20);
  t.diagnostic(`${replies.length - refused.length} taken, ${refused.length} refused; RSS +${grown.toFixed(1)} MiB`);
  // 64 MiB, one launch more, and the bodies that are just being read.
  assert.ok(grown <= 160, `what waits takes ${grown.toFixed(0)} MiB`);
  assert.ok(refused.length >= 10, 'most of what is past the bound is refused');
  assert.ok(replies.every((reply) => [201, 503].includes(reply.status)), 'nothing else is answered');
  assert.equal((await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' })).status, 201, 'and then it is served again');
});
