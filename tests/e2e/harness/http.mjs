// HTTP with nothing in between: any header, any target, any bytes.
import http from 'node:http';
import net from 'node:net';

// One request. `body` may be a string, a Buffer, or anything else (sent as JSON). Answers {status, headers, text, json};
// json is undefined where the body is none. Throws where the connection breaks before the reply is whole.
export function request({ port, method = 'GET', path, headers = {}, body, agent, signal, timeout = 60_000 }) {
  return new Promise((resolve, reject) => {
    let bytes;
    const sent = { ...headers };
    if (body !== undefined) {
      bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      if (!('content-type' in sent)) sent['content-type'] = 'application/json';
      if (!('content-length' in sent) && !('transfer-encoding' in sent)) sent['content-length'] = Buffer.byteLength(bytes);
    }
    const call = http.request({ host: '127.0.0.1', port, method, path, headers: sent, agent, signal, timeout }, (reply) => {
      const chunks = [];
      reply.on('data', (chunk) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () => {
        if (!reply.complete) return reject(new Error('the reply was cut'));
        const text = Buffer.concat(chunks).toString('utf8');
        let json;
        if (/^application\/(problem\+)?json\b/.test(reply.headers['content-type'] ?? '')) {
          try {
            json = JSON.parse(text);
          } catch (error) {
            return reject(new Error(`${method} ${path} answered JSON that does not parse: ${text.slice(0, 200)}`, { cause: error }));
          }
        }
        resolve({ status: reply.statusCode, headers: reply.headers, text, json });
      });
    });
    call.on('timeout', () => call.destroy(new Error(`${method} ${path}: no answer within ${timeout} ms`)));
    call.on('error', reject);
    call.end(bytes);
  });
}

// Writes raw bytes and answers what came back until the peer closed, or until `enough(text)` or the time is up.
export function raw_request(port, bytes, { within = 15_000, enough = whole_reply } = {}) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1');
    let text = '';
    const finish = (closed) => {
      clearTimeout(timer);
      socket.destroy();
      const match = /^HTTP\/1\.[01] (\d{3})/.exec(text);
      resolve({ status: match ? Number(match[1]) : 0, text, closed });
    };
    const timer = setTimeout(() => finish(false), within);
    socket.on('connect', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough(text)) finish(false);
    });
    socket.on('close', () => finish(true));
    socket.on('error', (error) => {
      // A refused peer may reset after its reply was read: that is a close.
      if (text || error.code === 'ECONNRESET' || error.code === 'EPIPE') return;
      clearTimeout(timer);
      reject(error);
    });
  });
}

function whole_reply(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end));
  return length !== null && text.length >= end + 4 + Number(length[1]);
}
