// errand setup: by options as a script calls it, and by questions as a person answers them (issue 16, item 4).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { start_model } from '../model/server.mjs';
import { errand, no_tmux, Server, temporary_folder, Terminal, until } from './harness/index.mjs';

const key = 'sk-ant-very-secret-0123456789';
const local_key = 'local-very-secret-0123456789';

// A server without a model, and one of a model that takes these keys.
async function world(t) {
  const model = await start_model({ keys: [key, local_key] });
  t.after(() => model.close());
  let server;
  // setup restarts the server, so the one that runs at the end is not the harness's own. Hooks run in their order.
  t.after(() => errand(server, ['stop'], { within: 60_000 }));
  server = await Server.start(t);
  const toml = path.join(server.data_dir, 'errand.toml');
  const setup = async (words, more = {}) => {
    const done = await errand(server, ['setup', ...words], { within: 60_000, ...more });
    for (const secret of [key, local_key]) assert.ok(!`${done.out}${done.err}`.includes(secret), 'no key is shown');
    return done;
  };
  return { model, server, toml, setup, text: () => fs.readFileSync(toml, 'utf8') };
}
const agents = async (server) => (await errand(server, ['agents', '--json'])).json;
const builtin = async (server) => (await agents(server)).agents.find((agent) => agent.id === 'builtin');

test('Options: a model is tried, kept where only its owner can read it, and used at once; running work goes on', { timeout: 300_000 }, async (t) => {
  const { model, server, toml, setup, text } = await world(t);
  const before = await setup([]);
  assert.equal(before.code, 0, before.err);
  assert.match(before.out, /^model +none: errand setup --key-from NAME, or --address URL$/m);
  assert.match(before.out, /^agents +none but the demonstration$/m);
  fs.writeFileSync(toml, '# mine\nmax_concurrent = 5\n');
  const running = (await errand(server, ['run', '--', 'sleep', '300'])).out.trim();

  const done = await setup(['--address', model.url, '--key-from', 'MY_KEY', '--api', 'anthropic'], { env: { MY_KEY: key } });
  assert.equal(done.code, 0, done.err);
  assert.match(done.err, /answered in /);
  assert.match(done.out, /^changed +.*errand\.toml: \[model\], with the key$/m);
  assert.match(done.out, /^asks +builtin/m);
  assert.equal(text(), `# mine\nmax_concurrent = 5\n\n[model]\napi = "anthropic"\nbase_url = "${model.url}"\nkey = "${key}"\n`);
  assert.equal(fs.statSync(toml).mode & 0o777, 0o600);
  assert.equal((await builtin(server)).available, true);
  assert.equal((await errand(server, ['show', '--json', running])).json.status, 'running');
  model.rule('say it', [{ text: 'It works.' }]);
  assert.match((await errand(server, ['ask', '--wait', 'say it'])).out, /It works\./);

  const asked = model.requests().length;
  const again = await setup(['--address', model.url, '--key-from', '-', '--api', 'anthropic', '--json'], { input: `${key}\n` });
  assert.deepEqual(again.json.changed, [], 'it can be repeated');
  assert.equal(again.json.default_agent, 'builtin');
  assert.ok(model.requests().length > asked, 'and tries again');
  await errand(server, ['cancel', running]);
});

test('Options: what the model refuses is not kept, and the error says what to do', { timeout: 300_000 }, async (t) => {
  const { model, server, toml, setup } = await world(t);
  const wrong = await setup(['--address', `${model.url}/v1`, '--key-from', '-'], { input: 'wrong-key-0123456789' });
  assert.equal(wrong.code, 5, wrong.err);
  assert.match(wrong.err, /Check the key\./);
  assert.ok(!wrong.err.includes('wrong-key'));
  const nowhere = await setup(['--address', 'http://127.0.0.1:1/v1', '--model', 'x']);
  assert.match(nowhere.err, /Check the address and the network\./);
  assert.match((await setup(['--key-from', 'NO_SUCH'])).err, /NO_SUCH is not set/);
  assert.match((await setup(['--model', 'x'])).err, /needs --address, --key-from, or both/);
  assert.match((await setup(['--key-from', '-'], { input: 'two words\n' })).err, /no key/);
  assert.match((await setup(['--agent', 'nobody'])).err, /No agent has the name "nobody"/);
  assert.match((await setup(['--agent', 'builtin'])).err, /builtin cannot be used: /);
  assert.match((await errand(server, ['setup', '--url', 'http://127.0.0.1:1'])).err, /for this machine/);
  assert.equal(fs.existsSync(toml), false, 'nothing was kept');
  fs.writeFileSync(toml, 'model = { base_url = "http://a/v1" }\n');
  const by_hand = await setup(['--address', `${model.url}/v1`, '--key-from', '-'], { input: local_key });
  assert.match(by_hand.err, /only a person can change[^]*key = "\.\.\."/);
});

test('Options: the usual agent and tools for the programs of others', { timeout: 300_000 }, async (t) => {
  const { server, setup } = await world(t);
  await server.expect(201, 'POST', '/api/agents', { name: 'reviewer', driver: 'demo' });
  const done = await setup(['--agent', 'reviewer', '--tools-for', 'claude', '--tools-for', 'gemini']);
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /the setting default_agent: reviewer/);
  assert.equal((await agents(server)).default_agent, (await agents(server)).agents.find((agent) => agent.name === 'reviewer').id);
  assert.ok(JSON.parse(fs.readFileSync(path.join(server.folder, '.claude.json'))).mcpServers.errand);
  assert.ok(JSON.parse(fs.readFileSync(path.join(server.folder, '.gemini/settings.json'))).mcpServers.errand);
  const asked = await errand(server, ['ask', '--json', 'text']);
  assert.equal(asked.json.agent, 'reviewer');
  const twice = await setup(['--tools-for', 'claude']);
  assert.match(twice.out, /Everything is there already/);
});

test('A server that was started with --config has its model there, and is restarted with it', { timeout: 300_000 }, async (t) => {
  const model = await start_model({ keys: [key] });
  t.after(() => model.close());
  let server;
  t.after(() => errand(server, ['stop'], { within: 60_000 }));
  const folder = temporary_folder(t);
  const other = path.join(folder, 'other.toml');
  fs.writeFileSync(other, 'max_restarts = 9\n');
  server = await Server.start(t, { folder, args: ['--config', other] });
  const done = await errand(server, ['setup', '--address', model.url, '--key-from', 'MY_KEY', '--api', 'anthropic'], { env: { MY_KEY: key }, cwd: '/', within: 60_000 });
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, /^changed +.*other\.toml: \[model\], with the key$/m);
  assert.match(fs.readFileSync(other, 'utf8'), /^max_restarts = 9\n\n\[model\]\n/);
  assert.equal(fs.existsSync(path.join(server.data_dir, 'errand.toml')), false, 'a file that this server does not read stays away');
  assert.equal((await builtin(server)).available, true);
  assert.equal((await errand(server, ['settings', '--json'])).json.max_restarts, 9);
});

test('ask without an agent that works says what to do, and the demonstration runs where it is named', async (t) => {
  const { server } = await world(t);
  const refused = await errand(server, ['ask', 'do it']);
  assert.equal(refused.code, 3);
  assert.match(refused.err, /errand setup asks for a model's key or address/);
  assert.match(refused.err, /errand ask --agent demo/);
  assert.equal((await errand(server, ['ask', '--agent', 'demo', '--wait', 'text'])).code, 0);
});

test('Questions: a person gives an address and a key that nobody sees, chooses, and leaves in the middle', { skip: no_tmux, timeout: 300_000 }, async (t) => {
  const { model, server, toml, text } = await world(t);
  const terminal = await Terminal.open(t, server, { rows: 60, env: { ERRAND_LISTEN: '127.0.0.1:0' } });
  terminal.run('errand setup');
  await terminal.shows(/Which\? \(Enter: leave it as it is\)/);
  terminal.run('9');
  await terminal.shows(/Type a number from 1 to 3/);
  terminal.run('3');
  await terminal.shows(/Its address, such as/);
  terminal.run(`${model.url}/v1`);
  await terminal.shows(/Its key \(hidden; Enter: it needs none\):/);
  terminal.type('wrong');
  terminal.press('BSpace', 'C-u');
  terminal.paste(local_key);
  terminal.press('Enter');
  await terminal.shows(/\(28 characters\)/);
  await terminal.shows(/The model's name/);
  terminal.run('local-model');
  await terminal.shows(/local-model at .* answered in/);
  await terminal.shows(/^asks +builtin/m, { history: true });
  assert.ok(!terminal.screen({ history: true }).includes(local_key));
  assert.match(text(), new RegExp(`model = "local-model"`));
  await terminal.is_restored();

  // It can be repeated, and left: the terminal is as it was, and nothing changed.
  const before = text();
  terminal.run('errand setup');
  await terminal.shows(/errand's own agent has a model: local-model/);
  terminal.run('1');
  await terminal.shows(/The key \(hidden\):/);
  terminal.type('half-a-key');
  terminal.press('C-c');
  await terminal.is_restored();
  assert.equal(text(), before);
  assert.equal(fs.statSync(toml).mode & 0o777, 0o600);
  await until(async () => (await builtin(server)).available, { what: 'the agent is still there' });
});
