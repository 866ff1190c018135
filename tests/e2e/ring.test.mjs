// Notifications of the terminal and the desktop: for a person who looks elsewhere.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { binary, demo, no_tmux, Server, Terminal, until } from './harness/index.mjs';

const hostile = 'ring \u001b]0;owned\u0007;\u001b\\\u001b[2J & <b>bold</b> \u202egnp';

test('errand notify watch tells of questions and ends, once, here and on the desktop', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '12'] });
  // A desktop that writes down what it is told.
  const bin = path.join(server.folder, 'bin');
  const shown = path.join(server.folder, 'shown');
  fs.mkdirSync(bin);
  fs.writeFileSync(shown, '');
  fs.writeFileSync(path.join(bin, 'notify-send'), `#!/bin/sh\nprintf '%s|' "$@" >> '${shown}'\necho >> '${shown}'\n`, { mode: 0o755 });
  const env = { ...server.env, ERRAND_DATA_DIR: server.data_dir, PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':99' };
  const watch = spawn(binary, ['notify', 'watch'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const left = new Promise((resolve) => watch.once('exit', (code, signal) => resolve({ code, signal })));
  t.after(() => watch.kill('SIGKILL'));
  let out = '';
  watch.stdout.on('data', (chunk) => (out += chunk));
  // It hears of what happens once it is connected.
  await until(async () => {
    const probe = await server.ask('noop', { title: 'probe' });
    await server.at_rest(probe.id);
    return out.includes('Completed: probe');
  }, { what: 'it hears the server' });
  const asks = await server.ask(demo.permission, { title: hostile });
  await until(() => out.includes('Needs your permission: ring'), { what: 'a question is told' });
  const failed = await server.run('exit 3', { title: 'a failure' });
  await until(() => out.includes('Failed: a failure'), { what: 'a failure is told' });
  await server.cancel(asks.id);
  const last = await server.ask('noop', { title: 'the last' });
  await until(() => out.includes('Completed: the last'), { what: 'the last is told' });
  await until(() => fs.readFileSync(shown, 'utf8').includes('the last'), { what: 'the desktop is told too' });
  const about = (task) => out.split('\n').filter((line) => line.includes(task.id.slice(5, 15)));
  assert.equal(about(asks).length, 1, 'once; a cancel is no news');
  assert.equal(about(failed).length, 1);
  assert.equal(about(last).length, 1);
  assert.doesNotMatch(out, /[\u0000-\u0009\u000b-\u001f\u007f\u202e]/, 'nothing of a title acts on the terminal');
  const desktop = fs.readFileSync(shown, 'utf8');
  assert.match(desktop, /^--app-name=errand\|--\|Needs your permission\|ring .*&amp; &lt;b&gt;bold&lt;\/b&gt; \\u202egnp\|$/m);
  assert.match(desktop, /^--app-name=errand\|--\|Failed\|a failure\|$/m);
  watch.kill('SIGINT');
  assert.deepEqual(await left, { code: 0, signal: null });
});

test('errand attach and top ring the terminal when a task asks, and a title ends no sequence', { skip: no_tmux }, async (t) => {
  const server = await Server.start(t);
  const terminal = await Terminal.open(t, server);
  const raw = path.join(server.folder, 'raw');
  fs.writeFileSync(raw, '');
  // All that is written to the terminal, byte by byte.
  terminal.tmux('pipe-pane', '-o', `cat >> '${raw}'`);
  const written = () => fs.readFileSync(raw, 'latin1');
  const task = await server.ask(demo.permission, { title: hostile });
  await server.when(task.id, (now) => now.waiting_for?.request_id);
  terminal.run(`errand attach ${task.id}`);
  const rings = /\x1bPtmux;\x1b\x1b\]777;notify;Needs your permission;ring ([^\x07]*)\x07\x1b\\\x07/g;
  await until(() => written().match(rings), { what: 'it rings through tmux, and for tmux' });
  await terminal.shows(/type your answer/);
  assert.equal(written().match(rings).length, 1, 'once');
  assert.doesNotMatch(written().match(rings)[0].slice(10, -4), /[\x00-\x06\x08-\x1a\x1c-\x1f\x7f]|;.*;.*;.*;/);
  assert.doesNotMatch(terminal.tmux('display-message', '-p', '#{pane_title}'), /owned/);
  terminal.press('C-c');
  await terminal.shows(/detached from/);

  terminal.run('clear; errand top');
  await terminal.shows(/^ errand {2}1 needs you/m);
  const before = written().match(rings).length;
  const second = await server.ask(demo.permission, { title: hostile });
  await until(() => written().match(rings).length > before, { what: 'top rings for a new question' });
  terminal.type('q');
  await terminal.is_restored();
  await server.cancel(second.id);

  terminal.run(`clear; ERRAND_NOTIFY=off errand attach ${task.id}`);
  await terminal.shows(/type your answer/);
  assert.equal(written().match(rings).length, before + 1, 'not for who does not want it');
  terminal.press('C-c');
  await terminal.shows(/detached from/);
});
