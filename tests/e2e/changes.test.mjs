// What a task changed, and what becomes of it (R16), on real repositories. The numbers are those of the situations that the
// design was accepted by.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, start_builtin } from './harness/builtin.mjs';
import { errand, processes, Server, temporary_folder, until } from './harness/index.mjs';
import { HeldGit, Repository } from './harness/repository.mjs';

const changes = (server, id) => server.get(`/api/tasks/${id}/changes`);
const names = (list) => list.files.map((file) => `${file.status} ${file.path}`).sort();
const post = (server, status, id, what, body) => server.expect(status, 'POST', `/api/tasks/${id}/${what}`, body);

// An isolated command that has ended.
async function isolated(server, repo, command, more = {}) {
  const task = await server.run(command, { work_dir: repo.top, isolate: 'worktree', ...more });
  return server.at_rest(task.id);
}

describe('a task with its own work tree', () => {
  // 1
  test('leaves the status and the index of a dirty folder as they were, to the byte: launch, diff, discard', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    repo.write('a.txt', 'one\nTWO\nthree\n');
    repo.write('staged.txt', 'staged\n');
    repo.git('add', 'staged.txt');
    repo.write('untracked.txt', 'untracked\n');
    const before = repo.user_state();

    const task = await server.run('pwd; cat a.txt; ls; echo new > new.txt; rm b.txt; echo more >> src/c.txt; exit 3', { work_dir: repo.top, isolate: 'worktree' });
    const done = await server.at_rest(task.id);
    assert.equal(done.exit_code, 3);
    assert.equal(done.work_dir, repo.top, 'the folder that was asked for');
    const { isolation } = done;
    assert.equal(isolation.kind, 'worktree');
    assert.equal(isolation.state, 'ready');
    assert.equal(isolation.repo, repo.top);
    assert.equal(isolation.target, 'main');
    assert.equal(isolation.base, repo.head());
    assert.match(isolation.branch, /^errand\/[0-9a-z]+-pwd-cat-a-txt/);
    const log = await server.get(`/api/tasks/${task.id}/log`);
    assert.equal(log.split('\n')[0], isolation.work_dir);
    assert.match(log, /one\ntwo\nthree/, 'it begins with the last commit');
    assert.doesNotMatch(log, /untracked|staged/);

    const list = await changes(server, task.id);
    assert.equal(list.state, 'final');
    assert.deepEqual(names(list), ['added new.txt', 'deleted b.txt', 'modified src/c.txt']);
    assert.deepEqual(list.isolation, isolation);
    assert.equal(list.added, 2);
    assert.equal(list.removed, 1);
    const file = await server.get(`/api/tasks/${task.id}/changes/src/c.txt`);
    assert.match(file.patch, /^\+more$/m);
    const patch = await server.get(`/api/tasks/${task.id}/changes?format=patch`);
    assert.match(patch, /diff --git a\/new.txt b\/new.txt/);
    repo.assert_untouched(before, 'after the task and the diff');

    const gone = await post(server, 200, task.id, 'discard');
    assert.equal(gone.isolation.state, 'discarded');
    assert.ok(!fs.existsSync(isolation.path));
    assert.deepEqual(repo.branches(), ['main']);
    repo.assert_untouched(before, 'after the discard');
    assert.deepEqual(names(await changes(server, task.id)), names(list), 'what it changed is still known');

    const back = await post(server, 200, task.id, 'discard/undo');
    assert.equal(back.isolation.state, 'ready');
    assert.equal(fs.readFileSync(path.join(back.isolation.path, 'new.txt'), 'utf8'), 'new\n');
    await post(server, 200, task.id, 'discard');
    repo.assert_untouched(before, 'after it was restored and discarded again');
  });

  test('may begin with what is uncommitted', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    repo.write('a.txt', 'one\nTWO\nthree\n');
    repo.write('untracked.txt', 'untracked\n');
    const before = repo.user_state();
    const done = await isolated(server, repo, 'cat a.txt untracked.txt; echo x > x.txt', { isolate_base: 'dirty' });
    assert.equal(await server.get(`/api/tasks/${done.id}/log`), 'one\nTWO\nthree\nuntracked\n');
    assert.deepEqual(names(await changes(server, done.id)), ['added x.txt'], 'only what the task changed');
    repo.assert_untouched(before);
  });

  test('is told of by status events, and its state is live', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const done = await isolated(server, repo, 'true');
    const states = (await server.events(done.id)).filter((event) => event.type === 'task.status').map((event) => event.data.task.isolation?.state);
    assert.ok(states.includes('preparing') && states.includes('ready'), states.join());
    const told = async () => (await server.events(done.id)).filter((event) => event.type === 'task.status').map((event) => event.data.task.isolation?.state);
    const merged = await isolated(server, repo, 'echo m > m.txt');
    await post(server, 200, merged.id, 'merge');
    assert.deepEqual((await server.events(merged.id)).filter((event) => event.type === 'task.status').map((event) => event.data.task.isolation?.state).slice(-2), ['merging', 'merged']);
    await post(server, 409, done.id, 'merge');
    assert.deepEqual((await told()).slice(-2), ['merging', 'ready'], 'a refusal leaves it as it was');
    await post(server, 200, done.id, 'discard');
    const last = (await server.events(done.id)).at(-1);
    assert.equal(last.type, 'task.status');
    assert.equal(last.data.task.isolation.state, 'discarded');
  });

  // 4
  test('is merged beside uncommitted work of others, and refused where a file is in the way', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    repo.write('.gitignore', '*.log\n');
    repo.commit();
    const change = 'echo task >> a.txt; echo u > u.txt; echo l > forced.txt';
    const one = await isolated(server, repo, change, { title: 'Change a' });

    repo.write('b.txt', 'mine, unstaged\n');
    repo.write('src/c.txt', 'mine, staged\n');
    repo.git('add', 'src/c.txt');
    for (const [name, text] of [['a.txt', 'mine\n'], ['u.txt', 'mine\n']]) {
      const kept = repo.has(name) ? repo.read(name) : null;
      repo.write(name, text);
      const before = repo.user_state();
      const refused = await post(server, 409, one.id, 'merge');
      assert.equal(refused.reason, 'in_the_way');
      assert.deepEqual(refused.files, [name]);
      repo.assert_untouched(before, `refused for ${name}`);
      if (kept === null) fs.rmSync(path.join(repo.top, name));
      else repo.write(name, kept);
    }
    const merged = await post(server, 200, one.id, 'merge', { message: 'By the task' });
    assert.equal(merged.task.isolation.state, 'merged');
    assert.equal(merged.merge.commit, repo.head());
    assert.equal(repo.git('log', '-1', '--format=%s %an'), 'By the task Ada\n');
    assert.equal(repo.read('a.txt'), 'one\ntwo\nthree\ntask\n');
    assert.equal(repo.read('b.txt'), 'mine, unstaged\n');
    assert.deepEqual(repo.git('status', '--porcelain').trim().split('\n').map((line) => line.trim()).sort(), ['M  src/c.txt', 'M b.txt'].sort());
    assert.equal((await post(server, 409, one.id, 'merge')).reason, 'merged');

    const undone = await post(server, 200, one.id, 'merge/undo');
    assert.equal(undone.isolation.state, 'ready');
    assert.equal(repo.read('a.txt'), 'one\ntwo\nthree\n');
    assert.equal(repo.read('b.txt'), 'mine, unstaged\n');
    assert.ok(!repo.has('u.txt'));

    // As a patch: nothing is committed.
    const head = repo.head();
    const patched = await post(server, 200, one.id, 'merge', { mode: 'patch' });
    assert.equal(patched.merge.mode, 'patch');
    assert.equal(repo.head(), head);
    assert.equal(repo.read('u.txt'), 'u\n');
  });

  // 5
  test('is merged into a branch that moved, or is told the files of a conflict and changes nothing', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const clean = await isolated(server, repo, 'echo task > t.txt');
    const clashes = await isolated(server, repo, 'echo task > a.txt');
    repo.write('a.txt', 'changed since\n');
    repo.commit('since');
    await post(server, 200, clean.id, 'merge');
    assert.equal(repo.read('t.txt'), 'task\n');
    assert.equal(repo.read('a.txt'), 'changed since\n');

    const before = repo.user_state();
    const refused = await post(server, 409, clashes.id, 'merge');
    assert.equal(refused.reason, 'conflict');
    assert.deepEqual(refused.files, ['a.txt']);
    repo.assert_untouched(before);
    assert.equal((await server.task(clashes.id)).isolation.state, 'conflict');

    // The branch is checked out elsewhere: its files are brought along there.
    const elsewhere = path.join(repo.folder, 'elsewhere');
    const third = await isolated(server, repo, 'echo three > three.txt');
    repo.git('checkout', '-q', '-b', 'other');
    repo.git('worktree', 'add', '-q', elsewhere, 'main');
    await post(server, 200, third.id, 'merge');
    assert.equal(fs.readFileSync(path.join(elsewhere, 'three.txt'), 'utf8'), 'three\n');
    assert.equal(repo.git_in(elsewhere, 'status', '--porcelain'), '');
    assert.ok(!repo.has('three.txt'), 'the branch that is checked out here is another one');
  });

  // 14
  test('has another name where a branch is in the way of errand/', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    repo.git('branch', 'errand');
    const done = await isolated(server, repo, 'true');
    assert.match(done.isolation.branch, /^errand-tasks\//);
  });

  // 11
  test('stays when its task is deleted and nobody took its changes; an untouched one goes', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const untracked = await isolated(server, repo, 'echo only untracked > u.txt');
    const commits = await isolated(server, repo, 'echo x > x.txt; git add x.txt; git -c user.name=E -c user.email=e@e commit -q -m own');
    const nothing = await isolated(server, repo, 'true');
    const taken = await isolated(server, repo, 'echo y > y.txt');
    await post(server, 200, taken.id, 'merge');
    for (const task of [untracked, commits, nothing, taken]) await server.expect(204, 'DELETE', `/api/tasks/${task.id}`);
    await until(() => !fs.existsSync(nothing.isolation.path) && !fs.existsSync(taken.isolation.path), { what: 'the work trees that nobody needs are gone' });
    const folder = path.join(server.data_dir, 'changes/tasks');
    await until(() => fs.readdirSync(folder).length === 0, { what: 'nothing is kept of them' });
    assert.equal(fs.readFileSync(path.join(untracked.isolation.path, 'u.txt'), 'utf8'), 'only untracked\n');
    assert.equal(repo.git('log', '-1', '--format=%s', commits.isolation.branch), 'own\n');
    assert.equal(repo.git('log', '-1', '--format=%s', 'main').trim(), taken.title);
  });

  // 10
  test('opens what it changed after its folder was deleted and the repository was packed', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const done = await isolated(server, repo, 'echo kept > kept.txt');
    fs.rmSync(done.isolation.path, { recursive: true });
    repo.git('worktree', 'prune');
    repo.git('reflog', 'expire', '--expire=now', '--all');
    repo.git('gc', '-q', '--prune=now');
    const list = await changes(server, done.id);
    assert.deepEqual(names(list), ['added kept.txt']);
    assert.match(await server.get(`/api/tasks/${done.id}/changes?format=patch`), /^\+kept$/m);
    const back = await post(server, 200, done.id, 'discard/undo');
    assert.equal(fs.readFileSync(path.join(back.isolation.path, 'kept.txt'), 'utf8'), 'kept\n');
    await server.restart();
    fs.rmSync(repo.top, { recursive: true });
    assert.match((await server.get(`/api/tasks/${done.id}/changes?format=patch`)), /^\+kept$/m, 'also without the repository');
  });
});

describe('what cannot be isolated', () => {
  // 13
  test('fails with a sentence, and is never run in the folder itself', async (t) => {
    const server = await Server.start(t);
    const plain = temporary_folder(t, 'plain');
    // Below the checkout of errand itself, which is a repository; this one is none.
    fs.writeFileSync(path.join(plain, '.git'), 'gitdir: /nowhere\n');
    const task = await server.run('touch ran', { work_dir: plain, isolate: 'worktree' });
    const done = await server.at_rest(task.id);
    assert.equal(done.status, 'failed');
    assert.equal(done.reason, 'isolation');
    assert.equal(done.error.code, 'isolation');
    assert.equal(done.isolation, null);
    assert.ok(!fs.existsSync(path.join(plain, 'ran')));

    const wrong = await server.expect(400, 'POST', '/api/tasks', { kind: 'command', command: 'true', isolate: 'unset' });
    assert.match(wrong.detail, /`isolate` must be `none` or `worktree`/);
  });

  test('is told where there is nothing to merge, and not decided about while it works', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const plain = await server.at_rest((await server.run('true', { work_dir: repo.top })).id);
    assert.equal(plain.isolation, null);
    assert.equal((await server.expect(404, 'GET', `/api/tasks/${plain.id}/changes`)).reason, 'no_changes');
    assert.equal((await post(server, 404, plain.id, 'merge')).reason, 'no_changes');
    const works = await server.run('echo live > live.txt; sleep 600', { work_dir: repo.top, isolate: 'worktree' });
    await until(async () => (await server.task(works.id)).isolation?.state === 'ready');
    const live = await until(async () => {
      const list = await changes(server, works.id);
      return list.files.length > 0 && list;
    });
    assert.equal(live.state, 'live');
    assert.deepEqual(names(live), ['added live.txt']);
    for (const what of ['merge', 'discard']) assert.equal((await post(server, 409, works.id, what)).reason, 'at_work');
    await server.cancel(works.id);
    const rest = await server.at_rest(works.id);
    assert.equal(rest.isolation.state, 'ready');
    assert.equal((await changes(server, works.id)).state, 'final');
  });

  // 13
  test('asks nobody and says what is missing: signed commits, no identity', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const marker = path.join(repo.folder, 'gpg-ran');
    repo.git('config', 'commit.gpgsign', 'true');
    repo.git('config', 'gpg.program', `sh -c 'touch ${marker}; sleep 600'`);
    const one = await isolated(server, repo, 'echo one > one.txt');
    await post(server, 200, one.id, 'merge');
    assert.ok(!fs.existsSync(marker));
    repo.git('config', '--unset', 'user.name');
    repo.git('config', '--unset', 'user.email');
    const two = await isolated(server, repo, 'echo two > two.txt');
    const before = repo.user_state();
    const reply = await server.api('POST', `/api/tasks/${two.id}/merge`);
    if (reply.status !== 200) {
      assert.match(reply.json.detail, /user\.name|identity/);
      repo.assert_untouched(before);
    }
  });
});

// 7
test('Nothing of a hostile repository is executed: hooks, filters, monitors, drivers, nested repositories', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_WATCH_CHANGES: 'all' } });
  const repo = new Repository(t);
  const marks = temporary_folder(t, 'marks');
  const touch = (name) => `sh -c 'touch ${marks}/${name}; cat'`;
  const config = (top) => {
    const set = (key, value) => repo.git_in(top, 'config', key, value);
    set('core.fsmonitor', `sh -c 'touch ${marks}/fsmonitor'`);
    for (const what of ['clean', 'smudge']) set(`filter.evil.${what}`, touch(what));
    set('filter.evil.required', 'true');
    set('merge.evil.driver', `touch ${marks}/merge-driver`);
    set('diff.external', `touch ${marks}/external`);
    set('diff.evil.textconv', `sh -c 'touch ${marks}/textconv; cat $0'`);
    set('core.sshCommand', `touch ${marks}/ssh`);
    set('core.pager', `touch ${marks}/pager`);
    const hooks = path.join(top, '.git/hooks');
    fs.mkdirSync(hooks, { recursive: true });
    for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction', 'pre-commit', 'post-commit', 'pre-merge-commit', 'post-merge', 'post-rewrite'])
      fs.writeFileSync(path.join(hooks, hook), `#!/bin/sh\ntouch ${marks}/hook-${hook}\n`, { mode: 0o755 });
  };
  repo.write('.gitattributes', '* filter=evil merge=evil diff=evil\n');
  repo.commit();
  const nested = path.join(repo.top, 'nested');
  fs.mkdirSync(nested);
  repo.git_in(nested, 'init', '-q', '.');
  fs.writeFileSync(path.join(nested, 'n.txt'), 'n');
  config(nested);
  config(repo.top);
  const done = await isolated(server, repo, 'echo task > a.txt; echo t > t.txt', { isolate_base: 'dirty' });
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  await changes(server, done.id);
  await server.get(`/api/tasks/${done.id}/changes/a.txt`);
  await server.get(`/api/tasks/${done.id}/changes?format=patch`);
  await post(server, 200, done.id, 'merge');
  await post(server, 200, done.id, 'merge/undo');
  await post(server, 200, done.id, 'discard');
  await post(server, 200, done.id, 'discard/undo');
  const inside = await server.at_rest((await server.run('echo in > in-place.txt', { work_dir: repo.top })).id);
  assert.deepEqual(names(await changes(server, inside.id)), ['added in-place.txt']);
  assert.deepEqual(fs.readdirSync(marks), []);
});

// 9
describe('a server that is killed', () => {
  test('while a work tree is prepared: it is made once, the task runs once, and nothing is left over', async (t) => {
    const held = new HeldGit(t, ' worktree add ');
    const server = await Server.start(t, { env: held.env() });
    const repo = new Repository(t);
    const before = repo.user_state();
    const task = await server.run('echo ran >> ran.txt', { work_dir: repo.top, isolate: 'worktree' });
    await until(() => held.is_waiting(), { what: 'git is in the middle of it' });
    assert.equal((await server.task(task.id)).isolation.state, 'preparing');
    await server.kill9();
    await server.start();
    assert.equal((await server.task(task.id)).status, 'running');
    held.release();
    const done = await server.at_rest(task.id);
    assert.equal(done.status, 'completed', JSON.stringify(done.error));
    assert.equal(done.isolation.state, 'ready');
    assert.equal(fs.readFileSync(path.join(done.isolation.path, 'ran.txt'), 'utf8'), 'ran\n');
    assert.equal(repo.branches().length, 2);
    repo.assert_untouched(before);
    await until(() => fs.readdirSync(path.join(server.data_dir, 'run')).filter((name) => name.includes('__changes_')).length === 0, { what: 'the orders are gone' });
  });

  test('or a task that is cancelled there: nothing of the work tree is left, and a retry makes it', async (t) => {
    const held = new HeldGit(t, ' worktree add ');
    const server = await Server.start(t, { env: held.env() });
    const repo = new Repository(t);
    const task = await server.run('echo ran > ran.txt', { work_dir: repo.top, isolate: 'worktree' });
    await until(() => held.is_waiting());
    await server.cancel(task.id);
    const rest = await server.at_rest(task.id);
    assert.equal(rest.status, 'cancelled');
    assert.equal(rest.isolation, null);
    assert.deepEqual(repo.branches(), ['main']);
    assert.ok(!processes().some((p) => p.argv.some((word) => word.includes(held.bin))), 'no git is left');
    held.release();
    await server.expect(200, 'POST', `/api/tasks/${task.id}/retry`);
    const done = await server.at_rest(task.id);
    assert.equal(done.status, 'completed', JSON.stringify(done.error));
    assert.equal(done.isolation.state, 'ready');
  });

  test('while it merges: the merge is done once, and the task says so', async (t) => {
    const held = new HeldGit(t, ' merge-tree ');
    const server = await Server.start(t, { env: held.env() });
    const repo = new Repository(t);
    const done = await isolated(server, repo, 'echo task > t.txt');
    const head = repo.head();
    const asked = server.api('POST', `/api/tasks/${done.id}/merge`, {}, { check: false }).catch(() => undefined);
    await until(() => held.is_waiting(), { what: 'git is in the middle of it' });
    assert.equal((await server.task(done.id)).isolation.state, 'merging', 'it is seen while it happens');
    await server.kill9();
    await asked;
    held.release();
    await server.start();
    const merged = await server.when(done.id, (task) => task.isolation.state === 'merged');
    assert.equal(merged.status, 'completed');
    assert.equal(repo.git('rev-list', '--count', `${head}..HEAD`), '1\n');
    assert.equal(repo.read('t.txt'), 'task\n');
    assert.equal(repo.git('status', '--porcelain'), '');
  });

  for (const alone of [true, false])
    test(`while it undoes a merge, ${alone ? 'alone: the merge is undone once' : 'with what carries it out: the merge is as it was'}, and the task says so`, async (t) => {
      const held = new HeldGit(t, ' update-ref -m ');
      held.release();
      const server = await Server.start(t, { env: held.env() });
      const repo = new Repository(t);
      const done = await isolated(server, repo, 'echo task > t.txt; rm b.txt');
      const before = repo.user_state();
      await post(server, 200, done.id, 'merge');
      const merged = repo.head();
      held.take();
      const asked = server.api('POST', `/api/tasks/${done.id}/merge/undo`, undefined, { check: false }).catch(() => undefined);
      await until(() => held.is_waiting(), { what: 'git is in the middle of it' });
      assert.equal((await server.task(done.id)).isolation.state, 'merging', 'it is seen while it happens');
      await server.kill9();
      await asked;
      if (!alone) {
        const order = processes().find((p) => p.argv[1] === 'changes-order' && p.argv[2].includes(done.id));
        process.kill(order.pid, 'SIGKILL');
        await until(() => !processes().some((p) => p.argv.some((word) => word.includes(held.bin))), { what: 'no git is left' });
      }
      held.release();
      await server.start();
      await server.when(done.id, (task) => task.isolation.state === (alone ? 'ready' : 'merged'));
      assert.ok(!repo.has('.git/index.lock'));
      assert.equal(repo.git('status', '--porcelain'), '');
      assert.equal(repo.head() === merged, !alone);
      assert.equal(repo.has('t.txt'), !alone);
      assert.equal(repo.has('b.txt'), alone);
      if (!alone) await post(server, 200, done.id, 'merge/undo');
      assert.equal(repo.git('status', '--porcelain'), before.status);
      assert.ok(!repo.has('t.txt') && repo.has('b.txt'));
    });
});

describe('the built-in agent', () => {
  test('in a repository: what it changed in place is known, and what others did at the same time is not called certain', async (t) => {
    const own = await start_builtin(t);
    const repo = new Repository(t);
    repo.write('dirty.txt', 'mine\n');
    const before = repo.user_state();
    own.model.rule('edit it', [call('write', { path: 'made.txt', content: 'made\n' }), { text: 'Done.' }]);
    const task = await own.launch('edit it', { work_dir: repo.top });
    const done = await own.server.at_rest(task.id);
    assert.equal(done.result, 'Done.', JSON.stringify(done.error));
    assert.equal(done.isolation, null);
    const list = await changes(own.server, task.id);
    assert.deepEqual(list.files.map((file) => [file.path, file.certain]), [['made.txt', true]]);
    const after = repo.user_state();
    assert.equal(after.index, before.index);
    assert.deepEqual(after.refs, before.refs);
    const looked = await own.server.expect(200, 'POST', '/api/tools/look_at', { arguments: { task_id: task.id, path: 'changes' } });
    assert.match(JSON.stringify(looked), /added made.txt \+1 -0/);
    const one = await own.server.expect(200, 'POST', '/api/tools/look_at', { arguments: { task_id: task.id, path: 'changes/made.txt' } });
    assert.match(JSON.stringify(one), /\+made/);
  });

  test('with a work tree: its commands and subtasks work there, a further turn goes on there, and what follows a merge is counted anew', async (t) => {
    const own = await start_builtin(t, { settings: 'isolate = "worktree"\n' });
    const repo = new Repository(t);
    own.model.rule('first', [call('bash', { command: 'pwd > where.txt' }), call('background_execute', { command: 'pwd', description: 'where' }), { text: 'Done.' }]);
    const task = await own.launch('first', { work_dir: repo.top });
    const done = await own.server.at_rest(task.id);
    assert.equal(done.result, 'Done.', JSON.stringify(done.error));
    const top = done.isolation.path;
    assert.equal(fs.readFileSync(path.join(top, 'where.txt'), 'utf8'), `${top}\n`);
    const { tasks } = await own.server.get(`/api/tasks?parent_session_id=${done.session_id}`);
    assert.equal(tasks.length, 1);
    assert.equal(tasks[0].work_dir, top);
    assert.equal(tasks[0].isolation, null);
    await own.server.at_rest(tasks[0].id);
    assert.ok(!repo.has('where.txt'));

    await post(own.server, 200, task.id, 'merge');
    own.model.rule('second', [call('write', { path: 'second.txt', content: 'second\n' }), { text: 'More.' }]);
    await own.say(task.id, 'second');
    const again = await own.server.when(task.id, (now) => now.status === 'completed' && now.turn === 2);
    assert.equal(again.isolation.state, 'ready');
    assert.equal(again.isolation.path, top);
    assert.deepEqual(names(await changes(own.server, task.id)), ['added second.txt']);
    await post(own.server, 200, task.id, 'merge');
    assert.equal(repo.read('second.txt'), 'second\n');
    assert.equal(repo.git('rev-list', '--count', 'main'), '3\n');
  });
});

test('The command line: run --isolate, diff, merge, discard', async (t) => {
  const server = await Server.start(t);
  const repo = new Repository(t);
  const cli = (words, options) => errand(server, words, { cwd: repo.top, ...options });
  const ran = await cli(['run', '--isolate', '--wait', '--json', '--', 'sh', '-c', 'echo more >> a.txt; echo n > n.txt']);
  assert.equal(ran.code, 0, ran.err);
  const { id } = (await server.get('/api/tasks')).tasks[0];
  assert.equal((await cli(['diff', id, '--name-only'])).out, 'a.txt\nn.txt\n');
  assert.match((await cli(['diff', id, '--stat'])).out, /modified\t\+1\t-0\ta\.txt/);
  const patch = await cli(['diff', id]);
  assert.equal(patch.out, await server.get(`/api/tasks/${id}/changes?format=patch`));
  assert.match((await cli(['diff', id, 'n.txt'])).out, /^\+n$/m);
  assert.match((await cli(['diff', id, '--color', 'always'])).out, /\x1b\[32m\+more/);
  const none = await cli(['diff', id, 'b.txt']);
  assert.equal(none.code, 3);
  assert.match(none.err, /did not change b\.txt/);
  assert.equal((await cli(['diff', id, '--json'])).json.files.length, 2);

  repo.write('a.txt', 'mine\n');
  const refused = await cli(['merge', id]);
  assert.notEqual(refused.code, 0);
  assert.match(refused.err, /\n {2}a\.txt\n/);
  repo.git('checkout', '-q', 'a.txt');
  const merged = await cli(['merge', id, '-m', 'Merged by hand']);
  assert.equal(merged.code, 0, merged.err);
  assert.match(merged.err, /main is at/);
  assert.equal(repo.git('log', '-1', '--format=%s'), 'Merged by hand\n');
  assert.equal((await cli(['merge', id, '--undo'])).code, 0);
  assert.equal(repo.git('log', '-1', '--format=%s'), 'first\n');
  const discarded = await cli(['discard', id, '--json']);
  assert.equal(discarded.json.isolation.state, 'discarded');
  const restored = await cli(['discard', id, '--restore']);
  assert.equal(restored.code, 0, restored.err);
  assert.match((await cli(['show', id])).out, /work tree +ready, branch errand\//);
  const elsewhere = await cli(['run', '--isolate-base', 'dirty', '--wait', '--', 'true']);
  assert.equal(elsewhere.code, 0, elsewhere.err);
});
