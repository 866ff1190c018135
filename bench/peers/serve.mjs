// What bench/peers share: a minimal HTTP server in front of a queue, so that the same load generator measures all. POST / adds a
// job and answers when the queue says that it is stored; POST /?wait=1 answers when the job is done; GET /left says how many jobs
// are not done.
import { execFile } from 'node:child_process';
import http from 'node:http';
import { createRequire } from 'node:module';

export const load = createRequire(`${process.env.ERRAND_BENCH_TOOLS}/`);
export const store = process.env.ERRAND_BENCH_STORE;
export const [work, at_once] = [process.argv[2], Number(process.argv[3])];
// `none`: jobs are only added, and nobody takes them.
export const works = work !== 'none';

/** What a job does. */
export const job = work === 'command' ? () => new Promise((resolve, reject) => execFile('/bin/true', (error) => (error ? reject(error) : resolve()))) : async () => 'ok';

let left = 0;
const waiting = new Map();
/** To be called when a job is done, with its id. */
export function done(id) {
  --left;
  const key = String(id);
  // Its adder may not have its id yet.
  if (waiting.has(key)) waiting.get(key)();
  else waiting.set(key, null);
}
const when_done = (id) =>
  new Promise((resolve) => {
    const key = String(id);
    if (waiting.get(key) === null) resolve();
    else waiting.set(key, resolve);
  }).finally(() => waiting.delete(String(id)));

let failed = false; // The first error says why.

/** `add(body)` stores a job and gives its id. */
export function serve(add) {
  const server = http.createServer((request, response) => {
    if (request.method === 'GET') return response.writeHead(200, { 'content-length': String(left).length }).end(String(left));
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', async () => {
      try {
        if (works) ++left;
        const id = await add(JSON.parse(body));
        if (request.url.includes('wait')) await when_done(id);
        else if (waiting.get(String(id)) === null) waiting.delete(String(id));
        // With its length: the load generator reads no chunks.
        const text = JSON.stringify({ id });
        response.writeHead(201, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
      } catch (error) {
        if (!failed) console.error(error);
        failed = true;
        response.writeHead(500, { 'content-length': 0 }).end();
      }
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
}
