// What becomes of work trees long after somebody decided about them, how large they are, and those of sandboxed tasks.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { errand, Server, until } from './harness/index.mjs';
import { Repository } from './harness/repository.mjs';

const post = (server, status, id, what, body) => server.expect(status, 'POST', `/api/tasks/${id}/${what}`, body);
async function isolated(server, repo, command, more = {}) {
  const done = await server.at_rest((await server.run(command, { work_dir: repo.top, isolate: 'worktree', ...more })).id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  return done;
}

// 11
test('What was merged or discarded long ago is removed; what would be missed is named and stays', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t);
  const clean = await isolated(server, repo, 'echo 1 > one.txt');
  const touched = await isolated(server, repo, 'echo 2 > two.txt');
  const committed = await isolated(server, repo, 'echo 3 > three.txt');
  const undecided = await isolated(server, repo, 'echo 4 > four.txt');
  const discarded = await isolated(server, repo, 'echo 5 > five.txt');
  for (const task of [clean, touched, committed]) await post(server, 200, task.id, 'merge');
  await post(server, 200, discarded.id, 'discard');
  fs.writeFileSync(path.join(touched.isolation.path, 'since.txt'), 'since\n');
  repo.git_in(committed.isolation.path, 'commit', '-q', '--allow-empty', '-m', 'since');
  for (const task of [clean, touched, committed]) assert.ok(fs.existsSync(task.isolation.path), 'a month has not passed');
  const before = repo.user_state();
  // A month is a second now.
  await server.expect(200, 'PATCH', '/api/settings', { changes_keep_s: 1 });
  await server.restart();
  await until(() => !fs.existsSync(clean.isolation.path), { what: 'what was merged is gone' });
  const stays = (task) => until(async () => (await server.get(`/api/tasks/${task.id}/changes`)).stays, { what: 'it is named' });
  assert.match(await stays(touched), /changes that were not merged/);
  assert.match(await stays(committed), /commits that were not merged/);
  for (const task of [touched, committed, undecided]) assert.ok(fs.existsSync(task.isolation.path));
  assert.equal((await server.get(`/api/tasks/${undecided.id}/changes`)).stays, null);
  assert.deepEqual(repo.branches(), ['main', touched, committed, undecided].map((each) => each.isolation?.branch ?? each).sort());
  repo.assert_untouched(before);
  await until(async () => (await server.get(`/api/tasks/${clean.id}/changes`)).bytes === null, { what: 'it takes no space' });
  assert.equal((await server.task(clean.id)).isolation.state, 'merged');
  // Its patch opens; it does not come back.
  const store = path.join(server.data_dir, 'changes/git');
  const refs = () => repo.git_in(repo.top, `--git-dir=${path.join(store, fs.readdirSync(store)[0])}`, 'for-each-ref', `refs/errand/${discarded.id}`);
  await until(() => refs() === '', { what: 'its snapshots are gone' });
  assert.equal((await post(server, 409, discarded.id, 'discard/undo')).reason, 'expired');
  assert.match(await server.get(`/api/tasks/${discarded.id}/changes?format=patch`), /^\+5$/m);
  assert.match((await server.get(`/api/tasks/${discarded.id}/changes/five.txt`)).patch, /^\+5$/m);
});

test('Sizes are shown, and no further work tree is made beyond the bound', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t, { files: { 'large.bin': 'x'.repeat(300_000) } });
  const one = await isolated(server, repo, 'true');
  const list = await server.get(`/api/tasks/${one.id}/changes`);
  assert.ok(list.bytes >= 300_000, String(list.bytes));
  assert.equal(list.stays, null);
  assert.match((await errand(server, ['doctor', '--json'])).out, /1 work tree of tasks, \d+\.\d kB/);
  assert.equal((await server.task(one.id)).isolation.bytes, list.bytes);
  assert.match((await errand(server, ['show', one.id])).out, /work tree +ready, branch errand\/.*, [\d.]+ kB\n/);
  await server.expect(200, 'PATCH', '/api/settings', { changes_max_bytes: 100_000 });
  const task = await server.run('touch ran', { work_dir: repo.top, isolate: 'worktree' });
  const failed = await server.at_rest(task.id);
  assert.equal(failed.reason, 'isolation');
  assert.match(failed.error.message, /changes_max_bytes/);
  assert.ok(!repo.has('ran'));
  await post(server, 200, one.id, 'discard');
  assert.equal((await server.get(`/api/tasks/${one.id}/changes`)).bytes, null);
  assert.match((await errand(server, ['doctor', '--json'])).out, /0 work trees of tasks/);
  await post(server, 200, task.id, 'retry');
  assert.equal((await server.at_rest(task.id)).status, 'completed');
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
    const done = await isolated(server, repo, script, { work_dir: path.join(repo.top, 'src'), sandbox, isolate_setup: 'echo set up in $PWD' });
    assert.equal(done.isolation.kind, 'clone');
    assert.equal(done.result, 'one\ntwo\nthree\nin the sandbox\nfirst\n');
    assert.equal(await server.get(`/api/tasks/${done.id}/log?setup=true`), `set up in ${done.isolation.path}/src\n`);
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
