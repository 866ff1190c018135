// errand claude | codex | gemini install: errand in the settings of the program that launches tasks, and what comes of it in the
// real Claude Code: a notice comes into the conversation once, also where Claude Code was closed when the task ended.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { call, claude_skip, claude_world, clean_env, errand, Server, temporary_folder } from './harness/index.mjs';

const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null);
const write = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};

// `errand WORDS` for a person whose home is `folder`; no server is needed.
async function person(t, env = {}) {
  const folder = temporary_folder(t, 'inst');
  const own = { folder, data_dir: path.join(folder, 'data'), env: clean_env(folder, env) };
  return { folder, file: (name) => path.join(folder, name), errand: (...words) => errand(own, words) };
}

test('Claude Code: what is there stays, a repeat changes nothing, uninstall takes back exactly it', async (t) => {
  const { file, errand } = await person(t);
  const [servers, settings, command] = ['.claude.json', '.claude/settings.json', '.claude/commands/errand.md'].map(file);
  const before = {
    [servers]: JSON.stringify({ numStartups: 3, lastCost: 0.0234, mcpServers: { other: { command: 'x', args: [] } }, projects: {} }, null, 2),
    [settings]: `${JSON.stringify({ model: 'opus', hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'date' }] }] } }, null, 4)}\n`,
  };
  for (const [name, text] of Object.entries(before)) write(name, text);
  const set = await errand('claude', 'install');
  assert.equal(set.code, 0, set.err);
  for (const name of [servers, settings, command]) assert.ok(set.out.includes(name), set.out);
  const entry = JSON.parse(read(servers));
  assert.deepEqual([Object.keys(entry.mcpServers), entry.lastCost, entry.mcpServers.errand.args], [['other', 'errand'], 0.0234, ['mcp']]);
  const { hooks } = JSON.parse(read(settings));
  assert.equal(hooks.UserPromptSubmit.length, 2);
  assert.match(hooks.UserPromptSubmit[1].hooks[0].command, /hook claude --data-dir/);
  assert.equal(hooks.Stop, undefined);
  const once = [read(servers), read(settings), read(command)];
  assert.match((await errand('claude', 'install')).out, /nothing was changed/);
  assert.deepEqual([read(servers), read(settings), read(command)], once);
  await errand('claude', 'install', '--wake');
  assert.equal(JSON.parse(read(settings)).hooks.Stop.length, 1);
  assert.equal((await errand('claude', 'uninstall')).code, 0);
  assert.deepEqual([read(servers), read(settings), read(command)], [before[servers], before[settings], null], 'as it was, to the byte');
  assert.match((await errand('claude', 'uninstall')).out, /nothing was changed/);
});

test('Where nothing was there nothing is left; a link stays one; what is not ours or no JSON is left alone', async (t) => {
  const { file, errand } = await person(t);
  await errand('claude', 'install');
  await errand('claude', 'uninstall');
  assert.deepEqual(['.claude.json', '.claude/settings.json', '.claude/commands/errand.md'].map((name) => read(file(name))), [null, null, null]);

  write(file('dotfiles/settings.json'), '{\n  "model": "opus"\n}\n');
  fs.rmSync(file('.claude/settings.json'), { force: true });
  fs.symlinkSync(file('dotfiles/settings.json'), file('.claude/settings.json'));
  await errand('claude', 'install');
  assert.ok(fs.lstatSync(file('.claude/settings.json')).isSymbolicLink());
  assert.match(read(file('dotfiles/settings.json')), /hook claude/);
  await errand('claude', 'uninstall');

  for (const [name, text] of [['.claude.json', '{ // mine\n}'], ['.claude.json', '{"mcpServers":{"errand":{"command":"other","args":["x"]}}}']]) {
    write(file(name), text);
    const refused = await errand('claude', 'install');
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /nothing was changed/);
    assert.equal(read(file(name)), text);
    assert.ok(!read(file('.claude/settings.json')).includes('hook claude'), 'all or nothing');
  }
});

test('Codex and Gemini have an entry for errand’s tools, which goes again', async (t) => {
  const { file, errand } = await person(t);
  write(file('.codex/config.toml'), 'model = "x"\n[analytics]\nenabled = false\n');
  write(file('.gemini/settings.json'), '{\n  "ui": {}\n}\n');
  const before = [read(file('.codex/config.toml')), read(file('.gemini/settings.json'))];
  for (const program of ['codex', 'gemini']) {
    assert.equal((await errand(program, 'install')).code, 0);
    assert.match((await errand(program, 'install')).out, /nothing was changed/);
  }
  assert.match(read(file('.codex/config.toml')), /^model = "x"[^]*\[mcp_servers\.errand\]\ncommand = ".*errand"\nargs = \["mcp"\]/);
  assert.deepEqual(JSON.parse(read(file('.gemini/settings.json'))).mcpServers.errand.args, ['mcp']);
  for (const program of ['codex', 'gemini']) assert.equal((await errand(program, 'uninstall')).code, 0);
  assert.deepEqual([read(file('.codex/config.toml')), read(file('.gemini/settings.json'))], before);
  write(file('.codex/config.toml'), '[mcp_servers.errand]\ncommand = "mine"\n');
  assert.match((await errand('codex', 'install')).err, /did not make/);
});

test('The real Claude Code is told of its task once, though it was closed when the task ended', { skip: claude_skip, timeout: 900_000 }, async (t) => {
  const { server, model, folder, work_dir } = await claude_world(t);
  const set = await errand(server, ['claude', 'install']);
  assert.equal(set.code, 0, set.err);
  const session = randomUUID();
  const gate = path.join(folder, 'go');
  model.rule('start it', [call('mcp__errand__background_execute', { command: `until [ -e ${gate} ]; do sleep 0.2; done; printf 'the result is %s' quince` }), { text: 'It runs.' }], { tools: true });
  model.rule('what came of it', [{ text: 'Quince.' }], { tools: true });
  model.rule('and now', [{ text: 'Nothing new.' }], { tools: true });
  const say = (how, words) =>
    new Promise((resolve) => {
      const child = spawn(path.join(folder, 'bin/claude'), ['-p', ...how, '--allowedTools', 'mcp__errand__background_execute', '--', words], {
        cwd: work_dir, env: { ...server.env, DISABLE_AUTOUPDATER: '1' }, stdio: ['ignore', 'pipe', 'pipe'],
      });
      let out = '';
      for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (chunk) => (out += chunk));
      child.on('close', (code) => resolve({ code, out }));
    });
  const asked = () => JSON.stringify(model.requests().findLast((record) => record.body.tools?.length).body.messages);

  assert.match((await say(['--session-id', session], 'start it')).out, /It runs/);
  const { tasks } = await server.get(`/api/tasks?parent_session_id=${session}`);
  assert.equal(tasks.length, 1, 'its task is this conversation’s');
  assert.equal((await say(['--resume', session], 'and now')).code, 0);
  assert.ok(!asked().includes('the result is quince'), 'it has not ended yet');

  fs.writeFileSync(gate, '');
  await server.at_rest(tasks[0].id);
  const { notices } = await server.get(`/api/sessions/${session}/notices`);
  assert.equal(notices.length, 1);
  assert.match(notices[0].text, /the result is quince/);
  assert.match((await say(['--resume', session], 'what came of it')).out, /Quince/);
  const times = () => asked().split(JSON.stringify(notices[0].text).slice(1, -1)).length - 1;
  assert.equal(times(), 1, asked());
  assert.equal((await server.get(`/api/sessions/${session}/notices`)).notices.length, 0, 'taken');
  assert.equal((await say(['--resume', session], 'and now')).code, 0);
  assert.equal(times(), 1, 'once');
});

test('The hook is in nobody’s way: no server, no such conversation, no sense', async (t) => {
  const server = await Server.start(t);
  const hook = (input, own = server) => errand(own, ['hook', 'claude'], { input });
  const quiet = ({ code, out, err }) => assert.deepEqual([code, out, err], [0, '', '']);
  for (const input of ['', '{', '{}', JSON.stringify({ session_id: '../../x', hook_event_name: 'UserPromptSubmit' }), JSON.stringify({ session_id: randomUUID(), hook_event_name: 'UserPromptSubmit' })]) quiet(await hook(input));
  const { id } = await server.expect(201, 'POST', '/api/sessions', {});
  const task = await server.run('echo hello', { parent_session_id: id });
  await server.at_rest(task.id);
  const input = JSON.stringify({ session_id: id, hook_event_name: 'Stop' });
  const told = await hook(input);
  assert.equal(told.json?.decision, 'block');
  assert.match(told.json.reason, /hello/);
  quiet(await hook(input));
  await server.term();
  quiet(await hook(input));
  assert.equal(server.card() === undefined || server.child.exitCode !== null, true, 'it starts none');
});

test('errand doctor says which agents are here, whether each has a login, and what to type where not', async (t) => {
  const folder = temporary_folder(t, 'doc');
  const bin = path.join(folder, 'bin');
  for (const name of ['claude', 'gemini', 'codex-acp']) write(path.join(bin, name), '#!/bin/sh\nexit 1\n');
  for (const name of fs.readdirSync(bin)) fs.chmodSync(path.join(bin, name), 0o755);
  write(path.join(folder, '.codex/auth.json'), '{}');
  const doctor = await errand({ folder, data_dir: path.join(folder, 'data'), env: clean_env(folder, { PATH: bin, GEMINI_API_KEY: 'x' }) }, ['doctor', '--json']);
  const of = (name) => doctor.json.checks.find((check) => check.name === name);
  assert.deepEqual([of('Claude Code').state, of('Codex').state, of('Gemini CLI').state, of('OpenCode').state], ['warning', 'ok', 'ok', 'ok'], doctor.out);
  assert.match(of('Claude Code').fix, /\/login/);
  assert.match(of('Codex').text, /login in .*\.codex/);
  assert.match(of('Gemini CLI').text, /GEMINI_API_KEY is set/);
  assert.match(of('OpenCode').fix, /npm install -g opencode-ai/);
  assert.match(of('agents').text, /claude, gemini, codex/);
});
