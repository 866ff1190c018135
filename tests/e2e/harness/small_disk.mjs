// A small disk that a test can fill.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { root, Server } from './server.mjs';

// A server on a small file system of its own, or undefined where this user may not mount one.
export async function server_on_small_disk(t, mebibytes, options = {}) {
  const mounts = path.join(root, 'build/test/tmp');
  fs.mkdirSync(mounts, { recursive: true });
  const disk = fs.mkdtempSync(path.join(mounts, 'disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'errand-test', disk]);
  if (mounted.status !== 0) {
    fs.rmdirSync(disk);
    return undefined;
  }
  // Hooks run in the order in which they are given: first the processes go, then the disk.
  const server = new Server(t, { ...options, data_dir: path.join(disk, 'data') });
  t.after(() => {
    spawnSync('umount', ['-l', disk]);
    fs.rmdirSync(disk);
  });
  await server.start();
  return { server, disk };
}

// Takes all but `left` bytes of the disk; answers how to give them back.
export function fill(folder, left) {
  const file = path.join(folder, 'filler');
  const { bavail, bsize } = fs.statfsSync(folder);
  const handle = fs.openSync(file, 'w');
  const block = Buffer.alloc(1 << 16);
  let rest = Math.max(0, bavail * bsize - left);
  try {
    while (rest > 0) rest -= fs.writeSync(handle, block, 0, Math.min(block.length, rest));
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error;
  }
  fs.closeSync(handle);
  return () => fs.rmSync(file);
}
