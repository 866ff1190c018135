// The recipes of docs/phone.md, with the real programs: a phone is paired through Caddy and through ssh. Where Caddy or sshd is
// not there, or may not run, the test is skipped: Debian's packages start both as services, which nobody asked for here.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { Phone, Server, temporary_folder, until } from './harness/index.mjs';

const found = (name) => [...process.env.PATH.split(':'), '/usr/sbin'].map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file));
const caddy = found('caddy');
const sshd = found('sshd');
const keygen = found('ssh-keygen');

const free_port = () =>
  new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

// A program that goes with the test. `said` is what it has printed.
function run(t, words, options = {}) {
  const child = spawn(words[0], words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const program = { child, said: '', ended: new Promise((resolve) => child.on('exit', resolve)) };
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (chunk) => (program.said += chunk));
  t.after(async () => {
    child.kill('SIGKILL');
    await program.ended;
  });
  return program;
}

// The way of the phone: a server whose requests all go through `options` of `client`.
function through(server, client, options, headers) {
  const call = (method, target, body, more = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const all = { ...headers, ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }), ...more };
      const request = client.request({ ...options, method, path: target, headers: all }, (reply) => {
        let got = '';
        reply.setEncoding('utf8');
        if (reply.headers['content-type'] === 'text/event-stream') return resolve({ status: reply.statusCode, reply });
        reply.on('data', (chunk) => (got += chunk));
        reply.on('end', () => resolve({ status: reply.statusCode, text: got, json: got.startsWith('{') ? JSON.parse(got) : undefined }));
        reply.on('error', reject);
      });
      request.on('error', reject);
      request.end(text);
    });
  const expect = async (status, method, target, body, { headers: given = {} } = {}) => {
    const more = { ...given };
    if (more.authorization === undefined) delete more.authorization;
    const reply = await call(method, target, body, more);
    assert.equal(reply.status, status, `${method} ${target}: ${reply.text}`);
    return reply.json;
  };
  return { call, expect, api: (method, target, body, { headers: more } = {}) => call(method, target, body, more) };
}

// Paired there, it reads the list, follows the stream and is closed when it is revoked.
async function live(server, way) {
  const { code } = await server.expect(201, 'POST', '/api/devices/codes', {});
  const phone = await Phone.pair(way, { code });
  assert.equal((await phone.api('GET', '/api/tasks')).status, 200);
  const stream = await way.call('GET', '/api/stream', undefined, phone.headers);
  assert.equal(stream.status, 200);
  let heard = '';
  let over = false;
  stream.reply.on('data', (chunk) => (heard += chunk));
  for (const event of ['close', 'error', 'aborted']) stream.reply.on(event, () => (over = true));
  const task = await server.run('true');
  await until(() => heard.includes(task.id), { what: 'what happens is told as it happens' });
  await server.expect(204, 'DELETE', `/api/devices/${phone.device.id}`);
  await until(() => over, { what: 'the stream is over' });
  assert.equal((await phone.api('GET', '/api/tasks')).status, 401);
}

test('Through Caddy, which does TLS: the page, the pairing and the stream', { skip: !caddy && 'caddy is not installed' }, async (t) => {
  const server = new Server(t);
  const folder = temporary_folder(t, 'caddy');
  const port = await free_port();
  const host = `errand.localhost:${port}`;
  fs.mkdirSync(server.data_dir, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `behind_proxy = true\n[notify]\npage_url = "https://${host}"\n`);
  await server.start();
  const config = path.join(folder, 'Caddyfile');
  fs.writeFileSync(config, `{\n admin off\n auto_https disable_redirects\n skip_install_trust\n}\nhttps://${host} {\n bind 127.0.0.1\n tls internal\n reverse_proxy 127.0.0.1:${server.port}\n}\n`);
  const proxy = run(t, [caddy, 'run', '--config', config], { env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } });
  const root = path.join(folder, 'caddy/pki/authorities/local/root.crt');
  const headers = { host, origin: `https://${host}` };
  const way = await until(
    async () => {
      const tried = through(server, https, { host: '127.0.0.1', port, servername: 'errand.localhost', ca: fs.readFileSync(root), agent: false }, headers);
      return (await tried.call('GET', '/api/health')).status === 200 && tried;
    },
    { what: 'Caddy answers' },
  ).catch((error) => assert.fail(`${error.message}: ${proxy.said.slice(-2000)}`));
  assert.match((await way.call('GET', '/pair')).text, /<div id="root">/);
  await live(server, way);
  // Who guesses is slowed down whatever he says of himself.
  const guesses = [];
  for (let i = 0; i < 12; i++) guesses.push((await way.call('GET', '/api/tasks', undefined, { authorization: 'Bearer wrong', 'x-forwarded-for': `6.6.6.${i}` })).status);
  assert.deepEqual([guesses[0], guesses.at(-1)], [401, 429]);
  assert.equal((await way.call('GET', '/api/health', undefined, { origin: `http://${host}.evil.example` })).status, 403);
});

test('Through ssh: a port of the phone is one of the server', { skip: !(sshd && keygen) && 'sshd is not installed' }, async (t) => {
  const server = await Server.start(t);
  const folder = temporary_folder(t, 'ssh');
  for (const name of ['host', 'phone']) assert.equal(spawnSync(keygen, ['-q', '-t', 'ed25519', '-N', '', '-f', path.join(folder, name)]).status, 0);
  const port = await free_port();
  const config = path.join(folder, 'sshd_config');
  const lines = [`ListenAddress 127.0.0.1:${port}`, `HostKey ${folder}/host`, `AuthorizedKeysFile ${folder}/phone.pub`, 'StrictModes no', 'UsePAM no', 'PasswordAuthentication no', 'PidFile none', 'AllowTcpForwarding yes'];
  fs.writeFileSync(config, lines.map((line) => `${line}\n`).join(''));
  const good = spawnSync(sshd, ['-t', '-f', config], { encoding: 'utf8' });
  if (good.status !== 0) return t.skip(`sshd cannot run here: ${good.stderr.trim()}`);
  const daemon = run(t, [sshd, '-D', '-e', '-f', config]);
  // The phone is this machine too: its loopback is another address of it.
  const tunnel = ['-N', '-F', 'none', '-i', `${folder}/phone`, '-o', 'StrictHostKeyChecking=no', '-o', `UserKnownHostsFile=${folder}/known`, '-o', 'ExitOnForwardFailure=yes', '-p', String(port)];
  const words = [found('ssh'), ...tunnel, '-L', `127.0.0.2:${server.port}:127.0.0.1:${server.port}`, `${os.userInfo().username}@127.0.0.1`];
  const way = through(server, http, { host: '127.0.0.2', port: server.port, agent: false }, { host: `127.0.0.1:${server.port}` });
  let ssh = run(t, words);
  await until(
    async () => {
      if (ssh.child.exitCode !== null) ssh = run(t, words); // It came before the daemon did.
      return (await way.call('GET', '/api/health')).status === 200;
    },
    { what: 'the tunnel stands' },
  ).catch((error) => assert.fail(`${error.message}: ${ssh.said} ${daemon.said.slice(-2000)}`));
  await live(server, way);
});
