// A server that systemd runs stays in its unit, whatever errand is told to do with it (issue 16, item 4).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { binary, errand, fake_systemd, no_tmux, patience, patient_ms, Server, temporary_folder, Terminal, until } from './harness/index.mjs';

// A home with a systemd, and errand's words in it.
function home(t) {
  let stop = () => {};
  t.after(() => stop()); // Hooks run in their order: its server before its folders.
  const systemd = fake_systemd(t);
  const folder = temporary_folder(t);
  const env = { HOME: folder, LANG: 'C.UTF-8', ERRAND_LISTEN: '127.0.0.1:0', ...systemd.env };
  const data = path.join(folder, '.local/share/errand');
  const run = (words, program = binary) => {
    const done = spawnSync(program, words, { env, cwd: folder, encoding: 'utf8', timeout: patient_ms * patience });
    return { code: done.status, out: done.stdout, err: done.stderr, json: words.includes('--json') && done.stdout ? JSON.parse(done.stdout) : undefined };
  };
  const server = () => JSON.parse(fs.readFileSync(path.join(data, 'server.json'), 'utf8'));
  stop = () => run(['stop']);
  return { systemd, folder, data, env, run, server };
}

describe('A server that systemd runs', () => {
  test('is restarted, stopped and started by systemd, and its tasks go on', (t) => {
    const at = home(t);
    assert.equal(at.run(['install']).code, 0);
    assert.deepEqual(at.systemd.orders(), ['enable errand.service']);
    const flag = path.join(at.folder, 'go');
    const id = at.run(['run', '--', 'sh', '-c', `while [ ! -e ${flag} ]; do sleep 0.05; done; echo survived`]).out.trim();
    const first = at.server().pid;
    assert.equal(first, at.systemd.main(), 'the verb found the server of the unit');

    const again = at.run(['restart', '--json']);
    assert.equal(again.code, 0, again.err);
    assert.notEqual(again.json.pid, first);
    assert.equal(again.json.pid, at.systemd.main(), 'it did not leave its unit');
    assert.equal(at.systemd.orders().at(-1), 'restart errand.service');

    const stopped = at.run(['stop']);
    assert.equal(stopped.code, 0, stopped.err);
    assert.match(stopped.err, /1 task at work goes on/);
    assert.equal(at.systemd.orders().at(-1), 'stop errand.service');
    assert.equal(at.systemd.runs(), false);
    const back = at.run(['restart', '--json']);
    assert.equal(back.code, 0, back.err);
    assert.equal(at.systemd.orders().at(-1), 'start errand.service', 'what was installed for this folder is started');
    assert.equal(back.json.pid, at.systemd.main());
    fs.writeFileSync(flag, '');
    assert.equal(at.run(['output', '--wait', id]).out, 'survived\n');
    assert.equal(at.run(['uninstall']).code, 0);
    assert.equal(at.systemd.orders().at(-1), 'disable errand.service');
  });

  test('is started in its unit by the first verb that needs it, and by the verb itself where systemd cannot', (t) => {
    const at = home(t);
    assert.equal(at.run(['install']).code, 0);
    assert.equal(at.run(['stop']).code, 0);
    assert.equal(at.systemd.runs(), false);
    const id = at.run(['run', '--', 'true']).out.trim();
    assert.equal(at.systemd.orders().at(-1), 'start errand.service');
    assert.equal(at.server().pid, at.systemd.main(), 'the verb did not start one beside the unit');

    assert.equal(at.run(['stop']).code, 0);
    const systemctl = path.join(at.systemd.bin, 'systemctl');
    const works = fs.readFileSync(systemctl, 'utf8');
    assert.ok(works.includes('\n  start) start ;;'), 'the double has the line that is broken here');
    fs.writeFileSync(systemctl, works.replace('\n  start) start ;;', '\n  start) exit 1 ;;'));
    const shown = at.run(['show', '--json', id]);
    assert.equal(shown.code, 0, shown.err);
    assert.equal(shown.json.id, id);
    assert.equal(at.systemd.runs(), false);
    fs.writeFileSync(systemctl, works);
    assert.equal(at.run(['stop']).code, 0);
    assert.equal(at.run(['uninstall']).code, 0);
  });

  test('runs a newer program in its unit after an upgrade', (t) => {
    const at = home(t);
    assert.equal(at.run(['install']).code, 0);
    at.run(['list']);
    const newer = path.join(at.folder, 'newer');
    fs.copyFileSync(binary, newer);
    fs.appendFileSync(newer, 'newer');
    const done = at.run(['upgrade', newer], path.join(at.folder, '.local/bin/errand'));
    assert.equal(done.code, 0, done.err);
    assert.equal(at.systemd.orders().at(-1), 'restart errand.service');
    assert.equal(at.server().pid, at.systemd.main());
    assert.equal(at.run(['uninstall']).code, 0);
  });

  test('is told apart from one that somebody started beside it', (t) => {
    const at = home(t);
    // No unit is there: the server is the verb's.
    const id = at.run(['run', '--', 'true']).out.trim();
    const first = at.server().pid;
    const again = at.run(['restart', '--json']);
    assert.equal(again.code, 0, again.err);
    assert.notEqual(again.json.pid, first);
    assert.deepEqual(at.systemd.orders(), [], 'systemd was asked whose it is, and told nothing');
    assert.ok(at.systemd.calls().some((line) => line.includes('MainPID')));
    assert.equal(at.run(['show', '--json', id]).json.id, id);
  });

  test('that cannot be restarted is named, with what to type', (t) => {
    const at = home(t);
    assert.equal(at.run(['install']).code, 0);
    at.run(['list']);
    const systemctl = path.join(at.systemd.bin, 'systemctl');
    fs.writeFileSync(systemctl, fs.readFileSync(systemctl, 'utf8').replace('restart) stop; start ;;', 'restart) exit 1 ;;'));
    const refused = at.run(['restart']);
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /systemctl --user restart errand\.service/);
    assert.equal(at.server().pid, at.systemd.main(), 'the server was not touched');
    assert.equal(at.run(['uninstall']).code, 0);
  });
});

test('A restart keeps the words that the server was started with', async (t) => {
  let server;
  t.after(() => errand(server, ['stop'], { within: 60_000 }));
  const folder = temporary_folder(t);
  fs.writeFileSync(path.join(folder, 'other.toml'), 'max_restarts = 9\n');
  server = await Server.start(t, { folder, args: ['--config', 'other.toml', '--max-concurrent', '7'] });
  assert.equal(server.card().config, path.join(folder, 'other.toml'));
  const again = await errand(server, ['restart', '--json'], { cwd: '/', within: 60_000 });
  assert.equal(again.code, 0, again.err);
  assert.notEqual(again.json.pid, server.pid);
  const settings = (await errand(server, ['settings', '--json'])).json;
  assert.equal(settings.max_concurrent, 7);
  assert.equal(settings.max_restarts, 9);
  assert.equal(JSON.parse(fs.readFileSync(path.join(server.data_dir, 'server.json'))).config, path.join(folder, 'other.toml'));
});

test('errand setup asks for a service where a systemd answers, and sets it up only on a yes', { skip: no_tmux, timeout: 300_000 }, async (t) => {
  const at = home(t);
  const unit = path.join(at.folder, '.config/systemd/user/errand.service');
  const server = { folder: at.folder, data_dir: at.data, env: at.env };
  const terminal = await Terminal.open(t, server, { rows: 60, env: { ...at.env, PATH: `${at.systemd.bin}:${path.dirname(binary)}:${process.env.PATH}` } });
  const until_asked = async () => {
    terminal.run('errand setup');
    await terminal.shows(/Which\? \(Enter: leave it as it is\)/);
    terminal.press('Enter');
    await answer_tools(terminal);
    await terminal.shows(/with a server that starts at your login\? \[y\/N\]/);
  };
  await until_asked();
  terminal.press('Enter');
  await terminal.is_restored();
  assert.equal(fs.existsSync(unit), false, 'Enter is no');
  assert.deepEqual(at.systemd.orders(), []);

  await until_asked();
  terminal.run('y');
  await terminal.shows(/The server runs, and starts with your next login/, { history: true });
  await terminal.shows(/^agents +/m, { history: true });
  await terminal.is_restored();
  assert.ok(fs.existsSync(unit));
  await until(() => at.server().pid === at.systemd.main(), { what: 'the server of the folder is the unit\'s' });
  assert.equal(at.run(['uninstall']).code, 0);

  // Without one that answers there is nothing to ask.
  fs.writeFileSync(path.join(at.systemd.bin, 'systemctl'), '#!/bin/sh\nexit 1\n');
  terminal.run('errand setup');
  await terminal.shows(/Which\? \(Enter: leave it as it is\)/);
  terminal.press('Enter');
  await answer_tools(terminal);
  await terminal.shows(/^agents +/m);
  assert.doesNotMatch(terminal.screen(), /starts at your login/);
});

// Programs of other makers that this machine has are offered errand's tools: not here.
async function answer_tools(terminal) {
  for (;;) {
    await terminal.shows(/(Give \w[^?]*\?|starts at your login\?|^agents +)[^\n]*$/m);
    const last = terminal.screen().trimEnd().split('\n').at(-1);
    if (!/^Give /.test(last)) return;
    terminal.run('n');
    await until(() => terminal.screen().trimEnd().split('\n').at(-1) !== last, { what: 'the next question' });
  }
}
