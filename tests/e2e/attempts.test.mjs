// The same work by several agents side by side (issue: attempts), and what goes out of a repository: the text for a commit, and a
// pull request. On real repositories, with real remotes on disk and programs that write down how they were called.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, start_builtin } from './harness/builtin.mjs';
import { errand, Server, temporary_folder, until } from './harness/index.mjs';
import { Repository } from './harness/repository.mjs';

const writes = (text) => [call('write', { path: 'result.txt', content: `${text}\n` }), { text: `I wrote ${text}.` }];
const compared = async (server, batch) => (await server.get(`/api/batches/${batch}/attempts`)).attempts;
const agents = [
  { agent_id: 'builtin', model: 'model-a' },
  { agent_id: 'builtin', model: 'model-b' },
];

// Two models that do the same differently, each in its work tree, and both at rest.
async function two_attempts(t, { steps_b = writes('bad'), ...options } = {}) {
  const own = await start_builtin(t, options);
  const repo = new Repository(t);
  own.model.rule('write the result', writes('good'), { model: 'model-a' });
  own.model.rule('write the result', steps_b, { model: 'model-b' });
  const launch = { message: 'write the result', work_dir: repo.top, permission: 'allow' };
  const start = (more = {}, headers = {}) => own.server.expect(201, 'POST', '/api/batches', { agents, launch: { ...launch, ...more } }, { headers });
  return { ...own, repo, start };
}
async function rested(own) {
  const { batch_id, tasks } = await own.start();
  for (const { id } of tasks) await own.server.at_rest(id);
  return { batch: batch_id, a: tasks[0].id, b: tasks[1].id };
}

describe('attempts', () => {
  test('start together in one batch, each in its own work tree, and a repeated request starts no more', async (t) => {
    const own = await two_attempts(t);
    const headers = { 'idempotency-key': 'once' };
    const { batch_id, tasks } = await own.start({}, headers);
    assert.deepEqual(tasks.map((task) => [task.batch_id, task.agent_id, task.model]), [[batch_id, 'builtin', 'model-a'], [batch_id, 'builtin', 'model-b']]);
    const again = await own.start({}, headers);
    assert.deepEqual(again.tasks.map((task) => task.id), tasks.map((task) => task.id));
    assert.equal(again.batch_id, batch_id);
    const done = await Promise.all(tasks.map(({ id }) => own.server.at_rest(id)));
    assert.equal(new Set(done.map((task) => task.isolation.path)).size, 2);
    assert.equal((await own.server.get('/api/tasks')).tasks.length, 2);
    assert.ok(!own.repo.has('result.txt'), 'the folder itself is as it was');
  });

  test('are refused as a whole where one cannot be done: nothing is half started', async (t) => {
    const { server, repo } = await two_attempts(t);
    // Not below the checkout of errand itself, which is a repository.
    const plain = fs.mkdtempSync(path.join(os.tmpdir(), 'plain-'));
    t.after(() => fs.rmSync(plain, { recursive: true }));
    const refuse = async (status, reason, body) => {
      const problem = await server.expect(status, 'POST', '/api/batches', body);
      assert.equal(problem.reason, reason, problem.detail);
      assert.deepEqual((await server.get('/api/tasks?archived=all')).tasks, []);
      return problem;
    };
    const launch = { message: 'x', work_dir: repo.top };
    assert.match((await refuse(422, 'isolation', { agents, launch: { ...launch, work_dir: plain } })).detail, /is in no git repository/);
    await refuse(404, 'unknown_agent', { agents: [...agents, { agent_id: 'nobody' }], launch });
    await refuse(400, 'missing_field', { agents: agents.slice(0, 1), launch });
    await refuse(400, 'invalid_field', { agents, launch: { ...launch, agent_id: 'demo' } });
    await refuse(400, 'invalid_field', { agents: [agents[0], { agent_id: 'command' }], launch });
    await refuse(400, 'missing_field', { agents });

    const cli = (...words) => errand(server, ['ask', ...words, 'do it'], { cwd: repo.top });
    const unknown = await cli('--agents', 'builtin,nobody');
    assert.equal(unknown.code, 3, unknown.err);
    assert.match(unknown.err, /There is no agent "nobody"/);
    const elsewhere = await cli('--agents', 'builtin,demo', '-C', plain);
    assert.notEqual(elsewhere.code, 0);
    assert.match(elsewhere.err, /no git repository/);
    for (const one of ['builtin', 'builtin,', ':a,b', 'a:,b']) assert.equal((await cli('--agents', one)).code, 2, one);
    assert.equal((await cli('--agents', 'builtin,demo', '--agent', 'demo')).code, 2);
    assert.deepEqual((await server.get('/api/tasks?archived=all')).tasks, []);
  });

  test('are compared, tested in their work trees, and one is taken as it ended while the rest is discarded; all of it can be undone', async (t) => {
    const own = await two_attempts(t);
    const { server, repo } = own;
    repo.write('mine.txt', 'uncommitted\n');
    const before = repo.user_state();
    const { batch, a, b } = await rested(own);
    let rows = await compared(server, batch);
    assert.deepEqual(rows.map(({ task, changes, why, test: tested }) => [task.id, changes, why, tested]), [
      [a, { files: 1, added: 1, removed: 0 }, null, null],
      [b, { files: 1, added: 1, removed: 0 }, null, null],
    ]);
    const begun = await server.expect(201, 'POST', `/api/batches/${batch}/test`, { command: 'echo seen by a test; pwd; touch leftover.txt; grep -q good result.txt' });
    assert.equal(begun.batch_id, `tests-of-${batch}`);
    assert.deepEqual(begun.left, []);
    for (const { id } of begun.tests) await server.at_rest(id);
    rows = await compared(server, batch);
    assert.deepEqual(rows.map(({ test: tested }) => [tested.status, tested.exit_code, tested.labels.attempt]), [['completed', 0, a], ['failed', 1, b]]);
    assert.deepEqual(rows.map(({ changes }) => changes.files), [1, 1], 'what a test leaves is not the task\'s');
    const log = await server.get(`/api/tasks/${rows[1].test.id}/log`);
    assert.equal(log, `seen by a test\n${rows[1].task.isolation.work_dir}\n`);
    repo.assert_untouched(before, 'after the tests');

    const taken = await server.expect(200, 'POST', `/api/tasks/${a}/merge`, { discard_others: true, message: 'The good one' });
    assert.deepEqual(taken.discarded, [b]);
    assert.deepEqual(taken.left, []);
    assert.deepEqual(taken.merge.not_merged, ['leftover.txt']);
    assert.equal(repo.git('log', '-1', '--format=%s'), 'The good one\n');
    assert.equal(repo.read('result.txt'), 'good\n');
    assert.ok(!repo.has('leftover.txt'));
    assert.equal(repo.read('mine.txt'), 'uncommitted\n');
    assert.equal((await server.task(b)).isolation.state, 'discarded');
    // Repeated: there is nothing left to do.
    const again = await server.expect(200, 'POST', `/api/tasks/${a}/merge`, { discard_others: true });
    assert.equal(again.merge, null);
    assert.deepEqual(again.discarded, []);

    await server.expect(200, 'POST', `/api/tasks/${a}/merge/undo`);
    const back = await server.expect(200, 'POST', `/api/tasks/${b}/discard/undo`);
    assert.equal(back.isolation.state, 'ready');
    assert.equal(fs.readFileSync(path.join(back.isolation.work_dir, 'result.txt'), 'utf8'), 'bad\n');
    assert.ok(!repo.has('result.txt'));
    repo.assert_untouched(before, 'after all was undone');
  });

  test('keep what a test left behind out of a plain merge and a further turn, and name it; with_later takes it', async (t) => {
    const own = await two_attempts(t);
    const { server, repo, model } = own;
    const { batch, a, b } = await rested(own);
    const begun = await server.expect(201, 'POST', `/api/batches/${batch}/test`, { command: 'touch leftover.txt; echo tested >> result.txt' });
    for (const { id } of begun.tests) await server.at_rest(id);
    assert.equal((await server.get(`/api/tasks/${a}/changes`)).held, true);
    const merged = await server.expect(200, 'POST', `/api/tasks/${a}/merge`);
    assert.deepEqual(merged.merge.not_merged, ['leftover.txt', 'result.txt']);
    assert.equal(repo.read('result.txt'), 'good\n');
    assert.ok(!repo.has('leftover.txt'));
    await server.expect(200, 'POST', `/api/tasks/${a}/merge/undo`);
    // A turn that only says something does not make it the task's.
    model.rule('Write the text for a commit', [{ text: 'Here:\n```commit\nAdd the result\n```\n' }]);
    const cli = (...words) => errand(server, words, { cwd: repo.top });
    const asked = await cli('merge', b, '--ask');
    assert.equal(asked.code, 0, asked.err);
    assert.match(asked.err, /not in it:.*--with-later[^]*leftover\.txt\n {2}result\.txt/);
    assert.equal(repo.read('result.txt'), 'bad\n');
    assert.ok(!repo.has('leftover.txt'));
    assert.equal((await cli('merge', b, '--undo')).code, 0);
    const all = await cli('merge', a, '--with-later');
    assert.equal(all.code, 0, all.err);
    assert.equal(repo.read('result.txt'), 'good\ntested\n');
    assert.ok(repo.has('leftover.txt'));
  });

  test('are not decided about while one of them is at work or tested, and nothing is changed then', async (t) => {
    const own = await two_attempts(t, { steps_b: [{ wait: 'b', text: 'done' }] });
    const { server, repo } = own;
    const { batch_id, tasks } = await own.start();
    const [a, b] = tasks.map((task) => task.id);
    await server.at_rest(a);
    await own.model.waiting('b');
    const head = repo.head();
    const refused = await server.expect(409, 'POST', `/api/tasks/${a}/merge`, { discard_others: true });
    assert.equal(refused.reason, 'at_work');
    assert.match(refused.detail, new RegExp(`errand cancel ${b}`));
    // One that is at work is not tested; the other is.
    const hold = path.join(server.folder, 'hold');
    const begun = await server.expect(201, 'POST', `/api/batches/${batch_id}/test`, { command: `until [ -e '${hold}' ]; do sleep 0.02; done` });
    assert.deepEqual(begun.left, [{ task_id: b, why: 'It is at work.' }]);
    assert.equal(begun.tests.length, 1);
    own.model.release('b');
    await server.at_rest(b);
    const tested = await server.expect(409, 'POST', `/api/tasks/${b}/merge`, { discard_others: true });
    assert.match(tested.detail, new RegExp(`The test ${begun.tests[0].id} is at work`));
    const twice = await server.expect(201, 'POST', `/api/batches/${batch_id}/test`, { command: 'true' });
    assert.deepEqual(twice.left.map((one) => one.task_id), [a], 'one test at a time in a work tree');
    assert.equal(repo.head(), head);
    assert.equal((await server.task(a)).isolation.state, 'ready');
    fs.writeFileSync(hold, '');
    await server.at_rest(begun.tests[0].id);
    for (const { id } of twice.tests) await server.at_rest(id);
    await server.expect(200, 'POST', `/api/tasks/${a}/merge`, { discard_others: true });
  });

  test('and their tests outlive a server that is killed; a choice that was cut off is repeated', async (t) => {
    const own = await two_attempts(t);
    const { server } = own;
    const { batch, a, b } = await rested(own);
    const hold = path.join(server.folder, 'hold');
    const begun = await server.expect(201, 'POST', `/api/batches/${batch}/test`, { command: `echo begun; until [ -e '${hold}' ]; do sleep 0.02; done; echo ended; exit 3` });
    for (const { id } of begun.tests) await until(async () => (await server.get(`/api/tasks/${id}/log`)) === 'begun\n', { what: 'the test runs' });
    await server.kill9();
    fs.writeFileSync(hold, '');
    await server.start();
    for (const { id } of begun.tests) {
      assert.equal((await server.at_rest(id)).exit_code, 3);
      assert.equal(await server.get(`/api/tasks/${id}/log`), 'begun\nended\n');
    }
    assert.deepEqual((await compared(server, batch)).map(({ test: tested }) => tested.exit_code), [3, 3]);
    // The merge was done when the server died, the discards were not.
    await server.expect(200, 'POST', `/api/tasks/${a}/merge`);
    await server.kill9();
    await server.start();
    const rest = await server.expect(200, 'POST', `/api/tasks/${a}/merge`, { discard_others: true });
    assert.equal(rest.merge, null);
    assert.deepEqual(rest.discarded, [b]);
  });

  test('on the command line: ask, compare, test, merge; unknown costs are question marks', async (t) => {
    const own = await two_attempts(t);
    const { server, repo } = own;
    const cli = (words, options) => errand(server, words, { cwd: repo.top, ...options });
    const asked = await cli(['ask', '--agents', 'builtin:model-a,builtin:model-b', '--permission', 'allow', 'write the result']);
    assert.equal(asked.code, 0, asked.err);
    const batch = asked.out.trim();
    assert.match(batch, /^batch_[0-9a-z]{26}$/);
    assert.match(asked.err, /2 attempts.*errand compare/);
    const run = await cli(['compare', batch.slice(6, 16), '--wait', '--test', 'grep -q good result.txt', '--timeout', '1m']);
    assert.equal(run.code, 0, run.err);
    assert.match(run.err, /the test of .* failed; errand logs/);
    const lines = run.out.trimEnd().split('\n').map((line) => line.split('\t'));
    assert.deepEqual(lines.map((cells) => [cells[1], cells[2], ...cells.slice(3, 7), cells[8], cells[9]]), [
      ['builtin:model-a', 'completed', '1', '+1', '-0', '✓ passed', '?', 'ready'],
      ['builtin:model-b', 'completed', '1', '+1', '-0', '✗ exit 1', '?', 'ready'],
    ]);
    const none = await cli(['compare', batch, '--test', 'false']);
    assert.equal(none.code, 1, 'no attempt passed');
    const json = await cli(['compare', batch, '--json']);
    assert.equal(json.json.attempts.length, 2);
    const merged = await cli(['merge', lines[0][0], '--discard-others']);
    assert.equal(merged.code, 0, merged.err);
    assert.match(merged.err, /main is at [0-9a-f]{12} now.*\n.*discarded: /);
    assert.match(merged.err, /errand discard .* --restore/);
    assert.equal(repo.git('log', '-1', '--format=%B').trim(), 'write the result\n\nI wrote good.');
    const not = await cli(['compare', (await server.run('true', { batch_id: 'new' })).batch_id]);
    assert.match(not.err, /errand ask --agents/);
    assert.equal((await cli(['compare', 'nothing'])).code, 3);
  });
});

describe('the text for a commit', () => {
  test('is the agent\'s own where it was asked, and a merge without a message uses it', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    const repo = new Repository(t);
    model.rule('write the result', writes('good'));
    model.rule('Write the text for a commit', [{ text: 'Here:\n```commit\nAdd the result\n\nIt was missing.\n```\n' }]);
    const task = await launch('write the result', { work_dir: repo.top, isolate: 'worktree' });
    await server.at_rest(task.id);
    const text = () => server.get(`/api/tasks/${task.id}/commit-text`);
    assert.deepEqual(await text(), { subject: 'write the result', body: 'I wrote good.', source: 'result' });
    const merged = await errand(server, ['merge', task.id, '--ask'], { cwd: repo.top });
    assert.equal(merged.code, 0, merged.err);
    assert.deepEqual(await text(), { subject: 'Add the result', body: 'It was missing.', source: 'agent' });
    assert.equal(repo.git('log', '-1', '--format=%B'), 'Add the result\n\nIt was missing.\n\n');
    const command = await server.run('true');
    await server.at_rest(command.id);
    assert.equal((await server.expect(409, 'POST', `/api/tasks/${command.id}/commit-text`)).reason, 'no_agent');
    // One that is at work, or failed, is not asked.
    const failed = await server.ask('fail');
    await server.at_rest(failed.id);
    await server.expect(409, 'POST', `/api/tasks/${failed.id}/commit-text`);
  });
});

// A program that writes down its words and where git would look, and prints an address.
function recorder(bin, name) {
  const file = path.join(bin, `${name}.words`);
  fs.writeFileSync(path.join(bin, name), `#!/bin/sh\nprintf '%s\\0' "$@" > '${file}'\nprintf '%s' "$GIT_DIR" > '${file}.dir'\n[ -e '${bin}/fail' ] && exit 1\necho Creating it >&2\necho https://forge.example/pull/1\n`, { mode: 0o755 });
  return () => fs.readFileSync(file, 'utf8').split('\0').slice(0, -1);
}

describe('a pull request', () => {
  const hostile = '--web $(touch owned) `touch owned` \'"; touch owned #';

  // A repository whose remote is `url`, which the user's own configuration has on disk.
  async function published(t, url, server) {
    server ??= await Server.start(t);
    const repo = new Repository(t);
    const remote = path.join(repo.folder, 'remote.git');
    execFileSync('git', ['init', '-q', '--bare', remote]);
    repo.git('remote', 'add', 'origin', url);
    fs.writeFileSync(path.join(server.folder, '.gitconfig'), `[url "${remote}"]\n\tinsteadOf = ${url}\n[protocol]\n\tallow = always\n`);
    const bin = temporary_folder(t, 'bin');
    // Only what is needed is installed here.
    for (const name of ['git', 'sh']) fs.symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), path.join(bin, name));
    const pr = (id, ...words) => errand(server, ['pr', id, ...words], { cwd: repo.top, env: { PATH: bin } });
    const pushed = (branch, format = '%s') => repo.git_in(remote, 'log', '-1', `--format=${format}`, branch).trim();
    return { server, repo, remote, bin, pr, pushed };
  }

  test('is pushed and opened with gh, and its title is never an option or a command', async (t) => {
    const { server, repo, bin, pr, pushed } = await published(t, 'https://github.com/ada/engine.git');
    const words = recorder(bin, 'gh');
    // What an agent could have written into the configuration that work trees share.
    const owned = path.join(repo.folder, 'owned');
    const trap = path.join(repo.folder, 'trap');
    fs.writeFileSync(trap, `#!/bin/sh\ntouch '${owned}'\n`, { mode: 0o755 });
    fs.mkdirSync(path.join(repo.top, '.git/hooks'), { recursive: true });
    fs.copyFileSync(trap, path.join(repo.top, '.git/hooks/pre-push'));
    for (const name of ['core.fsmonitor', 'core.sshCommand', 'credential.helper', 'core.pager', 'core.askPass', 'remote.origin.receivepack']) repo.git('config', name, trap);
    repo.write('mine.txt', 'uncommitted\n');
    const task = await server.run('echo new > new.txt', { work_dir: repo.top, isolate: 'worktree', title: hostile });
    const done = await server.at_rest(task.id);
    const branch = done.isolation.branch;
    fs.rmSync(owned, { force: true }); // What the test's own git calls ran.

    const opened = await pr(task.id, '--draft');
    assert.equal(opened.code, 0, opened.err);
    assert.equal(opened.out, 'https://forge.example/pull/1\n');
    assert.match(opened.err, /pushed errand\/.* to origin/);
    assert.deepEqual(words(), ['pr', 'create', '--repo=github.com/ada/engine', `--head=${branch}`, '--base=main', `--title=${hostile}`, '--body=', '--draft']);
    assert.notEqual(fs.readFileSync(path.join(bin, 'gh.words.dir'), 'utf8'), path.join(repo.top, '.git'));
    assert.equal(pushed(branch), hostile);
    assert.equal(pushed(branch, '%P'), done.isolation.base, 'one commit on what it began with');
    assert.ok(!fs.existsSync(owned), 'nothing of the repository\'s configuration ran');
    assert.ok(!fs.existsSync(path.join(repo.top, 'owned')));
    assert.equal((await server.task(task.id)).isolation.state, 'ready', 'it can still be merged here');

    // Once more with what changed since: the branch grows.
    const first = pushed(branch, '%H');
    fs.writeFileSync(path.join(done.isolation.path, 'more.txt'), 'more\n');
    const again = await pr(task.id, '--title', 'More', '--body', '-R evil/repo', '--base', 'next', '--json');
    assert.equal(again.code, 0, again.err);
    assert.equal(again.json.url, 'https://forge.example/pull/1');
    assert.equal(again.json.branch, branch);
    assert.equal(pushed(branch, '%P'), first);
    assert.deepEqual(words().slice(3), [`--head=${branch}`, '--base=next', '--title=More', '--body=-R evil/repo']);
    // Nothing new: the same commit.
    assert.equal((await pr(task.id, '--title', 'More', '--json')).json.commit, again.json.commit);

    fs.writeFileSync(path.join(bin, 'fail'), '');
    const failed = await pr(task.id);
    assert.equal(failed.code, 1);
    assert.match(failed.err, /The branch is pushed, but gh could not open the pull request\. Once it can: gh pr create /);
    await server.expect(200, 'POST', `/api/tasks/${task.id}/discard`);
    assert.match((await pr(task.id)).err, /discarded already/);
  });

  test('is for glab where the remote says so; without the program the exact command is printed, and a push that fails says so', async (t) => {
    const { server, repo, remote, bin, pr, pushed } = await published(t, 'git@gitlab.example.org:group/below/engine.git');
    const task = await server.run('echo new > new.txt; git add new.txt; git -c user.name=E -c user.email=e@e commit -q -m own', { work_dir: repo.top, isolate: 'worktree', title: 'It\'s new' });
    const { isolation } = await server.at_rest(task.id);
    const without = await pr(task.id);
    assert.equal(without.code, 1, without.err);
    assert.equal(without.out, `glab mr create --yes --repo=https://gitlab.example.org/group/below/engine --source-branch=${isolation.branch} --target-branch=main '--title=It'\\''s new' --description=\n`);
    assert.match(without.err, /glab is not installed/);
    assert.equal(pushed(isolation.branch), 'own', 'the agent\'s own commit, where it is all of it');
    const words = recorder(bin, 'glab');
    assert.equal((await pr(task.id)).code, 0);
    assert.equal(words()[0], 'mr');
    assert.ok(words().includes('--title=It\'s new'));

    fs.rmSync(remote, { recursive: true });
    const unreached = await pr(task.id);
    assert.equal(unreached.code, 1);
    assert.match(unreached.err, /git could not push to origin/);
    repo.git('remote', 'remove', 'origin');
    assert.match((await pr(task.id)).err, /has no remote to push to\. Add one/);
    const nothing = await server.run('true', { work_dir: repo.top, isolate: 'worktree' });
    await server.at_rest(nothing.id);
    assert.match((await pr(nothing.id)).err, /changed nothing/);
    const plain = await server.run('true', { work_dir: repo.top });
    await server.at_rest(plain.id);
    assert.equal((await pr(plain.id)).code !== 0, true);
  });

  test('of a task that was merged and went on grows by what came since, on top of the merge', async (t) => {
    const { server: own, model, launch } = await start_builtin(t);
    const { server, repo, bin, pr, pushed } = await published(t, 'https://github.com/ada/engine.git', own);
    recorder(bin, 'gh');
    model.rule('write the result', writes('good'));
    const task = await launch('write the result', { work_dir: repo.top, isolate: 'worktree' });
    const { isolation } = await server.at_rest(task.id);
    const first = await pr(task.id, '--json');
    assert.equal(first.code, 0, first.err);
    repo.write('mine.txt', 'committed\n');
    repo.commit('mine');
    await server.expect(200, 'POST', `/api/tasks/${task.id}/merge`);
    assert.match((await pr(task.id)).err, /merged already: push your own branch/);
    const turn = async (message, steps) => {
      model.rule(message, steps);
      await server.expect(202, 'POST', `/api/tasks/${task.id}/message`, { message });
      return server.at_rest(task.id);
    };
    // One that changes nothing leaves it merged.
    assert.equal((await turn('what did you do', [{ text: 'I wrote it.' }])).isolation.state, 'merged');
    const merged = repo.head();
    assert.equal((await turn('write more', [call('write', { path: 'more.txt', content: 'more\n' }), { text: 'Done.' }])).isolation.state, 'ready');
    const list = await server.get(`/api/tasks/${task.id}/changes`);
    assert.deepEqual([list.since_merge, list.files.map((file) => file.path)], [true, ['more.txt']]);
    assert.match((await errand(server, ['diff', task.id, '--stat'])).err, /merged before: this is what came since/);
    const since = await pr(task.id, '--title', 'More', '--json');
    assert.equal(since.code, 0, since.err);
    assert.equal(pushed(isolation.branch, '%P'), `${first.json.commit} ${merged}`);
    assert.equal(repo.git('diff', '--name-only', merged, since.json.commit), 'more.txt\n');
    await server.expect(200, 'POST', `/api/tasks/${task.id}/merge`);
    assert.equal(repo.git('diff', '--name-only', merged, 'HEAD'), 'more.txt\n');
  });

  test('takes over only what the task changed, not what was uncommitted when it began', async (t) => {
    const { server, repo, bin, pr, pushed, remote } = await published(t, 'https://github.com/ada/engine.git');
    recorder(bin, 'gh');
    repo.write('mine.txt', 'uncommitted\n');
    const task = await server.run('cat mine.txt; echo new > new.txt', { work_dir: repo.top, isolate: 'worktree', isolate_base: 'dirty' });
    const { isolation } = await server.at_rest(task.id);
    assert.equal((await pr(task.id)).code, 0);
    assert.equal(repo.git_in(remote, 'ls-tree', '-r', '--name-only', isolation.branch), 'a.txt\nb.txt\nnew.txt\nsrc/c.txt\n');
    assert.equal(pushed(isolation.branch, '%P'), isolation.base);
  });
});
