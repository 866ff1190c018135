// The scripted model speaks the real protocols: the official SDKs read what it says.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { start_model } from './server.mjs';

const tools_folder = process.env.ERRAND_MODEL_TOOLS ?? join(import.meta.dirname, '../../build/tools/model');
const load = createRequire(join(tools_folder, 'package.json'));
const Anthropic = load('@anthropic-ai/sdk').default;
const { GoogleGenAI, ApiError } = load('@google/genai');
const OpenAI = load('openai').default;

const weather = { type: 'object', properties: { city: { type: 'string' } } };
const calls = [
  { name: 'weather', input: { city: 'Köln' } },
  { name: 'weather', input: { city: '北京' } },
];
const everything = {
  reasoning: ['Let me ', 'think.'],
  signature: 'c2lnbmVk',
  text: ['Two ', 'calls ', '同时.'],
  tools: calls,
  usage: { input: 7, output: 9, cache_read: 5, reasoning: 3 },
};

let model;
before(async () => (model = await start_model()));
after(() => model.close());
afterEach(() => model.reset());

const anthropic = (options) => new Anthropic({ apiKey: 'k', baseURL: model.url, maxRetries: 0, ...options });
const openai = (options) => new OpenAI({ apiKey: 'k', baseURL: `${model.url}/v1`, maxRetries: 0, ...options });

describe('Anthropic Messages', () => {
  const ask = {
    model: 'claude-x',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'weather', input_schema: weather }],
  };
  const check = (message) => {
    assert.deepEqual(message.content.map((block) => block.type), ['thinking', 'text', 'tool_use', 'tool_use']);
    assert.deepEqual([message.content[0].thinking, message.content[0].signature], ['Let me think.', 'c2lnbmVk']);
    assert.equal(message.content[1].text, 'Two calls 同时.');
    assert.deepEqual(message.content.slice(2).map((block) => block.input), calls.map((call) => call.input));
    assert.equal(message.stop_reason, 'tool_use');
    assert.deepEqual([message.usage.input_tokens, message.usage.output_tokens, message.usage.cache_read_input_tokens], [7, 9, 5]);
  };

  test('a stream with reasoning, text and parallel calls', async () => {
    model.queue(everything);
    check(await anthropic().messages.stream(ask).finalMessage());
    assert.equal(model.requests()[0].headers['anthropic-version'], '2026-10-21');
  });
  test('the same without a stream', async () => {
    model.queue(everything);
    check(await anthropic().messages.create(ask));
  });
  test('a stream in pieces of one byte', async () => {
    model.queue({ ...everything, split_bytes: 1 });
    check(await anthropic().messages.stream(ask).finalMessage());
  });
  test('redacted reasoning', async () => {
    model.queue({ redacted: 'ZW5j', text: 'x' });
    const { content } = await anthropic().messages.stream(ask).finalMessage();
    assert.deepEqual(content[0], { type: 'redacted_thinking', data: 'ZW5j' });
  });
  test('its errors are the classes they should be', async () => {
    for (const [status, type] of [[400, 'BadRequestError'], [401, 'AuthenticationError'], [429, 'RateLimitError'], [529, 'OverloadedError']]) {
      model.queue({ status });
      await assert.rejects(anthropic().messages.create(ask), (error) => error.constructor.name === type && error.status === status);
    }
  });
  test('an error inside the stream', async () => {
    model.queue({ text: ['a', 'b'], error_at: { frame: 4, message: 'Overloaded' } });
    await assert.rejects(anthropic().messages.stream(ask).finalMessage(), /Overloaded/);
  });
  test('the SDK tries again after a 529 with retry-after', async () => {
    model.queue({ status: 529, times: 1, retry_after: 0.01, text: 'at last' });
    const message = await anthropic({ maxRetries: 2 }).messages.create(ask);
    assert.equal(message.content[0].text, 'at last');
    assert.equal(model.requests().length, 2);
  });
  test('a cut stream is an error', async () => {
    model.queue({ text: ['a', 'b'], cut_at: 4 });
    await assert.rejects(anthropic().messages.stream(ask).finalMessage());
    assert.equal((await model.over(1)).state, 'cut');
  });
  test('tokens are counted', async () => {
    const { input_tokens } = await anthropic().messages.countTokens({ model: 'claude-x', messages: ask.messages });
    assert.ok(input_tokens > 0);
  });
  test('what the API refuses is refused', async () => {
    const use = { type: 'tool_use', id: 't1', name: 'weather', input: {} };
    for (const [messages, words] of [
      [[{ role: 'assistant', content: 'x' }], /first message/],
      [[{ role: 'user', content: [{ type: 'text', text: '' }] }], /non-empty/],
      [[...ask.messages, { role: 'assistant', content: [use] }, { role: 'user', content: 'go on' }], /without `tool_result`/],
      [[{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'no', content: 'x' }] }], /unexpected/],
    ])
      await assert.rejects(anthropic().messages.create({ ...ask, messages }), words);
  });
});

describe('OpenAI Chat Completions', () => {
  const ask = {
    model: 'gpt-x',
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ type: 'function', function: { name: 'weather', parameters: weather } }],
  };
  const check = (completion) => {
    const { message, finish_reason } = completion.choices[0];
    assert.equal(message.content, 'Two calls 同时.');
    assert.deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments)), calls.map((call) => call.input));
    assert.equal(new Set(message.tool_calls.map((call) => call.id)).size, 2);
    assert.equal(finish_reason, 'tool_calls');
    assert.deepEqual([completion.usage.prompt_tokens, completion.usage.prompt_tokens_details.cached_tokens], [12, 5]);
  };

  test('a stream with text and parallel calls', async () => {
    model.queue(everything);
    check(await openai().chat.completions.stream({ ...ask, stream_options: { include_usage: true } }).finalChatCompletion());
  });
  test('the same without a stream', async () => {
    model.queue(everything);
    check(await openai().chat.completions.create(ask));
  });
  test('a server without usage, ids and end mark', async () => {
    model.queue({ text: 'local', quirks: { no_usage: true, no_ids: true, no_done: true } });
    let text = '';
    for await (const chunk of await openai().chat.completions.create({ ...ask, stream: true }))
      text += chunk.choices[0]?.delta?.content ?? '';
    assert.equal(text, 'local');
  });
  test('its errors are the classes they should be', async () => {
    model.queue({ status: 429, error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } });
    await assert.rejects(openai().chat.completions.create(ask), (error) => error.code === 'insufficient_quota' && error.status === 429);
  });
  test('calls without results are refused', async () => {
    const tool_calls = [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }];
    const messages = [...ask.messages, { role: 'assistant', tool_calls }, { role: 'user', content: 'x' }];
    await assert.rejects(openai().chat.completions.create({ ...ask, messages }), /tool_call_id/);
  });
});

describe('OpenAI Responses', () => {
  const ask = {
    model: 'gpt-x',
    input: 'hi',
    store: false,
    include: ['reasoning.encrypted_content'],
    tools: [{ type: 'function', name: 'weather', parameters: weather, strict: false }],
  };
  const check = (response) => {
    assert.deepEqual(response.output.map((item) => item.type), ['reasoning', 'message', 'function_call', 'function_call']);
    assert.equal(response.output[0].summary[0].text, 'Let me think.');
    assert.equal(response.output[0].encrypted_content, 'c2lnbmVk');
    assert.equal(response.output_text, 'Two calls 同时.');
    assert.deepEqual(response.output.slice(2).map((item) => JSON.parse(item.arguments)), calls.map((call) => call.input));
    assert.deepEqual([response.usage.input_tokens, response.usage.output_tokens_details.reasoning_tokens], [12, 3]);
  };

  test('a stream with reasoning, text and parallel calls', async () => {
    model.queue(everything);
    check(await openai().responses.stream(ask).finalResponse());
  });
  test('the same without a stream', async () => {
    model.queue(everything);
    check(await openai().responses.create(ask));
  });
  test('an answer that ran out of tokens', async () => {
    model.queue({ text: 'half', stop: 'length' });
    const response = await openai().responses.create(ask);
    assert.deepEqual([response.status, response.incomplete_details.reason], ['incomplete', 'max_output_tokens']);
  });
  test('results without calls are refused', async () => {
    const input = [{ type: 'function_call_output', call_id: 'none', output: 'x' }];
    await assert.rejects(openai().responses.create({ ...ask, input }), /No tool call found/);
  });
});

describe('Gemini', () => {
  const client = () => new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: model.url } }).models;
  const ask = {
    model: 'gemini-x',
    contents: 'hi',
    config: { tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: weather }] }] },
  };
  const check = (parts, { usageMetadata, candidates }) => {
    const text = (thought) => parts.filter((part) => part.text && Boolean(part.thought) === thought).map((part) => part.text).join('');
    assert.deepEqual([text(true), text(false)], ['Let me think.', 'Two calls 同时.']);
    assert.deepEqual(parts.filter((part) => part.functionCall).map((part) => part.functionCall.args), calls.map((call) => call.input));
    assert.equal(candidates[0].finishReason, 'STOP');
    assert.deepEqual([usageMetadata.promptTokenCount, usageMetadata.candidatesTokenCount, usageMetadata.cachedContentTokenCount, usageMetadata.thoughtsTokenCount], [12, 9, 5, 3]);
  };
  const streamed = async (request) => {
    const chunks = [];
    for await (const chunk of await client().generateContentStream(request)) chunks.push(chunk);
    return chunks;
  };
  const parts_of = (chunks) => chunks.flatMap((chunk) => chunk.candidates[0].content.parts);

  test('a stream with thoughts, text and parallel calls, also in pieces of one byte', async () => {
    for (const split_bytes of [undefined, 1]) {
      model.queue({ ...everything, split_bytes });
      const chunks = await streamed(ask);
      check(parts_of(chunks), chunks.at(-1));
      assert.equal(chunks.at(-1).modelVersion, 'gemini-x', 'named in the address');
    }
    assert.equal(model.requests()[0].headers['x-goog-api-key'], 'k');
  });
  test('the same without a stream', async () => {
    model.queue(everything);
    const answer = await client().generateContent(ask);
    check(answer.candidates[0].content.parts, answer);
    assert.equal(answer.functionCalls.length, 2);
  });
  test('an answer that ran out of tokens', async () => {
    model.queue({ text: 'half', stop: 'length' });
    assert.equal((await client().generateContent(ask)).candidates[0].finishReason, 'MAX_TOKENS');
  });
  test('its errors, before and inside of a stream', async () => {
    for (const [status, word] of [[400, 'INVALID_ARGUMENT'], [429, 'RESOURCE_EXHAUSTED']]) {
      model.queue({ status });
      await assert.rejects(client().generateContent(ask), (error) => error instanceof ApiError && error.status === status && error.message.includes(word));
    }
    model.queue({ text: ['a', 'b'], error_at: { frame: 1, message: 'Overloaded' } });
    await assert.rejects(streamed(ask), /Overloaded/);
  });
  test('tokens are counted', async () => {
    assert.ok((await client().countTokens({ model: 'gemini-x', contents: 'hi' })).totalTokens > 0);
  });
  test('what the API refuses is refused; a call with its answer is not', async () => {
    const user = { role: 'user', parts: [{ text: 'hi' }] };
    const called = { role: 'model', parts: [{ functionCall: { name: 'weather', args: {} } }] };
    const answered = { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: 'rain' } } }] };
    for (const [contents, words] of [
      [[user, called, user], /number of function response parts/],
      [[user, answered], /number of function response parts/],
      [[{ role: 'system', parts: [{ text: 'x' }] }], /valid role/],
    ])
      await assert.rejects(client().generateContent({ ...ask, contents }), words);
    model.rule('hi', [{ text: 'one' }, { text: 'two' }]);
    assert.equal((await client().generateContent({ ...ask, contents: [user, called, answered] })).text, 'two', 'the second answer behind that message');
  });
});

describe('the script', () => {
  const ask = (content, messages = []) =>
    anthropic().messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }, ...messages] });
  const said = async (...args) => (await ask(...args)).content[0].text;
  const answer = { role: 'assistant', content: 'x' };

  test('a rule answers by the words and by how many answers there were; a prompt may bring its own; the queue is for the rest', async () => {
    model.rule('the bug', [{ text: 'one' }, { text: 'two' }]);
    model.queue({ text: 'queued' });
    assert.equal(await said('fix the bug'), 'one');
    assert.equal(await said('fix the bug'), 'one', 'asked again, answered again');
    assert.equal(await said('fix the bug', [answer, { role: 'user', content: 'and?' }]), 'two');
    assert.equal(await said('@@[{"text":"mine"}]@@ the bug'), 'mine');
    assert.equal(await said('other'), 'queued');
    assert.equal(await said('other'), 'ok');
  });

  test('a step waits for its release, and tells who left', async () => {
    model.queue({ wait: 'gate', text: 'late' }, { text: ['a', 'b'], wait_at: { frame: 4, name: 'middle' } });
    const late = said('x');
    await model.waiting('gate');
    model.release('gate');
    assert.equal(await late, 'late');

    const stream = anthropic().messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'y' }] });
    const left = assert.rejects(stream.finalMessage());
    await model.waiting('middle');
    stream.abort();
    await left;
    assert.equal((await model.over(2)).state, 'gone');
  });

  test('the control endpoint does the same over HTTP', async () => {
    const control = (body) => fetch(`${model.url}/control`, { method: 'POST', body: JSON.stringify(body) });
    await control({ reset: true, queue: [{ text: 'from afar', wait: 'g' }], rules: [{ words: 'zebra', steps: [{ text: 'stripes' }] }] });
    assert.equal(await said('a zebra'), 'stripes');
    const waits = said('x');
    assert.equal((await fetch(`${model.url}/control/waiting?name=g`)).status, 200);
    await control({ release: 'g' });
    assert.equal(await waits, 'from afar');
    const requests = await (await fetch(`${model.url}/control/requests?at_least=2`)).json();
    assert.deepEqual(requests.map((request) => request.body.messages[0].content), ['a zebra', 'x']);
  });
});
