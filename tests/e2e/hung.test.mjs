// Hung (R4.2, T15): no output, no CPU and no I/O for the idle limit; and clocks that are set (T20).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';

import { assert_within, errand, marked, marker, patience, Server, until, window_of } from './harness/index.mjs';

const warnings = async (server, id) => (await server.events(id)).filter((event) => event.type === 'task.warning').map((event) => event.data);
// From the first event of a run to the end of the task, by the server's own times.
const took = (task) => (Date.parse(task.completed_at) - Date.parse(task.started_at)) / 1000;

test('T15: a timeout and a hang are met within a second', async (t) => {
  const server = await Server.start(t);
  const [late, hung] = await Promise.all([
    server.run('while :; do echo x; sleep 0.1; done', { timeout_s: 4 }),
    server.run(`sleep ${marker()}`, { idle_timeout_s: 4 }),
  ]);
  const ended = await server.at_rest(late.id, { within: 20_000 * patience });
  assert.equal(ended.reason, 'timeout');
  assert.ok(Math.abs(took(ended) - 4) <= patience, `after ${took(ended)} s`);
  const silent = await server.at_rest(hung.id, { within: 20_000 * patience });
  assert.equal(silent.reason, 'hung');
  // Its first moment counts: it was at work until it slept.
  assert.ok(took(silent) >= 3.9 && took(silent) <= 5.5 * patience, `after ${took(silent)} s`);
});

describe('Side by side: each mostly waits', { concurrency: 4 }, () => {
  test('A hang is warned of first, and every step says what was seen', async (t) => {
    const server = await Server.start(t);
    const mark = marker();
    const task = await server.run(`echo begun; echo oh >&2; sleep ${mark}`, { idle_timeout_s: 2 });
    const done = await server.at_rest(task.id, { within: 20_000 * patience });
    assert.equal(done.reason, 'hung');
    assert.equal(done.result, 'begun\noh\n', 'R1.6: what it had printed is kept');
    assert.deepEqual(done.error.details, { signal: 15, stderr_tail: 'oh\n' }, 'R1.5');
    const [warning] = await warnings(server, task.id);
    assert.equal(warning.code, 'idle');
    for (const text of [warning.text, done.error.message]) assert.match(text, /No event, no output, no CPU use and no I\/O for .*: \d+ process(es)? \(.*asleep\), .* s of CPU and .* of I\/O so far/);
    await until(() => marked(mark).length === 0, { what: 'its processes are gone' });
  });

  test('Time in which the supervisor is stopped does not count', async (t) => {
    const server = await Server.start(t, { args: ['--max-concurrent', '5'] });
    const mark = marker();
    const limit = { idle_timeout_s: 2, work_dir: server.folder };
    const busy = await server.run('n=0; until [ -e go ]; do n=$((n+1)); echo $n; sleep 0.2; done; echo end', limit);
    const ends = await server.run('echo begun; sleep 1; exit 7', limit);
    const hangs = await server.run(`echo begun; sleep ${mark}`, limit);
    await until(async () => (await Promise.all([busy, ends, hangs].map(({ id }) => server.task(id)))).every((task) => task.progress.output_lines > 0), { what: 'all have begun' });
    const [supervisor] = server.supervisor_pids();
    process.kill(supervisor, 'SIGSTOP');
    t.after(() => process.kill(supervisor, 'SIGCONT'));
    await window_of(6_000); // Three times the limit.
    for (const { id } of [busy, ends, hangs]) assert.equal((await server.task(id)).status, 'running', 'nobody knows, so nothing is said');
    process.kill(supervisor, 'SIGCONT');
    const ended = await server.at_rest(ends.id, { within: 20_000 * patience });
    assert.deepEqual([ended.reason, ended.exit_code], ['exit', 7], JSON.stringify(ended.error));
    assert.equal((await server.at_rest(hangs.id, { within: 20_000 * patience })).reason, 'hung', 'a hang is found as before');
    assert.equal((await server.task(busy.id)).status, 'running');
    fs.writeFileSync(`${server.folder}/go`, '');
    assert.equal((await server.at_rest(busy.id, { within: 20_000 * patience })).status, 'completed');
  });

  test('What reads or writes is not hung, though it is silent and uses no CPU to speak of', async (t) => {
    const server = await Server.start(t);
    const task = await server.run('for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i > written; sleep 0.4; done; echo done', { idle_timeout_s: 1.5, work_dir: server.folder });
    const done = await server.at_rest(task.id, { within: 30_000 * patience });
    assert.equal(done.status, 'completed', JSON.stringify(done.error));
    assert.equal(fs.readFileSync(`${server.folder}/written`, 'utf8'), '12\n');
  });

  test('A stopped process hangs, and restart begins it again as often as was said', async (t) => {
    const server = await Server.start(t);
    const result = await errand(server, ['run', '--json', '--on-hang', 'restart', '--max-restarts', '2', '--idle-timeout', '1', '-C', server.folder, '--', 'echo x >> begun; kill -STOP $$']);
    const done = await server.at_rest(result.json.id, { within: 40_000 * patience });
    assert.equal(done.reason, 'hung');
    assert.match(done.error.message, /stopped/);
    assert.match(done.error.message, /begun again 2 times/);
    assert.equal(fs.readFileSync(`${server.folder}/begun`, 'utf8'), 'x\nx\nx\n');
    const said = (await warnings(server, done.id)).map((warning) => warning.code);
    // Where the machine is slow to start it, half of the limit is over before it has done anything: then it is warned of, shows life, and
    // is warned of again.
    assert.deepEqual(said.filter((code, i) => code !== said[i - 1]), ['idle', 'restart', 'idle', 'restart', 'idle']);
  });

  test('Life after a warning begins the silence anew, and what was used before it does not', async (t) => {
    const server = await Server.start(t);
    // It sleeps past half of the limit, does something, and stops: as a start that takes long on a busy machine looks. What it has used
    // is told every three seconds, and so once more when it is long stopped.
    const idle = 2 * patience;
    const mark = marker();
    const task = await server.run(`: ${mark}; sleep ${idle * 0.75}; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; kill -STOP $$`, { idle_timeout_s: idle, work_dir: server.folder });
    await until(() => marked(mark).some((p) => p.state === 'T'), { within: 20_000 * patience, what: 'it has stopped' });
    const stopped = Date.now();
    const done = await server.at_rest(task.id, { within: 20_000 * patience });
    assert.equal(done.reason, 'hung');
    const said = (await server.events(task.id)).filter((event) => event.type === 'task.warning').map((event) => [event.data.code, Date.parse(event.at) - stopped]);
    // A probe may have to see it stopped first.
    assert.deepEqual(said.filter(([, after]) => after > idle * 250).map(([code]) => code), ['idle'], JSON.stringify(said));
  });

  test('A restart helps what hangs only once', async (t) => {
    const server = await Server.start(t);
    const command = `if [ -e once ]; then echo well; else touch once; sleep ${marker()}; fi`;
    const task = await server.run(command, { on_hang: 'restart', idle_timeout_s: 3, work_dir: server.folder });
    const done = await server.at_rest(task.id, { within: 20_000 * patience });
    assert.equal(done.status, 'completed');
    assert.match(done.result, /well/);
    assert.match((await warnings(server, task.id)).at(-1).text, /restart 1 of 3/);
  });
});

// Debian's libfaketime gives the server and its supervisor another wall clock, which a file sets while they run.
const faketime = ['/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1', '/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1'].find((file) => fs.existsSync(file));

describe('T20', { concurrency: 4 }, () => {
  for (const [name, jump] of [['an hour forward', '+1h'], ['a day back', '-1d'], ['30 days forward', '+30d'], ['30 days back', '-30d']]) {
    test(`T20: a clock that is set ${name} fires nothing, delays nothing and removes nothing`, { skip: !faketime && 'libfaketime is not installed', timeout: 60_000 * patience }, async (t) => {
      const folder = fs.mkdtempSync('/tmp/errand-clock-');
      t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
      const file = `${folder}/clock`;
      // Read anew for every call: it must always be whole.
      const set = (offset) => {
        fs.writeFileSync(`${file}.new`, `${offset}\n`);
        fs.renameSync(`${file}.new`, file);
      };
      set('+0');
      const server = await Server.start(t, { env: { LD_PRELOAD: faketime, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' }, args: ['--max-concurrent', '5'] });
      const kept = await server.run('true', { retention_s: 120 });
      await server.at_rest(kept.id);
      const began = performance.now();
      const [late, hung] = await Promise.all([server.run('while :; do echo x; sleep 0.1; done', { timeout_s: 6 }), server.run(`sleep ${marker()}`, { idle_timeout_s: 6 })]);
      await until(async () => (await server.events(late.id)).length > 3, { what: 'it prints' });
      set(jump);
      const soon = await server.run('true', { retention_s: 0.2 });
      const moved = Date.parse((await server.task(soon.id)).created_at) - Date.now();
      assert.ok(Math.abs(moved) > 3_000_000, `the server's clock moved by ${moved} ms`);
      assert.equal((await server.at_rest(late.id, { within: 30_000 * patience })).reason, 'timeout');
      const timeout_after = (performance.now() - began) / 1000;
      assert.ok(timeout_after >= 5.5, `the timeout of 6 s came after ${timeout_after} s`);
      assert_within(timeout_after * 1000, 8_000 * patience, 'the timeout of 6 s');
      assert.equal((await server.at_rest(hung.id, { within: 30_000 * patience })).reason, 'hung');
      const hung_after = (performance.now() - began) / 1000;
      assert.ok(hung_after >= 5.5, `the hang of 6 s came after ${hung_after} s`);
      assert_within(hung_after * 1000, 9_000 * patience, 'the hang of 6 s');
      assert.equal((await server.task(kept.id)).status, 'completed', 'nothing is old at once');
      const events = await server.events(late.id);
      events.forEach((event, i) => assert.equal(event.seq, i + 1));
      assert.equal(events.at(-1).type, 'end');
    });
  }
});
