// The verbs as somebody meets them who has read nothing: from another folder, in 80 columns, with wrong ids, the wrong key and no
// server (issue 16).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { errand, no_tmux, Server, temporary_folder, Terminal } from './harness/index.mjs';

const about_a_task = ['show', 'output', 'logs', 'tail', 'artifacts', 'cancel', 'kill', 'retry', 'wait', 'clear', 'rm', 'attach', 'answer'];

test('A wrong id, from any folder, is answered with what to do', async (t) => {
  const server = await Server.start(t);
  const cwd = temporary_folder(t, 'elsewhere');
  for (const verb of [...about_a_task, 'send', 'resume', 'fork']) {
    const words = ['send', 'resume', 'fork'].includes(verb) ? [verb, 'nope', 'hello'] : [verb, 'nope'];
    const { code, out, err } = await errand(server, words, { cwd });
    assert.deepEqual([verb, code, out], [verb, 3, '']);
    assert.match(err, /^errand: No task has the id "nope", and no id begins with it\. errand list shows your tasks\.$/m, verb);
  }
  assert.match((await errand(server, ['batch', 'nope'], { cwd })).err, /No batch has the id "nope"/);
  assert.match((await errand(server, ['ask', '--agent', 'nobody', 'hi'], { cwd })).err, /nobody/);
  assert.match((await errand(server, ['run', '-C', '/no/such/folder', '--', 'true'], { cwd })).err, /\/no\/such\/folder/);
  const mine = await errand(server, ['run', '--wait', '--', 'pwd'], { cwd });
  assert.equal(mine.out.trim(), cwd, 'a command runs where it was typed');
});

test('Without a server, status and stop say so and start none; with a wrong token nothing is said that is not known', async (t) => {
  const server = new Server(t);
  const cwd = temporary_folder(t, 'elsewhere');
  for (const verb of ['status', 'stop']) {
    const { code, err } = await errand(server, [verb], { cwd });
    assert.equal(code, verb === 'status' ? 5 : 0);
    assert.match(err, /[Nn]o server runs for/);
  }
  await server.start();
  const wrong = { cwd, env: { ERRAND_TOKEN: 'wrong' } };
  const status = await errand(server, ['status'], wrong);
  assert.equal(status.code, 4);
  assert.match(status.out, /^server +\S+ at http/m);
  assert.doesNotMatch(status.out, /at work/, 'how many tasks there are is not known');
  assert.match(status.err, /The token is wrong/);
  const json = await errand(server, ['status', '--json'], wrong);
  assert.equal(json.code, 4);
  assert.equal(json.json.at_work, null);
  for (const words of [['list'], ['run', '--', 'true'], ['inbox'], ['top'], ['agents'], ['setup']]) assert.equal((await errand(server, words, wrong)).code, words[0] === 'top' ? 2 : 4, words[0]);
  const nobody = await errand(server, ['--url', 'http://127.0.0.1:1', 'list'], { cwd, env: { ERRAND_TOKEN: 'x' } });
  assert.equal(nobody.code, 5);
  assert.match(nobody.err, /No server answers at 127\.0\.0\.1:1/);
});

test('In a terminal of 80 columns the help of every verb fits, and the agents say why they cannot be used', { skip: no_tmux, timeout: 300_000 }, async (t) => {
  const server = await Server.start(t);
  const verbs = (await errand(server, ['help'])).out.match(/^ {2}([a-z]+) {2,}\S/gm).map((line) => line.trim().split(' ')[0]);
  assert.ok(verbs.length > 35, verbs.join(' '));
  const terminal = await Terminal.open(t, server, { columns: 80, rows: 50 });
  // What the terminal itself had to break comes back as one long line.
  const shown = () => terminal.tmux('capture-pane', '-p', '-J', '-S', '-');
  for (const verb of ['', ...verbs]) {
    terminal.tmux('clear-history');
    terminal.run(`clear; errand help ${verb}; echo "the end"" of ${verb || 'all'}"`);
    await terminal.shows(new RegExp(`^the end of ${verb || 'all'}$`, 'm'));
    const lines = shown().split('\n').map((line) => line.trimEnd());
    assert.deepEqual(lines.filter((line) => line.length > 80 && !line.startsWith('$')), [], verb);
  }
  terminal.tmux('clear-history');
  terminal.run('clear; errand agents; echo "the end"" of it"');
  await terminal.shows(/^the end of it$/m);
  assert.match(shown().replace(/\s+/g, ' '), /builtin, background-task-manager: No model is configured: .* and start the server again\./);
});

test('A person reads the time where they are, and in a wide terminal the folder of each task', { skip: no_tmux, timeout: 300_000 }, async (t) => {
  const server = await Server.start(t);
  const cwd = temporary_folder(t, 'elsewhere');
  const env = { TZ: 'CST-8' };
  const run = await errand(server, ['run', '--timeout', '5m', '--', 'sleep', '300'], { cwd, env });
  const id = run.out.trim();
  const { deadline_at } = await server.get(`/api/tasks/${id}`);
  const there = new Date(Date.parse(deadline_at) + 8 * 3_600_000).toISOString().slice(11, 19);
  assert.match(run.err, new RegExp(`until (\\S+ )?${there} at the latest \\(5:00\\)`));
  assert.match((await errand(server, ['show', id], { env })).out, new RegExp(`^time ends +(\\S+ )?${there} \\(in [45]m?`, 'm'));
  for (const [columns, shown] of [
    [80, false],
    [140, true],
  ]) {
    const terminal = await Terminal.open(t, server, { columns });
    terminal.run('clear; errand list');
    await terminal.shows(/sleep 300/);
    assert.equal(/FOLDER/.test(terminal.screen()), shown);
    assert.equal(terminal.screen().includes(cwd.slice(-12)), shown);
  }
  await server.cancel(id);
});
