// Logs: streams and times told apart, head and tail past the limit, searched, followed, over retries and restarts
// (R9.3, R1.9, R10.1).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, patience, request, Server, until } from './harness/index.mjs';

const lines = (text) => text.trimEnd().split('\n').map((line) => JSON.parse(line));

test('Standard output and standard error are told apart, with times; escapes are kept or left out', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('printf "\\033[31mred\\033[0m\\n"; sleep 0.3; echo bad >&2; sleep 0.3; echo end');
  await server.at_rest(task.id);
  const at = `/api/tasks/${task.id}/log`;
  assert.equal(await server.get(at), '\x1b[31mred\x1b[0m\nbad\nend\n');
  assert.equal(await server.get(`${at}?ansi=strip`), 'red\nbad\nend\n');
  assert.equal(await server.get(`${at}?stream=stderr`), 'bad\n');
  assert.equal(await server.get(`${at}?stream=stdout&tail=1`), 'end\n');
  const all = lines(await server.get(`${at}?format=jsonl`));
  assert.deepEqual(all.map((l) => [l.stream, l.text]), [['stdout', '\x1b[31mred\x1b[0m\n'], ['stderr', 'bad\n'], ['stdout', 'end\n']]);
  assert.ok(all[0].at < all[2].at);
  assert.equal(await server.get(`${at}?since=${all[2].at}`), 'end\n');
  for (const wrong of ['ansi=colour', 'stream=both', 'attempt=1&run=1', 'since=yesterday', 'limit=0']) await server.expect(400, 'GET', `${at}?${wrong}`);
});

test('Past its limit the head and the tail are kept, and the cut is said', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('seq 1 200000', { limits: { output_bytes: 100000 } });
  await server.at_rest(task.id, { within: 30_000 * patience });
  const reply = await server.api('GET', `/api/tasks/${task.id}/log?limit=8000000`);
  assert.match(reply.text, /^1\n2\n3\n/);
  assert.match(reply.text, /\n199999\n200000\n$/);
  assert.match(reply.text, /\[\.\.\. \d+ bytes were left out: the output was over its limit \.\.\.\]/);
  const cut = Number(reply.headers['x-log-cut']);
  assert.ok(cut > 1_000_000 && reply.text.length < 200_000);
  const said = lines(await server.get(`/api/tasks/${task.id}/log?format=jsonl&limit=8000000`)).filter((l) => l.cut);
  assert.equal(said.length, 1);
  assert.equal(said[0].cut, cut);
});

test('attempt=N is that attempt, though one was begun again after a hang; run=N is a run exactly', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_MAX_RESTARTS: '1' } });
  // Prints once, then hangs; errand begins it again once, then fails it.
  const task = await server.run('echo "$ERRAND_TASK_ID $$"; sleep 600', { idle_timeout_s: 3, on_hang: 'restart' });
  const hung = await server.at_rest(task.id, { within: 30_000 * patience });
  assert.equal(hung.error.code, 'hung');
  await server.expect(200, 'POST', `/api/tasks/${task.id}/retry`, {});
  await server.when(task.id, (one) => one.attempt === 2 && one.status === 'running');
  const at = `/api/tasks/${task.id}/log`;
  const run_of = async (query) => (await server.api('GET', `${at}?${query}`)).headers['x-log-run'];
  await until(async () => (await server.get(at)).length > 0);
  const first = await server.api('GET', `${at}?attempt=1`);
  assert.equal(first.headers['x-log-run'], '2', 'its last run');
  assert.equal(first.headers['x-log-runs'], '1-2');
  assert.equal(await run_of('run=1'), '1');
  assert.ok(Number(await run_of('attempt=2')) >= 3);
  const texts = await Promise.all(['run=1', 'run=2', 'attempt=2'].map((query) => server.get(`${at}?${query}`)));
  assert.equal(new Set(texts).size, 3, 'three runs, three processes');
  await server.expect(404, 'GET', `${at}?attempt=3`);
  await server.cancel(task.id);
});

test('follow goes on to the end, also over a run that is begun again', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_MAX_RESTARTS: '1' } });
  const task = await server.run('echo begun; sleep 600', { idle_timeout_s: 3, on_hang: 'restart' });
  const followed = await request({ port: server.port, path: `/api/tasks/${task.id}/log?follow=true`, headers: { authorization: `Bearer ${server.token}` } });
  assert.equal(followed.text, 'begun\n\n[... begun again: run 2 ...]\nbegun\n');
});

test('errand logs takes streams, times, searches and runs', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('echo out; echo err >&2; sleep 0.3; echo more out');
  await server.at_rest(task.id);
  const logs = async (...words) => {
    const result = await errand(server, ['logs', task.id, ...words]);
    assert.equal(result.code, 0, result.err);
    return result.out;
  };
  assert.equal(await logs('--stderr'), 'err\n');
  assert.equal(await logs('--stdout'), 'out\nmore out\n');
  assert.equal(await logs('--grep', 'more'), 'more out\n');
  assert.equal(await logs('--since', '10m', '--tail', '1'), 'more out\n');
  assert.equal(await logs('--since', '2099-01-01T00:00:00Z'), '');
  assert.match(await logs('--timestamps', '--stderr'), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z err\n$/);
  assert.equal(await logs('-f', '--stderr'), 'err\n');
  assert.equal(await logs('--run', '1', '--stderr'), 'err\n');
  assert.equal((await errand(server, ['logs', task.id, '--since', 'soon'])).code, 2);
  assert.equal((await errand(server, ['logs', task.id, '--stdout', '--stderr'])).code, 2);
  assert.equal((await errand(server, ['logs', task.id, '--run', '7'])).code, 3);
});

test('A flipped bit in a log is said where it is read, and what is whole is shown', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('seq -w 1 20000');
  await server.at_rest(task.id);
  const file = path.join(server.data_dir, 'run', `${task.id}.1`, 'log');
  const truth = fs.readFileSync(file);
  assert.equal(truth.length, 120_000);
  const place = 60_001;
  const handle = fs.openSync(file, 'r+');
  fs.writeSync(handle, Buffer.from([truth[place] ^ 4]), 0, 1, place);
  fs.closeSync(handle);
  const reply = await server.api('GET', `/api/tasks/${task.id}/log?limit=8000000`);
  const damaged = Number(reply.headers['x-log-damaged']);
  assert.ok(damaged > 0 && damaged <= 16_384, `${damaged} bytes are left out`);
  const [before, after] = reply.text.split(`\n[... ${damaged} bytes are damaged on the disk and were left out ...]\n`);
  assert.equal(before, truth.toString().slice(0, before.length));
  assert.equal(after, truth.toString().slice(-after.length));
  assert.equal(before.length + damaged + after.length, truth.length);
  assert.ok(before.length <= place && place < before.length + damaged, 'it is where the damage is');
  const said = lines(await server.get(`/api/tasks/${task.id}/log?format=jsonl&limit=8000000`)).filter((l) => l.damaged);
  assert.deepEqual(said, [{ cut: damaged, offset: before.length, damaged: true }]);
  assert.match((await errand(server, ['logs', task.id])).out, new RegExp(`${damaged} bytes are damaged on the disk`));
  const followed = await server.api('GET', `/api/tasks/${task.id}/log?follow=true`);
  assert.equal(followed.text, reply.text, 'who follows is told too, and sees the rest');
  const tail = await server.api('GET', `/api/tasks/${task.id}/log?tail=1`);
  assert.equal(tail.text, '20000\n', 'what is not damaged is not complained about');
});
