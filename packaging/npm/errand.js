#!/usr/bin/env node
// Becomes errand: the binary is in the package of this platform, which npm chose by os, cpu and libc.
'use strict';

const name = `errand-${process.platform}-${process.arch}`;
const args = process.argv.slice(2);

function find() {
  try {
    return require.resolve(`${name}/bin/errand`);
  } catch {
    const glibc = process.report?.getReport?.().header?.glibcVersionRuntime;
    const why =
      process.platform !== 'linux' || process.arch !== 'x64'
        ? `there is no errand for ${process.platform} ${process.arch} yet, only for linux x64`
        : !glibc
          ? 'errand needs glibc, and this system has another C library (Alpine has musl)'
          : `the package ${name} is missing. It is an optional dependency: install again without --omit=optional (or --no-optional)`;
    process.stderr.write(`errand: cannot start: ${why}.\n`);
    process.exit(1);
  }
}

const binary = find();
if (typeof process.execve === 'function') {
  // No node stays behind. It is marked as experimental, which is nobody's concern here.
  process.removeAllListeners('warning');
  process.on('warning', () => {});
  process.execve(binary, [binary, ...args], process.env);
}
const child = require('node:child_process').spawn(binary, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  process.stderr.write(`errand: cannot start ${binary}: ${error.message}\n`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal ? 128 + require('node:os').constants.signals[signal] : code));
