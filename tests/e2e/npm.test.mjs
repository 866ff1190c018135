// `npx -y errand`: the launcher and the platform's package, from a registry of our own, under npm, and under pnpm and yarn where
// tests/release has brought them (scripts/test --long packages).
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';

import { binary, in_time, patience, patient_ms, root, suite_scope, temporary_folder } from './harness/index.mjs';
import { registry } from './harness/registry.mjs';

const version = '0.0.1';
const node = process.execPath;
// Beside the Node that runs this, or the machine's.
const npm_cli = path.join(path.dirname(node), '../../npm/bin/npm-cli.js');
const npm = fs.existsSync(npm_cli) ? [node, npm_cli] : ['npm'];
const tool = (name, file) => path.join(process.env.ERRAND_RELEASE_TOOLS ?? path.join(root, 'build/tools/release'), 'node_modules', name, file);
const pnpm = tool('pnpm', 'bin/pnpm.cjs');
const yarn = tool('yarn', 'bin/yarn.js');

describe('The npm packages', () => {
  const scope = suite_scope();
  let folder, served, env;
  before(async () => {
    folder = temporary_folder(scope);
    // The release's own binary where there is one; without its debug sections this one does as well.
    const stripped = path.join(folder, 'stripped');
    execFileSync('strip', ['--strip-all', '-o', stripped, process.env.ERRAND_RELEASED_BINARY ?? binary]);
    execFileSync(node, [path.join(root, 'packaging/npm/pack.mjs'), stripped, version, path.join(folder, 'packages')]);
    served = await registry(path.join(folder, 'packages'), folder, npm);
    scope.after(() => served.close());
    env = {
      PATH: `${path.dirname(node)}:/usr/bin:/bin`, HOME: folder, LANG: 'C.UTF-8', npm_config_registry: served.url, YARN_REGISTRY: served.url,
      npm_config_cache: path.join(folder, 'cache'), npm_config_store_dir: path.join(folder, 'store'), npm_config_update_notifier: 'false',
      npm_config_minimum_release_age: '0', ERRAND_DATA_DIR: path.join(folder, 'data'), ERRAND_LISTEN: '127.0.0.1:0', CI: 'true',
    };
    scope.after(() => {
      // The server that `errand mcp` started; its supervisor leaves after it.
      try {
        process.kill(JSON.parse(fs.readFileSync(path.join(folder, 'data/server.json'), 'utf8')).pid);
      } catch {
        // None was started.
      }
    });
  });

  // Not the synchronous ones: the registry is in this process.
  function run(words, cwd = folder) {
    return new Promise((resolve) =>
      execFile(words[0], words.slice(1), { cwd, env, encoding: 'utf8', timeout: patient_ms * patience * 2 }, (error, out, err) => resolve({ code: error?.code ?? 0, out, err })));
  }

  // A project of its own with errand installed in it.
  async function project(name, words) {
    const at = path.join(folder, name);
    fs.mkdirSync(at);
    fs.writeFileSync(path.join(at, 'package.json'), '{"name":"p","version":"1.0.0"}\n');
    const installed = await run(words, at);
    assert.equal(installed.code, 0, `${words.join(' ')}: ${installed.out}${installed.err}`);
    return at;
  }

  // An MCP client's first words to a program that it started; answers what it said, and the process that answered.
  async function initialize(words, cwd) {
    const child = spawn(words[0], words.slice(1), { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    let out = '', err = '';
    child.stderr.on('data', (chunk) => (err += chunk));
    const gone = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    const answered = new Promise((resolve, reject) => {
      child.stdout.on('data', (chunk) => ((out += chunk), out.includes('\n') && resolve(JSON.parse(out.split('\n')[0]))));
      gone.then((how) => reject(new Error(`it left (${how.code ?? how.signal}): ${out}${err}`)));
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } })}\n`);
    const answer = await in_time(answered, patient_ms * patience, () => `an answer: ${out}${err}`);
    child.stdin.end();
    assert.equal((await in_time(gone, patient_ms * patience, 'it leaves with its client')).code, 0, err);
    return { answer, err };
  }

  test('npx -y errand mcp answers an MCP client, and nothing ran at install', async () => {
    const at = temporary_folder(scope);
    const npx = npm.length > 1 ? [node, path.join(path.dirname(npm_cli), 'npx-cli.js')] : ['npx'];
    const { answer } = await initialize([...npx, '-y', 'errand', 'mcp'], at);
    assert.equal(answer.result.serverInfo.name, 'errand');
    for (const name of ['errand', 'errand-linux-x64']) {
      const about = JSON.parse(fs.readFileSync(path.join(folder, 'packages', name, 'package.json'), 'utf8'));
      assert.equal(about.scripts, undefined, 'no install script');
    }
  });

  test('npm install --ignore-scripts is enough, and exit codes and arguments pass', async () => {
    const at = await project('npm', [...npm, 'install', '--ignore-scripts', '--no-audit', '--no-fund', 'errand']);
    const errand = path.join(at, 'node_modules/.bin/errand');
    const version = await run([errand, 'version']);
    assert.match(version.out, /^errand \d/);
    assert.equal(version.err, '', 'no warning of node');
    const wrong = await run([errand, 'nonsense verb']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /"nonsense verb" is not a verb/);
  });

  test('an old Node waits for the binary, passes a signal on and exits as it did', async () => {
    const at = await project('old', [...npm, 'install', '--no-audit', '--no-fund', 'errand']);
    const words = ['-e', `delete process.execve; process.argv.splice(1, 0, 'errand'); require(${JSON.stringify(path.join(at, 'node_modules/errand/errand.js'))})`];
    const wrong = await run([node, ...words, 'nonsense']);
    assert.equal(wrong.code, 2, wrong.err);
    const child = spawn(node, [...words, 'mcp'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const gone = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    await in_time(new Promise((resolve) => child.stdout.once('data', resolve)), patient_ms * patience, 'it answers');
    child.kill('SIGTERM');
    assert.ok([0, 130, 143].includes(await in_time(gone, patient_ms * patience, 'it ends')));
  });

  test('without the optional dependency it says what to do', async () => {
    const at = await project('omitted', [...npm, 'install', '--omit=optional', '--no-audit', '--no-fund', 'errand']);
    const refused = await run([path.join(at, 'node_modules/.bin/errand'), 'version']);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /^errand: cannot start: the package errand-linux-x64 is missing.*without --omit=optional/);
  });

  test('pnpm installs and starts it', { skip: fs.existsSync(pnpm) ? false : 'pnpm comes with scripts/test --long packages' }, async () => {
    const at = await project('pnpm', [node, pnpm, 'add', 'errand']);
    assert.equal((await initialize([path.join(at, 'node_modules/.bin/errand'), 'mcp'], at)).answer.result.serverInfo.name, 'errand');
  });

  test('yarn installs and starts it', { skip: fs.existsSync(yarn) ? false : 'yarn comes with scripts/test --long packages' }, async () => {
    const at = await project('yarn', [node, yarn, 'add', '--registry', served.url, 'errand']);
    assert.equal((await initialize([path.join(at, 'node_modules/.bin/errand'), 'mcp'], at)).answer.result.serverInfo.name, 'errand');
  });
});
