// The files that a command leaves: gathered, listed, looked at, downloaded, removed (R9.4, R1.8, R12.2).
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, Server, temporary_folder, until } from './harness/index.mjs';

const sha256 = (text) => crypto.createHash('sha256').update(text).digest('hex');
const files = (list) => list.artifacts.filter((a) => a.kind === 'file');

test('What is in the folder and what the patterns name is listed with size, type and hash when the task ends', async (t) => {
  const server = await Server.start(t);
  const work = temporary_folder(t, 'work');
  const task = await server.run(
    'mkdir -p dist/sub .git; echo app > dist/app.js; echo sub > dist/sub/b.js; echo no > dist/c.css; echo x > .git/x.js; printf report > $ERRAND_ARTIFACTS/report.txt; echo done',
    { work_dir: work, artifacts: ['dist/**/*.js'] });
  const done = await server.at_rest(task.id);
  assert.equal(done.status, 'completed');
  const list = await server.get(`/api/tasks/${task.id}/artifacts`);
  assert.deepEqual(list.artifacts.map((a) => [a.source, a.name, a.size]), [
    ['log', 'run-1.log', 5], ['folder', 'report.txt', 6], ['glob', 'dist/app.js', 4], ['glob', 'dist/sub/b.js', 4]]);
  assert.deepEqual(files(list).map((a) => a.sha256), [sha256('report'), sha256('app\n'), sha256('sub\n')]);
  assert.ok(files(list).every((a) => a.media_type === 'text/plain'));
  assert.ok(list.gathered_at);
  assert.equal(list.left_out, 0);

  // A copy is kept: the work dir may change or go, and the server too.
  fs.rmSync(work, { recursive: true });
  await server.restart();
  assert.equal(await server.get(`/api/tasks/${task.id}/artifacts/dist/sub/b.js`), 'sub\n');
  const reply = await server.api('GET', `/api/tasks/${task.id}/artifacts/${files(list)[0].id}`);
  assert.equal(reply.text, 'report');
  assert.match(reply.headers['content-disposition'], /^attachment; filename="report.txt"/);
  assert.equal(reply.headers['content-type'], 'application/octet-stream');
  assert.equal(reply.headers['x-content-type-options'], 'nosniff');
  assert.match(reply.headers['content-security-policy'], /sandbox/);
  assert.equal(await server.get(`/api/tasks/${task.id}/artifacts/run-1.log`), 'done\n');
});

test('Ranges, offsets and previews of a large file; nothing is held whole', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('seq 1 2000000 > $ERRAND_ARTIFACTS/numbers; head -c 100000 /dev/urandom > $ERRAND_ARTIFACTS/noise');
  await server.at_rest(task.id, { within: 30_000 });
  const at = `/api/tasks/${task.id}/artifacts`;
  const all = Array.from({ length: 2_000_000 }, (_, i) => `${i + 1}\n`).join('');
  assert.equal((await server.api('GET', `${at}/numbers`)).text.length, all.length);
  const range = async (value) => server.api('GET', `${at}/numbers`, undefined, { headers: { range: value } });
  const part = await range('bytes=0-9');
  assert.equal(part.status, 206);
  assert.equal(part.text, all.slice(0, 10));
  assert.equal(part.headers['content-range'], `bytes 0-9/${all.length}`);
  assert.equal((await range('bytes=-5')).text, all.slice(-5));
  assert.equal((await range(`bytes=${all.length - 3}-`)).text, all.slice(-3));
  assert.equal((await range('bytes=100-900000')).text, all.slice(100, 900001));
  assert.equal((await range(`bytes=${all.length}-`)).status, 416);
  for (const strange of ['bytes=5-2', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,3-4', 'bytes=']) assert.equal((await range(strange)).status, 200, strange);
  assert.equal(await server.get(`${at}/numbers?offset=2&limit=4`), all.slice(2, 6));

  const preview = await server.get(`${at}/numbers?preview=true&limit=100`);
  assert.ok(preview.text.startsWith('1\n2\n') && preview.text.length <= 100 && preview.more);
  assert.match(preview.note, /offset=/);
  assert.equal((await server.get(`${at}/numbers?preview=true&tail=2`)).text, '1999999\n2000000\n');
  assert.equal((await server.get(`${at}/numbers?preview=true&grep=1234567&context=1`)).text, '1234566-1234566\n1234567:1234567\n1234568-1234568\n');
  const noise = await server.get(`${at}/noise?preview=true`);
  assert.equal(noise.binary, true);
  assert.equal(noise.text, '');
  await server.expect(400, 'GET', `${at}/numbers?grep=1`);
});

test('Of a task at work it is what is there now; POST gathers it', async (t) => {
  const server = await Server.start(t);
  const work = temporary_folder(t, 'work');
  const task = await server.run('echo one > out.txt; echo a > $ERRAND_ARTIFACTS/a; echo ready; sleep 60', { work_dir: work, artifacts: ['*.txt'] });
  await until(async () => (await server.get(`/api/tasks/${task.id}/log`)).includes('ready'));
  const now = await server.get(`/api/tasks/${task.id}/artifacts`);
  assert.deepEqual(files(now).map((a) => [a.name, a.sha256]), [['a', null], ['out.txt', null]]);
  assert.equal(now.gathered_at, null);
  assert.equal(await server.get(`/api/tasks/${task.id}/artifacts/out.txt`), 'one\n');
  const gathered = await server.expect(200, 'POST', `/api/tasks/${task.id}/artifacts`, {});
  assert.deepEqual(files(gathered).map((a) => a.sha256), [sha256('a\n'), sha256('one\n')]);
  fs.writeFileSync(path.join(work, 'out.txt'), 'two, and longer\n');
  await server.cancel(task.id);
  await server.at_rest(task.id);
  const last = await server.get(`/api/tasks/${task.id}/artifacts`);
  assert.deepEqual(files(last).map((a) => a.sha256), [sha256('a\n'), sha256('two, and longer\n')], 'gathered when its processes were gone');
});

test('Links lead nowhere, strange names are only names, and what is left out is said (R12.2)', async (t) => {
  const server = await Server.start(t);
  const work = temporary_folder(t, 'work');
  const task = await server.run(
    ['sh', '-c', `cd $ERRAND_ARTIFACTS && ln -s ${server.data_dir}/token token && ln -s / root && mkfifo fifo && printf x > "$(printf 'a\\nb')" && printf y > 'q"uote' && printf z > "$(printf '\\377')" && truncate -s 1T huge; ln -s ${server.data_dir}/token ${work}/token.txt; true`],
    { work_dir: work, artifacts: ['*.txt'] });
  assert.equal((await server.at_rest(task.id)).status, 'completed');
  const list = await server.get(`/api/tasks/${task.id}/artifacts`);
  assert.deepEqual(files(list).map((a) => a.size).sort(), [1, 1, 1, 2 ** 40]);
  assert.equal(list.left_out, 4);
  assert.match(list.left_out_why, /links/);
  for (const file of files(list).filter((a) => a.size === 1)) {
    const reply = await server.api('GET', `/api/tasks/${task.id}/artifacts/${file.id}`);
    assert.equal(reply.status, 200);
    assert.match(reply.headers['content-disposition'], /^attachment; filename="[\w.-]*"; filename\*=UTF-8''[\w.%-]*$/);
  }
  const huge = files(list).find((a) => a.name === 'huge');
  assert.equal((await server.api('GET', `/api/tasks/${task.id}/artifacts/huge`, undefined, { headers: { range: 'bytes=-3' } })).text, '\0\0\0');
  assert.equal(huge.sha256, null);
  for (const name of ['token', 'root/etc/passwd', 'fifo', 'token.txt', 'nothing', 'manifest.json']) await server.expect(404, 'GET', `/api/tasks/${task.id}/artifacts/${name}`);
  for (const name of ['../../token', '%2e%2e/token', '..%2f..%2ftoken', '%2fetc%2fpasswd']) await server.expect(400, 'GET', `/api/tasks/${task.id}/artifacts/${name}`);
});

test('The limits hold: files, and bytes of copies', async (t) => {
  const server = await Server.start(t, { env: { ERRAND_ARTIFACTS_MAX_FILES: '5', ERRAND_ARTIFACTS_MAX_BYTES: '100' } });
  const work = temporary_folder(t, 'work');
  const many = await server.run('for i in 1 2 3 4 5 6 7 8; do echo $i > $ERRAND_ARTIFACTS/$i; done');
  await server.at_rest(many.id);
  const list = await server.get(`/api/tasks/${many.id}/artifacts`);
  assert.equal(files(list).length, 5);
  assert.equal(list.left_out, 3);
  const large = await server.run('head -c 200 /dev/zero > big.bin; echo s > small.bin', { work_dir: work, artifacts: ['*.bin'] });
  await server.at_rest(large.id);
  const kept = await server.get(`/api/tasks/${large.id}/artifacts`);
  assert.deepEqual(files(kept).map((a) => a.name), ['small.bin']);
  assert.match(kept.left_out_why, /over the limit of 100 bytes: 1/);
});

test('They go with the task, and stay over a retry', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('echo $$ >> $ERRAND_ARTIFACTS/runs; exit 1');
  await server.at_rest(task.id);
  await server.expect(200, 'POST', `/api/tasks/${task.id}/retry`, {});
  await server.when(task.id, (one) => one.attempt === 2 && one.status === 'failed');
  assert.equal((await server.get(`/api/tasks/${task.id}/artifacts/runs`)).trim().split('\n').length, 2);
  const folder = path.join(server.data_dir, 'artifacts');
  assert.deepEqual(fs.readdirSync(folder).sort(), [task.id, `${task.id}.kept`]);
  await server.expect(204, 'DELETE', `/api/tasks/${task.id}`);
  await until(() => fs.readdirSync(folder).length === 0, { what: 'the artifacts are gone' });
});

test('errand artifacts lists, previews and saves; errand show names them', async (t) => {
  const server = await Server.start(t);
  const task = await server.run('seq 1 1000000 > $ERRAND_ARTIFACTS/numbers.txt; echo hi');
  await server.at_rest(task.id, { within: 20_000 });
  const listed = await errand(server, ['artifacts', task.id]);
  assert.equal(listed.code, 0, listed.err);
  assert.match(listed.out, /^run-1\.log\t3 B/m);
  assert.match(listed.out, /^numbers\.txt\t6\.9 MB\ttext\/plain\tfolder\ta[0-9a-f]{16}$/m);
  assert.equal((await errand(server, ['artifacts', '--json', task.id])).json.artifacts.length, 2);
  const out = path.join(temporary_folder(t, 'out'), 'n.txt');
  assert.equal((await errand(server, ['artifacts', task.id, 'numbers.txt', '-o', out])).code, 0);
  assert.equal(fs.readFileSync(out, 'utf8'), Array.from({ length: 1_000_000 }, (_, i) => `${i + 1}\n`).join(''));
  assert.equal((await errand(server, ['artifacts', task.id, 'run-1.log'])).out, 'hi\n');
  assert.match((await errand(server, ['artifacts', task.id, 'numbers.txt', '--preview'])).out, /^1\n2\n3\n/);
  assert.equal((await errand(server, ['artifacts', task.id, 'nothing'])).code, 3);
  assert.match((await errand(server, ['show', task.id])).out, /Artifacts\n {2}numbers\.txt/);
});
