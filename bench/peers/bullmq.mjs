import { at_once, done, job, load, serve, store, works } from './serve.mjs';

const { Queue, Worker } = load('bullmq');
const { hostname: host, port } = new URL(store);
const connection = { host, port: Number(port), maxRetriesPerRequest: null };
const queue = new Queue('bench', { connection });
await queue.waitUntilReady();
if (works) {
  const worker = new Worker('bench', job, { connection, concurrency: at_once });
  worker.on('completed', ({ id }) => done(id));
  await worker.waitUntilReady();
}
serve(async (body) => (await queue.add('job', body)).id);
