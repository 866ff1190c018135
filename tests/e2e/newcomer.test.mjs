// Issue 16 is done when this works: somebody with a model's address, a project and the README goes from nothing to an agent
// that edits the project, asks with a diff and is answered in the terminal; and nothing is touched but the project.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { errand, no_tmux, Server, Terminal } from './harness/index.mjs';

// Every file below a folder, with what is in it.
function snapshot(folder, skip) {
  const found = {};
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && !skip.some((each) => file.startsWith(each))) found[path.relative(folder, file)] = fs.readFileSync(file, 'utf8');
  }
  return found;
}

test('A newcomer gets from an address to an edit that was asked for, in one terminal and one folder', { skip: no_tmux, timeout: 300_000 }, async (t) => {
  const model = await start_model();
  t.after(() => model.close());
  model.rule('say good morning', [
    { text: 'I look first.', tool: { name: 'bash', input: { command: 'pwd; ls' } } },
    { tool: { name: 'read', input: { path: 'src/greeting.txt' } } },
    { tool: { name: 'edit', input: { path: 'src/greeting.txt', old_string: 'hello', new_string: 'good morning' } } },
    { tool: { name: 'bash', input: { command: 'touch ran-here && pwd > where.txt' } } },
    { text: 'Done: it says **good morning**.' },
  ]);
  // No server yet: the first verb starts it.
  const server = new Server(t);
  const project = path.join(server.folder, 'my project');
  fs.mkdirSync(path.join(project, 'src'), { recursive: true });
  fs.writeFileSync(path.join(project, 'src/greeting.txt'), 'hello\n');
  fs.writeFileSync(path.join(server.folder, 'other.txt'), 'not yours\n');
  const elsewhere = [project, server.data_dir];
  const before = snapshot(server.folder, elsewhere);

  const terminal = await Terminal.open(t, server, { columns: 80, rows: 50, env: { ERRAND_LISTEN: '127.0.0.1:0', PATH: `${path.dirname(process.env.ERRAND_BIN ?? 'build/release/errand')}:/usr/bin:/bin` } });
  terminal.run('errand setup');
  await terminal.shows(/Which\?/, { within: 60_000 });
  terminal.run('3');
  await terminal.shows(/Its address/);
  terminal.run(`${model.url}/v1`);
  await terminal.shows(/Its key/);
  terminal.press('Enter');
  await terminal.shows(/The model's name/);
  terminal.run('scripted');
  await terminal.shows(/In a project: errand ask --follow/, { within: 60_000 });

  terminal.run('clear; cd "my project"');
  terminal.run('errand ask --follow say good morning');
  // What only reads is not asked for; what changes something is, with its diff and its folder.
  await terminal.shows(/it asks:[^]*-hello[^]*\+good morning/, { within: 60_000 });
  assert.match(terminal.screen(), /greeting\.txt/);
  assert.equal(terminal.screen().match(/\+good morning/g).length, 1, 'a question is shown once');
  terminal.run('allow');
  await terminal.shows(/Run: touch ran-here && pwd > where\.txt\nIn ~\/my project\n/, { within: 60_000 });
  terminal.run('allow');
  await terminal.shows(/Done: it says/, { within: 60_000 });
  await terminal.is_restored();

  assert.equal(fs.readFileSync(path.join(project, 'src/greeting.txt'), 'utf8'), 'good morning\n');
  assert.equal(fs.readFileSync(path.join(project, 'where.txt'), 'utf8'), `${project}\n`);
  const listed = (await errand(server, ['list', '--json'])).json;
  assert.deepEqual((listed.tasks ?? listed).map((task) => [task.status, task.work_dir]), [['completed', project]]);
  assert.deepEqual(snapshot(server.folder, elsewhere), before, 'nothing was touched but the project');
});
