// What scripts/release made (build/dist): on the systems that people have, and made twice. Part of scripts/test --long packages,
// which makes it first; signed with a key that this file is told of (ERRAND_RELEASE_PUBLIC_KEY).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const dist = path.join(root, 'build/dist');
const file = (like) => path.join(dist, fs.readdirSync(dist).find((name) => like.test(name)));
const run = (words, options = {}) => execFileSync(words[0], words.slice(1), { encoding: 'utf8', ...options });
const lacks = (program) => (spawnSync('sh', ['-c', `command -v ${program}`]).status === 0 ? false : `${program} is not installed`);
const is_root = process.getuid() === 0;

describe('A release', () => {
  test('needs glibc 2.30 at most, and no other library', () => {
    const binary = file(/^errand-linux-x64$/);
    const versions = [...run(['objdump', '-T', binary]).matchAll(/GLIBC_([A-Z0-9_.]+)/g)].map((found) => found[1]);
    assert.ok(versions.length > 100);
    for (const version of versions) assert.match(version, /^2\.([0-9]|[12][0-9]|30)(\.\d+)?$/, version);
    const needed = [...run(['readelf', '-d', binary]).matchAll(/Shared library: \[(.*?)\]/g)].map((found) => found[1]).sort();
    assert.deepEqual(needed, ['ld-linux-x86-64.so.2', 'libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0']);
    assert.match(run(['readelf', '-d', binary]), /BIND_NOW|FLAGS.*NOW/);
    assert.ok(fs.statSync(binary).size < 25e6, 'stripped');
  });

  test('its debug file belongs to it', () => {
    const debug = path.join(root, 'build/test/errand.debug');
    fs.writeFileSync(debug, run(['xz', '-dc', file(/debug\.xz$/)], { encoding: 'buffer', maxBuffer: 1 << 30 }));
    const id = (of) => /Build ID: ([0-9a-f]{40})/.exec(run(['readelf', '-n', of]))?.[1];
    assert.ok(id(file(/^errand-linux-x64$/)));
    assert.equal(id(debug), id(file(/^errand-linux-x64$/)));
  });

  test('SHA256SUMS is right, and signed', () => {
    run(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], { cwd: dist });
    const listed = fs.readFileSync(path.join(dist, 'SHA256SUMS'), 'utf8').trim().split('\n').length;
    assert.equal(listed, fs.readdirSync(dist).filter((name) => !name.startsWith('SHA256SUMS')).length);
    const key = process.env.ERRAND_RELEASE_PUBLIC_KEY;
    if (key) run(['minisign', '-V', '-q', '-p', key, '-m', 'SHA256SUMS'], { cwd: dist });
  });

  test('the SPDX list names what is linked in, with versions', () => {
    const list = JSON.parse(fs.readFileSync(file(/spdx\.json$/), 'utf8'));
    assert.equal(list.spdxVersion, 'SPDX-2.3');
    const names = list.packages.map((part) => part.name);
    for (const name of ['errand', 'libssl-dev', 'libsqlite3-dev', 'react']) assert.ok(names.includes(name), name);
    assert.ok(list.packages.every((part) => part.versionInfo));
    assert.equal(new Set(list.packages.map((part) => part.SPDXID)).size, list.packages.length);
  });

  test('lintian has no error and no warning', { skip: lacks('lintian') }, () => {
    const said = spawnSync('lintian', ['--tag-display-limit', '0', file(/\.deb$/)], { encoding: 'utf8' });
    assert.doesNotMatch(said.stdout, /^[EW]: /m);
  });

  for (const [suite, name] of Object.entries({ bullseye: 'Debian 11', bookworm: 'Debian 12', trixie: 'Debian 13' }))
    test(`installs, works and is removed on a clean ${name}`, { skip: is_root ? lacks('debootstrap') : 'needs root' }, () => {
      const at = path.join(root, 'build/roots', suite);
      if (!fs.existsSync(path.join(at, 'ready'))) {
        fs.rmSync(at, { recursive: true, force: true });
        fs.mkdirSync(at, { recursive: true });
        const mirror = run(['sh', '-c', `apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n 1`]).trim();
        run(['debootstrap', '--variant=minbase', suite, at, mirror], { stdio: ['ignore', 'ignore', 'inherit'] });
        fs.writeFileSync(path.join(at, 'ready'), '');
      }
      fs.copyFileSync(file(/\.deb$/), path.join(at, 'root/errand.deb'));
      const script = `set -e; cd /root; export HOME=/root ERRAND_LISTEN=127.0.0.1:0 ERRAND_DATA_DIR=/root/data; rm -rf data
        find / -xdev -not -path '/proc/*' -not -path '/var/*' -not -path '/root/*' | sort >before
        dpkg -i errand.deb >dpkg.log 2>&1 || { cat dpkg.log; exit 1; }
        errand run --wait -- sh -c 'echo worked in $(cat /etc/debian_version)'
        errand ask --agent demo --wait hello >/dev/null
        errand run --wait -- sh -c 'exit 7' || echo code $?
        test -s /usr/share/man/man1/errand.1.gz -o ! -e /usr/share/man/man1
        kill $(grep -o '"pid":[0-9]*' data/server.json | cut -d: -f2)
        dpkg -P errand >dpkg.log 2>&1
        find / -xdev -not -path '/proc/*' -not -path '/var/*' -not -path '/root/*' | sort >after
        diff before after && echo nothing left`;
      const said = spawnSync('unshare', ['-mpf', `--mount-proc=${at}/proc`, 'chroot', at, 'sh', '-c', script], { encoding: 'utf8', timeout: 300_000 });
      assert.match(said.stdout, /worked in \d/, said.stdout + said.stderr);
      assert.match(said.stdout, /code 7/);
      assert.match(said.stdout, /nothing left/, said.stdout + said.stderr);
    });

  const clean = run(['git', 'status', '--porcelain'], { cwd: root }).trim() === '';
  test('made in another folder it has the same bytes', { skip: clean ? false : 'there are uncommitted changes' }, () => {
    const again = fs.mkdtempSync(path.join(root, 'build/test/again-'));
    run(['git', 'clone', '--quiet', root, again]);
    fs.mkdirSync(path.join(again, 'build'));
    for (const kept of ['sysroot', 'tools']) fs.symlinkSync(path.join(root, 'build', kept), path.join(again, 'build', kept));
    const made = spawnSync('scripts/release', [], { cwd: again, encoding: 'utf8', env: { ...process.env, MINISIGN_KEY: '' } });
    assert.equal(made.status, 0, made.stderr);
    const sums = (folder) =>
      fs.readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8').split('\n').filter((line) => !/debug|oci/.test(line)).sort();
    assert.deepEqual(sums(path.join(again, 'build/dist')), sums(dist));
    fs.rmSync(again, { recursive: true, force: true });
  });
});
