// A push service on loopback, and the browsers behind it: it takes what RFC 8030 says, checks who sends (RFC 8292), and each
// browser decrypts with its own key (RFC 8291). Written from the standards with Node's cryptography, not errand's.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import http from 'node:http';

import { until } from './wait.mjs';

const base64url = (bytes) => Buffer.from(bytes).toString('base64url');
const hkdf = (salt, secret, info, bytes) => Buffer.from(crypto.hkdfSync('sha256', secret, salt, info, bytes));

function decrypt(body, browser) {
  const salt = body.subarray(0, 16);
  const record = body.readUInt32BE(16);
  const length = body[20];
  assert.equal(length, 65, 'the sender names its key');
  const sender = body.subarray(21, 21 + length);
  const sealed = body.subarray(21 + length);
  assert.ok(sealed.length <= record && body.length <= 4096, 'one record, of what every service takes');
  const agreed = browser.keys.computeSecret(sender);
  const secret = hkdf(browser.auth, agreed, Buffer.concat([Buffer.from('WebPush: info\0'), browser.keys.getPublicKey(), sender]), 32);
  const key = hkdf(salt, secret, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = hkdf(salt, secret, 'Content-Encoding: nonce\0', 12);
  const cipher = crypto.createDecipheriv('aes-128-gcm', key, nonce);
  cipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  assert.equal(plain.at(-1), 2, 'the last record');
  return plain.subarray(0, -1).toString('utf8');
}

// Who sends: {key, claims}. Throws where the signature, the audience or the time is not good.
function sender_of(authorization, origin) {
  const [, token, k] = /^vapid t=([\w-]+\.[\w-]+\.[\w-]+), k=([\w-]+)$/.exec(authorization) ?? assert.fail(`no vapid: ${authorization}`);
  const [head, claims, signature] = token.split('.');
  const point = Buffer.from(k, 'base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)) };
  const key = crypto.createPublicKey({ key: jwk, format: 'jwk' });
  assert.ok(crypto.verify('sha256', Buffer.from(`${head}.${claims}`), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')), 'the signature');
  assert.deepEqual(JSON.parse(Buffer.from(head, 'base64url')), { typ: 'JWT', alg: 'ES256' });
  const said = JSON.parse(Buffer.from(claims, 'base64url'));
  assert.equal(said.aud, origin);
  const left = said.exp - Date.now() / 1000;
  assert.ok(left > 0 && left <= 86_400, `for ${left} s`);
  assert.match(said.sub, /^(https:|mailto:)/);
  return { key: k, claims: said };
}

export class PushService {
  static async start(t) {
    const service = new PushService();
    service.server = http.createServer((request, response) => service.#take(request, response));
    await new Promise((resolve) => service.server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      service.server.closeAllConnections();
      return new Promise((resolve) => service.server.close(resolve));
    });
    service.host = `127.0.0.1:${service.server.address().port}`;
    return service;
  }

  browsers = [];
  got = []; // {browser, message, headers, sender}, in the order in which they came.
  complaints = [];
  // How a request is answered: a status, or {status, headers}.
  answer = () => 201;

  // A browser's subscription, as PushSubscription.toJSON() gives it.
  subscribe() {
    const keys = crypto.createECDH('prime256v1');
    keys.generateKeys();
    const browser = { keys, auth: crypto.randomBytes(16) };
    this.browsers.push(browser);
    return { endpoint: `http://${this.host}/send/${this.browsers.length - 1}`, keys: { p256dh: base64url(keys.getPublicKey()), auth: base64url(browser.auth) } };
  }

  #take(request, response) {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      try {
        const { headers } = request;
        const browser = Number(/^\/send\/(\d+)$/.exec(request.url)[1]);
        assert.equal(request.method, 'POST');
        assert.equal(headers['content-encoding'], 'aes128gcm');
        assert.match(headers.ttl, /^\d+$/);
        assert.match(headers.urgency, /^(very-low|low|normal|high)$/);
        const sender = sender_of(headers.authorization, `http://${this.host}`);
        const text = decrypt(Buffer.concat(chunks), this.browsers[browser]);
        this.got.push({ browser, text, message: JSON.parse(text), headers, sender });
      } catch (error) {
        this.complaints.push(error);
        return response.writeHead(400).end();
      }
      const how = this.answer(this.got.at(-1), this.got.length);
      const { status, headers = {} } = typeof how === 'number' ? { status: how } : how;
      response.writeHead(status, headers).end();
    });
  }

  some(count, wanted = () => true, options = {}) {
    return until(
      () => {
        if (this.complaints.length > 0) throw this.complaints[0];
        return this.got.filter(wanted).length >= count && this.got.filter(wanted);
      },
      { what: `${count} pushes came, of ${this.got.length}`, ...options },
    );
  }
}
