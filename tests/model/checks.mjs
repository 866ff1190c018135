// What the real APIs refuse, refused here too: a request that passes the double would pass them. Each check answers with
// what is wrong, or null.

const tool_name = /^[a-zA-Z0-9_-]{1,128}$/;
const list = (value) => (Array.isArray(value) ? value : []);
const content_list = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : list(content));

export const checks = { anthropic, chat, responses, gemini };

function anthropic(body, headers) {
  if (!headers['anthropic-version']) return 'anthropic-version: header is required';
  if (!(body.max_tokens > 0)) return 'max_tokens: Field required';
  if (!Array.isArray(body.messages) || !body.messages.length) return 'messages: at least one message is required';
  if (headers['anthropic-version'] >= '2026-10-21')
    for (const gone of ['temperature', 'top_p', 'top_k']) if (gone in body) return `${gone}: Extra inputs are not permitted`;
  for (const tool of list(body.tools)) {
    if (!tool_name.test(tool.name ?? '')) return `tools: name ${JSON.stringify(tool.name)} does not match ${tool_name.source}`;
    if (tool.input_schema?.type !== 'object') return `tools: ${tool.name}: input_schema.type: Field required`;
  }
  if (new Set(list(body.tools).map((tool) => tool.name)).size !== list(body.tools).length) return 'tools: Tool names must be unique.';
  if (body.messages[0].role !== 'user') return 'messages: first message must use the "user" role';

  let marks = 0;
  const mark = (block) => (marks += block?.cache_control ? 1 : 0);
  list(body.tools).forEach(mark);
  content_list(body.system).forEach(mark);
  if (content_list(body.system).some((block) => block.text === '')) return 'system: text content blocks must be non-empty';
  let open = []; // Tool uses of the message before, that this one must answer.
  for (const [i, message] of body.messages.entries()) {
    const blocks = content_list(message.content);
    if (!['user', 'assistant'].includes(message.role)) return `messages.${i}.role: unknown`;
    if (!blocks.length && i < body.messages.length - 1) return `messages.${i}: all messages must have non-empty content`;
    const results = blocks.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id);
    const missing = open.filter((use) => !results.includes(use));
    if (missing.length)
      return `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`;
    for (const result of results)
      if (!open.includes(result)) return `messages.${i}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${result}`;
    if (results.length && blocks.slice(0, results.length).some((block) => block.type !== 'tool_result'))
      return `messages.${i}: tool_result blocks must come first`;
    for (const block of blocks) {
      mark(block);
      if (block.type === 'text' && !block.text?.trim()) return `messages.${i}: text content blocks must be non-empty`;
      if (block.type === 'thinking' && !block.signature) return `messages.${i}: thinking.signature: Field required`;
      if (block.type?.includes('thinking') && block.cache_control) return `messages.${i}: thinking blocks cannot have cache_control`;
      if (block.type === 'tool_use' && (typeof block.input !== 'object' || Array.isArray(block.input) || !block.input))
        return `messages.${i}: tool_use.input: Input should be a valid dictionary`;
    }
    open = message.role === 'assistant' ? blocks.filter((block) => block.type === 'tool_use').map((block) => block.id) : [];
  }
  if (open.length) return '`tool_use` ids were found without `tool_result` blocks immediately after: ' + open.join(', ');
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  return null;
}

function chat(body) {
  if (!Array.isArray(body.messages) || !body.messages.length) return "'messages' is a required property";
  for (const tool of list(body.tools))
    if (tool.type !== 'function' || !tool_name.test(tool.function?.name ?? '')) return "Invalid 'tools[].function.name'";
  if ('tools' in body && !list(body.tools).length) return '[] is too short - tools';
  let open = [];
  for (const [i, message] of body.messages.entries()) {
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id))
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      open = open.filter((call) => call !== message.tool_call_id);
      continue;
    }
    if (open.length)
      return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${open.join(', ')}`;
    if (!['system', 'developer', 'user', 'assistant'].includes(message.role)) return `messages[${i}].role: unknown`;
    if (message.role === 'user' && (message.content ?? '') === '') return `messages[${i}].content: empty`;
    for (const call of list(message.tool_calls)) {
      if (typeof call.function?.arguments !== 'string') return `messages[${i}].tool_calls[].function.arguments: not a string`;
      open.push(call.id);
    }
    if (message.role === 'assistant' && message.content == null && !message.tool_calls)
      return `messages[${i}].content: null without tool_calls`;
  }
  return open.length ? `An assistant message with 'tool_calls' must be followed by tool messages: ${open.join(', ')}` : null;
}

function responses(body) {
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : list(body.input);
  if (!input.length) return "Missing required parameter: 'input'.";
  for (const tool of list(body.tools))
    if (tool.type === 'function' && !tool_name.test(tool.name ?? '')) return "Invalid 'tools[].name'";
  const calls = new Set();
  const answered = new Set();
  for (const [i, item] of input.entries()) {
    if (item.type === 'function_call') {
      if (typeof item.arguments !== 'string') return `input[${i}].arguments: not a string`;
      calls.add(item.call_id);
    } else if (item.type === 'function_call_output') {
      if (!calls.has(item.call_id)) return `No tool call found for function call output with call_id ${item.call_id}.`;
      answered.add(item.call_id);
    } else if (item.type === 'reasoning') {
      const next = input[i + 1];
      if (!next || (next.type ?? 'message') === 'function_call_output' || next.role === 'user')
        return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
      if (body.store === false && !item.encrypted_content)
        return `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`;
    }
  }
  for (const call of calls) if (!answered.has(call)) return `No tool output found for function call ${call}.`;
  return null;
}

function gemini(body) {
  const contents = list(body.contents);
  if (!contents.length) return 'contents are required';
  for (const { name } of list(body.tools).flatMap((tool) => list(tool.functionDeclarations)))
    if (!/^[a-zA-Z_][\w.:-]{0,127}$/.test(name ?? '')) return `Invalid function name ${JSON.stringify(name)}`;
  let open = 0; // Calls of the turn before, that this one must answer.
  for (const [i, content] of contents.entries()) {
    if (!['user', 'model'].includes(content.role)) return 'Please use a valid role: user, model.';
    if (!list(content.parts).length) return `contents[${i}].parts: must not be empty.`;
    if (content.parts.some((part) => !Object.keys(part).some((key) => !key.startsWith('thought'))))
      return `contents[${i}].parts: required oneof field 'data' must have one initialized field`;
    const count = (kind) => content.parts.filter((part) => part[kind]).length;
    if (count('functionResponse') !== open)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    open = count('functionCall');
    if (open && content.role !== 'model') return `contents[${i}]: a function call is the model's.`;
    if (open && i > 0 && contents[i - 1].role === 'model')
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
  }
  return open ? 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.' : null;
}
