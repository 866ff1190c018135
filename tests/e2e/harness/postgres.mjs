// A PostgreSQL of the test's own, on a unix socket, with fsync on. It ends with the test, also where that is killed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { until } from './wait.mjs';

// PostgreSQL refuses to run as root: then it runs as the user `postgres`, which Debian's package makes.
const as_other = process.getuid() === 0;
const words = (...more) => ['setpriv', ...(as_other ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : []), '--pdeathsig', 'QUIT', ...more];

function programs() {
  const base = '/usr/lib/postgresql';
  const found = fs.existsSync(base) ? fs.readdirSync(base).filter((version) => fs.existsSync(path.join(base, version, 'bin/initdb'))) : [];
  assert.ok(found.length > 0, 'PostgreSQL is installed (Debian: apt install postgresql-15)');
  return path.join(base, found.sort((a, b) => Number(a) - Number(b)).at(-1), 'bin');
}

export class Postgres {
  static async start(t) {
    const postgres = new Postgres(t);
    await postgres.start();
    return postgres;
  }

  constructor(t) {
    this.bin = programs();
    // Not under the checkout: the other user may not be allowed to go there.
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'errand-pg-'));
    t.after(async () => {
      if (this.child) await this.#end('SIGQUIT');
      if (t.passed === false) console.error(`# PostgreSQL's log:\n${this.log()}`);
      fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    });
    if (as_other) assert.equal(spawnSync('chown', ['postgres:postgres', this.folder]).status, 0);
    const user = as_other ? 'postgres' : os.userInfo().username;
    this.url = `postgresql://${user}@/postgres?host=${this.folder}`;
    const [program, ...rest] = words(`${this.bin}/initdb`, '-D', `${this.folder}/data`, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-k', '--no-sync');
    const made = spawnSync(program, rest, { cwd: '/', encoding: 'utf8' });
    assert.equal(made.status, 0, `initdb: ${made.stderr} ${made.error ?? ''}`);
  }

  // Starts it and waits until it answers.
  async start() {
    await until(
      () => {
        // It goes again as long as processes of one that was killed are still there.
        if (!this.child) this.#spawn();
        return this.sql('SELECT 1') === '1';
      },
      { what: `PostgreSQL answers` },
    );
  }

  #spawn() {
    const [program, ...rest] = words(`${this.bin}/postgres`, '-D', `${this.folder}/data`, '-k', this.folder, '-c', 'listen_addresses=', '-c', 'fsync=on', '-c', 'recovery_init_sync_method=syncfs');
    const log = fs.openSync(path.join(this.folder, 'log'), 'a');
    const child = spawn(program, rest, { cwd: '/', stdio: ['ignore', log, log] });
    fs.closeSync(log);
    this.child = child;
    this.exited = new Promise((resolve) =>
      child.once('exit', () => {
        if (this.child === child) this.child = undefined;
        resolve();
      }),
    );
  }

  // As a power cut would, and waits until it is gone.
  kill9() {
    return this.#end('SIGKILL');
  }

  async #end(signal) {
    this.child.kill(signal);
    await this.exited;
  }

  // The first column of the first row.
  sql(text) {
    const run = spawnSync(`${this.bin}/psql`, ['-X', '-t', '-A', '-d', this.url, '-c', text], { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(run.stderr);
    return run.stdout.trim();
  }

  log() {
    const file = path.join(this.folder, 'log');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(-30).join('\n') : '';
  }
}
