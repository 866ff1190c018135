// How large the work trees of tasks are, and those of sandboxed tasks.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { errand, Server } from './harness/index.mjs';
import { Repository } from './harness/repository.mjs';

const post = (server, status, id, what, body) => server.expect(status, 'POST', `/api/tasks/${id}/${what}`, body);
async function isolated(server, repo, command, more = {}) {
  const done = await server.at_rest((await server.run(command, { work_dir: repo.top, isolate: 'worktree', ...more })).id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  return done;
}

test('Sizes are shown', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t, { files: { 'large.bin': 'x'.repeat(300_000) } });
  const one = await isolated(server, repo, 'true');
  const list = await server.get(`/api/tasks/${one.id}/changes`);
  assert.ok(list.bytes >= 300_000, String(list.bytes));
  assert.equal(list.stays, null);
  assert.match((await errand(server, ['doctor', '--json'])).out, /1 work tree of tasks, \d+\.\d kB/);
  await post(server, 200, one.id, 'discard');
  assert.equal((await server.get(`/api/tasks/${one.id}/changes`)).bytes, null);
  assert.match((await errand(server, ['doctor', '--json'])).out, /0 work trees of tasks/);
});

for (const sandbox of ['workspace', 'strict'])
  test(`A task in the sandbox ${sandbox} works in a clone: it commits there, reaches nothing of the repository’s, and is merged`, async (t) => {
    // Not under /tmp, which a sandbox hides.
    const folder = fs.mkdtempSync(path.join(process.getuid() === 0 ? '/var/lib' : os.homedir(), 'errand-clone-'));
    t.after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const server = await Server.start(t, { folder });
    const { sandbox: can } = await server.get('/api/health');
    if (!can.available) return t.skip(`1 skipped: no sandbox here: ${can.text}`);
    const repo = new Repository(t);
    const before = repo.user_state();
    const script = [
      'cd .. && cat a.txt && echo sandboxed >> a.txt && git add a.txt && git commit -q -m "in the sandbox"',
      'echo u > src/new.txt',
      'git log --format=%s -2',
      '(git config core.fsmonitor evil; echo x > .git/hooks/post-checkout) 2>/dev/null; git config core.fsmonitor',
      `(echo x > ${repo.top}/reached) 2>/dev/null; cat ${server.data_dir}/token 2>/dev/null`,
      'true',
    ].join('\n');
    const done = await isolated(server, repo, script, { work_dir: path.join(repo.top, 'src'), sandbox });
    assert.equal(done.isolation.kind, 'clone');
    assert.equal(done.result, 'one\ntwo\nthree\nin the sandbox\nfirst\n');
    repo.assert_untouched(before, 'not even a branch');
    const list = await server.get(`/api/tasks/${done.id}/changes`);
    assert.deepEqual(list.files.map((file) => `${file.status} ${file.path}`), ['modified a.txt', 'added src/new.txt']);
    await post(server, 200, done.id, 'discard');
    assert.ok(!fs.existsSync(done.isolation.path));
    await post(server, 200, done.id, 'discard/undo');
    assert.equal(repo.git_in(done.isolation.path, 'log', '--format=%s', '-1'), 'in the sandbox\n');
    repo.assert_untouched(before);
    await post(server, 200, done.id, 'merge');
    assert.equal(repo.read('a.txt'), 'one\ntwo\nthree\nsandboxed\n');
    assert.equal(repo.read('src/new.txt'), 'u\n');
    assert.equal(repo.git('status', '--porcelain'), '');
    await post(server, 200, done.id, 'merge/undo');
    assert.equal(repo.read('a.txt'), 'one\ntwo\nthree\n');
  });
