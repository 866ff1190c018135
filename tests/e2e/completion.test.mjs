// errand completion and errand man: bash, zsh, fish and mandoc take what they are given, every option is there, and a TAB
// never starts a server.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';

import { binary, errand, Server, suite_scope, temporary_folder } from './harness/index.mjs';

const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const lacks = (program) => (has(program) ? false : `${program} is not installed`);

// Every option as `errand help VERB` shows it.
function options_in(help) {
  return [...help.matchAll(/^ {2}(-[^ ,]+(?:,--[^ ]+)?)/gm)].flatMap((found) => found[1].split(','));
}

describe('Completions', () => {
  const scope = suite_scope();
  let server, bin, tasks;
  before(async () => {
    server = await Server.start(scope);
    // The shells call `errand`.
    bin = path.join(temporary_folder(scope), 'bin');
    fs.mkdirSync(bin);
    fs.symlinkSync(binary, path.join(bin, 'errand'));
    tasks = [];
    for (const title of ['first', "it's $(touch pwned) `touch pwned` ;"]) {
      const run = await errand(server, ['run', '--json', '--wait', '--batch', 'my:own', '--title', title, '--', 'true']);
      assert.equal(run.code, 0, run.err);
      tasks.push((await errand(server, ['list', '--json', '--limit', '1'])).json.tasks[0].id);
    }
  });
  const env = (more) => ({ ...server.env, ERRAND_DATA_DIR: server.data_dir, PATH: `${bin}:${process.env.PATH}`, ...more });

  // What a shell offers for a line, through the script that errand prints.
  const shells = {
    bash(line, more) {
      const words = line.map((word) => `'${word}'`).join(' ');
      const script = `source <(errand completion bash); COMP_WORDS=(errand ${words}); COMP_CWORD=${line.length}; _errand errand; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['--norc', '-c', script], { env: env(more), encoding: 'utf8', cwd: server.folder });
    },
    zsh(line, more) {
      const words = line.map((word) => `'${word}'`).join(' ');
      const script = `compdef() { :; }; compadd() { print -rl -- "\${(@)candidates}"; }; _files() { print files; }; compset() { :; }; _command_names() { print commands; }
        source <(errand completion zsh); words=(errand ${words}); CURRENT=${line.length + 1}; _errand`;
      return execFileSync('zsh', ['-f', '-c', script], { env: env(more), encoding: 'utf8', cwd: server.folder });
    },
    fish(line, more) {
      const script = `errand completion fish | source; complete -C "errand ${line.join(' ')}"`;
      const out = execFileSync('fish', ['--no-config', '-c', script], { env: env({ HOME: server.folder, ...more }), encoding: 'utf8', cwd: server.folder });
      return out.replaceAll(/\t.*$/gm, '');
    },
  };
  const offered = (shell, line, more) => shells[shell](line, more).split('\n').filter((word) => word !== '');

  for (const shell of Object.keys(shells)) {
    describe(shell, { skip: lacks(shell) }, () => {
      test('offers every option of every verb', async () => {
        const overview = (await errand(server, ['help'])).out;
        const verbs = [...overview.matchAll(/^ {2}([a-z]+) /gm)].map((found) => found[1]);
        assert.ok(verbs.length >= 30 && verbs.includes('completion'), verbs.join(' '));
        assert.deepEqual(new Set(offered(shell, [''])), new Set([...verbs, 'help']));
        let options = 0;
        for (const verb of verbs) {
          const wanted = [...options_in((await errand(server, ['help', verb])).out), '--json', '--data-dir', '--url', '--token-file', '--color', '--quiet'];
          const words = offered(shell, [verb, '-']);
          for (const option of wanted) assert.ok(words.includes(option), `${shell}: errand ${verb} ${option}; offered: ${words.join(' ')}`);
          options += wanted.length;
        }
        assert.ok(options > 160, `${options} options`);
      });

      test('offers ids, agents, batches and values', () => {
        assert.deepEqual(offered(shell, ['show', '']).sort(), tasks.map((id) => id.slice(5)).sort());
        assert.deepEqual(offered(shell, ['show', tasks[0].slice(0, -3)]), [tasks[0]]);
        assert.deepEqual(offered(shell, ['show', tasks[1].slice(5, -3)]), [tasks[1].slice(5)]);
        assert.deepEqual(offered(shell, ['retry', '']), [], 'only tasks that can be retried');
        assert.deepEqual(offered(shell, ['wait', '--batch', '']), ['my:own']);
        assert.deepEqual(offered(shell, ['ask', '--agent', 'dem']), ['demo']);
        assert.deepEqual(offered(shell, ['run', '--sandbox', 'str']), ['strict']);
      });

      test('does not run what a title contains', () => {
        offered(shell, ['show', '']);
        assert.ok(!fs.existsSync(path.join(server.folder, 'pwned')));
      });

      test('starts no server', () => {
        const folder = path.join(temporary_folder(scope), 'none');
        for (const line of [['show', ''], ['ask', '--agent', ''], ['cancel', '--batch', ''], ['li']]) offered(shell, line, { ERRAND_DATA_DIR: folder });
        assert.ok(!fs.existsSync(folder), 'nobody made a data folder');
      });
    });
  }

  test('bash completes what it splits: --agent=demo, my:own', { skip: lacks('bash') }, () => {
    const run = (words, cword) =>
      execFileSync('bash', ['--norc', '-c', `source <(errand completion bash); COMP_WORDS=(${words}); COMP_CWORD=${cword}; _errand errand; printf '%s\\n' "\${COMPREPLY[@]}"`], { env: env(), encoding: 'utf8' }).trim();
    assert.equal(run('errand ask --agent = dem', 4), 'demo');
    assert.equal(run('errand wait --batch my : o', 5), 'own');
    assert.equal(run('errand run --sandbox =', 3), 'off\nworkspace\nstrict');
  });

  test('a terminal with zsh completes a verb at TAB', { skip: lacks('zsh') }, () => {
    const script = `zmodload zsh/zpty; zpty z 'PS1=ready: zsh -f -i'
      zpty -w z 'autoload -Uz compinit; compinit -u -D; source <(errand completion zsh); echo loa""ded'
      zpty -r -m z line '*loaded*'
      zpty -n -w z $'errand canc\\t'; zpty -r -m z line '*errand cancel*' && print found; zpty -d z`;
    assert.match(execFileSync('zsh', ['-f', '-c', script], { env: env({ TERM: 'xterm' }), encoding: 'utf8', timeout: 30_000 }), /found/);
  });

  test('a server that hangs makes a TAB silent, not slow', async () => {
    server.child.kill('SIGSTOP');
    try {
      const asked = await errand(server, ['__complete', '--', 'show', '']);
      assert.deepEqual([asked.code, asked.out, asked.err], [0, '-\n', '']);
    } finally {
      server.child.kill('SIGCONT');
    }
  });

  test('errand man is roff without a warning, with every verb', { skip: lacks('mandoc') }, async () => {
    const file = path.join(temporary_folder(scope), 'errand.1');
    fs.writeFileSync(file, (await errand(server, ['man'])).out);
    const lint = spawnSync('mandoc', ['-Tlint', file], { encoding: 'utf8' });
    assert.equal(lint.stdout + lint.stderr, '');
    const page = execFileSync('sh', ['-c', `mandoc -Tutf8 '${file}' | col -b`], { encoding: 'utf8' });
    const overview = (await errand(server, ['help'])).out;
    for (const [, verb] of overview.matchAll(/^ {2}([a-z]+) /gm)) {
      assert.match(page, new RegExp(`errand ${verb} `));
      for (const option of options_in((await errand(server, ['help', verb])).out))
        if (!['-h', '--help'].includes(option)) assert.ok(page.includes(option), `${verb} ${option}`);
    }
  });
});
