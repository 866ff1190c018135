// The data folder: one server at a time, a damaged or newer database is refused and left alone (R2.5, T17).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { errand, marked, marker, patience, Server, until } from './harness/index.mjs';

const hash = (file) => createHash('sha256').update(fs.readFileSync(file)).digest('hex');

// `errand serve` that must not come up; answers how it left.
async function refuses(server, words) {
  const left = await errand(server, ['serve', '--listen', '127.0.0.1:0', '--data-dir', server.data_dir], { within: 10_000 * patience });
  assert.notEqual(left.code, 0, `it refused: ${left.out}${left.err}`);
  assert.notEqual(left.code, null, 'by itself, without a crash');
  assert.match(left.err, words);
  return left;
}

test('A port that is taken is named', async (t) => {
  const server = await Server.start(t);
  const left = await errand(server, ['serve', '--listen', `127.0.0.1:${server.port}`, '--data-dir', path.join(server.folder, 'other')]);
  assert.notEqual(left.code, 0);
  assert.match(left.err, new RegExp(`${server.port}`));
});

test('Anything but loopback is refused without TLS or --behind-proxy (R12.1)', async (t) => {
  const server = await Server.start(t);
  for (const listen of ['0.0.0.0:0', '[::]:0']) {
    const left = await errand(server, ['serve', '--listen', listen, '--data-dir', path.join(server.folder, 'other')]);
    assert.notEqual(left.code, 0, listen);
    assert.match(left.err, /loopback|TLS|proxy/i);
  }
});

test('A data folder that cannot be made or written is named', async (t) => {
  const server = await Server.start(t);
  fs.writeFileSync(path.join(server.folder, 'file'), '');
  const left = await errand(server, ['serve', '--listen', '127.0.0.1:0', '--data-dir', path.join(server.folder, 'file', 'data')]);
  assert.notEqual(left.code, 0);
  assert.match(left.err, /file/);
});

for (const [name, damage] of Object.entries({
  'a header that is none': (bytes) => bytes.fill(0x41, 0, 64),
  'a page in the middle overwritten': (bytes) => bytes.fill(0xa5, 4096, Math.min(bytes.length, 4096 * 4)),
  'cut in half': (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2 / 512) * 512 + 100),
})) {
  test(`A damaged database (${name}) is refused by name and left as it is, never started empty`, async (t) => {
    const server = await Server.start(t);
    for (let i = 0; i < 50; i++) await server.run('true', { description: 'x'.repeat(500) });
    await until(async () => (await server.get('/api/tasks?status=pending,running&limit=1')).tasks.length === 0, { what: 'all are at rest' });
    assert.equal((await server.term()).code, 0);
    const file = path.join(server.data_dir, 'errand.db');
    for (const beside of ['-wal', '-shm']) fs.rmSync(file + beside, { force: true });
    const bytes = fs.readFileSync(file);
    fs.writeFileSync(file, damage(bytes));
    const before = hash(file);
    const left = await refuses(server, /errand\.db/);
    assert.match(left.err, /damaged|corrupt|not a database|malformed/i);
    assert.equal(hash(file), before, 'it is left as it is');
  });
}

test('A database that is deleted under the server: nothing is acknowledged, what runs goes on, and nothing is lost', async (t) => {
  const server = await Server.start(t);
  const kept = (await server.run('echo kept')).id;
  await server.at_rest(kept);
  const go = path.join(server.folder, 'go');
  const work = (await server.run(`while [ ! -e ${go} ]; do sleep 0.05; done; echo worked`)).id;
  await until(async () => (await server.task(work)).status === 'running', { what: 'the command runs' });
  const file = path.join(server.data_dir, 'errand.db');
  fs.rmSync(file);
  const reply = await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' });
  assert.equal(reply.status, 503, reply.text);
  assert.equal(reply.json.reason, 'unlinked');
  const health = await server.get('/api/health');
  assert.equal(health.status, 'unlinked');
  assert.match(health.problem, /rescued/);
  assert.equal((await server.task(kept)).status, 'completed', 'reading goes on');
  assert.equal((await server.task(work)).status, 'running', 'and so does the command');
  assert.match((await errand(server, ['doctor'])).out, /unlinked: .*rescued/);
  await until(() => fs.existsSync(`${file}.rescued`), { what: 'the content is saved' });
  await server.kill9();
  const left = await refuses(server, /errand\.db\.rescued/);
  assert.match(left.err, /rename/);
  fs.renameSync(`${file}.rescued`, file);
  await server.start();
  assert.equal((await server.task(kept)).status, 'completed');
  assert.equal((await server.task(work)).status, 'running', 'the command was running all the time');
  fs.writeFileSync(go, '');
  assert.equal((await server.at_rest(work)).status, 'completed');
  assert.match((await server.api('GET', `/api/tasks/${work}/log`)).text, /worked/);
});

test('A database with a damaged row can be read and takes nothing new; what runs goes on', async (t) => {
  let sqlite;
  try {
    sqlite = await import('node:sqlite');
  } catch {
    return t.skip('this Node has no SQLite');
  }
  const server = await Server.start(t);
  const ids = [];
  for (let i = 0; i < 3; i++) ids.push((await server.run('true', { description: `number ${i}` })).id);
  for (const id of ids) await server.at_rest(id);
  const go = path.join(server.folder, 'go');
  const work = (await server.run(`while [ ! -e ${go} ]; do sleep 0.05; done`)).id;
  await until(async () => (await server.task(work)).status === 'running', { what: 'the command runs' });
  await server.kill9();
  const db = new sqlite.DatabaseSync(path.join(server.data_dir, 'errand.db'));
  db.exec("UPDATE launches SET title = 'x' || title WHERE n = 2");
  db.close();
  await server.start();
  assert.equal((await server.get('/api/health')).status, 'damaged');
  for (let i = 0; i < 3; i++) {
    const reply = await server.api('POST', '/api/tasks', { kind: 'command', command: 'true' });
    assert.equal(reply.status, 503, reply.text);
    assert.equal(reply.json.reason, 'damaged');
  }
  assert.equal((await server.task(ids[0])).status, 'completed');
  assert.equal((await server.api('GET', `/api/tasks/${ids[1]}`)).status, 500, 'never a wrong answer');
  assert.equal((await server.task(work)).status, 'running');
  fs.writeFileSync(go, '');
});

test('A database of a newer version is refused with a sentence, and left as it is (R2.5)', async (t) => {
  const server = await Server.start(t);
  await server.at_rest((await server.run('true')).id);
  assert.equal((await server.term()).code, 0);
  const file = path.join(server.data_dir, 'errand.db');
  const bytes = fs.readFileSync(file);
  assert.ok(bytes.readUInt32BE(60) > 0, 'the schema\'s version is the user_version of the file');
  bytes.writeUInt32BE(9999, 60);
  fs.writeFileSync(file, bytes);
  const before = hash(file);
  const left = await refuses(server, /newer/i);
  assert.match(left.err, /9999/);
  assert.equal(hash(file), before);
});

test('Settings come from the file, the environment and flags, in that order; a wrong one is refused by name', async (t) => {
  const server = await Server.start(t);
  await server.term();
  const toml = path.join(server.data_dir, 'errand.toml');
  fs.writeFileSync(toml, 'max_concurrent = 7\n');
  await server.start();
  assert.equal((await server.get('/api/settings')).max_concurrent, 7);
  await server.term();
  server.env.ERRAND_MAX_CONCURRENT = '8';
  await server.start();
  assert.equal((await server.get('/api/settings')).max_concurrent, 8);
  await server.term();
  server.args = ['--max-concurrent', '9'];
  await server.start();
  assert.equal((await server.get('/api/settings')).max_concurrent, 9);
  await server.term();
  for (const [text, words] of [['max_concurrent = "many"\n', /max_concurrent/], ['colour = 1\n', /colour/], ['max_concurrent = \n', /errand\.toml/]]) {
    fs.writeFileSync(toml, text);
    await refuses(server, words);
  }
});

test('A folder that others could write to is made the user\'s alone, with everything in it', async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`sleep ${mark}`, { timeout_s: 0 });
  await until(() => marked(mark).length > 0, { what: 'it runs' });
  await server.kill9();
  const at = (name) => path.join(server.data_dir, name);
  fs.writeFileSync(at('errand.toml'), 'max_concurrent = 7\n');
  fs.mkdirSync(at('open/deep'), { recursive: true });
  fs.writeFileSync(at('open/deep/file'), '');
  for (const name of ['errand.toml', 'open/deep/file', 'open/deep', 'open', 'run', '.']) fs.chmodSync(at(name), 0o777);
  await server.start();
  for (const name of ['.', 'errand.toml', 'open', 'open/deep', 'open/deep/file', 'run']) assert.equal(fs.statSync(at(name)).mode & 0o077, 0, name);
  assert.match(server.log_tail(), /others could write to/);
  assert.equal((await server.task(task.id)).status, 'running');
});

test('What another user put into it is refused by name, and is not used', { skip: process.getuid() !== 0 && 'needs root' }, async (t) => {
  const server = await Server.start(t);
  const mark = marker();
  const task = await server.run(`sleep ${mark}`, { timeout_s: 0 });
  await until(() => marked(mark).length > 0, { what: 'it runs' });
  await server.kill9();
  const at = (name) => path.join(server.data_dir, name);
  for (const name of ['errand.toml', 'token', 'opencode/serve.json']) {
    const kept = fs.existsSync(at(name)) && fs.readFileSync(at(name));
    fs.mkdirSync(path.dirname(at(name)), { recursive: true });
    fs.rmSync(at(name), { force: true });
    fs.writeFileSync(at(name), name === 'errand.toml' ? 'log_level = "nonsense"\n' : 'a'.repeat(43), { mode: 0o600 });
    fs.chownSync(at(name), 65534, 65534);
    fs.chmodSync(path.dirname(at(name)), 0o777);
    fs.chmodSync(server.data_dir, 0o777);
    // Again and again: that its mode was mended changes nothing.
    for (let i = 0; i < 2; ++i) await refuses(server, new RegExp(`${name.replaceAll('.', '\\.')} belongs to another user`));
    fs.rmSync(at(name));
    if (kept) fs.writeFileSync(at(name), kept, { mode: 0o600 });
  }
  await server.start();
  assert.equal((await server.task(task.id)).status, 'running');
});
