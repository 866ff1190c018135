// errand top and errand attach as a person uses them: in a terminal, key by key (issue 16).
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { demo, errand, no_tmux, Server, suite_scope, Terminal, until } from './harness/index.mjs';

const short = (id) => id.slice(5, 15);

describe('errand top', { skip: no_tmux }, () => {
  const scope = suite_scope();
  let server;
  before(async () => {
    server = await Server.start(scope, { args: ['--max-concurrent', '12'] });
  });
  const status = async (id) => (await server.task(id)).status;
  const asks = (id) => server.when(id, (one) => one.waiting_for !== null);
  const row = (id, rest = '') => new RegExp(`${short(id)}.*${rest}`);
  const selected = (id) => new RegExp(`▸ ${short(id)}`);
  const open = async (t, options) => {
    const terminal = await Terminal.open(t, server, options);
    terminal.run('errand top');
    await terminal.shows(/^ errand {2}\d+ needs? you/m);
    return terminal;
  };
  // Only these tasks: the tests share a server.
  const find = async (terminal, text) => {
    terminal.type('/');
    await terminal.shows(/^find:/m);
    terminal.press('C-u');
    terminal.run(text);
    await terminal.shows(new RegExp(`/${text}`));
  };

  test('shows tasks in groups, live, and a hostile title is harmless', async (t) => {
    const terminal = await open(t);
    const question = await server.ask(demo.permission, { title: 'groups asks' });
    await terminal.shows(row(question.id, '\\? asks'));
    const evil = await server.run('sleep 600', { title: 'groups \u001b]0;owned\u0007\u001b[2J\u001b[1;1Hevil \u202egnp' });
    await terminal.shows(row(evil.id, '● running +groups evil'));
    await find(terminal, 'groups');
    assert.match(terminal.screen(), /^Needs you\n.*groups asks[^]*^Running\n.*groups evil/m);
    assert.doesNotMatch(terminal.tmux('display-message', '-p', '#{pane_title}'), /owned/);
    await server.cancel(evil.id);
    await terminal.shows(/^Done\n.*cancelled +groups/m);
    await server.cancel(question.id);
    await terminal.shows(/^Done\n.*\n.*groups/m);
    await server.expect(204, 'DELETE', `/api/tasks/${evil.id}`);
    await terminal.shows_not(row(evil.id));
    terminal.type('q');
    await terminal.is_restored();
  });

  test('answers, sends, cancels after a question, retries', async (t) => {
    const asking = await server.ask(demo.permission, { title: 'keys asks' });
    const long = await server.ask(demo.long, { title: 'keys long' });
    await asks(asking.id);
    const terminal = await open(t);
    await find(terminal, 'keys');
    terminal.type('g');
    await terminal.shows(selected(asking.id));
    terminal.type('a');
    await terminal.shows(/May I write[^]*1 allow[^]*^answer /m);
    terminal.run('nonsense');
    await terminal.shows(/Answer allow, always/);
    terminal.type('a');
    await terminal.shows(/^answer /m);
    terminal.run('allow');
    await until(async () => (await status(asking.id)) === 'completed');
    await terminal.shows(row(asking.id, '✓ completed'));

    terminal.type('g');
    await terminal.shows(selected(long.id));
    terminal.type('s');
    await terminal.shows(/^send /m);
    terminal.run('look at the tests');
    await terminal.shows(/sent to/);
    await until(async () => JSON.stringify(await server.get(`/api/tasks/${long.id}/messages`)).includes('look at the tests'));

    terminal.type('c');
    await terminal.shows(/Cancel .* y\/n/);
    terminal.type('n');
    await terminal.shows(/not cancelled/);
    terminal.paste('cy');
    terminal.type('?');
    await terminal.shows(/the keys/);
    assert.equal(await status(long.id), 'running', 'what is pasted is no command');
    terminal.type('?');
    terminal.type('c');
    await terminal.shows(/Cancel .* y\/n/);
    terminal.type('y');
    await terminal.shows(row(long.id, '⊘ cancelled'));
    assert.equal(await status(long.id), 'cancelled');
    await terminal.shows(selected(long.id));
    terminal.type('r');
    await terminal.shows(row(long.id, '● running'));
    assert.equal((await server.task(long.id)).attempt, 2);
    await server.cancel(long.id);
    terminal.press('C-c');
    await terminal.is_restored();
  });

  test('peeks, shows a log live, talks, and comes back', async (t) => {
    const command = await server.run('i=0; while [ ! -e done ]; do i=$((i+1)); echo "line $i"; sleep 0.2; done; echo "the last line"', { title: 'views command', work_dir: server.folder });
    const said = await server.ask(demo.short, { title: 'views agent' });
    await server.at_rest(said.id);
    const terminal = await open(t, { columns: 120, rows: 40 });
    await find(terminal, 'views');
    terminal.type('g');
    await terminal.shows(selected(command.id));
    terminal.type(' ');
    await terminal.shows(/^line \d+/m);
    assert.match(terminal.screen(), new RegExp(server.folder));
    terminal.type('l');
    await terminal.shows(/^live /m);
    await terminal.shows(/^line 5$/m);
    await errand(server, ['run', '--wait', '-C', server.folder, '--', 'touch', 'done']);
    await terminal.shows(/the last line/);
    await terminal.shows(/^the end /m);
    terminal.type('q');
    await terminal.shows(/^Done/m);
    await find(terminal, 'views agent');
    await terminal.shows(selected(said.id));
    terminal.press('Enter');
    await terminal.shows(/it has answered/);
    terminal.run('text');
    await terminal.shows(/2 messages in this conversation/);
    terminal.press('C-d');
    await terminal.shows(/^ errand .*\/views agent/m);
    await terminal.shows(selected(said.id));
    terminal.type('q');
    await terminal.is_restored();
  });

  test('the window may change, the process may be stopped, killed or crash: the terminal is given back', async (t) => {
    const terminal = await open(t);
    terminal.resize(120, 40);
    await terminal.shows(/Space peek .* f filter/);
    terminal.resize(80, 24);
    await terminal.shows(/^Enter open/m);
    terminal.press('C-z');
    await terminal.shows(/Stopped/);
    await terminal.is_restored();
    terminal.run('fg');
    await terminal.shows(/^ errand {2}\d/m);
    terminal.type('?');
    await terminal.shows(/the keys/);
    for (const signal of ['TERM', 'SEGV', 'ABRT', 'HUP']) {
      terminal.run(''); // Leaves the help.
      await terminal.shows(/^ errand {2}\d/m);
      const pid = terminal.tmux('display-message', '-p', '#{pane_pid}').trim();
      terminal.tmux('run-shell', `kill -${signal} $(pgrep -P ${pid} -x errand)`);
      await terminal.is_restored();
      terminal.run('errand top');
      await terminal.shows(/^ errand {2}\d/m);
      terminal.type('?');
      await terminal.shows(/the keys/);
    }
  });

  test('the server may go away and come back', async (t) => {
    const own = await Server.start(t);
    const first = await own.ask(demo.short, { title: 'first task' });
    await own.at_rest(first.id);
    const terminal = await Terminal.open(t, own);
    terminal.run('errand top');
    await terminal.shows(/✓ completed first task/);
    await own.kill9();
    await terminal.shows(/waiting for the server/);
    await own.restart();
    const second = await own.ask(demo.short, { title: 'second task' });
    await own.at_rest(second.id);
    await terminal.shows(/✓ completed second task/);
    await terminal.shows_not(/waiting for the server/);
    terminal.type('q');
    await terminal.is_restored();
  });

  test('without colours there are none', async (t) => {
    const terminal = await open(t, { env: { NO_COLOR: '1' } });
    const task = await server.ask(demo.short, { title: 'plain' });
    await terminal.shows(row(task.id));
    assert.doesNotMatch(terminal.screen({ escapes: true }), /\u001b\[[0-9;]*[1-9]/);
    terminal.type('q');
    await terminal.is_restored();
  });

  test('without a terminal it says what to type', async () => {
    const piped = await errand(server, ['top']);
    assert.equal(piped.code, 2);
    assert.match(piped.err, /needs a terminal.*errand list/);
    const json = await errand(server, ['top', '--json']);
    assert.equal(json.code, 2);
    assert.match(JSON.parse(json.err).error.message, /errand list --watch --json/);
  });
});

describe('errand attach in a terminal', { skip: no_tmux }, () => {
  const scope = suite_scope();
  let server;
  before(async () => {
    server = await Server.start(scope, { args: ['--max-concurrent', '12'] });
  });
  const input = /^── .* ─+\n› (.*)$/m;

  test('what is typed stays while output comes; resize and suspend survive', async (t) => {
    const task = await server.run('i=0; while [ ! -e stop ]; do i=$((i+1)); echo "out $i"; sleep 0.1; done', { work_dir: server.folder });
    const terminal = await Terminal.open(t, server);
    terminal.run(`errand attach ${task.id}`);
    await terminal.shows(/out 3$/m);
    terminal.type('half a line');
    await terminal.shows(/^› half a line$/m);
    const seen = () => Math.max(...[...terminal.screen().matchAll(/^out (\d+)$/gm)].map((match) => Number(match[1])));
    const grown = async () => {
      const from = seen();
      await until(() => seen() > from + 5, { what: 'output goes on' });
      assert.match(terminal.screen(), input);
      assert.equal(input.exec(terminal.screen())[1].trim(), 'half a line');
      assert.equal([...terminal.screen().matchAll(/half a line/g)].length, 1, terminal.screen());
    };
    await grown();
    for (const [columns, rows] of [[120, 40], [60, 15], [80, 24]]) {
      terminal.resize(columns, rows);
      await grown();
    }
    terminal.press('C-z');
    await terminal.shows(/Stopped/);
    terminal.run('fg');
    await terminal.shows(/^› half a line/m);
    await grown();
    const numbers = [...terminal.screen({ history: true }).matchAll(/^out (\d+)$/gm)].map((match) => Number(match[1]));
    assert.deepEqual([...new Set(numbers)].sort((a, b) => a - b), numbers, 'each line once and in order');
    terminal.press('C-u');
    terminal.run('/cancel');
    await terminal.shows(/cancelled/);
    terminal.press('C-d');
    await terminal.shows(/detached from/);
    await terminal.is_restored();
  });

  test('words are rendered, what was typed comes back with Up, commands work', async (t) => {
    const task = await server.ask(demo.short);
    await server.at_rest(task.id);
    const terminal = await Terminal.open(t, server);
    terminal.run(`errand attach ${task.id}`);
    await terminal.shows(/it has answered/);
    assert.match(terminal.screen({ escapes: true }), /\u001b\[1m(\u001b\[39m)?This is a demonstration/);
    assert.doesNotMatch(terminal.screen(), /\*\*This/);
    terminal.run('/help');
    await terminal.shows(/\/interrupt TEXT/);
    terminal.press('Up');
    await terminal.shows(/^› \/help/m);
    terminal.press('Up');
    await terminal.shows(/^› hello/m);
    terminal.press('Enter');
    await until(async () => (await server.task(task.id)).resume_count === 1);
    await terminal.shows(/^> hello$[^]*^> hello$/m, { history: true });
    terminal.press('C-c');
    await terminal.is_restored();
  });

  test('a text of several lines is pasted as one message', async (t) => {
    const task = await server.ask(demo.short);
    await server.at_rest(task.id);
    const terminal = await Terminal.open(t, server);
    terminal.run(`errand attach ${task.id}`);
    await terminal.shows(/it has answered/);
    terminal.paste('first line\nsecond line');
    await terminal.shows(/^› first line⏎second line/m);
    terminal.press('Enter');
    await until(async () => JSON.stringify(await server.get(`/api/tasks/${task.id}/messages`)).includes('first line\\nsecond line'));
    terminal.press('C-d');
    await terminal.is_restored();
  });
});
