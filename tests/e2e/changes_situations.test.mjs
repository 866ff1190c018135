// What a task changed in situations that real repositories have: odd files, odd repositories, others at work, a full disk; and
// that whatever happens the user's tree stays as it was. The numbers are those of the situations that the design was accepted by.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, start_builtin } from './harness/builtin.mjs';
import { long, Server } from './harness/index.mjs';
import { Repository } from './harness/repository.mjs';
import { fill, server_on_small_disk } from './harness/small_disk.mjs';

const changes = (server, id) => server.get(`/api/tasks/${id}/changes`);
const post = (server, status, id, what, body) => server.expect(status, 'POST', `/api/tasks/${id}/${what}`, body);
async function isolated(server, repo, command, more = {}) {
  const done = await server.at_rest((await server.run(command, { work_dir: repo.top, isolate: 'worktree', ...more })).id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  return done;
}

// 3
test('Renames, binaries, modes, links, names of any bytes, pipes and large logs: each is right, or named as left out', async (t) => {
  const server = await Server.start(t);
  const same = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join('');
  const repo = new Repository(t, { files: { 'old.txt': same, 'run.sh': 'echo\n', 'becomes-link': 'x\n', 'image.bin': 'a\0b' } });
  const before = repo.user_state();
  const done = await isolated(
    server,
    repo,
    String.raw`mv old.txt new.txt; chmod +x run.sh; rm becomes-link; ln -s run.sh becomes-link; ln -s nowhere dangling
printf 'c\0d' > image.bin
printf x > "$(printf 'line\nend')"; printf x > "$(printf 'bytes-\377')"
mkfifo pipe; head -c 40000000 /dev/zero > huge.log; : > empty`,
  );
  const list = await changes(server, done.id);
  const by = new Map(list.files.map((file) => [file.name, file]));
  const of = (name) => by.get(name) ?? assert.fail(`${name} is not among ${[...by.keys()].join(' ')}`);
  assert.equal(of('new.txt').status, 'renamed');
  assert.equal(of('new.txt').old_path, 'old.txt');
  assert.deepEqual([of('run.sh').old_mode, of('run.sh').mode], ['100644', '100755']);
  assert.equal(of('becomes-link').status, 'type_changed');
  assert.equal(of('dangling').mode, '120000');
  assert.equal(of('image.bin').binary, true);
  assert.equal(of('line%0Aend').path, 'line\nend');
  assert.equal(of('empty').added, 0);
  assert.ok(by.has('bytes-%FF'));
  assert.ok(![...by.keys()].some((name) => name.includes('pipe') || name.includes('huge')));
  assert.deepEqual(list.left_out, [{ path: 'huge.log', why: 'large' }]);
  for (const name of ['line%0Aend', 'bytes-%FF', 'becomes-link', 'new.txt', 'image.bin'])
    assert.notEqual((await server.get(`/api/tasks/${done.id}/changes/${encodeURIComponent(name)}`)).patch, null, name);
  repo.assert_untouched(before);
  await post(server, 200, done.id, 'merge');
  assert.ok(fs.existsSync(Buffer.concat([Buffer.from(`${repo.top}/bytes-`), Buffer.from([0xff])])), 'merged to the byte');
  assert.equal(fs.readlinkSync(path.join(repo.top, 'becomes-link')), 'run.sh');
  assert.ok(fs.statSync(path.join(repo.top, 'run.sh')).mode & 0o100);
  assert.equal(repo.git('status', '--porcelain'), '');
});

// 6
describe('odd repositories', () => {
  test('one without a commit works, and its configuration stays', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t, { files: {} });
    repo.write('a.txt', 'a\n');
    const before = repo.user_state();
    const done = await isolated(server, repo, 'cat a.txt; echo b > b.txt');
    assert.equal(done.result, 'a\n');
    assert.deepEqual((await changes(server, done.id)).files.map((file) => file.path), ['b.txt']);
    repo.assert_untouched(before);
    const refused = await post(server, 409, done.id, 'merge');
    assert.equal(refused.reason, 'no_target');
    await post(server, 200, done.id, 'merge', { mode: 'patch' });
    assert.equal(repo.read('b.txt'), 'b\n');
  });

  test('a folder that is none is told of in one sentence', async (t) => {
    const server = await Server.start(t, { env: { ERRAND_WATCH_CHANGES: 'all' } });
    // Not below the checkout of errand itself, which is a repository.
    const plain = fs.mkdtempSync('/var/tmp/errand-plain-');
    t.after(() => fs.rmSync(plain, { recursive: true, force: true }));
    const failed = await server.at_rest((await server.run('touch ran', { work_dir: plain, isolate: 'worktree' })).id);
    assert.equal(failed.reason, 'isolation');
    assert.match(failed.error.message, /no git repository/);
    assert.deepEqual(fs.readdirSync(plain), []);
    const watched = await server.at_rest((await server.run('echo x > x.txt', { work_dir: plain })).id);
    assert.deepEqual((await changes(server, watched.id)).files.map((file) => `${file.status} ${file.path}`), ['added x.txt']);
    assert.deepEqual(fs.readdirSync(plain), ['x.txt'], 'no repository was made');
  });

  test('a submodule is empty and named; a nested repository without a commit is named; neither is touched', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t);
    const library = new Repository(t, { files: { 'lib.txt': 'lib\n' } });
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.top, 'lib');
    repo.commit('with a submodule');
    const nested = path.join(repo.top, 'nested');
    fs.mkdirSync(nested);
    repo.git_in(nested, 'init', '-q', '.');
    fs.writeFileSync(path.join(nested, 'n.txt'), 'n\n');
    const before = repo.user_state();
    const done = await isolated(server, repo, 'ls lib; echo more >> a.txt; git init -q own && echo o > own/o.txt', { isolate_base: 'dirty' });
    const list = await changes(server, done.id);
    assert.deepEqual(list.files.map((file) => file.path), ['a.txt']);
    assert.deepEqual(list.left_out.map((each) => `${each.path} ${each.why}`).sort(), ['lib submodule', 'own repository']);
    repo.assert_untouched(before);
    await post(server, 200, done.id, 'merge');
    assert.equal(fs.readFileSync(path.join(repo.top, 'lib/lib.txt'), 'utf8'), 'lib\n');
    assert.equal(fs.readFileSync(path.join(nested, 'n.txt'), 'utf8'), 'n\n');
  });

  test('one with a sparse checkout: the work tree is whole, the user’s stays sparse, also behind a merge', async (t) => {
    const server = await Server.start(t);
    const repo = new Repository(t, { files: { 'top.txt': 'top\n', 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' } });
    repo.git('sparse-checkout', 'set', '--cone', 'in');
    assert.ok(!repo.has('out/b.txt'));
    const before = repo.user_state();
    const done = await isolated(server, repo, 'cat out/b.txt; echo more >> in/a.txt');
    assert.equal(done.result, 'b\n');
    assert.deepEqual((await changes(server, done.id)).files.map((file) => file.path), ['in/a.txt']);
    repo.assert_untouched(before);
    await post(server, 200, done.id, 'merge');
    assert.equal(repo.read('in/a.txt'), 'a\nmore\n');
    assert.ok(!repo.has('out/b.txt'));
    assert.equal(repo.git('status', '--porcelain'), '');
  });
});

// 8
test('Beside a stale index.lock the changes are shown; a merge names the file and its age, and changes nothing', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_WATCH_CHANGES: 'all' } });
  const repo = new Repository(t);
  const lock = path.join(repo.top, '.git/index.lock');
  fs.writeFileSync(lock, '');
  const hour_ago = Date.now() / 1000 - 3600;
  fs.utimesSync(lock, hour_ago, hour_ago);
  const done = await isolated(server, repo, 'echo task >> a.txt');
  assert.deepEqual((await changes(server, done.id)).files.map((file) => file.path), ['a.txt']);
  const inside = await server.at_rest((await server.run('echo in > in.txt', { work_dir: repo.top })).id);
  assert.deepEqual((await changes(server, inside.id)).files.map((file) => file.path), ['in.txt']);
  fs.rmSync(path.join(repo.top, 'in.txt'));
  const before = repo.user_state();
  const refused = await post(server, 409, done.id, 'merge');
  assert.equal(refused.reason, 'lock');
  assert.match(refused.detail, /index\.lock is there since \d{4} s/);
  repo.assert_untouched(before);
  assert.ok(fs.existsSync(lock), 'it is the user’s to remove');
  fs.rmSync(lock);
  await post(server, 200, done.id, 'merge');
});

// 12
test('Two tasks in one folder: what changed while both worked is shared, what changed while one did is certain', async (t) => {
  const own = await start_builtin(t);
  const repo = new Repository(t);
  const flag = (name) => path.join(repo.folder, name);
  const wait = (name) => call('bash', { command: `while [ ! -e ${flag(name)} ]; do sleep 0.05; done` });
  const write = (name) => call('write', { path: name, content: `${name}\n` });
  own.model.rule('the first', [write('alone.txt'), wait('second-began'), write('both.txt'), wait('second-ended'), write('after.txt'), { text: 'Done.' }]);
  own.model.rule('the second', [write('seconds.txt'), wait('may-end'), { text: 'Done.' }]);
  const first = await own.launch('the first', { work_dir: repo.top });
  await own.server.when(first.id, () => repo.has('alone.txt'));
  const second = await own.launch('the second', { work_dir: repo.top });
  await own.server.when(second.id, () => repo.has('seconds.txt'));
  fs.writeFileSync(flag('second-began'), '');
  await own.server.when(first.id, () => repo.has('both.txt'));
  fs.writeFileSync(flag('may-end'), '');
  await own.server.at_rest(second.id);
  fs.writeFileSync(flag('second-ended'), '');
  await own.server.at_rest(first.id);
  const labels = async (id) => Object.fromEntries((await changes(own.server, id)).files.map((file) => [file.path, file.certain ? 'certain' : file.shared_with.join()]));
  assert.deepEqual(await labels(first.id), { 'alone.txt': 'certain', 'after.txt': 'certain', 'both.txt': second.id, 'seconds.txt': second.id });
  assert.deepEqual(await labels(second.id), { 'both.txt': first.id, 'seconds.txt': first.id });
  const looked = await own.server.expect(200, 'POST', '/api/tools/look_at', { arguments: { task_id: first.id, path: 'changes' } });
  assert.match(JSON.stringify(looked), new RegExp(`both\\.txt \\+1 -0 shared with ${second.id}`));
});

// 13
test('On a full disk the task fails in a sentence, never works in the folder, leaves nothing, and a retry with space works', async (t) => {
  const small = await server_on_small_disk(t, 64);
  if (!small) return t.skip('this user may not mount a small tmpfs');
  const { server, disk } = small;
  const repo = new Repository(t, { files: { 'a.txt': 'a\n' } });
  fs.writeFileSync(path.join(repo.top, 'large.bin'), execFileSync('head', ['-c', String(24 << 20), '/dev/urandom'], { maxBuffer: 1 << 26 }));
  repo.commit('large');
  const before = repo.user_state();
  const release = fill(disk, 12 << 20);
  const task = await server.run('touch ran', { work_dir: repo.top, isolate: 'worktree' });
  const failed = await server.at_rest(task.id);
  assert.equal(failed.status, 'failed');
  assert.equal(failed.reason, 'isolation');
  assert.match(failed.error.message, /space|full|unable to write/i);
  assert.ok(!repo.has('ran'));
  assert.equal(failed.isolation, null);
  repo.assert_untouched(before);
  assert.deepEqual(repo.branches(), ['main']);
  release();
  await post(server, 200, task.id, 'retry');
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  // The end snapshot does not fit: the task's own end is told, and the work tree stays.
  const again = fill(disk, 2 << 20);
  const late = await server.api('POST', `/api/tasks/${task.id}/merge`);
  if (late.status !== 200) repo.assert_untouched(before);
  again();
});

// --- whatever they do

// A small generator: the same seed, the same story.
function random_of(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
  return { below: (n) => Math.floor(next() * n), one: (list) => list[Math.floor(next() * list.length)] };
}

const odd_names = ['a.txt', 'b.txt', 'src/c.txt', 'src/deep/er/d.txt', 'with space.txt', 'ünï.txt', 'line\nend.txt', '-dash.txt', ':(top)', 'x.log', 'dir/x.log', '*.txt', '.hidden', '.gitattributes'];
const quoted = (name) => `'./${name.replaceAll("'", `'\\''`)}'`;
// Steps that both may take, as lines of a shell.
function step(random, who) {
  const name = quoted(random.one(odd_names)), other = quoted(random.one(odd_names));
  const both = [
    `mkdir -p "$(dirname ${name})" && echo ${random.below(1000)} >> ${name}`,
    `mkdir -p "$(dirname ${name})" && echo ${who} > ${name}`,
    `rm -rf ${name}`,
    `mv ${name} ${other}`,
    `chmod +x ${name}`,
    `rm -f ${name}; ln -s ${other} ${name}`,
    `git add -A`,
    `git add ${name}`,
    `git rm -q --cached ${name}`,
    `git commit -q -m ${who}`,
    `git commit -q --allow-empty -a -m more`,
    `git mv ${name} ${other}`,
    `git restore --staged ${name}`,
    `mkdir -p nest && git init -q nest && echo n > nest/n`,
  ];
  const users = [`git stash -q`, `git stash apply -q`, `git update-index --assume-unchanged ${name}`, `git checkout -q -b b${random.below(5)}`, `git checkout -q main`, `git tag -f t${random.below(3)}`, `git config user.nick ${random.below(9)}`, `git add -N ${name}`];
  return random.one(who === 'task' ? both : [...both, ...users]);
}
const story = (random, who, most) => Array.from({ length: 1 + random.below(most) }, () => `{ ${step(random, who)}; } 2>/dev/null`).join('\n');

test('Whatever a task and a user do to the tree: launch, diff and discard leave the user’s status, index, branches and stash as they were', async (t) => {
  const seed = Number(process.env.ERRAND_SEED ?? Date.now() % 1_000_000);
  t.diagnostic(`ERRAND_SEED=${seed}`);
  const server = await Server.start(t);
  const rounds = long ? 60 : 6;
  for (let round = 0; round < rounds; round++) {
    const random = random_of(seed + round);
    const repo = new Repository(t);
    repo.write('.gitignore', '*.log\n');
    repo.commit();
    const user = (script) => execFileSync('sh', ['-c', `${script}\ntrue`], { cwd: repo.top, env: { PATH: process.env.PATH, HOME: repo.folder, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' }, stdio: 'ignore' });
    const told = (what) => `${what}, ERRAND_SEED=${seed + round}`;
    user(story(random, 'user', 12));
    const before = repo.user_state();
    const isolate_base = random.one(['head', 'dirty']);
    const task = await server.run(`${story(random, 'task', 12)}\ntrue`, { work_dir: repo.top, isolate: 'worktree', isolate_base });
    const done = await server.at_rest(task.id);
    assert.equal(done.status, 'completed', told(JSON.stringify(done.error)));
    await changes(server, task.id);
    await server.get(`/api/tasks/${task.id}/changes?format=patch`);
    repo.assert_untouched(before, told('after the task and the diff'));
    user(story(random, 'user', 6));
    const then = repo.user_state();
    await post(server, 200, task.id, 'discard');
    repo.assert_untouched(then, told('after the discard'));
    await post(server, 200, task.id, 'discard/undo');
    await post(server, 200, task.id, 'discard');
    repo.assert_untouched(then, told('after it was brought back and discarded again'));
    assert.ok(!fs.existsSync(done.isolation.path));
  }
});
