// R14.4: a start that fails changes nothing for what runs, and no way in which the server ends stops work. A command, an
// agent in a tool call, an agent whose model is answering and an OpenCode turn are at work all the time.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { alive, assert_within, binary, call, in_time, marked, marker, opencode_binary, opencode_config, opencode_env, opencode_on_path, opencode_skip, patience, processes, Server, slow_disk, slow_disk_skip, temporary_folder, until } from './harness/index.mjs';

const within = 240_000;
const skip = slow_disk_skip || opencode_skip || (!opencode_binary && 'OpenCode is not installed');

const serve_pids = (folder) => processes().filter((p) => p.state !== 'Z' && p.argv.includes('serve') && p.argv[0].startsWith(path.join(folder, 'bin'))).map((p) => p.pid);

// A server with all four kinds of work. Each prints what it does, and ends when `go` is there.
async function at_work(t) {
  const model = await start_model();
  t.after(() => model.close());
  const folder = temporary_folder(t, 'st');
  const work_dir = path.join(folder, 'work');
  fs.mkdirSync(work_dir);
  const disk = slow_disk(t);
  const env = opencode_env(folder, { ...opencode_on_path(folder), ...model.env('anthropic'), OPENCODE_CONFIG_CONTENT: JSON.stringify(opencode_config(model)), ...disk.env });
  const server = await Server.start(t, { folder, env, args: ['--max-concurrent', '8'] });
  const script = (name, mark) => `echo ran >> ${name}; : ${mark}; n=0; until [ -e go ]; do n=$((n+1)); echo line $n; sleep 0.1; done; echo "end $n"`;
  const marks = { command: marker(), bash: marker(), opencode: marker() };
  const bash = (name, mark) => call('bash', { command: script(name, mark), description: 'work', timeout: 600 });
  model.rule('work in a shell', [bash('ran-bash', marks.bash), { text: 'the shell is done' }]);
  model.rule('answer slowly', [{ text: ['It is ', 'said.'], wait_at: { frame: 4, name: 'slow' } }]);
  model.rule('work in OpenCode', [call('bash', { command: script('ran-opencode', marks.opencode), description: 'work', timeout: 600_000 }), { text: 'OpenCode is done' }], { tools: true });
  const agent = (agent_id, message, more = {}) => server.launch({ agent_id, message, work_dir, permission: 'allow', ...more });
  const ids = {
    command: (await server.run(script('ran-command', marks.command), { work_dir, timeout_s: 0 })).id,
    bash: (await agent('builtin', 'work in a shell')).id,
    slow: (await agent('builtin', 'answer slowly')).id,
    opencode: (await agent('opencode', 'work in OpenCode')).id,
  };
  await until(() => Object.values(marks).every((mark) => marked(mark).length > 0), { what: 'all are at work', within });
  await model.waiting('slow');
  const pids = () => Object.values(marks).flatMap((mark) => marked(mark).map((p) => p.pid)).filter(alive);
  const first = Object.values(marks).map((mark) => Math.min(...marked(mark).map((p) => p.pid)));

  const own = {
    server, model, folder, work_dir, disk, ids, supervisor: server.supervisor_pids()[0],
    // Without a server: the same processes are at it.
    still_there(after) {
      for (const pid of first) assert.ok(pids().includes(pid), `${after}: ${pid} works on`);
      assert.equal(server.supervisor_pids()[0], own.supervisor, `${after}: the same supervisor`);
    },
    // With one: so do their tasks.
    async goes_on(after) {
      own.still_there(after);
      for (const id of Object.values(ids)) {
        const task = await server.task(id);
        assert.equal(task.status, 'running', `${after}: ${JSON.stringify(task.error)}`);
        assert.equal(task.attempt, 1, after);
      }
      const before = (await server.task(ids.command)).progress.output_lines;
      await until(async () => (await server.task(ids.command)).progress.output_lines > before, { what: `${after}: its output is read on` });
    },
    async ends_well() {
      fs.writeFileSync(path.join(work_dir, 'go'), '');
      for (let i = 0; i < 20; ++i) model.release('slow'); // As often as it was asked.
      const results = { bash: 'the shell is done', slow: 'It is said.', opencode: 'OpenCode is done' };
      for (const [kind, id] of Object.entries(ids)) {
        const task = await server.at_rest(id, { within });
        assert.equal(task.status, 'completed', `${kind}: ${JSON.stringify(task.error)}`);
        if (results[kind]) assert.equal(task.result, results[kind]);
      }
      for (const name of ['ran-command', 'ran-bash', 'ran-opencode']) assert.equal(fs.readFileSync(path.join(work_dir, name), 'utf8'), 'ran\n', `${name}: once`);
      const whole = (text) => {
        const lines = text.trimEnd().split('\n');
        const n = lines.length - 1;
        assert.deepEqual(lines, [...Array.from({ length: n }, (_, i) => `line ${i + 1}`), `end ${n}`]);
      };
      whole((await server.api('GET', `/api/tasks/${ids.command}/log`, undefined, { check: false })).text);
      for (const kind of ['bash', 'opencode']) {
        const { messages } = await server.get(`/api/tasks/${ids[kind]}/messages`);
        const result = messages.flatMap((message) => message.parts).find((part) => part.type === 'tool_result');
        whole(result.text ?? result.output);
      }
    },
  };
  return own;
}

// A start that must fail; answers what it said.
async function fails(server, words) {
  const child = spawn(binary, ['serve', '--data-dir', server.data_dir, ...words], { cwd: server.folder, env: server.env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.on('data', (chunk) => (text += chunk));
  const [code] = await in_time(once(child, 'exit'), 30_000 * patience, `the start with ${words.join(' ')} fails`).finally(() => child.kill('SIGKILL'));
  assert.equal(code, 1, text);
  assert.doesNotMatch(text, /is ready at/);
  return text;
}

test('Starts that fail change nothing for what runs, and what runs ends whole', { skip, timeout: 900_000 }, async (t) => {
  const own = await at_work(t);
  const { server, model, folder } = own;
  await server.kill9();
  const asked = model.requests().length;
  const junk = path.join(folder, 'junk.pem');
  fs.writeFileSync(junk, 'not a certificate\n');
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const any = ['--listen', '127.0.0.1:0'];
  const in_the_way = (name) => async (words) => {
    const file = path.join(server.data_dir, name);
    fs.rmSync(file, { force: true });
    fs.mkdirSync(file);
    try {
      return await fails(server, words);
    } finally {
      fs.rmdirSync(file);
    }
  };
  const starts = [
    ['the port is taken', ['--listen', `127.0.0.1:${taken.address().port}`], /Another server uses it/],
    ['no certificate', [...any, '--tls-cert', path.join(folder, 'none.pem'), '--tls-key', path.join(folder, 'none.pem')], /none\.pem/],
    ['a certificate that is none', [...any, '--tls-cert', junk, '--tls-key', junk], /junk\.pem/],
    ['an address of another machine', ['--listen', '192.0.2.1:0', '--behind-proxy'], /Cannot listen/],
    ['errand.sock is a folder', any, /errand\.sock/, in_the_way('errand.sock')],
    ['server.json is a folder', any, /server\.json/, in_the_way('server.json')],
    ['a setting that is none', [...any, '--max-concurrent', '-3'], /concurrent/, (words) => fails(server, words).catch((error) => String(error))],
  ];
  for (const [name, words, says, how = (given) => fails(server, given)] of starts) {
    assert.match(await how(words), says, name);
    own.still_there(name);
    assert.equal(server.card()?.pid === server.pid || server.card() === undefined, true, `${name}: it says nowhere that it is there`);
  }
  assert.equal(model.requests().length, asked, 'nothing was taken up: nobody asked the model again');
  await server.start();
  await own.goes_on('after the failed starts');
  await own.ends_well();
});

test('However the server ends, what runs goes on', { skip, timeout: 900_000 }, async (t) => {
  const own = await at_work(t);
  const { server, disk } = own;
  const stopping = () => until(() => server.log_tail().includes('stopping; what runs goes on'), { what: 'it stops' });
  const ends = async (name, how) => {
    fs.truncateSync(server.log_path);
    await how();
    own.still_there(name);
    disk.quick();
    await server.start();
    await own.goes_on(name);
  };
  await ends('SIGTERM', async () => assert.equal((await server.term()).code, 0));
  await ends('a second SIGTERM', async () => {
    disk.slow({ syncs: Infinity });
    server.child.kill('SIGTERM');
    await stopping();
    const { ms } = await server.term();
    assert_within(ms, 4_000 * patience, 'it goes at once');
  });
  await ends('a disk that does not answer', async () => {
    disk.slow({ syncs: Infinity });
    const { ms } = await server.term();
    assert.ok(ms > 4_000, `it waits for what is under way: ${ms} ms`);
    assert.match(server.log_tail(), /the server exits now/);
  });
  // As a failed check and an exception that nobody catches end it.
  await ends('abort', async () => {
    server.child.kill('SIGABRT');
    assert.equal((await server.exited).signal, 'SIGABRT');
  });
  await ends('SIGKILL', () => server.kill9());
  await own.ends_well();
});

test('An OpenCode that no task needs goes with the server; one with a task at work stays', { skip, timeout: 900_000 }, async (t) => {
  const own = await at_work(t);
  const { server, folder } = own;
  const [pid] = serve_pids(folder);
  await server.term();
  assert.deepEqual(serve_pids(folder), [pid], 'a task is at work in it');
  await server.start();
  await own.goes_on('SIGTERM');
  await own.ends_well();
  assert.deepEqual(serve_pids(folder), [pid]);
  await server.term();
  await until(() => serve_pids(folder).length === 0, { what: 'OpenCode is gone', within: 20_000 * patience });
});
