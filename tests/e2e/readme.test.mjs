// The README, played literally: every command of its console blocks is typed into a terminal, in a clean home, in the
// order of the page, and does what the page says. A command that nobody checks here fails the test.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { binary, errand, no_tmux, root, Server, Terminal, until } from './harness/index.mjs';

const within = 60_000;

// The commands of a Markdown text's console blocks: each with the lines that the text shows below it.
export function commands_of(markdown) {
  const commands = [];
  for (const [, block] of markdown.matchAll(/^```console\n([^]*?)^```$/gm))
    for (const line of block.trimEnd().split('\n')) {
      const open = commands.at(-1)?.line.endsWith('\\') && commands.at(-1).output.length === 0;
      if (open) commands.at(-1).line += `\n${line}`;
      else if (line.startsWith('$ ')) commands.push({ line: line.slice(2), output: [] });
      else commands.at(-1).output.push(line);
    }
  return commands;
}

class Reader {
  constructor(terminal) {
    this.terminal = terminal;
  }
  static async open(t, server, env) {
    const reader = new Reader(await Terminal.open(t, server, { columns: 190, rows: 60, env: { ERRAND_DATA_DIR: '', PS1: '<$?>$ ', ...env } }));
    return reader;
  }
  // Types a command on an empty screen.
  async type(line) {
    const { terminal } = this;
    terminal.press('C-l');
    await until(() => /^<\d+>\$\s*$/.test(terminal.screen().trimEnd()), { what: 'an empty screen', within });
    terminal.tmux('clear-history');
    for (const part of line.split('\n')) {
      terminal.type(part);
      // Only what was typed and shown is begun: an empty prompt before that is no end.
      await until(() => terminal.screen({ history: true }).includes(part.trim().slice(0, 20)), { what: `the line "${part}"`, within });
      terminal.press('Enter');
    }
  }
  // And waits until the shell asks for the next one: its exit code and what it showed.
  async run(line) {
    await this.type(line);
    return this.ended();
  }
  async ended() {
    const found = await this.terminal.shows(/<(\d+)>\$\s*$(?![^]*\S)/m, { history: true, within });
    return { code: Number(found[1]), text: this.terminal.screen({ history: true }) };
  }
  async good(line) {
    const { code, text } = await this.run(line);
    assert.equal(code, 0, text);
    return text;
  }
}

test('Every command of the README does what the README says', { skip: no_tmux, timeout: 600_000 }, async (t) => {
  const commands = commands_of(fs.readFileSync(path.join(root, 'README.md'), 'utf8'));
  assert.ok(commands.length >= 15, `${commands.length} commands were found`);
  const model = await start_model();
  t.after(() => model.close());
  // "After scripts/run": a server, in its usual folder. And a clone with what scripts/run has built.
  let server;
  // A verb starts another one later.
  t.after(() => errand(server, ['stop'], { within }));
  server = new Server(t);
  server.data_dir = path.join(server.folder, '.local/share/errand');
  await server.start();
  const clone = path.join(server.folder, 'clone');
  fs.mkdirSync(path.join(clone, 'build/release'), { recursive: true });
  fs.symlinkSync(binary, path.join(clone, 'build/release/errand'));
  fs.writeFileSync(path.join(clone, 'Makefile'), 'test:\n\tmkdir -p build/report; echo FAIL one | tee build/report/all.txt\n');
  const project = path.join(server.folder, 'your/project');
  fs.mkdirSync(project, { recursive: true });
  fs.writeFileSync(path.join(project, 'greeting.txt'), 'hello\n');
  model.rule('make the tests pass', [
    { tool: { name: 'read', input: { path: 'greeting.txt' } } },
    { tool: { name: 'edit', input: { path: 'greeting.txt', old_string: 'hello', new_string: 'good morning' } } },
    { text: 'The tests pass now.' },
  ]);

  // A port of its own, also for the server that a verb starts; no program of this machine's user.
  const env = { ERRAND_LISTEN: '127.0.0.1:0', PATH: '/usr/bin:/bin' };
  const own = await Reader.open(t, server, env);
  const other = await Reader.open(t, server, env);
  await own.good(`cd ${clone}`);
  await other.good(`alias errand=${clone}/build/release/errand`);
  let id;
  const keep_id = (text) => {
    const found = /task_([0-9a-z]{26})/.exec(text);
    assert.ok(found, text);
    id = found[1];
    return text;
  };
  const url = () => JSON.parse(fs.readFileSync(path.join(server.data_dir, 'server.json'), 'utf8')).url;

  const checks = [
    [/^alias errand=/, (line) => own.good(line)],
    [/^errand run -- sh -c/, async (line) => keep_id(await own.good(line))],
    [
      /^kill -9 /,
      async (line) => {
        const { pid } = JSON.parse(fs.readFileSync(path.join(server.data_dir, 'server.json'), 'utf8'));
        await own.good(line);
        await until(() => !fs.existsSync(`/proc/${pid}/exe`) || fs.readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '), { what: 'the server is dead', within });
      },
    ],
    [
      /^errand output --wait /,
      async (line, output) => {
        const text = await own.good(line.replace('01kxyz5w2j', id.slice(0, 14)));
        assert.match(text, new RegExp(`^${output.join('\\n')}$`, 'm'), 'the command never stopped');
      },
    ],
    [/^errand ask --agent demo --follow tools/, async (line) => assert.match(await own.good(line), /grep|read|bash|edit/)],
    [/^errand ask --agent demo long 60/, async (line) => keep_id(await own.good(line))],
    [
      /^errand logs -f ID/,
      async (line) => {
        await own.type(line.replace('ID', id.slice(0, 14)));
        await own.terminal.shows(/long/i);
        own.terminal.press('C-c');
        assert.equal((await own.ended()).code, 130, 'Ctrl-C leaves');
      },
    ],
    [/^errand send ID "and now help"/, (line) => own.good(line.replace('ID', id.slice(0, 14)))],
    [/^errand list --status running/, async (line) => assert.match(await own.good(line), new RegExp(`${id.slice(0, 10)}.*running`))],
    [
      /^errand cancel ID/,
      async (line) => {
        await own.good(line.replace('ID', id.slice(0, 14)));
        assert.match(await own.good(`errand show ${id}`), /cancelled/);
      },
    ],
    [
      /^errand top$/,
      async (line) => {
        await own.type(line);
        await own.terminal.shows(/^ errand {2}/m);
        own.terminal.type('?');
        await own.terminal.shows(/cancel/);
        own.terminal.type('q');
        await until(() => {
          own.terminal.type('q');
          return own.terminal.tmux('display-message', '-p', '#{alternate_on}').trim() === '0';
        }, { what: 'q leaves', within });
        own.terminal.press('C-u');
      },
    ],
    [/^errand inbox$/, async (line) => assert.match(await own.good(line), /\S/)],
    [
      /^errand setup$/,
      async (line) => {
        await own.type(line);
        await own.terminal.shows(/Which\?/);
        own.terminal.run('3');
        await own.terminal.shows(/Its address/);
        own.terminal.run(`${model.url}/v1`);
        await own.terminal.shows(/Its key/);
        own.terminal.press('Enter');
        await own.terminal.shows(/The model's name/);
        own.terminal.run('scripted');
        const { code, text } = await own.ended();
        assert.equal(code, 0, text);
        assert.match(text, /answered in/);
        assert.match(text, /^changed .*errand\.toml/m);
      },
    ],
    [/^cd ~\/your\/project/, (line) => own.good(line)],
    [
      /^errand ask --follow "make the tests pass"/,
      async (line) => {
        await own.type(line);
        await own.terminal.shows(/it asks:/, { history: true, within });
        await own.terminal.shows(/^ +-hello$[^]*^ +\+good morning$/m, { history: true });
        const found = await other.good("errand inbox --json | grep -o 'task_[0-9a-z]*' | head -n 1 | cut -c 6-");
        id = /^([0-9a-z]{26})$/m.exec(found)[1];
      },
    ],
    [
      /^errand answer ID allow/,
      async (line) => {
        await other.good(line.replace('ID', id.slice(0, 14)));
        const { code, text } = await own.ended();
        assert.equal(code, 0, text);
        assert.match(text, /The tests pass now\./);
        assert.equal(fs.readFileSync(path.join(project, 'greeting.txt'), 'utf8'), 'good morning\n');
        await own.good(`cd ${clone}`);
      },
    ],
    [/^TOKEN=/, (line) => own.good(line)],
    [/^curl -s -H .*api\/tasks$/s, async (line) => assert.match(keep_id(await own.good(line.replace('http://127.0.0.1:4747', url()))).replace(/\n/g, ''), new RegExp(`"work_dir":"${clone}"`))],
    [
      /^curl -sN .*\/stream$/,
      async (line) => {
        // The stream of a task ends with the task.
        const text = await own.good(line.replace('http://127.0.0.1:4747', url()).replace('/ID/', `/task_${id}/`));
        assert.match(text, /^event: end$/m);
      },
    ],
    [/^errand tool background_execute/, async (line) => (keep_id(await own.good(line)), await own.good(`errand wait ${id}`))],
    [/^errand tool look_at/, async (line) => assert.match(await own.good(line.replace('task_01kxyz5w', `task_${id.slice(0, 14)}`)), /^\d+:FAIL one$/m)],
  ];

  const used = new Set();
  for (const { line, output } of commands) {
    const bare = line.replace(/\s+# .*$/, '');
    const check = checks.find(([pattern]) => pattern.test(bare));
    assert.ok(check, `the README has a command that this test does not check: ${bare}`);
    used.add(check);
    t.diagnostic(bare);
    await check[1](line, output);
  }
  assert.deepEqual(checks.filter((check) => !used.has(check)).map(([pattern]) => String(pattern)), [], 'commands that the README no longer has');
});
