// A receiver of notifications on loopback: it keeps what came, and answers as the test says.
import http from 'node:http';

import { until } from './wait.mjs';

export class Receiver {
  static async start(t) {
    const receiver = new Receiver();
    receiver.server = http.createServer((request, response) => receiver.#take(request, response));
    await new Promise((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      receiver.server.closeAllConnections();
      return new Promise((resolve) => receiver.server.close(resolve));
    });
    receiver.host = `127.0.0.1:${receiver.server.address().port}`;
    receiver.url = `http://${receiver.host}/hook`;
    return receiver;
  }

  got = []; // {path, headers, text, json}, in the order in which they came.
  // How a request is answered: a status, or {status, headers}, or 'hang': not at all.
  answer = () => 200;

  #take(request, response) {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const one = { path: request.url, headers: request.headers, text, json: JSON.parse(text), id: request.headers['webhook-id'] };
      this.got.push(one);
      const how = this.answer(one, this.got.length);
      if (how === 'hang') return;
      const { status, headers = {} } = typeof how === 'number' ? { status: how } : how;
      response.writeHead(status, headers).end('thanks');
    });
  }

  // What came once there are `count` of them that `wanted` holds for.
  some(count, wanted = () => true, options = {}) {
    return until(() => this.got.filter(wanted).length >= count && this.got.filter(wanted), { what: `${count} notifications came, of ${this.got.length}`, ...options });
  }
}
