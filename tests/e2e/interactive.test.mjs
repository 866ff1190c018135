// No person at the keyboard (R9.2): what would ask one is refused before it starts, over HTTP and from the command line.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { errand, Server, suite_scope } from './harness/index.mjs';

describe('A command that would ask a person', () => {
  const scope = suite_scope();
  let server;
  before(async () => {
    server = await Server.start(scope);
  });

  const asks = [
    ['vim', /`vim` opens an editor.*sed -i/],
    [['vim', 'notes.txt'], /editor/],
    ['sudo apt install x', /`sudo` may ask for a password.*sudo -n/],
    ['sudo -n apt install x', /`apt install` asks a person to confirm.*apt-get install -y/],
    ['make && git commit', /`git commit` opens an editor.*git commit -m/],
    ['python3', /`python3` without a script.*python3 SCRIPT\.py/],
    ['cat notes | less', /`less` shows text page by page.*cat FILE/],
    ['docker run -it alpine sh', /needs a terminal/],
    [['bash', '-lc', 'cd /tmp && nano x'], /`nano` opens an editor/],
  ];

  test('is refused over HTTP with the reason and the form that asks nobody, and nothing is made', async () => {
    const before_count = (await server.get('/api/tasks?total=true')).total;
    for (const [command, words] of asks) {
      const problem = await server.expect(400, 'POST', '/api/tasks', { kind: 'command', command });
      assert.equal(problem.code, 'invalid_argument');
      assert.equal(problem.reason, 'interactive', JSON.stringify(command));
      assert.match(problem.detail, words);
      assert.match(problem.detail, /allow_interactive/);
    }
    assert.equal((await server.get('/api/tasks?total=true')).total, before_count);
  });

  test('is refused from the command line, which exits with 2', async () => {
    for (const words of [['vim'], ['sudo', 'apt', 'install', 'x'], ['sudo apt install x && make']]) {
      const result = await errand(server, ['run', '--', ...words]);
      assert.equal(result.code, 2, result.out + result.err);
      assert.equal(result.out, '');
      assert.match(result.err, /--allow-interactive/);
    }
  });

  test('runs all the same where the launch says so', async () => {
    const task = await server.run('read -r x || echo nobody is there', { allow_interactive: true });
    const done = await server.at_rest(task.id);
    assert.equal(done.status, 'completed');
    assert.match(done.result, /nobody is there/);
    const result = await errand(server, ['run', '--wait', '--allow-interactive', '--', 'sh', '-c', 'read x; echo read $?']);
    assert.match(result.out, /read 1/, 'its standard input is empty');
  });

  test('is not what only looks so', async () => {
    for (const command of ['echo vim', 'python3 -c "print(1)" || true', 'cat <<EOF\nsudo apt install x\nEOF', 'printf "a\\nb\\n" | while read l; do echo $l; done', 'echo "1+1" | cat']) {
      const done = await server.at_rest((await server.run(command)).id);
      assert.equal(done.status, 'completed', command);
    }
  });

  test('finds no terminal and an empty standard input', async () => {
    const done = await server.at_rest((await server.run('[ -t 0 ] || echo no tty; cat | wc -c; (: < /dev/tty) 2>/dev/null || echo none')).id);
    assert.match(done.result, /no tty\s+0\s+none/);
  });
});
