// An npm registry on loopback that has the packages of a folder and nothing else.
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

// Packs each folder below `packages`, and serves them. Answers {url, asked, close}; `asked` are the paths that were asked for.
export async function registry(packages, into, npm) {
  const known = new Map();
  for (const name of fs.readdirSync(packages)) {
    const from = path.join(packages, name);
    const file = execFileSync(npm[0], [...npm.slice(1), 'pack', '--offline', '--silent', '--pack-destination', into, from], { encoding: 'utf8' }).trim().split('\n').at(-1);
    const bytes = fs.readFileSync(path.join(into, path.basename(file)));
    known.set(name, { about: JSON.parse(fs.readFileSync(path.join(from, 'package.json'), 'utf8')), bytes });
  }
  const asked = [];
  const server = http.createServer((request, reply) => {
    const wanted = decodeURIComponent(new URL(request.url, 'http://x').pathname).slice(1);
    asked.push(wanted);
    const found = known.get(wanted.replace(/\/-\/.*$/, ''));
    if (!found) return reply.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}');
    if (wanted.includes('/-/')) return reply.writeHead(200, { 'content-type': 'application/octet-stream' }).end(found.bytes);
    const { name, version } = found.about;
    const dist = {
      tarball: `http://127.0.0.1:${server.address().port}/${name}/-/${name}-${version}.tgz`,
      integrity: `sha512-${crypto.createHash('sha512').update(found.bytes).digest('base64')}`,
      shasum: crypto.createHash('sha1').update(found.bytes).digest('hex'),
    };
    const packument = { name, 'dist-tags': { latest: version }, time: { [version]: '2026-01-01T00:00:00.000Z' }, versions: { [version]: { ...found.about, dist } } };
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(packument));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, asked, close: () => server.close() };
}
