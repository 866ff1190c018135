// A git repository as a user has it, for tests of what tasks change.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { temporary_folder } from './server.mjs';

export class Repository {
  constructor(t, { files = { 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n', 'src/c.txt': 'c\n' } } = {}) {
    this.folder = temporary_folder(t, 'git');
    this.top = path.join(fs.realpathSync(this.folder), 'repo');
    fs.mkdirSync(this.top);
    this.git('init', '-q', '-b', 'main', '.');
    this.git('config', 'user.name', 'Ada');
    this.git('config', 'user.email', 'ada@example.org');
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    if (Object.keys(files).length > 0) this.commit('first');
  }

  git(...words) {
    return this.git_in(this.top, ...words);
  }
  git_in(folder, ...words) {
    const env = { PATH: process.env.PATH, HOME: this.folder, GIT_CONFIG_NOSYSTEM: '1', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
    return execFileSync('git', words, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
  }
  write(name, text) {
    const file = path.join(this.top, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  read(name) {
    return fs.readFileSync(path.join(this.top, name), 'utf8');
  }
  has(name) {
    return fs.existsSync(path.join(this.top, name));
  }
  commit(message = 'more') {
    this.git('add', '-A');
    this.git('commit', '-q', '-m', message);
  }
  head() {
    return this.git('rev-parse', 'HEAD').trim();
  }
  branches() {
    return this.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').trim().split('\n');
  }

  // What nobody but the user may change: status, index bytes, branches that are not errand's, configuration, stash.
  user_state() {
    const refs = this.git('for-each-ref').split('\n').filter((line) => !line.includes('refs/heads/errand'));
    const file = (name) => (fs.existsSync(path.join(this.top, '.git', name)) ? fs.readFileSync(path.join(this.top, '.git', name), 'base64') : null);
    return { status: this.git('status', '--porcelain=v1', '-z', '--ignored'), refs, index: file('index'), head: file('HEAD'), config: file('config'), stash: this.git('stash', 'list') };
  }
  assert_untouched(before, what) {
    assert.deepEqual(this.user_state(), before, what);
  }
}

// A `git` that waits for as long as a file is there, where its words have `word` in them: what a test kills is in the middle
// of it. The first folder of PATH is to be `bin`.
export class HeldGit {
  constructor(t, word) {
    this.bin = temporary_folder(t, 'bin');
    this.hold = path.join(this.bin, 'hold');
    this.waiting = path.join(this.bin, 'waiting');
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    this.take();
    fs.writeFileSync(path.join(this.bin, 'git'), `#!/bin/sh\ncase " $* " in *"${word}"*) while [ -e '${this.hold}' ]; do : >'${this.waiting}'; sleep 0.05; done;; esac\nexec ${real} "$@"\n`, { mode: 0o755 });
  }
  env() {
    return { PATH: `${this.bin}:${process.env.PATH}` };
  }
  is_waiting() {
    return fs.existsSync(this.waiting);
  }
  take() {
    fs.writeFileSync(this.hold, '');
  }
  release() {
    fs.rmSync(this.hold, { force: true });
  }
}
