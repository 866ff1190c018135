// Sandbox levels: what `workspace` and `strict` really let a command do, with the rules of process trees in them; and what
// is said where there is none.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { errand, marked, marker, patience, Server, until } from './harness/index.mjs';

// Not under /tmp (hidden in a sandbox, so that nothing would be proved), and a HOME of its own with secrets in it.
async function prepared(t) {
  const base = process.getuid() === 0 ? '/var/lib' : os.homedir();
  const folder = fs.mkdtempSync(path.join(base, 'errand-sandbox-'));
  const server = new Server(t, { folder });
  t.after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const home = path.join(server.folder, 'home');
  server.env.HOME = home;
  const project = path.join(home, 'project');
  for (const folder of ['.ssh', '.config/gh', 'project', 'private']) fs.mkdirSync(path.join(home, folder), { recursive: true });
  for (const file of ['.ssh/id', '.config/gh/hosts.yml', '.netrc', 'private/notes']) fs.writeFileSync(path.join(home, file), 'secret');
  spawnSync('git', ['init', '-q', project]);
  fs.mkdirSync(path.join(project, '.git/hooks'), { recursive: true });
  await server.start();
  const { sandbox } = await server.get('/api/health');
  if (!sandbox.available) t.skip(`1 skipped: no sandbox here: ${sandbox.text}`);
  return { server, home, project, available: sandbox.available, run: (command, more = {}) => server.run(command, { work_dir: project, sandbox: 'workspace', ...more }) };
}

async function result(server, task) {
  const ended = await server.at_rest(task.id, { within: 20_000 * patience });
  assert.equal(ended.status, 'completed', `${JSON.stringify(ended.error)} ${ended.result}`);
  return ended.result;
}

const can = (what, name) => `(${what}) >/dev/null 2>&1 && echo "${name}: yes" || echo "${name}: no";`;

for (const level of ['workspace', 'strict']) {
  test(`${level}: writes in its folders alone, sees no secrets and only its own processes`, async (t) => {
    const { server, home, project, available, run } = await prepared(t);
    if (!available) return;
    const more = path.join(server.folder, 'more');
    fs.mkdirSync(more);
    const text = await result(
      server,
      await run(
        [
          can('echo x > here', 'work dir'),
          can('echo x > "$ERRAND_ARTIFACTS/a"', 'artifacts'),
          can(`echo x > ${more}/x`, 'add_dirs'),
          can('echo x > /tmp/x && cat /tmp/x', 'own /tmp'),
          can('echo x > /etc/errand-was-here', 'system'),
          can(`echo x > ${home}/x`, 'home'),
          can(`echo x > ${server.folder}/x`, 'beside'),
          can(`cat ${home}/.ssh/id`, 'ssh key'),
          can(`cat ${home}/.config/gh/hosts.yml`, 'gh token'),
          can(`grep secret ${home}/.netrc`, 'netrc'),
          can(`cat ${server.data_dir}/token`, "errand's token"),
          can(`ls ${server.data_dir}/errand.db`, "errand's store"),
          can('echo x > .git/hooks/pre-commit', 'git hook'),
          can('echo x >> .git/config', 'git config'),
          can('mv .git .git2', 'move .git'),
          can('git -c user.name=a -c user.email=a@b commit --allow-empty -qm x', 'git commit'),
          can('test "$(ls -d /proc/[0-9]* | wc -l)" -lt 10', 'few processes'),
          can('unshare -r true && mount -o remount,rw /', 'remount'),
          can('grep -q "NoNewPrivs:.1" /proc/self/status', 'no new rights'),
          can(`cat ${home}/private/notes`, 'the rest of home'),
          'pwd',
        ].join('\n'),
        { sandbox: level, add_dirs: [more] },
      ),
    );
    const said = Object.fromEntries(text.trimEnd().split('\n').slice(0, -1).map((line) => line.split(': ')));
    assert.deepEqual(said, {
      'work dir': 'yes',
      artifacts: 'yes',
      add_dirs: 'yes',
      'own /tmp': 'yes',
      system: 'no',
      home: level === 'strict' ? said.home : 'no',
      beside: 'no',
      'ssh key': 'no',
      'gh token': 'no',
      netrc: 'no',
      "errand's token": 'no',
      "errand's store": 'no',
      'git hook': 'no',
      'git config': 'no',
      'move .git': 'no',
      'git commit': 'yes',
      'few processes': 'yes',
      remount: 'no',
      'no new rights': 'yes',
      'the rest of home': level === 'strict' ? 'no' : 'yes',
    });
    assert.ok(text.endsWith(`${project}\n`));
    assert.ok(fs.existsSync(path.join(project, 'here')), 'what it wrote is there');
    assert.ok(fs.existsSync(path.join(more, 'x')));
    assert.ok(!fs.existsSync(path.join(home, 'x')), 'nothing in the real home');
    assert.ok(!fs.existsSync('/etc/errand-was-here'));
  });
}

test('only strict has no network', async (t) => {
  const { server, available, run } = await prepared(t);
  if (!available) return;
  const listener = http.createServer((_, reply) => reply.end('reached'));
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
  t.after(() => listener.close());
  const ask = ['bash', '-c', `(exec 3<>/dev/tcp/127.0.0.1/${listener.address().port}) 2>/dev/null && echo reached || echo cut off`];
  assert.equal((await result(server, await run(ask))).trim(), 'reached');
  assert.equal((await result(server, await run(ask, { sandbox: 'strict' }))).trim(), 'cut off');
});

const shapes = {
  child: (m) => `sleep ${m} & sleep ${m}`,
  setsid: (m) => `setsid sleep ${m} & sleep ${m}`,
  'ignores TERM': (m) => `trap "" TERM; sleep ${m} & while :; do sleep ${m}; done`,
  daemonising: (m) => `env -i setsid sh -c 'exec </dev/null >/dev/null 2>&1; (sleep ${m} &) ; exit 0'; sleep ${m}`,
};
const endings = {
  cancel: { act: (server, id) => server.cancel(id), expect: ['cancelled', 'cancelled_by_user'] },
  timeout: { launch: { timeout_s: 1 }, act: () => {}, expect: ['failed', 'timeout'] },
  'supervisor KILL': { act: (server) => server.kill9_supervisor(), expect: ['failed', 'interrupted'] },
  processes: { launch: { limits: { processes: 3 } }, act: () => {}, expect: ['failed', 'processes'], may_be_gone: true },
};
for (const [ending, { launch = {}, act, expect, may_be_gone }] of Object.entries(endings)) {
  test(`in a sandbox too, ${ending} leaves no process of any of ${Object.keys(shapes).length} shapes`, async (t) => {
    const { server, available, run } = await prepared(t);
    if (!available) return;
    for (const [shape, script] of Object.entries(shapes)) {
      const mark = marker();
      const task = await run(script(mark), launch);
      if (!may_be_gone) await until(() => marked(mark).some((p) => p.argv[0] === 'sleep'), { what: `${shape} stands` });
      await act(server, task.id);
      const ended = await server.at_rest(task.id, { within: 15_000 * patience });
      assert.deepEqual([ended.status, ended.reason], expect, `${shape}: ${JSON.stringify(ended.error)}`);
      await until(() => marked(mark).length === 0, { within: 5_000 * patience, what: `${shape}: nothing is left` });
    }
  });
}

test('in a sandbox a command is asked to end before it is made to, and its exit code is its own', async (t) => {
  const { server, available, run } = await prepared(t);
  if (!available) return;
  assert.equal((await server.at_rest((await run('exit 7')).id)).exit_code, 7);
  const task = await run('trap "echo asked; exit 0" TERM; echo ready; while :; do sleep 0.05; done');
  await server.when(task.id, (now) => now.progress.output_lines > 0);
  await server.cancel(task.id);
  await server.at_rest(task.id);
  assert.match(await server.get(`/api/tasks/${task.id}/log`), /asked/);
});

test('folders that would make it no sandbox are refused', async (t) => {
  const { server, home, available } = await prepared(t);
  if (!available) return;
  for (const work_dir of ['/', home, server.data_dir]) {
    const refused = await server.expect(400, 'POST', '/api/tasks', { kind: 'command', command: 'true', sandbox: 'workspace', work_dir });
    assert.match(refused.detail, /name a folder of the project/);
  }
});

test('where bubblewrap does not work, a sandbox is refused in words that say what to do', async (t) => {
  const server = new Server(t, {});
  // A machine without user namespaces, as far as this server and its supervisor can see.
  const blocked = spawnSync('unshare', ['--mount', 'sh', '-c', 'true']).status === 0 && process.getuid() === 0;
  if (!blocked) return t.skip('1 skipped: only root can hide bubblewrap from a server');
  const wrapper = path.join(server.folder, 'hidden.sh');
  fs.mkdirSync(server.folder, { recursive: true });
  fs.writeFileSync(wrapper, '#!/bin/sh\nfor f in /usr/bin/bwrap /usr/local/bin/bwrap; do [ -e $f ] && mount --bind /dev/null $f; done\nexec "$@"\n', { mode: 0o755 });
  server.wrapper = ['unshare', '--mount', wrapper];
  await server.start();
  const { sandbox } = await server.get('/api/health');
  assert.equal(sandbox.available, false);
  assert.match(sandbox.text, /install/);
  for (const level of ['workspace', 'strict']) {
    const refused = await server.expect(422, 'POST', '/api/tasks', { kind: 'command', command: 'true', sandbox: level, work_dir: server.folder });
    assert.equal(refused.code, 'unsupported');
    assert.match(refused.detail, new RegExp(`"${level}" is not available here: bubblewrap is not installed; install it`));
  }
  assert.equal((await server.at_rest((await server.run('true')).id)).status, 'completed');
  const shown = await errand(server, ['doctor']);
  assert.match(shown.out, /sandbox\s+only "off"/);
});

test('the command line asks for it by --sandbox', async (t) => {
  const { server, project, home, available } = await prepared(t);
  if (!available) return;
  const ran = await errand(server, ['run', '--wait', '--sandbox', 'workspace', '-C', project, '--', 'sh', '-c', `cat ${home}/.ssh/id || echo hidden`]);
  assert.match(ran.out, /hidden/);
  const [task] = (await server.get('/api/tasks')).tasks;
  assert.equal(task.sandbox, 'workspace');
  assert.match((await errand(server, ['show', task.id])).out, /sandbox\s+workspace/);
});
