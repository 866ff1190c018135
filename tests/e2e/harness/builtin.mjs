// The built-in agent on a scripted model, over real HTTP.
import fs from 'node:fs';
import path from 'node:path';

import { start_model } from '../../model/server.mjs';
import { Server } from './server.mjs';

export const call = (name, input = {}, more = {}) => ({ tool: { name, input }, ...more });

/** A server whose only model is the scripted one; `work` is a folder for its tasks. */
export async function start_builtin(t, { api = 'anthropic', settings = '', env = {}, keys = null, ...options } = {}) {
  const model = await start_model({ keys });
  t.after(() => model.close());
  const server = new Server(t, { ...options, env: { ...model.env(api), ...env } });
  const work = path.join(server.folder, 'work');
  fs.mkdirSync(work, { recursive: true });
  if (settings) {
    fs.mkdirSync(server.data_dir, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), settings);
  }
  await server.start();
  const own = {
    server,
    model,
    work,
    launch: (message, more = {}) => server.launch({ agent_id: 'builtin', message, work_dir: work, permission: 'allow', ...more }),
    file: (name) => path.join(work, name),
    read: (name) => fs.readFileSync(path.join(work, name), 'utf8'),
    write: (name, text) => fs.writeFileSync(path.join(work, name), text),
    async messages(id) {
      const all = [];
      for (;;) {
        const page = await server.get(`/api/tasks/${id}/messages?after=${all.at(-1)?.seq ?? 0}&limit=500`);
        all.push(...page.messages);
        if (page.messages.length === 0) return all;
      }
    },
    // The transcript as lines: who said what, which calls were made and what came of them.
    async transcript(id) {
      return (await own.messages(id)).flatMap((m) => m.parts.map((p) => line_of(m, p)));
    },
    answer: (id, body) => server.expect(200, 'POST', `/api/tasks/${id}/answer`, body),
    say: (id, message, more = {}) => server.expect(202, 'POST', `/api/tasks/${id}/message`, { message, ...more }),
    asking: (id) => server.when(id, (task) => task.waiting_for?.request_id),
  };
  return own;
}

function line_of(message, part) {
  if (part.type === 'tool_call') return `call ${part.name}`;
  if (part.type === 'tool_result') return `${part.is_error ? 'error' : 'result'} ${part.output ?? part.text}`;
  if (part.type === 'notice') return `${message.role} notice ${part.name ?? ''}: ${part.text}`;
  return `${message.role} ${part.type}: ${part.text}`;
}

// What a model was told of a call's result, in whichever API it was asked.
export function results_told(record) {
  const body = record.body;
  if (record.api === 'anthropic')
    return body.messages.flatMap((m) => (Array.isArray(m.content) ? m.content.filter((b) => b.type === 'tool_result') : [])).map((b) => text_of(b.content));
  if (record.api === 'chat') return body.messages.filter((m) => m.role === 'tool').map((m) => text_of(m.content));
  return body.input.filter((i) => i.type === 'function_call_output').map((i) => text_of(i.output));
}
const text_of = (content) => (typeof content === 'string' ? content : (content ?? []).map((c) => c.text ?? '').join(''));
export const tools_told = (record) => record.body.tools.map((tool) => tool.name ?? tool.function.name);
export const system_told = (record) => (record.api === 'anthropic' ? text_of(record.body.system) : record.api === 'chat' ? text_of(record.body.messages[0].content) : record.body.instructions);

/** A parent agent that does what the test says, call by call: its model waits at every step for the next word. */
export class Puppet {
  #n = 0;
  constructor(own, words = 'do as I say') {
    this.own = own;
    this.words = words;
    this.steps = Array.from({ length: 60 }, (_, i) => ({ wait: `${words} ${i}` }));
    own.model.rule(words, this.steps);
  }
  async start(more = {}) {
    this.task = await this.own.launch(this.words, more);
    await this.own.model.waiting(this.steps[0].wait);
    return this;
  }
  // Makes one call and answers what its model was told of it.
  async call(name, input = {}) {
    return (await this.calls([[name, input]]))[0];
  }
  async calls(list) {
    Object.assign(this.steps[this.#n], { tools: list.map(([name, input]) => ({ name, input })) });
    this.own.model.release(this.steps[this.#n++].wait);
    await this.own.model.waiting(this.steps[this.#n].wait);
    const asked = this.own.model.requests().findLast((record) => record.step === this.steps[this.#n]);
    return results_told(asked).slice(-list.length);
  }
  // What its model was last told, as text.
  told() {
    return JSON.stringify(this.own.model.requests().findLast((record) => record.step === this.steps[this.#n]).body.messages);
  }
  async end(text = 'I am done.') {
    Object.assign(this.steps[this.#n], { text });
    this.own.model.release(this.steps[this.#n++].wait);
    return this.own.server.at_rest(this.task.id, { within: 30_000 });
  }
  // A further turn: the steps go on behind the new message.
  async resume(words) {
    const own = this.own;
    this.words = words;
    this.#n = 0;
    this.steps = Array.from({ length: 60 }, (_, i) => ({ wait: `${words} ${i}` }));
    own.model.rule(words, this.steps);
    await own.say(this.task.id, words);
    await own.model.waiting(this.steps[0].wait);
  }
}
export const task_in = (text) => /task_[0-9a-z]{26}/.exec(text)?.[0];
