// The systems that errand is measured beside: how each is fetched (an exact version, into build/tools, nothing on the machine
// itself), started and ended, and what it has on disk when it says that a job is taken.
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '..');
const tools = path.join(root, 'build/tools/peers');
const debian = path.join(root, 'build/tools/peers-debian');
const run = promisify(execFile);

// Debian 12's, with what they need beside the C library. A security update changes what stands behind the dash: `*`.
const packages = {
  'task-spooler': ['task-spooler=1.0.1+dfsg1-1'],
  nq: ['nq=0.3.1-4'],
  redis: ['redis-server=5:7.0.15-1~deb12u*', 'redis-tools=5:7.0.15-1~deb12u*', 'libhiredis0.14=0.14.1-3', 'libjemalloc2=5.3.0-1', 'liblua5.1-0=5.1.5-9', 'liblzf1=3.6-3', 'lua-bitop=1.0.2-7', 'lua-cjson=2.1.0+dfsg-2.2'],
};
const shell = (line, ...args) => run('bash', ['-c', `source scripts/lib.sh && ${line}`, 'bash', ...args], { cwd: root, maxBuffer: 1 << 26 });

/** Unpacks Debian packages; returns the version of the first. */
async function unpack(name) {
  const folder = path.join(debian, name);
  if (!fs.existsSync(path.join(folder, 'done'))) {
    fs.rmSync(folder, { recursive: true, force: true });
    fs.mkdirSync(folder, { recursive: true });
    const fetch = () => run('apt-get', ['download', '-q', ...packages[name]], { cwd: folder });
    await fetch().catch(async () => {
      await shell('as_root apt-get update -q');
      await fetch();
    });
    for (const file of fs.readdirSync(folder).filter((one) => one.endsWith('.deb'))) await run('dpkg-deb', ['-x', file, '.'], { cwd: folder });
    fs.writeFileSync(path.join(folder, 'done'), '');
  }
  const deb = fs.readdirSync(folder).find((one) => one.startsWith(`${packages[name][0].split('=')[0]}_`) && one.endsWith('.deb'));
  return decodeURIComponent(deb.split('_')[1]).replace(/^\d+:/, '');
}

/** The npm packages of bench/peers, as pinned; returns the version of one. */
async function from_npm(name) {
  await shell('choose_node && install_tools peers bench/peers');
  return JSON.parse(fs.readFileSync(path.join(tools, 'node_modules', name, 'package.json'), 'utf8')).version;
}

const free_port = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
const answers = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket.destroy() && true)).on('error', () => resolve(false));
  });
const ended = (child) => new Promise((resolve) => (child.exitCode !== null || child.signalCode !== null ? resolve() : child.once('exit', resolve)));

async function until(what, holds) {
  for (let i = 0; i < 600; ++i) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not start within 30 s`);
}

/** A store that jobs are kept in, in a folder of its own. */
async function redis() {
  await unpack('redis');
  const folder = fs.mkdtempSync(path.join(process.env.TMPDIR ?? os.tmpdir(), 'errand-bench-redis-'));
  const port = await free_port();
  const libraries = path.join(debian, 'redis/usr/lib', process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu');
  const child = spawn(path.join(debian, 'redis/usr/bin/redis-server'), ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory-policy', 'noeviction'].map(String), { stdio: 'ignore', env: { ...process.env, LD_LIBRARY_PATH: libraries } });
  await until('Redis', () => answers(port));
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGKILL');
      await ended(child);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

const postgres_bin = '/usr/lib/postgresql/15/bin';
async function postgres() {
  const folder = fs.mkdtempSync(path.join(process.env.TMPDIR ?? os.tmpdir(), 'errand-bench-postgres-'));
  // PostgreSQL does not run as root.
  const who = process.getuid() === 0 ? { uid: Number((await run('id', ['-u', 'postgres'])).stdout), gid: Number((await run('id', ['-g', 'postgres'])).stdout) } : {};
  if (who.uid) fs.chownSync(folder, who.uid, who.gid);
  const data = path.join(folder, 'data');
  await run(`${postgres_bin}/initdb`, ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'], { ...who, cwd: folder });
  const port = await free_port();
  const child = spawn(`${postgres_bin}/postgres`, ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder], { ...who, cwd: folder, stdio: 'ignore' });
  await until('PostgreSQL', async () => (await run(`${postgres_bin}/pg_isready`, ['-h', '127.0.0.1', '-p', String(port), '-U', 'bench']).catch(() => null)) !== null);
  return {
    url: `postgres://bench@127.0.0.1:${port}/postgres`,
    stop: async () => {
      child.kill('SIGINT');
      await ended(child);
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
async function has_postgres() {
  if (fs.existsSync(`${postgres_bin}/initdb`)) return;
  await shell('as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends postgresql-15');
}

/** A peer of bench/peers in front of its store: a process of its own that says its port. */
const served = (name, store) => async (work, at_once) => {
  const kept = await store();
  const child = spawn(process.execPath, [path.join(here, 'peers', `${name}.mjs`), work, String(at_once)], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ERRAND_BENCH_STORE: kept.url, ERRAND_BENCH_TOOLS: tools } });
  const stop = async () => {
    child.kill('SIGKILL');
    await ended(child);
    await kept.stop();
  };
  try {
    const port = await new Promise((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (piece) => {
        text += piece;
        const said = /^port (\d+)$/m.exec(text);
        if (said) resolve(Number(said[1]));
      });
      child.once('exit', (code) => reject(new Error(`its server ended with ${code}`)));
    });
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const on_path = (name) => () => ({ PATH: `${path.join(debian, name, 'usr/bin')}:${process.env.PATH}` });

export const peers = {
  'task-spooler': { install: () => unpack('task-spooler'), env: on_path('task-spooler'), durable: 'nothing is stored' },
  nq: { install: () => unpack('nq'), env: on_path('nq'), durable: 'a log a job, not synced' },
  bullmq: {
    install: async () => `${await from_npm('bullmq')} on Redis ${(await unpack('redis')).split('-')[0]}`,
    durable: 'on disk (AOF, synced always)',
    start: served('bullmq', redis),
  },
  'pg-boss': {
    install: async () => (await has_postgres(), `${await from_npm('pg-boss')} on PostgreSQL 15`),
    durable: 'on disk',
    start: served('pg-boss', postgres),
  },
  'graphile-worker': {
    install: async () => (await has_postgres(), `${await from_npm('graphile-worker')} on PostgreSQL 15`),
    durable: 'on disk',
    start: served('graphile-worker', postgres),
  },
};
