// errand's own client of the three APIs (src/model, through model_probe) against the scripted model, which refuses what the
// real ones refuse.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { start_model } from './server.mjs';

const probe = process.env.ERRAND_MODEL_PROBE ?? join(import.meta.dirname, '../../build/release/tests/model/model_probe');
const apis = { anthropic: 'anthropic', openai_chat: 'chat', openai_responses: 'responses' };
const key = 'sk-test-0123456789';

let model;
before(async () => (model = await start_model({ keys: [key] })));
after(() => model.close());
afterEach(() => model.reset());

const user = (...blocks) => ({ role: 'user', blocks: blocks.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block)) });
const assistant = (...blocks) => ({ role: 'assistant', blocks });
const tools = [{ name: 'weather', description: 'The weather.', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }];

/** Starts the probe: { events: what it heard so far, done: its last event, child }. */
function start(api, request, options = {}) {
  const child = spawn(probe, { stdio: ['pipe', 'pipe', 'inherit'] });
  const base_url = api === 'anthropic' ? model.url : `${model.url}/v1`;
  child.stdin.end(JSON.stringify({ api, base_url, key, request: { model: 'gpt-5.5', system: 'Be brief.', tools, ...request }, limits: { wait_ms: 5 }, ...options }));
  const events = [];
  let text = '';
  child.stdout.on('data', (bytes) => {
    const lines = (text += bytes).split('\n');
    text = lines.pop();
    events.push(...lines.map((line) => JSON.parse(line)));
  });
  const done = once(child, 'close').then(() => events.at(-1));
  return { events, done, child };
}
const ask = (api, conversation, options) => start(api, { conversation }, options).done;

for (const [api, kind] of Object.entries(apis)) {
  describe(api, () => {
    test('a whole tool loop, with reasoning that goes back as it came', async () => {
      model.queue(
        {
          reasoning: ['I should ', 'ask.'],
          signature: 'c2lnbmVk',
          text: 'Both 同时.',
          tools: [{ name: 'weather', input: { city: 'Köln' } }, { name: 'weather', input: {} }],
          usage: { input: 10, output: 20, cache_read: 5, reasoning: 7 },
        },
        { text: 'Rain.' },
      );
      const first = await ask(api, [user('weather?')]);
      assert.equal(first.event, 'answered', JSON.stringify(first));
      assert.equal(first.stop, 'tool_calls');
      assert.deepEqual(first.blocks.map((block) => block.type), ['reasoning', 'text', 'tool_call', 'tool_call']);
      assert.equal(first.blocks[0].text, 'I should ask.');
      assert.equal(first.blocks[1].text, 'Both 同时.');
      assert.deepEqual(first.blocks.slice(2).map((block) => JSON.parse(block.input)), [{ city: 'Köln' }, {}]);
      assert.deepEqual([first.use.input, first.use.output, first.use.cache_read], [10, 20, 5]);
      assert.equal(first.model, 'gpt-5.5');

      const results = first.blocks.slice(2).map((block) => ({ type: 'tool_result', call_id: block.call_id, text: 'rain' }));
      const second = await ask(api, [user('weather?'), assistant(...first.blocks), user(...results)]);
      assert.equal(second.event, 'answered', JSON.stringify(second));
      assert.equal(second.blocks[0].text, 'Rain.');
      const sent = model.requests(kind)[1];
      assert.equal(sent.status, undefined);
      const said = JSON.stringify(sent.body);
      if (api === 'openai_chat') assert.ok(said.includes('"reasoning_content":"I should ask."'));
      else assert.ok(said.includes('c2lnbmVk'), said);
    });

    test('calls that were never answered, and results of nobody, pass the checks', async () => {
      const last = await ask(api, [
        assistant({ type: 'text', text: 'I begin.' }),
        user({ type: 'tool_result', call_id: 'gone', text: 'x' }),
        assistant({ type: 'reasoning', text: 'no signature' }, { type: 'tool_call', call_id: 'a', name: 'weather', input: '{"half' }),
        user('what now?'),
        assistant({ type: 'tool_call', call_id: 'b', name: 'weather', input: '{}' }),
      ]);
      assert.equal(last.event, 'answered', JSON.stringify(last));
    });

    test('a stream in pieces of one byte', async () => {
      model.queue({ text: 'Grüße 世界 👋', tools: [{ name: 'weather', input: { city: '北京' } }], split_bytes: 1 });
      const last = await ask(api, [user('x')]);
      assert.equal(last.blocks[0].text, 'Grüße 世界 👋');
      assert.deepEqual(JSON.parse(last.blocks[1].input), { city: '北京' });
    });

    test('a busy server is tried again, then answers', async () => {
      model.queue({ status: 529, times: 1, text: 'at last' });
      const { events, done } = start(api, { conversation: [user('x')] });
      assert.equal((await done).blocks[0].text, 'at last');
      assert.equal(events[0].event, 'retrying');
    });

    test('a rate limit is waited for as long as it says', async () => {
      model.queue({ status: 429, times: 1, retry_after: 0.05, text: 'ok' });
      const { events, done } = start(api, { conversation: [user('x')] });
      await done;
      assert.deepEqual([events[0].event, events[0].wait], ['retrying', 50]);
    });

    test('a usage limit is told at once', async () => {
      model.set_default({ status: 429, retry_after: 7200, error: { message: 'Rate limited' } });
      const last = await ask(api, [user('x')]);
      assert.deepEqual([last.event, last.kind, last.status], ['failed', 'quota', 429]);
      assert.ok(Math.abs(Date.parse(last.retry_at) - Date.now() - 7_200_000) < 60_000, last.retry_at);
      assert.equal(model.requests().length, 1);
    });

    test('an answer that is cut in the middle is not tried again', async () => {
      for (const step of [{ cut_at: 'end' }, { end_at: 'end' }, { error_at: { frame: 'end', message: 'Overloaded' } }, { malformed_at: { frame: 'end', data: 'data: {"half\n\n' } }]) {
        model.reset();
        model.set_default({ text: ['a', 'b'], ...step });
        const last = await ask(api, [user('x')]);
        assert.deepEqual([last.event, last.kind, last.retryable], ['failed', 'cut', true], JSON.stringify([step, last]));
        assert.equal(model.requests().length, 1);
      }
    });

    test('silence ends', async () => {
      model.queue({ text: ['a', 'b'], hang_at: 'end' });
      const last = await ask(api, [user('x')], { limits: { silence_ms: 100 } });
      assert.deepEqual([last.event, last.kind], ['failed', 'cut']);
      assert.match(last.message, /sent nothing more/);
    });

    test('a wrong key is told, and not shown', async () => {
      model.reset();
      const last = await ask(api, [user('x')], { key: 'sk-wrong-9876543210' });
      assert.deepEqual([last.event, last.kind, last.status], ['failed', 'auth', 401]);
      assert.ok(!JSON.stringify(last).includes('9876543210'));
    });

    test('a conversation that is too long is told apart', async () => {
      const message = { anthropic: 'prompt is too long: 9 > 8', chat: "This model's maximum context length is 8 tokens", responses: 'Your input exceeds the context window of this model.' }[kind];
      model.queue({ status: 400, error: { message } });
      assert.equal((await ask(api, [user('x')])).kind, 'context_too_long');
    });

    test('the end of the asker is the end of the request', async () => {
      model.queue({ text: ['a', 'b'], wait_at: { frame: 'end', name: 'middle' } });
      const { child, done } = start(api, { conversation: [user('x')] });
      await model.waiting('middle');
      child.kill('SIGKILL');
      await done;
      assert.equal((await model.over(1)).state, 'gone');
    });
  });
}

describe('servers that are nearly OpenAI', () => {
  const one = async (step) => {
    model.queue(step);
    const last = await ask('openai_chat', [user('x')]);
    assert.equal(last.event, 'answered', JSON.stringify(last));
    return last;
  };
  const calls = [{ name: 'weather', input: { city: 'a' } }, { name: 'weather', input: { city: 'b' } }];

  test('without usage, ids and end mark', async () => {
    const last = await one({ text: 'x', tools: calls, quirks: { no_usage: true, no_ids: true, no_done: true } });
    assert.equal(last.use_known, false);
    assert.equal(new Set(last.blocks.slice(1).map((block) => block.call_id)).size, 2);
  });
  test('with whole calls without an index, and a plain stop', async () => {
    const last = await one({ tools: calls, stop: 'end', quirks: { whole_calls: true, no_index: true } });
    assert.equal(last.stop, 'tool_calls');
    assert.deepEqual(last.blocks.map((block) => JSON.parse(block.input).city), ['a', 'b']);
  });
  test('with the other name for reasoning, and CRLF', async () => {
    const last = await one({ reasoning: 'hm', text: 'x', quirks: { reasoning_field: 'reasoning', crlf: true } });
    assert.deepEqual(last.blocks.map((block) => block.text), ['hm', 'x']);
  });
  test('that say what it costs', async () => {
    assert.equal((await one({ text: 'x', cost: 0.125 })).cost_usd, 0.125);
  });
});
