// The command line: every verb against the real server, with --json, its exit codes, and what scripts rely on.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { before, describe, test } from 'node:test';

import { demo, errand, kill9, marked, marker, patience, Server, suite_scope, temporary_folder, until } from './harness/index.mjs';

describe('Verbs', () => {
  const scope = suite_scope();
  let server;
  before(async () => {
    server = await Server.start(scope, { args: ['--max-concurrent', '8'] });
  });

  // A call that must go well.
  async function ok(words, options) {
    const result = await errand(server, words, options);
    assert.equal(result.code, 0, `errand ${words.join(' ')}: ${result.code} ${result.out}${result.err}`);
    return result;
  }
  async function fails(code, words, options) {
    const result = await errand(server, words, options);
    assert.equal(result.code, code, `errand ${words.join(' ')}: ${result.code} ${result.out}${result.err}`);
    assert.ok(result.err.trim().length > 0, 'it says why, on standard error');
    return result;
  }
  const id_of = (result) => /task_[0-9a-z]{26}/.exec(result.out + result.err)[0];

  test('run --wait and logs -f print all that a command printed, however fast, each stream on its own', async () => {
    const lines = 300_000;
    const script = `seq 1 ${lines}; for i in $(seq 1 2000); do echo out $i; echo err $i >&2; done`;
    const numbers = Array.from({ length: lines }, (_, i) => `${i + 1}\n`).join('');
    const each = (name) => Array.from({ length: 2000 }, (_, i) => `${name} ${i + 1}\n`).join('');
    const run = await ok(['run', '--wait', '--', 'sh', '-c', script]);
    assert.ok(run.out === numbers + each('out'), `standard output is whole (${run.out.length} bytes)`);
    assert.ok(run.err.endsWith(each('err')), 'standard error is whole, and on ours');
    const followed = await ok(['logs', '-f', id_of(run)]);
    assert.ok(followed.out.startsWith(numbers), 'a log that is followed is whole');
    assert.equal(followed.out.length, numbers.length + each('out').length + each('err').length);
  });

  test('run --artifacts keeps what a command left', async () => {
    const work_dir = temporary_folder(scope);
    const run = await ok(['run', '--wait', '-C', work_dir, '--artifacts', 'out/*.txt', '--', 'sh', '-c', 'mkdir out; for i in 1 2 3; do echo $i > out/$i.txt; done']);
    const listed = await ok(['artifacts', id_of(run)]);
    for (const name of ['1.txt', '2.txt', '3.txt']) assert.match(listed.out, new RegExp(name));
  });

  test('run prints the id and returns; --wait exits as the command did; --follow shows its output', async () => {
    const plain = await ok(['run', '--', 'sh', '-c', 'sleep 0.2; echo hi']);
    assert.match(plain.out.trim(), /^task_[0-9a-z]{26}$/, 'standard output is the id alone when piped');
    assert.equal((await ok(['run', '--json', '--', 'true'])).json.status !== undefined, true);
    assert.equal((await errand(server, ['run', '--wait', '--', 'sh', '-c', 'exit 5'])).code, 5);
    assert.equal((await errand(server, ['run', '--wait', '--', 'sh', '-c', 'kill -TERM $$'])).code, 143);
    assert.equal((await errand(server, ['run', '--wait', '--', 'true'])).code, 0);
    const followed = await errand(server, ['run', '--follow', '--', 'sh', '-c', 'echo one; sleep 0.1; echo two; exit 3']);
    assert.match(followed.out, /one\ntwo\n/);
    assert.equal(followed.code, 3);
    const words = await ok(['run', '--wait', '--json', '--', 'printf', '%s|', 'a b', '*']);
    assert.equal((await server.get(`/api/tasks/${words.json.id}/log`)), 'a b|*|', 'words stay words');
    await fails(2, ['run']);
  });

  test('run works in the caller\'s folder', async (t) => {
    const folder = temporary_folder(t, 'cwd');
    const run = await ok(['run', '--wait', '--json', '--', 'pwd'], { cwd: folder });
    assert.equal((await server.get(`/api/tasks/${run.json.id}/log`)).trim(), fs.realpathSync(folder));
  });

  test('ask takes a prompt from words or standard input, and shows the answer', async () => {
    const asked = await ok(['ask', '--agent', 'demo', '--wait', 'help'], { within: 60_000 });
    assert.match(asked.out, /demo/i);
    const piped = await ok(['ask', '--agent', 'demo', '--json', '-'], { input: 'help' });
    assert.equal((await server.at_rest(piped.json.id, { within: 20_000 * patience })).prompt.trim(), 'help');
  });

  test('list filters, is a table for people and JSON for programs', async () => {
    await ok(['run', '--wait', '--title', 'a list title', '--', 'true']);
    const table = await ok(['list']);
    assert.match(table.out, /a list title/);
    const { json } = await ok(['list', '--json', '--status', 'completed']);
    const tasks = json.tasks ?? json;
    assert.ok(tasks.length > 0 && tasks.every((task) => task.status === 'completed'));
    await fails(2, ['list', '--status', 'sleeping']);
  });

  test('show, output and logs take any unique prefix of an id', async () => {
    const run = await ok(['run', '--wait', '--', 'sh', '-c', 'echo out; echo err >&2']);
    const id = id_of(run);
    const prefix = id.slice(0, -1);
    assert.match((await ok(['show', prefix])).out, new RegExp(id));
    assert.equal((await ok(['show', '--json', id])).json.id, id);
    assert.match((await ok(['output', prefix])).out, /out/);
    assert.equal((await ok(['output', '--json', id])).json.status, 'completed');
    assert.ok((await server.task(id)).retrieved_at, 'reading the output is a reading');
    const logs = await ok(['logs', prefix]);
    assert.match(logs.out + logs.err, /out\n/);
    await fails(3, ['show', 'task_zzzzzzzz']);
    await fails(2, ['show', 'task_']).catch(() => fails(3, ['show', 'task_']));
  });

  test('logs -f follows until the end; Ctrl-C leaves the task running and exits 130', async () => {
    const run = await ok(['run', '--', 'sh', '-c', 'for i in 1 2 3; do echo $i; sleep 0.2; done']);
    assert.match((await ok(['logs', '-f', id_of(run)])).out, /1\n2\n3\n/);
    const mark = marker();
    const long_run = id_of(await ok(['run', '--', 'sh', '-c', `echo begun; sleep ${mark}`]));
    const left = await errand(server, ['logs', '-f', long_run], { signal_after: (out) => out.includes('begun') });
    assert.equal(left.code, 130);
    assert.equal((await server.task(long_run)).status, 'running');
    await ok(['cancel', long_run]);
    await until(() => marked(mark).length === 0, { what: 'no process is left' });
  });

  test('send talks to a task at work, resume goes on with a completed one', async () => {
    const busy = id_of(await ok(['ask', '--agent', 'demo', demo.long]));
    await server.when(busy, ['running']);
    await ok(['send', busy, 'one more thing']);
    const { messages } = await server.get(`/api/tasks/${busy}/messages`);
    assert.ok(messages.some((m) => m.role === 'user' && m.parts[0].text === 'one more thing'));
    const early = await errand(server, ['resume', busy, 'again']);
    assert.equal(early.code, 1, 'only completed tasks can be resumed');
    await ok(['cancel', busy]);
    const done = id_of(await ok(['ask', '--agent', 'demo', demo.short]));
    await server.at_rest(done, { within: 20_000 * patience });
    await ok(['resume', done, 'help']);
    assert.equal((await server.at_rest(done, { within: 20_000 * patience })).resume_count, 1);
  });

  test('answer answers what a task asks', async () => {
    const id = id_of(await ok(['ask', '--agent', 'demo', demo.question]));
    await server.when(id, (task) => task.waiting_for);
    assert.match((await ok(['show', id])).out, /answer|wait/i);
    await ok(['answer', id, 'blue']);
    assert.equal((await server.at_rest(id, { within: 20_000 * patience })).status, 'completed');
    await fails(1, ['answer', id, 'again']).catch(() => fails(3, ['answer', id, 'again']));
  });

  test('answer takes the number of an option, and with --literal the number itself', async () => {
    const asks = async () => {
      const id = id_of(await ok(['ask', '--agent', 'demo', demo.question]));
      const task = await server.when(id, (seen) => seen.waiting_for);
      return { id, options: task.waiting_for.options };
    };
    const said = async (id) => {
      await server.at_rest(id, { within: 20_000 * patience });
      return (await server.events(id)).find((event) => event.type === 'ask.answered').data.answer;
    };
    const first = await asks();
    assert.ok(first.options.length >= 2);
    assert.match((await ok(['answer', first.id])).out, new RegExp(`2 ${first.options[1]}`));
    const refused = await fails(2, ['answer', first.id, '99']);
    assert.match(refused.err, new RegExp(`no option 99.*1 ${first.options[0]}, 2 ${first.options[1]}.*--literal`));
    await ok(['answer', first.id, '2']);
    assert.equal(await said(first.id), first.options[1]);
    const second = await asks();
    await ok(['answer', second.id, '--literal', '2']);
    assert.equal(await said(second.id), '2');
  });

  test('serve --json says in JSON that it is ready, or why it is not', async (t) => {
    const other = await Server.start(t, { args: ['--json'] });
    const lines = other.stdout.trim().split('\n');
    assert.equal(lines.length, 1);
    assert.deepEqual(JSON.parse(lines[0]), other.card(), 'the line is what server.json holds');
    const wrong = await errand(other, ['serve', '--json', '--config', '/no/such/errand.toml']);
    assert.notEqual(wrong.code, 0);
    const { error } = JSON.parse(wrong.err.trim().split('\n').at(-1));
    assert.match(error.message, /errand\.toml/);
    assert.equal(error.exit_code, wrong.code);
  });

  test('wait --json says in JSON that the time is up', async () => {
    const id = id_of(await ok(['ask', '--agent', 'demo', demo.long]));
    const late = await fails(8, ['wait', id, '--timeout', '1s', '--json']);
    assert.equal(late.out, '');
    const { error } = JSON.parse(late.err);
    assert.equal(error.code, 'still_running');
    assert.equal(error.exit_code, 8);
    assert.match(error.message, /0 of 1/);
    await ok(['cancel', id]);
  });

  test('retry with a message has the agent do that instead', async () => {
    const id = id_of(await ok(['ask', '--agent', 'demo', demo.failure]));
    assert.equal((await server.at_rest(id, { within: 20_000 * patience })).status, 'failed');
    await ok(['retry', id, '--message', 'noop']);
    const again = await server.at_rest(id, { within: 20_000 * patience });
    assert.equal(again.status, 'completed');
    assert.equal(again.attempt, 2);
  });

  test('cancel and retry; wait exits by what became of it', async () => {
    const mark = marker();
    const id = id_of(await ok(['run', '--', 'sleep', mark]));
    assert.equal((await errand(server, ['wait', '--timeout', '1', id])).code, 8, 'still running');
    await ok(['cancel', id]);
    assert.equal((await errand(server, ['wait', id])).code, 6, 'cancelled');
    await fails(1, ['cancel', id]);
    const other = id_of(await ok(['run', '--', 'sleep', mark]));
    await fails(3, ['cancel', 'nothing-like-it', other]);
    assert.equal((await ok(['show', '--json', other])).json.status, 'cancelled', 'each is tried');
    await ok(['retry', id]);
    await server.when(id, ['running']);
    await ok(['cancel', id]);
    const failing = id_of(await ok(['run', '--', 'false']));
    assert.equal((await errand(server, ['wait', failing])).code, 1);
    const slow = id_of(await ok(['run', '--timeout', '1', '--', 'sleep', mark]));
    assert.equal((await errand(server, ['wait', slow], { within: 20_000 })).code, 7, 'timed out');
    await fails(3, ['wait', 'task_zzzzzzzzzz']);
  });

  test('batch shows, and works on, the tasks of one batch', async () => {
    const batch = (await server.run('true', { batch_id: 'new' })).batch_id;
    await server.run('false', { batch_id: batch });
    await server.get(`/api/batches/${batch}/results?block=all&timeout_s=20`);
    const shown = await ok(['batch', batch, '--json']).catch(() => ok(['batch', 'show', batch, '--json']));
    assert.equal(shown.json.total, 2);
  });

  test('a batch is waited for (the first, all), its results printed, its failures retried, and it is cleared or deleted', async () => {
    const batch = (await server.run('echo quick', { batch_id: 'new' })).batch_id;
    await server.run('sleep 1; echo slow', { batch_id: batch });
    await server.run('if [ -e again ]; then echo mended; else touch again; exit 3; fi', { batch_id: batch, work_dir: temporary_folder(scope) });
    const first = await errand(server, ['wait', '--batch', batch, '--any']);
    assert.ok([0, 1].includes(first.code), first.err);
    assert.equal((await errand(server, ['wait', '--batch', batch])).code, 1, 'one of them failed');
    const results = await ok(['batch', batch, 'results']);
    assert.match(results.out, /quick/);
    assert.match(results.out, /slow/);
    assert.equal((await ok(['batch', batch, 'retry', '--json'])).json.retried, 1);
    await ok(['wait', '--batch', batch]);
    assert.match((await ok(['batch', batch, 'results'])).out, /mended/);
    assert.equal((await ok(['batch', batch, 'clear', '--json'])).json.removed, 3);
    const other = (await server.run('sleep 300', { batch_id: 'new' })).batch_id;
    await server.run('true', { batch_id: other });
    assert.equal((await ok(['batch', other, 'delete', '--json'])).json.removed, 2, 'what works is stopped and goes too');
    await fails(3, ['batch', other]);
  });

  test('clear removes what is at rest', async () => {
    const id = id_of(await ok(['run', '--wait', '--', 'true']));
    const { json } = await ok(['clear', '--json', id]);
    assert.equal(json.removed, 1);
    const gone = await fails(3, ['show', id]);
    assert.match(gone.err, /cleared/);
  });

  test('agents, doctor, version, open --print', async () => {
    const { json } = await ok(['agents', '--json']);
    assert.ok((json.agents ?? json).some((agent) => agent.id === 'demo'));
    assert.match((await ok(['doctor'])).out, new RegExp(server.data_dir.split('/').at(-2)));
    assert.match((await ok(['doctor'])).out, /agents +command, demo; not available: builtin/);
    assert.ok((await ok(['doctor', '--json'])).json);
    assert.ok((await ok(['version'])).out.includes(server.card().version));
    assert.ok((await ok(['version', '--json'])).json);
    assert.ok((await ok(['open', '--print'])).out.startsWith('http://127.0.0.1:'));
  });

  test('No colour and no cursor movement when piped; escape sequences of a task stay out of a terminal\'s way', async () => {
    for (const words of [['list'], ['agents'], ['doctor'], ['--help'], ['run', '--help']]) {
      const { out, err } = await ok(words);
      assert.ok(!(out + err).includes('\u001b'), words.join(' '));
    }
  });

  test('Every verb has help; a wrong one is 2 and says what there is', async () => {
    const help = (await ok(['--help'])).out;
    for (const verb of ['serve', 'run', 'ask', 'list', 'show', 'output', 'logs', 'artifacts', 'send', 'resume', 'attach', 'fork', 'answer', 'cancel', 'retry', 'clear', 'wait', 'batch', 'agents', 'open', 'doctor', 'version']) {
      assert.match(help, new RegExp(`\\b${verb}\\b`));
      assert.match((await ok([verb, '--help'])).out, /usage|options|errand/i);
    }
    await fails(2, ['dance']);
    await fails(2, ['list', '--no-such-flag']);
  });
});

test('A verb starts a server in the background where none runs, and finds it the next time', async (t) => {
  const server = new Server(t);
  const first = await errand(server, ['run', '--wait', '--', 'echo', 'hi']);
  assert.equal(first.code, 0, first.err);
  assert.equal(first.held, false);
  const started = server.card().pid;
  const many = await Promise.all(Array.from({ length: 5 }, () => errand(server, ['list', '--json'])));
  for (const each of many) assert.equal(each.code, 0, each.err);
  assert.equal(server.card().pid, started);
  kill9(started);
  const both = await Promise.all(Array.from({ length: 4 }, () => errand(server, ['list', '--json'])));
  for (const each of both) assert.equal(each.code, 0, `several at once start one server: ${each.err}`);
});

test('A server that a verb starts takes a free port where the default is taken, unless the settings say where', async (t) => {
  const other = net.createServer();
  other.listen(4747, '127.0.0.1');
  // Somebody else has it already: as well.
  await new Promise((done) => other.once('listening', done).once('error', done));
  t.after(() => other.close());
  const server = new Server(t);
  fs.mkdirSync(server.data_dir, { recursive: true, mode: 0o700 });
  const settings = path.join(server.data_dir, 'errand.toml');
  fs.writeFileSync(settings, 'max_concurrent = 4\nlisten = "127.0.0.1:4747"\n');
  const refused = await errand(server, ['settings', '--json'], { env: { ERRAND_LISTEN: undefined } });
  assert.equal(refused.code, 5, refused.err);
  assert.match(refused.err, /Another server uses it; choose another port/);
  fs.writeFileSync(settings, 'max_concurrent = 4\n');
  const shown = await errand(server, ['settings', '--json'], { env: { ERRAND_LISTEN: undefined } });
  assert.equal(shown.code, 0, shown.err);
  assert.equal(shown.json.max_concurrent, 4);
  assert.notEqual(new URL(server.card().url).port, '4747');
});

test('A server that cannot be reached is 5, and a refused token is 4', async (t) => {
  const server = await Server.start(t);
  const refused = await errand(server, ['list'], { env: { ERRAND_URL: server.url, ERRAND_TOKEN: 'wrong' } });
  assert.equal(refused.code, 4, refused.err);
  const served = await errand(server, ['list'], { env: { ERRAND_URL: server.url, ERRAND_TOKEN: server.token } });
  assert.equal(served.code, 0, served.err);
  const nobody = await errand(server, ['list'], { env: { ERRAND_URL: 'http://127.0.0.1:9', ERRAND_TOKEN: 'x' } });
  assert.equal(nobody.code, 5, nobody.err);
});
