// How people keep their records (R15.1, issue 16 item 8): rename, label, pin, archive, batches as rows, transcripts.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, no_tmux, Server, Terminal } from './harness/index.mjs';

const edit = (server, id, body) => server.expect(200, 'PATCH', `/api/tasks/${id}`, body);
const listed = async (server, query = '') => (await server.get(`/api/tasks?limit=500${query}`)).tasks.map((task) => task.id);

test('A task is renamed, labelled, pinned and archived in any state, durably, and its stream says so', async (t) => {
  const server = await Server.start(t);
  const done = await server.at_rest((await server.run('echo first line')).id);
  const running = await server.run('sleep 600');
  const stream = server.stream(`/api/tasks/${running.id}/stream`);
  for (const task of [done, running]) {
    const after = await edit(server, task.id, { title: '  The flaky test\nand more', labels: { team: 'core', 'über': '值' }, pinned: true });
    assert.equal(after.title, 'The flaky test');
    assert.deepEqual(after.labels, { team: 'core', 'über': '值' });
    assert.equal(after.pinned, true);
    assert.equal(after.archived, false);
    assert.equal(after.status, (await server.task(task.id)).status);
  }
  await stream.seen((event) => event.event === 'task.status' && event.data.data.task.title === 'The flaky test');
  stream.cut();
  await server.kill9();
  await server.start();
  const kept = await server.task(done.id);
  assert.equal(kept.title, 'The flaky test');
  // Found by its new title and label, and no longer by a label that was removed.
  assert.deepEqual((await listed(server, '&q=flaky')).sort(), [done.id, running.id].sort());
  await edit(server, done.id, { labels: { team: null } });
  assert.deepEqual(await listed(server, '&label=team:core'), [running.id]);
  await server.cancel(running.id);
});

test('What makes no sense is refused by name and changes nothing', async (t) => {
  const server = await Server.start(t);
  const task = await server.at_rest((await server.run('true')).id);
  for (const [body, words] of [
    [{}, /Give what to change/],
    [{ title: ' ' }, /title/],
    [{ title: '\u200b' }, /title/],
    [{ title: 7 }, /title/],
    [{ pinned: 'yes' }, /pinned/],
    [{ labels: { 'a:b': 'x' } }, /labels/],
    [{ labels: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`l${i}`, 'x'])) }, /labels/],
    [{ title: 'x', status: 'completed' }, /status/],
  ]) {
    const reply = await server.api('PATCH', `/api/tasks/${task.id}`, body);
    assert.equal(reply.status, 400, JSON.stringify(body));
    assert.match(reply.json.detail, words);
  }
  assert.equal((await server.api('PATCH', '/api/tasks/task_none', { pinned: true })).status, 404);
  const { title, labels, pinned, archived } = await server.task(task.id);
  assert.deepEqual([title, labels, pinned, archived], [task.title, {}, false, false]);
});

test('Archived tasks are not listed unless asked for, and the counts agree', async (t) => {
  const server = await Server.start(t);
  const tasks = [];
  for (let i = 0; i < 5; i++) tasks.push(await server.at_rest((await server.run(`echo ${i}`)).id));
  await edit(server, tasks[1].id, { archived: true });
  await edit(server, tasks[3].id, { archived: true });
  const ids = (...which) => which.map((i) => tasks[i].id);
  assert.deepEqual(await listed(server), ids(4, 2, 0));
  assert.deepEqual(await listed(server, '&archived=true'), ids(3, 1));
  assert.deepEqual(await listed(server, '&archived=all'), ids(4, 3, 2, 1, 0));
  assert.deepEqual(await listed(server, '&offset=1'), ids(2, 0));
  const page = await server.get('/api/tasks?total=true&counts=true');
  assert.equal(page.total, 3);
  assert.equal(page.counts.completed, 3);
  assert.equal((await server.api('GET', '/api/tasks?archived=maybe')).status, 400);
  // The CLI finds one by its id all the same, and brings it back.
  const back = await errand(server, ['edit', tasks[1].id.slice(0, 20), '--unarchive', '--title', 'Here again', '--label', 'a=b=c', '--json']);
  assert.equal(back.code, 0, back.err);
  assert.deepEqual([back.json.archived, back.json.title, back.json.labels], [false, 'Here again', { a: 'b=c' }]);
  const archived = await errand(server, ['list', '--archived', '--json']);
  assert.deepEqual(archived.json.tasks.map((task) => task.id), ids(3));
  const nothing = await errand(server, ['edit', tasks[1].id]);
  assert.equal(nothing.code, 2);
  assert.match(nothing.err, /--title/);
});

test('What needs you comes first, and a batch is one row with its failures counted', async (t) => {
  const server = await Server.start(t, { args: ['--max-concurrent', '2'] });
  const old = await server.at_rest((await server.run('true')).id);
  const pinned = await server.at_rest((await server.run('true')).id);
  await edit(server, pinned.id, { pinned: true });
  const { batch_id } = await server.run('exit 3', { batch_id: 'new' });
  for (let i = 0; i < 3; i++) await server.at_rest((await server.run('true', { batch_id })).id);
  const asks = await server.ask('ask which');
  await server.when(asks.id, (task) => task.waiting_for);
  const first = await server.run('sleep 600');
  const second = await server.run('sleep 601');
  await server.when(second.id, (task) => task.status === 'running');
  const waits = await server.run('sleep 602');
  const order = await server.get('/api/tasks?sort=attention&fold_batches=true&total=true');
  const failed = (await server.get(`/api/tasks?batch_id=${batch_id}&status=failed`)).tasks[0];
  const places = order.tasks.map((task) => task.id);
  assert.deepEqual(places.slice(0, 5), [asks.id, failed.id, pinned.id, second.id, first.id]);
  assert.ok(places.indexOf(waits.id) > places.indexOf(first.id));
  assert.equal(places.at(-1), old.id);
  assert.equal(places.length, 7, 'of the batch there is one row');
  assert.equal(order.total, 7);
  const batch = order.batches.find((each) => each.batch_id === batch_id);
  assert.deepEqual([batch.total, batch.counts.failed, batch.counts.completed], [4, 1, 3]);
  // Looked at, it needs nobody any more.
  await server.get(`/api/tasks/${failed.id}/result`);
  const after = (await server.get('/api/tasks?sort=attention&fold_batches=true')).tasks.map((task) => task.id);
  assert.deepEqual(after.slice(0, 2), [asks.id, pinned.id]);
  for (const task of [asks, first, second, waits]) await server.cancel(task.id);
});

test('Batches are listed, page by page', async (t) => {
  const server = await Server.start(t);
  const ids = [];
  for (let i = 0; i < 3; i++) ids.unshift((await server.run(`echo ${i}`, { batch_id: 'new' })).batch_id);
  const first = await server.get('/api/batches?limit=2');
  assert.deepEqual(first.batches.map((batch) => batch.batch_id), ids.slice(0, 2));
  assert.equal(first.batches[0].title, 'echo 2');
  const rest = await server.get(`/api/batches?limit=2&cursor=${first.next_cursor}`);
  assert.deepEqual(rest.batches.map((batch) => batch.batch_id), ids.slice(2));
  assert.equal(rest.next_cursor, null);
  const cli = await errand(server, ['batch', 'list', '--json']);
  assert.deepEqual(cli.json.batches.map((batch) => batch.batch_id), ids);
  const table = await errand(server, ['batch']);
  assert.equal(table.out.trim().split('\n').length, 3);
  assert.equal((await server.api('GET', '/api/batches?limit=0')).status, 400);
});

test('A transcript is one document; in HTML what anybody wrote is text and nothing else', async (t) => {
  const server = await Server.start(t);
  const hostile = '</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202e & "quotes" ```';
  const task = await server.at_rest((await server.ask(`say ${hostile}`)).id);
  await edit(server, task.id, { title: '<b>Title</b> | with ``` things' });
  const html = await server.api('GET', `/api/tasks/${task.id}/export?format=html`);
  assert.equal(html.status, 200);
  assert.match(html.headers['content-type'], /^text\/html/);
  assert.match(html.headers['content-disposition'], /^attachment; filename="errand-task_\w+\.html"$/);
  assert.match(html.headers['content-security-policy'], /sandbox/);
  assert.match(html.text, /default-src 'none'/);
  assert.doesNotMatch(html.text, /<script|<img|<b>|\u202e/i);
  assert.match(html.text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  assert.match(html.text, /&lt;b&gt;Title&lt;\/b&gt;/);
  const markdown = await server.api('GET', `/api/tasks/${task.id}/export`);
  assert.match(markdown.headers['content-type'], /^text\/markdown/);
  assert.match(markdown.text, /^# \\<b>Title/);
  assert.ok(markdown.text.includes('## You'));
  const json = (await server.api('GET', `/api/tasks/${task.id}/export?format=json`)).json;
  assert.equal(json.task.id, task.id);
  assert.deepEqual(json.messages.map((message) => message.role).slice(0, 2), ['user', 'assistant']);
  assert.equal((await server.api('GET', `/api/tasks/${task.id}/export?format=pdf`)).status, 400);
  assert.equal((await server.api('GET', '/api/tasks/task_none/export')).status, 404);

  const file = path.join(server.folder, 'saved.html');
  const saved = await errand(server, ['export', task.id, '--format', 'html', '-o', file]);
  assert.equal(saved.code, 0, saved.err);
  assert.equal(fs.readFileSync(file, 'utf8'), html.text);
  const printed = await errand(server, ['export', task.id]);
  assert.equal(printed.out, markdown.text);
  // A command has its output instead of a conversation.
  const command = await server.at_rest((await server.run('echo from the command')).id);
  assert.match((await server.api('GET', `/api/tasks/${command.id}/export`)).text, /## Command\n\n```sh\necho from the command\n```/);
});

test('errand list --group puts the tasks of a folder, batch or session together, under a heading on a terminal', { skip: no_tmux }, async (t) => {
  const server = await Server.start(t);
  const [one, two] = ['one', 'two'].map((name) => path.join(server.folder, name));
  for (const folder of [one, two]) fs.mkdirSync(folder);
  const run = async (title, more) => server.at_rest((await server.run('true', { title, ...more })).id);
  const first = await run('first', { work_dir: one, batch_id: 'new' });
  await run('second', { work_dir: two });
  await run('third', { work_dir: one, batch_id: first.batch_id });
  const titles = (out) => out.trim().split('\n').map((line) => /first|second|third/.exec(line)[0]);
  assert.deepEqual(titles((await errand(server, ['list'])).out), ['third', 'second', 'first']);
  assert.deepEqual(titles((await errand(server, ['list', '--group', 'folder'])).out), ['third', 'first', 'second']);
  assert.deepEqual(titles((await errand(server, ['list', '--group', 'batch'])).out), ['third', 'first', 'second']);
  assert.equal((await errand(server, ['list', '--group', 'colour'])).code, 2);
  const terminal = await Terminal.open(t, server);
  terminal.run('errand list --group folder');
  await terminal.shows(/~\/one \(2\)\n.*third.*\n.*first.*\n~\/two \(1\)\n.*second/);
  terminal.run('clear; errand list --group session');
  await terminal.shows(/no session \(3\)\n/);
});
