// A phone without a screen: the same key and the same calls as the page's (web/src/phone/device.ts).
import assert from 'node:assert/strict';

const base64url = (bytes) => Buffer.from(bytes).toString('base64url');
const plain = { headers: { authorization: undefined } };

export class Phone {
  // `code`: of `errand phone`, or a new one.
  static async pair(server, { code, name = 'Pixel', scopes } = {}) {
    const phone = new Phone(server);
    phone.keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
    const typed = code ?? (await server.expect(201, 'POST', '/api/devices/codes', scopes ? { scopes } : {})).code;
    const made = await server.expect(201, 'POST', '/api/pair', { code: typed, name, key: await phone.public_key() }, plain);
    phone.device = made.device;
    phone.session = made.session;
    return phone;
  }

  constructor(server) {
    this.server = server;
  }

  async public_key() {
    return base64url(await crypto.subtle.exportKey('raw', this.keys.publicKey));
  }

  async signature(challenge) {
    const text = new TextEncoder().encode(`errand device login v1\n${challenge}`);
    return base64url(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, this.keys.privateKey, text));
  }

  // The answer of a login with a new challenge.
  async try_login() {
    const device = this.device.id;
    const { challenge } = await this.server.expect(200, 'POST', '/api/login/challenge', { device }, plain);
    return this.server.api('POST', '/api/login/device', { device, challenge, signature: await this.signature(challenge) }, plain);
  }

  async login() {
    const reply = await this.try_login();
    assert.equal(reply.status, 200, reply.text);
    this.session = reply.json.session;
    return this;
  }

  get headers() {
    return { authorization: `Bearer ${this.session}` };
  }
  api(method, target, body) {
    return this.server.api(method, target, body, { headers: this.headers });
  }
  expect(status, method, target, body) {
    return this.server.expect(status, method, target, body, { headers: this.headers });
  }
}
