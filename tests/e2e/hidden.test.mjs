// What others wrote cannot hide in a terminal: direction overrides, zero-width characters, byte order marks, separators and
// tags are shown as escapes by every verb, wherever the text comes from.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, describe, test } from 'node:test';

import { binary, errand, Server, suite_scope } from './harness/index.mjs';

const evil = 'safe\u202Egnp.exe\u2066\u200Bx\uFEFFy\u2028z\u{E0041}';
const shown = 'safe\\u202egnp.exe\\u2066\\u200bx\\ufeffy\\u2028z\\U000e0041';
const shown_in_json = shown.replace('\\U000e0041', '\\udb40\\udc41');
const hidden = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

// A verb on a terminal of its own: what the person there would be sent.
// `input` is typed at once, or when `when` is on the screen.
function on_terminal(server, words, { input = '', when, within = 30_000 } = {}) {
  const quoted = [binary, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  return new Promise((resolve, reject) => {
    const child = spawn('script', ['-qec', quoted, '/dev/null'], {
      cwd: server.folder,
      env: { ...server.env, ERRAND_DATA_DIR: server.data_dir, ERRAND_LISTEN: '127.0.0.1:0', COLUMNS: '400', LINES: '50', TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let out = '';
    if (!when) child.stdin.end(input);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      out += text;
      if (when?.test(out)) child.stdin.write(input, () => (when = undefined));
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`errand ${words.join(' ')} did not end; it printed: ${out}`));
    }, within);
    child.on('error', reject).on('close', () => {
      clearTimeout(timer);
      resolve(out);
    });
  });
}

describe('What is hidden in a text', () => {
  const scope = suite_scope();
  let server;
  let command;
  let asks;
  const batch = 'batch_hidden';
  before(async () => {
    server = await Server.start(scope, { args: ['--max-concurrent', '12'] });
    const print = `printf '%s\\n' '${evil}'; printf '%s\\n' '${evil}' >&2; printf x > "$ERRAND_ARTIFACTS/${evil.replace('\u2028', '')}"; exit 3`;
    command = await server.launch({ kind: 'command', command: print, title: evil, description: evil, labels: { note: evil }, batch_id: batch });
    await server.at_rest(command.id);
    asks = await server.launch({ agent_id: 'demo', message: 'ask', title: evil });
    await server.when(asks.id, (task) => task.waiting_for !== null, { within: 20_000 });
    await server.expect(201, 'POST', '/api/agents', { name: 'hider', driver: 'demo', description: evil });
  });

  test('is shown on a terminal by every verb', async () => {
    const { id } = command;
    const tells = [
      ['list'],
      ['list', '--json'],
      ['show', id],
      ['show', id, '--json'],
      ['output', id],
      ['output', id, '--json'],
      ['logs', id],
      ['logs', id, '--timestamps'],
      ['logs', id, '--json'],
      ['logs', id, '--grep', 'gnp'],
      ['logs', id, '-f'],
      ['wait', id],
      ['wait', id, '--json'],
      ['batch', batch],
      ['batch', batch, 'results'],
      ['agents'],
      ['agents', '--json'],
      ['answer'],
      ['show', asks.id],
      ['tool', 'background_output', JSON.stringify({ task_id: id })],
      ['run', '--follow', '--', 'printf', '%s\\n', evil],
      ['run', '--wait', '--title', evil, '--', 'printf', '%s\\n', evil],
      ['ask', '--wait', '--agent', 'demo', '--json', evil],
      ['show', evil],
      ['show', evil, '--json'],
      ['cancel', evil],
      ['artifacts', id, evil],
      ['artifacts', id],
    ];
    for (const words of tells) {
      const out = await on_terminal(server, words);
      assert.doesNotMatch(out, hidden, `errand ${words.join(' ')}: ${JSON.stringify(out)}`);
      assert.match(out, /safe\\+u202egnp/, `errand ${words.join(' ')} shows it: ${out}`);
    }
    // These may say less, and hide nothing either.
    assert.doesNotMatch(await on_terminal(server, ['attach', asks.id], { when: /type your answer/, input: '\x04' }), hidden);
    for (const words of [['retry', id], ['send', asks.id, evil], ['answer', asks.id, 'red'], ['doctor'], ['settings'], ['token', 'list'], ['clear', '--all']]) {
      const out = await on_terminal(server, words);
      assert.doesNotMatch(out, hidden, `errand ${words.join(' ')}: ${JSON.stringify(out)}`);
    }
  });

  test('is whole: every character has its escape, and JSON means what it meant', async () => {
    const task = await server.launch({ kind: 'command', command: `printf '%s\\n' '${evil}'`, title: evil });
    await server.at_rest(task.id);
    assert.ok((await on_terminal(server, ['logs', task.id])).includes(shown));
    const json = await on_terminal(server, ['show', task.id, '--json']);
    assert.ok(json.includes(shown_in_json), json);
    assert.equal(JSON.parse(json).title, evil);
  });

  test('is passed on as it is in a pipe and with --raw, where the bytes are the command\'s own', async () => {
    const task = await server.launch({ kind: 'command', command: `printf '%s\\n' '${evil}'`, title: evil });
    await server.at_rest(task.id);
    assert.equal((await errand(server, ['logs', task.id])).out, `${evil}\n`);
    assert.equal((await errand(server, ['output', task.id])).out, `${evil}\n`);
    assert.equal((await errand(server, ['show', task.id, '--json'])).json.title, evil);
    assert.match(await on_terminal(server, ['logs', '--raw', task.id]), hidden);
    // A list in a pipe has lines and fields: there it is shown, as escapes are taken out.
    const { out } = await errand(server, ['list']);
    assert.doesNotMatch(out, hidden);
    assert.ok(out.includes(`\t${shown}\t`), out);
  });

  test('leaves what people write: joined emoji and scripts that join', async () => {
    const words = 'می\u200Cخواهم 👩\u200D💻 ❤\uFE0F\u200D🔥 नमस्ते';
    const task = await server.launch({ kind: 'command', command: `printf '%s\\n' '${words}'`, title: words });
    await server.at_rest(task.id);
    assert.ok((await on_terminal(server, ['logs', task.id])).includes(words));
    assert.ok((await on_terminal(server, ['show', task.id])).includes(words));
  });

  test('is no title', async () => {
    for (const title of ['\u200B\u200D', '\u202E\u2066', '\u2800', '\u3164\u00A0']) {
      const task = await server.launch({ kind: 'command', command: 'true', title, description: title });
      assert.equal(task.title, 'true');
    }
  });
});
