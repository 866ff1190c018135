// The npm packages of a release: node packaging/npm/pack.mjs BINARY VERSION FOLDER. Leaves FOLDER/errand and
// FOLDER/errand-linux-x64, ready for `npm pack` and `npm publish`.
import fs from 'node:fs';
import path from 'node:path';

const here = path.dirname(new URL(import.meta.url).pathname);
const [binary, version, folder] = process.argv.slice(2);
const about = { version, license: 'Apache-2.0', description: 'Background tasks for people and AI agents' };

function write(name, json, files) {
  const to = path.join(folder, name);
  fs.rmSync(to, { recursive: true, force: true });
  for (const [at, from] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(to, at)), { recursive: true });
    fs.copyFileSync(from, path.join(to, at));
  }
  fs.writeFileSync(path.join(to, 'package.json'), `${JSON.stringify({ name, ...about, ...json }, null, 2)}\n`);
  return to;
}

const root = path.join(here, '../..');
const platform = 'errand-linux-x64';
const made = write(
  platform,
  // Yarn's Plug'n'Play would keep it in a zip file, where nothing can be started.
  { os: ['linux'], cpu: ['x64'], libc: ['glibc'], preferUnplugged: true, files: ['bin', 'LICENSE'] },
  { 'bin/errand': binary, LICENSE: path.join(root, 'LICENSE') },
);
fs.chmodSync(path.join(made, 'bin/errand'), 0o755);
const launcher = write(
  'errand',
  { bin: { errand: 'errand.js' }, engines: { node: '>=18' }, optionalDependencies: { [platform]: version }, files: ['errand.js', 'LICENSE', 'README.md'] },
  { 'errand.js': path.join(here, 'errand.js'), 'README.md': path.join(here, 'README.md'), LICENSE: path.join(root, 'LICENSE') },
);
fs.chmodSync(path.join(launcher, 'errand.js'), 0o755);
