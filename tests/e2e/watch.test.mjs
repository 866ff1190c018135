// Watched lines and progress (R5.5): notify_on and progress_every_s, from launch to the parent's notices.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, patience, Server, until } from './harness/index.mjs';

const matches = async (server, id) => (await server.events(id)).filter((event) => event.type === 'task.match').map((event) => event.data);
const notices = async (server, session, kind) => (await server.get(`/api/sessions/${session.id}/notices?limit=500`)).notices.filter((notice) => notice.kind === kind);

test('A line that matches is an event and a notice, while the command runs', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const command = 'echo starting; printf "\\033[32mlistening\\033[0m on 8080\\n"; echo "Error: one" >&2; while [ ! -e stop ]; do sleep 0.05; done';
  const task = await server.run(command, { notify_on: ['listening on', '/^error/i'], parent_session_id: session.id, work_dir: server.folder, title: 'a server' });
  await until(async () => (await matches(server, task.id)).length === 2, { what: 'both lines are told' });
  assert.equal((await server.task(task.id)).status, 'running');
  const found = await matches(server, task.id);
  assert.deepEqual(found.map((match) => match.line).sort(), ['Error: one', 'listening on 8080'], 'escapes are not part of a line');
  assert.deepEqual(found.map((match) => match.pattern).sort(), ['/^error/i', 'listening on']);
  const told = await notices(server, session, 'match');
  assert.equal(told.length, 2);
  const ready = told.find((notice) => notice.data.pattern === 'listening on');
  assert.equal(ready.task_id, task.id);
  assert.equal(ready.data.line, 'listening on 8080');
  assert.match(ready.text, /### Background Task Match: a server\n- Status: Running\n[^]*listening on 8080/);
  fs.writeFileSync(path.join(server.folder, 'stop'), '');
  assert.equal((await server.at_rest(task.id)).status, 'completed');
  assert.equal((await matches(server, task.id)).length, 2);
});

test('A line is told once, though the server is killed in the middle of it', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const lines = 12;
  const command = `for i in $(seq ${lines}); do printf 'the wor'; while [ ! -e go.$i ]; do sleep 0.02; done; echo "d number $i"; done`;
  const task = await server.run(command, { notify_on: ['word number'], parent_session_id: session.id, work_dir: server.folder });
  let printed = 0;
  for (let i = 1; i <= lines; i++) {
    await until(async () => (await server.task(task.id)).progress.output_bytes >= printed + 'the wor'.length, { what: 'the beginning of a line' });
    printed += `the word number ${i}\n`.length;
    if (i % 3 === 0) await server.restart();
    fs.writeFileSync(path.join(server.folder, `go.${i}`), '');
    await until(async () => (await matches(server, task.id)).length + (await matches(server, task.id)).reduce((sum, match) => sum + match.more, 0) >= Math.min(i, 8), { what: `line ${i} is told` });
    if (i % 4 === 0) await server.restart();
  }
  assert.equal((await server.at_rest(task.id)).status, 'completed');
  const found = await matches(server, task.id);
  assert.equal(found.length + found.reduce((sum, match) => sum + match.more, 0), lines, 'each once');
  assert.equal(new Set(found.map((match) => match.line)).size, found.length);
  assert.equal((await notices(server, session, 'match')).length, found.length);
});

test('Many matches are limited, and what is left out is counted', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('for i in $(seq 500); do echo "hit $i"; done', { notify_on: ['hit'] });
  const { created_at, completed_at } = await server.at_rest(task.id);
  const found = await matches(server, task.id);
  const seconds = (Date.parse(completed_at) - Date.parse(created_at)) / 1000;
  assert.ok(found.length >= 11 && found.length <= 20 + seconds, `${found.length} are told in ${seconds} s`);
  assert.equal(found.length + found.reduce((sum, match) => sum + match.more, 0), 500);
  assert.equal(found.at(-1).line, 'hit 500', 'the last one is told');
});

test('A pattern that is none is refused, and agents have no output to watch', async (t) => {
  const server = await Server.start(t);
  const bad = await server.expect(400, 'POST', '/api/tasks', { kind: 'command', command: 'true', notify_on: ['/a(/'] });
  assert.equal(bad.reason, 'pattern');
  assert.match(bad.detail, /\/a\(\//);
  assert.match((await server.expect(400, 'POST', '/api/tasks', { agent_id: 'demo', message: 'help', notify_on: ['x'] })).detail, /notify_on/);
});

test('progress_every_s tells the parent how far it is; the command line has flags for both', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const made = await errand(server, ['run', '--json', '--parent', session.id, '--progress-every', '0.5s', '--notify-on', 'line 3', '--notify-on', '/line [45]$/', '--', 'sh', '-c', 'for i in 1 2 3 4 5 6; do echo line $i; sleep 0.4; done']);
  assert.equal(made.code, 0, made.err);
  await server.at_rest(made.json.id, { within: 20_000 * patience });
  const progress = await notices(server, session, 'progress');
  const task = await server.task(made.json.id);
  const seconds = (Date.parse(task.completed_at) - Date.parse(task.created_at)) / 1000;
  assert.ok(progress.length >= 3 && progress.length <= 2 * seconds + 1, `${progress.length} reports in ${seconds} s`);
  assert.match(progress[0].text, /### Background Task Progress: [^]*- Status: Running[^]*\d lines? of output so far, \d+ bytes; the last sign of life was /);
  assert.equal(progress[0].data.status, 'running');
  assert.deepEqual((await matches(server, made.json.id)).map((match) => match.line), ['line 3', 'line 4', 'line 5']);
  assert.equal((await notices(server, session, 'turn_ended')).length, 1);
});
