import { at_once, done, job, load, serve, store, works } from './serve.mjs';

const { makeWorkerUtils, run, Logger } = load('graphile-worker');
const logger = new Logger(() => () => {});
const utils = await makeWorkerUtils({ connectionString: store, logger });
await utils.migrate();
if (works) {
  const runner = await run({ connectionString: store, concurrency: at_once, logger, maxPoolSize: Math.max(10, at_once), taskList: { bench: job } });
  runner.events.on('job:complete', ({ job: { id } }) => done(id));
}
serve(async (body) => (await utils.addJob('bench', body)).id);
