// errand install, upgrade and uninstall, in a home of their own, with work running meanwhile.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { binary, patience, patient_ms, temporary_folder } from './harness/index.mjs';

// A home, and errand's words in it. `program`: the binary in question.
function home(t) {
  let stop = () => {};
  t.after(() => stop()); // Hooks run in their order: its server before its folder.
  const folder = temporary_folder(t);
  const env = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', ERRAND_LISTEN: '127.0.0.1:0' };
  const data = path.join(folder, '.local/share/errand');
  const installed = path.join(folder, '.local/bin/errand');
  const run = (program, words) => {
    const done = spawnSync(program, words, { env, cwd: folder, encoding: 'utf8', timeout: patient_ms * patience });
    return { code: done.status, out: done.stdout, err: done.stderr };
  };
  const server = () => JSON.parse(fs.readFileSync(path.join(data, 'server.json'), 'utf8')).pid;
  stop = () => {
    try {
      process.kill(server());
    } catch {
      // None runs.
    }
  };
  const exe = (pid) => fs.readlinkSync(`/proc/${pid}/exe`);
  return { folder, data, installed, run, server, exe, env };
}

function files_of(folder) {
  return fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory()).map((one) => path.relative(folder, path.join(one.parentPath, one.name))).sort();
}

describe('errand install', () => {
  test('puts the program, completions, manual and unit in place, and uninstall removes these and nothing else', (t) => {
    const at = home(t);
    const done = at.run(binary, ['install']);
    assert.equal(done.code, 0, done.err);
    const wanted = ['.config/fish/completions/errand.fish', '.config/systemd/user/errand.service', '.local/bin/errand', '.local/share/bash-completion/completions/errand',
      '.local/share/man/man1/errand.1', '.local/share/zsh/site-functions/_errand', '.local/state/errand/installed'];
    assert.deepEqual(files_of(at.folder).filter((name) => !name.startsWith('.local/share/errand/')), wanted);
    assert.match(done.err, /is not on your PATH/);
    const unit = fs.readFileSync(path.join(at.folder, '.config/systemd/user/errand.service'), 'utf8');
    assert.match(unit, new RegExp(`ExecStart="${at.installed}" serve\n`));
    assert.match(unit, /KillMode=process/);
    assert.equal(at.run(at.installed, ['install']).code, 0, 'a second time changes nothing');
    assert.deepEqual(files_of(at.folder).filter((name) => !name.startsWith('.local/share/errand/')), wanted);

    assert.equal(at.run(at.installed, ['run', '--wait', '--', 'true']).code, 0);
    const gone = at.run(at.installed, ['uninstall']);
    assert.equal(gone.code, 0, gone.err);
    assert.match(gone.err, /Your tasks stay in .*rm -r /);
    assert.deepEqual(files_of(at.folder).filter((name) => !name.startsWith('.local/share/errand/')), []);
    assert.ok(fs.existsSync(path.join(at.data, 'errand.db')));
    assert.equal(at.run(binary, ['uninstall']).code, 3);
  });

  test('leaves files alone that somebody else wrote', (t) => {
    const at = home(t);
    const fish = path.join(at.folder, '.config/fish/completions/errand.fish');
    fs.mkdirSync(path.dirname(fish), { recursive: true });
    fs.writeFileSync(fish, '# mine\n');
    assert.equal(at.run(binary, ['install', '--no-service']).code, 0);
    assert.ok(!fs.existsSync(path.join(at.folder, '.config/systemd')));
    assert.equal(at.run(at.installed, ['uninstall']).code, 0);
    assert.equal(fs.readFileSync(fish, 'utf8'), '# mine\n');
    fs.writeFileSync(at.installed, '#!/bin/sh\n');
    assert.notEqual(at.run(binary, ['install', '--no-service']).code, 0);
    assert.equal(fs.readFileSync(at.installed, 'utf8'), '#!/bin/sh\n');
  });

  test('an upgrade keeps running work, can be undone, and a program that does not run changes nothing', (t) => {
    const at = home(t);
    assert.equal(at.run(binary, ['install', '--no-service']).code, 0);
    const flag = path.join(at.folder, 'go');
    const started = at.run(at.installed, ['run', '--', 'sh', '-c', `while [ ! -e ${flag} ]; do sleep 0.05; done; echo survived`]);
    assert.equal(started.code, 0, started.err);
    const id = started.out.trim();
    const first = at.server();

    // The same program with other bytes: what counts is which file runs.
    const newer = path.join(at.folder, 'newer');
    fs.copyFileSync(binary, newer);
    fs.appendFileSync(newer, 'newer');
    fs.chmodSync(newer, 0o644);
    const before = fs.statSync(at.installed).size;
    const upgraded = at.run(at.installed, ['upgrade', newer]);
    assert.equal(upgraded.code, 0, upgraded.err);
    assert.equal(fs.statSync(at.installed).size, before + 5);
    assert.notEqual(at.server(), first);
    assert.equal(at.exe(at.server()), at.installed);
    assert.equal(JSON.parse(at.run(at.installed, ['show', '--json', id]).out).status, 'running', 'its task goes on');

    fs.writeFileSync(path.join(at.folder, 'broken'), '#!/bin/sh\nexit 1\n');
    const second = at.server();
    const broken = at.run(at.installed, ['upgrade', path.join(at.folder, 'broken')]);
    assert.equal(broken.code, 2);
    assert.match(broken.err, /is no errand that runs on this machine/);
    assert.equal(at.server(), second, 'the server was not touched');

    // One that says its version and cannot serve: the old one is back.
    fs.writeFileSync(path.join(at.folder, 'liar'), '#!/bin/sh\n[ "$1" = version ]\n');
    const lied = at.run(at.installed, ['upgrade', path.join(at.folder, 'liar')]);
    assert.notEqual(lied.code, 0);
    assert.match(lied.err, /The program from before is back/);
    assert.equal(fs.statSync(at.installed).size, before + 5);
    assert.equal(JSON.parse(at.run(at.installed, ['show', '--json', id]).out).status, 'running');

    assert.equal(at.run(binary, ['upgrade', newer]).code, 0);
    fs.writeFileSync(flag, '');
    assert.equal(at.run(at.installed, ['output', '--wait', id]).out, 'survived\n');
  });

  test('upgrade --undo goes back, and once more forward', (t) => {
    const at = home(t);
    assert.equal(at.run(binary, ['install', '--no-service']).code, 0);
    assert.equal(at.run(at.installed, ['upgrade', '--undo']).code, 3, 'nothing to go back to yet');
    const newer = path.join(at.folder, 'newer');
    fs.copyFileSync(binary, newer);
    fs.appendFileSync(newer, 'newer');
    const size = fs.statSync(at.installed).size;
    assert.equal(at.run(at.installed, ['upgrade', newer]).code, 0);
    assert.equal(at.run(at.installed, ['upgrade', '--undo']).code, 0);
    assert.equal(fs.statSync(at.installed).size, size);
    assert.equal(at.run(at.installed, ['upgrade', '--undo']).code, 0);
    assert.equal(fs.statSync(at.installed).size, size + 5);
  });
});
