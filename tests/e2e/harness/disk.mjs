// A disk that is slow, or does not answer at all, for one server: preload/slow_disk.c, built for the test.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { binary, root, temporary_folder } from './server.mjs';

// A sanitizer's own library has to come first.
export const slow_disk_skip = /[/](asan|tsan)[/]/.test(binary) && 'a library cannot be preloaded before a sanitizer';

const long_ms = 3_600_000;

// Start a server with `env`. `below`: the folder whose files do not answer while it is slow. Whatever waits is let go when
// the slowness is over, and when the test is.
export function slow_disk(t, { below } = {}) {
  const folder = temporary_folder(t, 'disk');
  const library = path.join(folder, 'slow_disk.so');
  const compiler = ['cc', 'clang-19', 'clang', 'gcc'].find((name) => spawnSync(name, ['--version']).status === 0);
  assert.ok(compiler, 'there is a C compiler');
  const built = spawnSync(compiler, ['-shared', '-fPIC', '-O1', '-w', '-o', library, path.join(root, 'tests/e2e/preload/slow_disk.c'), '-ldl'], { encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
  const on = path.join(folder, 'slow');
  const quick = () => fs.rmSync(on, { force: true });
  t.after(quick);
  return {
    env: { LD_PRELOAD: library, SLOW_SWITCH: on, ...(below && { SLOW_BELOW: below }) },
    // How many milliseconds each file call below the folder takes, and each sync. Infinity: until it is quick again.
    slow({ calls = 0, syncs = 0 }) {
      fs.writeFileSync(`${on}.new`, `${Math.min(calls, long_ms)} ${Math.min(syncs, long_ms)}\n`);
      fs.renameSync(`${on}.new`, on);
    },
    quick,
  };
}
