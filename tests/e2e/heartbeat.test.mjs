// A stream on which nothing happens is kept alive (R10.3). By itself: it only waits, and its neighbours in streams measure.
import { test } from 'node:test';

import { marker, Server, until } from './harness/index.mjs';

test('A quiet stream has heartbeats', { timeout: 60_000 }, async (t) => {
  const server = await Server.start(t);
  const task = await server.run(`sleep ${marker()}`);
  const stream = server.stream(`/api/tasks/${task.id}/stream`);
  await until(() => stream.parser.comments > 0, { within: 40_000, what: 'a heartbeat' });
  stream.cut();
  await server.cancel(task.id);
});
