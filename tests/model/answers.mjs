// What a scripted step looks like in each of the four APIs: as one JSON document, and as the frames of a stream.
import { randomBytes } from 'node:crypto';

const id = (prefix) => prefix + randomBytes(12).toString('hex');
const pieces = (text) => (Array.isArray(text) ? text : (text.match(/[\s\S]{1,24}/g) ?? ['']));
const whole = (text) => (Array.isArray(text) ? text.join('') : text);
const seconds = () => Math.floor(Date.now() / 1000);
const sse = (type, data) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** The blocks of a step, in order: `{ kind: 'reasoning' | 'text' | 'tool', ... }`. */
export function blocks_of(step) {
  if (step.blocks) return step.blocks.map((block) => (block.kind === 'tool' ? with_id(block) : block));
  const blocks = [];
  if (step.reasoning !== undefined || step.redacted !== undefined)
    blocks.push({ kind: 'reasoning', text: step.reasoning ?? '', signature: step.signature, redacted: step.redacted });
  if (step.text !== undefined) blocks.push({ kind: 'text', text: step.text });
  for (const tool of step.tools ?? (step.tool ? [step.tool] : [])) blocks.push(with_id({ kind: 'tool', ...tool }));
  return blocks;
}

// `raw` is what the model "wrote" where that is no JSON.
const with_id = (tool) => ({ ...tool, id: tool.id ?? null, json: tool.raw ?? JSON.stringify(tool.input ?? {}) });
const has_tools = (blocks) => blocks.some((block) => block.kind === 'tool');

export const answers = { anthropic, chat, responses, gemini };

// ---- Anthropic Messages

function anthropic(body, step) {
  const blocks = blocks_of(step);
  const use = { input: 25, output: 12, cache_read: 0, cache_write: 0, ...step.usage };
  const usage = {
    input_tokens: use.input,
    cache_creation_input_tokens: use.cache_write,
    cache_read_input_tokens: use.cache_read,
    output_tokens: use.output,
  };
  const reasons = { length: 'max_tokens', refusal: 'refusal', end: 'end_turn', tool_calls: 'tool_use' };
  const stop_reason = reasons[step.stop] ?? step.stop ?? (has_tools(blocks) ? 'tool_use' : 'end_turn');
  const content = blocks.map((block) => {
    if (block.kind === 'text') return { type: 'text', text: whole(block.text) };
    if (block.kind === 'tool') {
      let input = {};
      try {
        input = JSON.parse(block.json);
      } catch {}
      return { type: 'tool_use', id: block.id ?? id('toolu_'), name: block.name, input, json: block.json };
    }
    if (block.redacted !== undefined) return { type: 'redacted_thinking', data: block.redacted };
    return { type: 'thinking', thinking: whole(block.text), signature: block.signature ?? 'c2lnbmF0dXJl' };
  });
  const message = { id: id('msg_'), type: 'message', role: 'assistant', model: step.model ?? body.model };
  const plain = content.map(({ json: _, ...block }) => block);
  const json = { ...message, content: plain, stop_reason, stop_sequence: null, usage };

  const frames = [
    sse('message_start', {
      message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
    }),
    sse('ping', {}),
  ];
  content.forEach((block, index) => {
    const start = (content_block) => frames.push(sse('content_block_start', { index, content_block }));
    const delta = (d) => frames.push(sse('content_block_delta', { index, delta: d }));
    if (block.type === 'text') {
      start({ type: 'text', text: '' });
      for (const text of pieces(blocks[index].text)) delta({ type: 'text_delta', text });
    } else if (block.type === 'thinking') {
      start({ type: 'thinking', thinking: '', signature: '' });
      for (const thinking of pieces(blocks[index].text)) delta({ type: 'thinking_delta', thinking });
      delta({ type: 'signature_delta', signature: block.signature });
    } else if (block.type === 'redacted_thinking') {
      start(block);
    } else {
      start({ type: 'tool_use', id: block.id, name: block.name, input: {} });
      delta({ type: 'input_json_delta', partial_json: '' });
      if (block.json !== '{}') for (const partial_json of pieces(block.json)) delta({ type: 'input_json_delta', partial_json });
    }
    frames.push(sse('content_block_stop', { index }));
  });
  frames.push(
    sse('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: use.output } }),
    sse('message_stop', {}),
  );
  return { json, frames, terminator: 1 };
}

// ---- OpenAI Chat Completions, and the servers that are like it

function chat(body, step) {
  const quirks = step.quirks ?? {};
  const blocks = blocks_of(step);
  const use = { input: 25, output: 12, cache_read: 0, reasoning: 0, ...step.usage };
  const prompt = use.input + use.cache_read;
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: use.output,
    total_tokens: prompt + use.output,
    prompt_tokens_details: { cached_tokens: use.cache_read },
    completion_tokens_details: { reasoning_tokens: use.reasoning },
    ...(step.cost !== undefined ? { cost: step.cost } : {}),
  };
  const reasons = { length: 'length', refusal: 'content_filter', end: 'stop', tool_calls: 'tool_calls' };
  const finish = reasons[step.stop] ?? step.stop ?? (has_tools(blocks) ? 'tool_calls' : 'stop');
  const calls = blocks
    .filter((block) => block.kind === 'tool')
    .map((block, index) => ({
      index,
      ...(quirks.no_ids ? {} : { id: block.id ?? id('call_') }),
      type: 'function',
      function: { name: block.name, arguments: block.json },
    }));
  const text = (kind) => blocks.filter((block) => block.kind === kind).map((block) => whole(block.text)).join('');
  const reasoning_field = quirks.reasoning_field ?? 'reasoning_content';
  const head = { id: id('chatcmpl-'), created: seconds(), model: step.model ?? body.model };
  const reasoning = text('reasoning');
  const json = {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: blocks.some((block) => block.kind === 'text') ? text('text') : null,
          refusal: null,
          ...(reasoning ? { [reasoning_field]: reasoning } : {}),
          ...(calls.length ? { tool_calls: calls.map(({ index: _, ...call }) => call) } : {}),
        },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    ...(quirks.no_usage ? {} : { usage }),
  };

  const chunk = (choices, extra = {}) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...extra })}\n\n`;
  const delta = (d, finish_reason = null) => chunk([{ index: 0, delta: d, finish_reason }]);
  const frames = [delta({ role: 'assistant', content: '' })];
  for (const block of blocks) {
    if (block.kind === 'reasoning') for (const t of pieces(block.text)) frames.push(delta({ [reasoning_field]: t }));
    if (block.kind === 'text') for (const t of pieces(block.text)) frames.push(delta({ content: t }));
  }
  for (const call of calls) {
    const { index, function: f, ...rest } = call;
    if (quirks.whole_calls) {
      // Ollama: each call at once; its index may be absent.
      frames.push(delta({ tool_calls: [quirks.no_index ? { ...rest, function: f } : call] }));
      continue;
    }
    frames.push(delta({ tool_calls: [{ index, ...rest, function: { name: f.name, arguments: '' } }] }));
    for (const t of pieces(f.arguments)) frames.push(delta({ tool_calls: [{ index, function: { arguments: t } }] }));
  }
  frames.push(delta({}, finish));
  const wants_usage = body.stream_options?.include_usage && !quirks.no_usage;
  if (wants_usage) frames.push(chunk([], { usage }));
  if (!quirks.no_done) frames.push('data: [DONE]\n\n');
  return { json, frames, terminator: 1 + (wants_usage ? 1 : 0) + (quirks.no_done ? 0 : 1) };
}

// ---- OpenAI Responses

function responses(body, step) {
  const blocks = blocks_of(step);
  const use = { input: 25, output: 12, cache_read: 0, reasoning: 0, ...step.usage };
  const input = use.input + use.cache_read;
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: use.cache_read },
    output_tokens: use.output,
    output_tokens_details: { reasoning_tokens: use.reasoning },
    total_tokens: input + use.output,
  };
  const encrypted = (body.include ?? []).includes('reasoning.encrypted_content');
  const output = blocks.map((block) => {
    if (block.kind === 'text') {
      const part = { type: 'output_text', text: whole(block.text), annotations: [] };
      return { type: 'message', id: id('msg_'), role: 'assistant', status: 'completed', content: [part] };
    }
    if (block.kind === 'tool') {
      const call_id = block.id ?? id('call_');
      const space = block.namespace ? { namespace: block.namespace } : {};
      return { type: 'function_call', id: id('fc_'), call_id, name: block.name, ...space, arguments: block.json, status: 'completed' };
    }
    const text = whole(block.text);
    return {
      type: 'reasoning',
      id: id('rs_'),
      summary: text ? [{ type: 'summary_text', text }] : [],
      ...(encrypted ? { encrypted_content: block.redacted ?? block.signature ?? 'ZW5jcnlwdGVk' } : {}),
    };
  });
  const cut = { length: 'max_output_tokens', refusal: 'content_filter' }[step.stop];
  const base = {
    id: id('resp_'),
    object: 'response',
    created_at: seconds(),
    model: step.model ?? body.model,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: body.tools ?? [],
  };
  const json = {
    ...base,
    status: cut ? 'incomplete' : 'completed',
    incomplete_details: cut ? { reason: cut } : null,
    output,
    usage,
  };

  let sequence_number = 0;
  const frames = [];
  const event = (type, data) => frames.push(sse(type, { sequence_number: sequence_number++, ...data }));
  const begun = { ...base, status: 'in_progress', output: [], usage: null };
  event('response.created', { response: begun });
  event('response.in_progress', { response: begun });
  output.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    if (item.type === 'message') {
      const part = item.content[0];
      event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } });
      event('response.content_part.added', { ...at, content_index: 0, part: { ...part, text: '' } });
      for (const delta of pieces(blocks[output_index].text))
        event('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] });
      event('response.output_text.done', { ...at, content_index: 0, text: part.text, logprobs: [] });
      event('response.content_part.done', { ...at, content_index: 0, part });
    } else if (item.type === 'function_call') {
      event('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } });
      for (const delta of pieces(item.arguments)) event('response.function_call_arguments.delta', { ...at, delta });
      event('response.function_call_arguments.done', { ...at, name: item.name, arguments: item.arguments });
    } else {
      event('response.output_item.added', { output_index, item: { ...item, summary: [] } });
      item.summary.forEach((part, summary_index) => {
        event('response.reasoning_summary_part.added', { ...at, summary_index, part: { ...part, text: '' } });
        for (const delta of pieces(blocks[output_index].text))
          event('response.reasoning_summary_text.delta', { ...at, summary_index, delta });
        event('response.reasoning_summary_text.done', { ...at, summary_index, text: part.text });
        event('response.reasoning_summary_part.done', { ...at, summary_index, part });
      });
    }
    event('response.output_item.done', { output_index, item });
  });
  event(cut ? 'response.incomplete' : 'response.completed', { response: json });
  return { json, frames, terminator: 1 };
}

// ---- Gemini: generateContent and streamGenerateContent

function gemini(body, step) {
  const blocks = blocks_of(step);
  const use = { input: 25, output: 12, cache_read: 0, reasoning: 0, ...step.usage };
  const prompt = use.input + use.cache_read;
  const usageMetadata = {
    promptTokenCount: prompt,
    candidatesTokenCount: use.output,
    thoughtsTokenCount: use.reasoning,
    cachedContentTokenCount: use.cache_read,
    totalTokenCount: prompt + use.output + use.reasoning,
  };
  const reasons = { length: 'MAX_TOKENS', refusal: 'SAFETY', end: 'STOP', tool_calls: 'STOP' };
  const finishReason = reasons[step.stop] ?? step.stop ?? 'STOP';
  const head = { modelVersion: step.model ?? body.model, responseId: id('') };
  const signed = (block) => (block.signature === undefined ? {} : { thoughtSignature: block.signature });
  const part = (block, text) => {
    if (block.kind === 'text') return { text };
    if (block.kind === 'reasoning') return { text, thought: true, ...signed(block) };
    return { functionCall: { ...(block.id ? { id: block.id } : {}), name: block.name, args: block.input ?? {} }, ...signed(block) };
  };
  const answer = (parts, more = {}) => ({ candidates: [{ content: { role: 'model', parts }, index: 0, ...more }], usageMetadata, ...head });
  const json = answer(blocks.map((block) => part(block, whole(block.text))), { finishReason });
  // A call is never cut: its arguments are an object, not the text of one.
  const said = blocks.flatMap((block) => (block.kind === 'tool' ? [part(block)] : pieces(block.text).map((text) => part(block, text))));
  const frame = (value) => `data: ${JSON.stringify(value)}\r\n\r\n`;
  const frames = [...said.map((one) => frame(answer([one]))), frame(answer([{ text: '' }], { finishReason }))];
  return { json, frames, terminator: 1 };
}

// ---- Errors

const anthropic_types = {
  400: 'invalid_request_error', 401: 'authentication_error', 402: 'billing_error', 403: 'permission_error',
  404: 'not_found_error', 413: 'request_too_large', 429: 'rate_limit_error', 504: 'timeout_error', 529: 'overloaded_error',
};
const gemini_statuses = {
  400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND', 429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL', 503: 'UNAVAILABLE', 504: 'DEADLINE_EXCEEDED',
};
const openai_types = { 400: 'invalid_request_error', 401: 'invalid_request_error', 429: 'rate_limit_exceeded' };

/** The body of an HTTP error; `error` sets what the real ones say: type, code, message, details. */
export function error_body(api, status, error = {}) {
  const message = error.message ?? `scripted ${status}`;
  if (api === 'anthropic')
    return {
      type: 'error',
      error: { type: anthropic_types[status] ?? 'api_error', ...error, message },
      request_id: id('req_'),
    };
  if (api === 'gemini') return { error: { code: status, status: gemini_statuses[status] ?? 'UNKNOWN', ...error, message } };
  return { error: { type: openai_types[status] ?? 'server_error', code: null, param: null, ...error, message } };
}

/** An error inside a stream that began well. */
export function error_frame(api, error = {}) {
  const message = error.message ?? 'scripted error';
  if (api === 'anthropic') return sse('error', { error: { type: 'overloaded_error', ...error, message } });
  if (api === 'gemini') return `data: ${JSON.stringify({ error: { code: 503, status: 'UNAVAILABLE', ...error, message } })}\r\n\r\n`;
  if (api === 'responses') return sse('error', { sequence_number: 99, code: 'server_error', param: null, ...error, message });
  return `data: ${JSON.stringify({ error: { type: 'server_error', code: null, ...error, message } })}\n\n`;
}
