// What calls of models used and cost (R15.3): one row a call, durable with the event that tells of it, and a price that is not
// known is not 0.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { call, start_builtin } from './harness/builtin.mjs';
import { errand, until } from './harness/index.mjs';

const used = { input: 1000, output: 200, cache_read: 3000, cache_write: 400 };
const priced = 'claude-sonnet-4-5';
// Dollars a million: 3 in, 15 out, 0.3 read, 3.75 written (src/model/catalog.cc).
const price = (1000 * 3 + 200 * 15 + 3000 * 0.3 + 400 * 3.75) / 1e6;
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-8, `${a} is about ${b}`);

test('Each call is a row with its four kinds of tokens and its price; sums match the tasks, over a kill and after deletion', async (t) => {
  const { server, model, launch, work } = await start_builtin(t);
  model.rule('two calls', [{ ...call('bash', { command: 'true' }), usage: used }, { text: 'done', usage: used }]);
  const one = await server.at_rest((await launch('two calls', { model: priced })).id);
  assert.equal(one.status, 'completed', JSON.stringify(one.error));
  const { usage } = one.progress;
  assert.deepEqual([usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens], [8800, 400, 6000, 800]);
  near(usage.cost_usd, 2 * price);
  assert.equal(usage.unpriced, false);

  const by_model = await server.get('/api/usage?by=model');
  assert.equal(by_model.groups.length, 1);
  const [row] = by_model.groups;
  assert.equal(row.key, priced);
  assert.deepEqual([row.calls, row.unpriced_calls, row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens], [2, 0, 2000, 400, 6000, 800]);
  near(row.cost_usd, usage.cost_usd);

  // Killed between two calls: nothing is lost, and nothing is counted twice.
  model.rule('killed between', [{ ...call('bash', { command: 'sleep 1' }), usage: used }, { text: 'done', usage: used, wait: 'second' }]);
  const two = await launch('killed between', { model: priced });
  await model.waiting('second');
  await server.kill9();
  await server.start();
  model.release('second');
  model.release('second');
  const after = await server.at_rest(two.id);
  assert.equal(after.status, 'completed', JSON.stringify(after.error));
  const total = (await server.get('/api/usage')).total;
  assert.equal(total.calls, 4);
  near(total.cost_usd, one.progress.usage.cost_usd + after.progress.usage.cost_usd);
  assert.equal(total.input_tokens + total.cache_read_tokens + total.cache_write_tokens, one.progress.usage.input_tokens + after.progress.usage.input_tokens);

  // What a month cost is known when its tasks are gone.
  await server.expect(200, 'POST', '/api/tasks/clear', {});
  assert.equal((await server.get('/api/tasks')).tasks.length, 0);
  const folders = await server.get('/api/usage?by=folder');
  assert.deepEqual(folders.groups.map((group) => [group.key, group.calls]), [[work, 4]]);
  assert.deepEqual((await server.get('/api/usage?by=agent')).groups.map((group) => group.key), ['builtin']);
});

test('A price that is not known is null and "?", never 0; one that was set, or that the provider said, is used', async (t) => {
  const { server, model, launch } = await start_builtin(t, { api: 'chat' });
  model.set_default({ text: 'done', usage: used });
  const unknown = await server.at_rest((await launch('hi', { model: 'nobody-knows-this' })).id);
  assert.equal(unknown.progress.usage.cost_usd, null);
  assert.equal(unknown.progress.usage.unpriced, true);
  const alone = await server.get('/api/usage');
  assert.equal(alone.total.cost_usd, null);
  const table = await errand(server, ['usage', '--by', 'model']);
  assert.equal(table.code, 0, table.err);
  assert.match(table.out, /^nobody-knows-this\t.*\t\?$/m);
  assert.doesNotMatch(table.out, /\$0/);

  model.set_default({ text: 'done', usage: used, cost: 0.125 });
  const said = await server.at_rest((await launch('hi', { model: 'nobody-knows-this' })).id);
  near(said.progress.usage.cost_usd, 0.125);
  const both = await errand(server, ['usage', '--by', 'model', '--json']);
  assert.deepEqual([both.json.total.calls, both.json.total.unpriced_calls], [2, 1]);
  near(both.json.total.cost_usd, 0.125);
  const at_least = await errand(server, ['usage']);
  assert.match(at_least.out, /≥\$0\.1250/);
});

test('Days begin where their people are, and what makes no sense is refused by name', async (t) => {
  const { server, model, launch } = await start_builtin(t);
  model.set_default({ text: 'done', usage: used });
  await server.at_rest((await launch('hi', { model: priced })).id);
  const today = new Date().toISOString().slice(0, 10);
  const days = await until(async () => {
    const report = await server.get('/api/usage?by=day');
    return report.groups.length > 0 && report;
  });
  assert.ok(Math.abs(Date.parse(days.groups[0].key) - Date.parse(today)) <= 86_400_000);
  const before = new Date(Date.now() - 14 * 3_600_000).toISOString().slice(0, 10);
  const ahead = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10);
  assert.equal((await server.get('/api/usage?utc_offset_min=-840')).groups[0].key, before);
  assert.equal((await server.get('/api/usage?utc_offset_min=840')).groups[0].key, ahead);
  assert.equal((await server.get(`/api/usage?from=${ahead}T23:59:59Z`)).total.calls, 0);
  for (const query of ['by=month', 'from=yesterday', 'utc_offset_min=9000', 'sum=1'])
    assert.equal((await server.api('GET', `/api/usage?${query}`)).status, 400, query);
  assert.equal((await errand(server, ['usage', '--since', 'whenever'])).code, 2);
});
