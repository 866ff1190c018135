// The server's keys are the server's: a command that is not in a sandbox does not find them where the kernel shows them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { call, results_told, start_builtin } from './harness/builtin.mjs';

test('Neither the server nor the supervisor shows its environment, and both the model and commands have what they need', async (t) => {
  const key = 'sk-ant-its-own-key-0123456789';
  const own = await start_builtin(t, { keys: [key], env: { ANTHROPIC_API_KEY: key, MY_PASSWORD: 'hunter2-hunter2' } });
  const { server, model } = own;
  const pids = [server.pid, server.supervisor_pids()[0]];
  const look = `for pid in ${pids.join(' ')}; do test -r /proc/$pid/environ && tr '\\0' '\\n' < /proc/$pid/environ; done; echo "home is $HOME"`;
  const done = await server.at_rest((await server.run(look)).id);
  assert.equal(done.status, 'completed', JSON.stringify(done.error));
  assert.doesNotMatch(done.result, /its-own-key|hunter2/);
  assert.match(done.result, new RegExp(`home is ${server.folder}`), 'what a command needs it has');
  model.rule('look', [call('bash', { command: look }), { text: 'done' }]);
  const asked = await server.at_rest((await own.launch('look')).id, { within: 30_000 });
  assert.deepEqual([asked.status, asked.result], ['completed', 'done'], JSON.stringify(asked.error));
  assert.doesNotMatch(results_told(model.requests().at(-1)).join(), /its-own-key|hunter2/);
  // What is named is given: it is known, only not shown.
  const named = await server.at_rest((await server.run('echo $MY_PASSWORD', { pass_env: ['MY_PASSWORD'] })).id);
  assert.equal(named.result, 'hunter2-hunter2\n');
});
