// The page's own files: served without credentials, compressed, kept by browsers, and under the policy (R12.1).
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import zlib from 'node:zlib';

import { Server } from '../e2e/harness/server.mjs';

const get = (server, path, headers = {}, method = 'GET') =>
  new Promise((resolve, reject) => {
    http
      .request({ host: '127.0.0.1', port: server.port, path, headers, method }, (reply) => {
        const chunks = [];
        reply.on('data', (chunk) => chunks.push(chunk));
        reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, body: Buffer.concat(chunks) }));
      })
      .on('error', reject)
      .end();
  });

// What the first row waits for, and what may come later: kB of 1000 bytes, gzip.
test('the page stays small', async (t) => {
  const server = await Server.start(t);
  const index = (await get(server, '/')).body.toString();
  const first = [...index.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) => match[1]);
  const size = async (path) => (await get(server, path, { 'accept-encoding': 'gzip' })).body.length / 1000;
  const sizes = await Promise.all(first.map(size));
  const sum = sizes.reduce((all, each) => all + each, 0);
  assert.ok(sum <= 150, `${sum.toFixed(1)} kB before the first row: ${first.map((path, i) => `${path} ${sizes[i]}`).join(', ')}`);
  assert.ok(first.length <= 4, `${first.length} files before the first row`);
  // Whatever a file names as loaded later.
  const seen = new Set(first);
  for (const path of seen) {
    const text = (await get(server, path)).body.toString();
    for (const [, name] of text.matchAll(/["'`](?:\.\/|\/?assets\/)([\w.-]+\.(?:js|css))["'`]/g)) seen.add(`/assets/${name}`);
  }
  assert.ok(seen.size > first.length + 5, 'the lazy files were found');
  for (const path of seen) if (!first.includes(path)) assert.ok((await size(path)) <= 30, `${path} is over 30 kB`);
});

test('the page and all that it needs come without a token, and the API does not', async (t) => {
  const server = await Server.start(t);
  for (const path of ['/', '/tasks', '/chat?taskId=x', '/agents', '/settings']) {
    const reply = await get(server, path);
    assert.equal(reply.status, 200, path);
    assert.match(reply.headers['content-type'], /^text\/html/);
    const policy = reply.headers['content-security-policy'];
    assert.match(policy, /^default-src 'none';/);
    assert.match(policy, /require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.equal(reply.headers['x-content-type-options'], 'nosniff');
    assert.equal(reply.headers['referrer-policy'], 'no-referrer');
    assert.equal(reply.headers['cache-control'], 'no-cache');
  }
  const index = (await get(server, '/')).body.toString();
  const assets = [...index.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
  assert.ok(assets.some((path) => path.endsWith('.js')) && assets.some((path) => path.endsWith('.css')), 'it was built with its page');
  for (const path of assets) {
    const plain = await get(server, path);
    assert.equal(plain.status, 200, path);
    const packed = await get(server, path, { 'accept-encoding': 'gzip, br' });
    assert.equal(packed.headers['content-encoding'], 'br');
    assert.deepEqual(zlib.brotliDecompressSync(packed.body), plain.body);
    const zipped = await get(server, path, { 'accept-encoding': 'gzip' });
    assert.deepEqual(zlib.gunzipSync(zipped.body), plain.body);
    if (path.startsWith('/assets/')) assert.match(plain.headers['cache-control'], /immutable/);
    const again = await get(server, path, { 'if-none-match': plain.headers.etag });
    assert.equal(again.status, 304);
    assert.equal(again.body.length, 0);
  }
  assert.equal((await get(server, '/api/tasks')).status, 401);
  assert.equal((await get(server, '/nowhere')).status, 404);
  assert.equal((await get(server, '/assets/none.js')).status, 404);
  assert.equal((await get(server, '/tasks', {}, 'HEAD')).status, 200);
  assert.equal((await get(server, '/', { host: 'evil.example' })).status, 421);
});
