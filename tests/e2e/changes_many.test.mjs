// What a task changed in a repository of many files: how long it takes, and that nothing runs where nobody asks (situation 2).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { long, patience, processes, Server } from './harness/index.mjs';
import { Repository } from './harness/repository.mjs';

const count = long ? 50_000 : 5_000;

test(`In a repository of ${count} files: the list while a task works, warm, and no git process between two`, async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t, { files: {} });
  for (let i = 0; i < count; i++) {
    const folder = path.join(repo.top, `d${i % 50}`, `e${i % 1000}`);
    if (i < 1000) fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, `f${i}.txt`), `line ${i}\n`.repeat(20));
  }
  repo.commit('many');
  fs.appendFileSync(path.join(repo.top, 'd0/e0/f0.txt'), 'mine\n');
  const before = repo.user_state();
  const began = performance.now();
  const task = await server.run('for i in 1 2 3; do echo $i > d$i/new.txt; done; echo x >> d7/e7/f7.txt; rm d8/e8/f8.txt; echo ready; sleep 600', { work_dir: repo.top, isolate: 'worktree' });
  await server.when(task.id, (now) => now.progress.output_lines > 0, { within: 300_000 });
  const prepared_ms = performance.now() - began;
  const times = [];
  for (let i = 0; i < 4; i++) {
    const at = performance.now();
    const list = await server.get(`/api/tasks/${task.id}/changes`);
    times.push(performance.now() - at);
    assert.equal(list.files.length, 5);
  }
  const one = performance.now();
  await server.get(`/api/tasks/${task.id}/changes/d1/new.txt`);
  const file_ms = performance.now() - one;
  t.diagnostic(`prepared in ${Math.round(prepared_ms)} ms; lists in ${times.map(Math.round).join(', ')} ms; a patch in ${Math.round(file_ms)} ms`);
  assert.ok(Math.min(...times.slice(1)) < 1_000 * patience * (long ? 3 : 1), times.join());
  assert.ok(!processes().some((p) => p.argv[1] === 'changes-order' && p.argv.some((word) => word.includes(server.data_dir))), 'nobody looks where nobody asks');
  await server.cancel(task.id);
  await server.at_rest(task.id, { within: 120_000 });
  await server.expect(200, 'POST', `/api/tasks/${task.id}/discard`, {}, { timeout: 120_000 });
  repo.assert_untouched(before);
});
