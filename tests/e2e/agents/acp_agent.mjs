// An agent made with the official SDK of the Agent Client Protocol: what the protocol's own authors take for an agent.
//   node acp_agent.mjs TOOLS FOLDER
// TOOLS has the SDK (build/tools/e2e); in FOLDER it keeps its sessions, writes who it is, and finds what it waits for.
//
// A prompt is a script, a JSON list of steps; any other text is repeated.
//   { say }             a piece of the answer; { think } of its thoughts; { plan: [[text, status]] }
//   { run, ask, fail }  a shell command as a tool call; with `ask` permission is asked for first
//   { edit: [path, text], ask }  a file written as an edit, with its diff; { through: "client" } by the client
//   { terminal: command, kill, leave }  a shell command in a terminal of the client's, killed once it prints, or left running
//   { read: path }      a file read by the client, said as a piece of the answer
//   { wait: name }      until FOLDER/name exists, or the prompt is cancelled
//   { stop: reason }    ends the prompt so; { error: text, data } ends it with an error; { env: name } says a variable
//   { servers }         says the MCP servers that it was given
//   { later: [steps] }  these are followed by itself, when the prompt is answered; { mumble: name } says "." until FOLDER/name exists
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [tools, folder] = process.argv.slice(2);
const { agent, methods, ndJsonStream, RequestError } = await import(pathToFileURL(path.join(tools, 'node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js')));
const settings = JSON.parse(process.env.FAKE_AGENT ?? '{}');
fs.appendFileSync(path.join(folder, 'pids'), `${process.pid}\n`);

const file_of = (id) => path.join(folder, `session-${id}.json`);
const sessions = new Map(); // id -> { said: [[role, text]], cancelled, servers }
const save = (id) => fs.writeFileSync(file_of(id), JSON.stringify(sessions.get(id).said));

function load({ sessionId, mcpServers }) {
  if (!fs.existsSync(file_of(sessionId))) throw new RequestError(-32002, 'Session not found');
  sessions.set(sessionId, { said: JSON.parse(fs.readFileSync(file_of(sessionId), 'utf8')), servers: mcpServers });
}

let calls = 0;

async function follow(steps, id, client, signal) {
  const update = (what) => client.notify(methods.client.session.update, { sessionId: id, update: what });
  const said = [];
  const say = (text, sessionUpdate = 'agent_message_chunk') => {
    if (sessionUpdate === 'agent_message_chunk') said.push(text);
    return update({ sessionUpdate, content: { type: 'text', text } });
  };
  const call = async (first, options, work) => {
    const toolCallId = `call_${process.pid}_${++calls}`;
    await update({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...first });
    if (options.ask) {
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId: id,
        toolCall: { toolCallId, ...first },
        options: [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'ever', name: 'Yes, always', kind: 'allow_always' },
          { optionId: 'no', name: 'No', kind: 'reject_once' },
        ],
      });
      fs.appendFileSync(path.join(folder, 'outcomes'), `${JSON.stringify(outcome)}\n`);
      if (outcome.outcome !== 'selected' || outcome.optionId === 'no') return update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed', rawOutput: 'not allowed' });
    }
    await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
    const { output, failed } = await work();
    await update({ sessionUpdate: 'tool_call_update', toolCallId, status: failed ? 'failed' : 'completed', content: [{ type: 'content', content: { type: 'text', text: output } }] });
  };
  const shell = (command) =>
    new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.on('data', (piece) => (output += piece));
      signal.addEventListener('abort', () => child.kill('SIGKILL'));
      child.once('close', (code) => resolve({ output, failed: code !== 0 }));
    });
  for (const step of steps) {
    if (signal.aborted) return { stopReason: 'cancelled', said };
    if (step.say !== undefined) await say(step.say);
    if (step.think) await say(step.think, 'agent_thought_chunk');
    if (step.env) await say(String(process.env[step.env]));
    if (step.servers) await say(sessions.get(id).servers.map((server) => server.name).join(' '));
    if (step.plan) await update({ sessionUpdate: 'plan', entries: step.plan.map(([content, status]) => ({ content, status, priority: 'medium' })) });
    if (step.run) await call({ title: step.run, kind: 'execute', rawInput: { command: step.run } }, step, () => shell(step.run));
    if (step.edit) {
      const [name, newText] = step.edit;
      const oldText = fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : null;
      await call({ title: `Edit ${name}`, kind: 'edit', content: [{ type: 'diff', path: name, oldText, newText }], locations: [{ path: name }] }, step, async () => {
        if (step.through !== 'client') fs.writeFileSync(name, newText);
        else await client.request(methods.client.fs.writeTextFile, { sessionId: id, path: name, content: newText });
        return { output: 'written' };
      });
    }
    if (step.terminal) {
      const ask = (method, more) => client.request(methods.client.terminal[method], { sessionId: id, ...more });
      const toolCallId = `call_${process.pid}_${++calls}`;
      const { terminalId } = await ask('create', { command: step.terminal, env: [{ name: 'STEP', value: 'of the terminal' }], ...step.with });
      await update({ sessionUpdate: 'tool_call', toolCallId, title: step.terminal, kind: 'execute', status: 'in_progress', rawInput: { command: step.terminal }, content: [{ type: 'terminal', terminalId }] });
      if (step.kill) {
        while (!(await ask('output', { terminalId })).output) await new Promise((resolve) => setTimeout(resolve, 20));
        await ask('kill', { terminalId });
      }
      if (!step.leave) {
        const exit = await ask('waitForExit', { terminalId });
        const { output, truncated } = await ask('output', { terminalId });
        await update({ sessionUpdate: 'tool_call_update', toolCallId, status: exit.exitCode === 0 ? 'completed' : 'failed', content: [{ type: 'terminal', terminalId }] });
        await ask('release', { terminalId });
        await say(`${output.trim()} (${exit.exitCode ?? exit.signal}${truncated ? ', cut' : ''})`);
      }
    }
    if (step.read) {
      const answer = await client.request(methods.client.fs.readTextFile, { sessionId: id, path: step.read }).catch((error) => ({ content: `refused: ${error.message}` }));
      await say(answer.content);
    }
    if (step.wait) {
      fs.writeFileSync(path.join(folder, `at-${step.wait}`), '');
      while (!signal.aborted && !fs.existsSync(path.join(folder, step.wait))) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    if (step.later) setTimeout(() => follow(step.later, id, client, new AbortController().signal));
    while (step.mumble && !fs.existsSync(path.join(folder, step.mumble))) {
      await say('.');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    if (step.error) throw new RequestError(-32603, step.error, step.data);
    if (step.stop) return { stopReason: step.stop, said };
  }
  return { stopReason: signal.aborted ? 'cancelled' : 'end_turn', said };
}

agent({ name: 'scripted' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: { name: 'scripted', title: 'Scripted', version: '1' },
    agentCapabilities: { loadSession: true, sessionCapabilities: settings.no_resume ? {} : { resume: {} }, ...settings.can },
    authMethods: [{ id: 'login', name: 'Log in', description: 'Type `scripted login`.' }],
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    if (settings.logged_out) throw RequestError.authRequired();
    const sessionId = `s${process.pid}-${Date.now()}`;
    sessions.set(sessionId, { said: [], servers: params.mcpServers });
    save(sessionId);
    return { sessionId, modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }, { id: 'b', name: 'B' }] } };
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    load(params);
    return {};
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    load(params);
    for (const [role, text] of sessions.get(params.sessionId).said)
      await client.notify(methods.client.session.update, { sessionId: params.sessionId, update: { sessionUpdate: role === 'user' ? 'user_message_chunk' : 'agent_message_chunk', content: { type: 'text', text } } });
    return {};
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    fs.writeFileSync(path.join(folder, 'mode'), params.modeId);
    return {};
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const session = sessions.get(params.sessionId);
    const control = new AbortController();
    session.cancel = () => control.abort();
    const texts = params.prompt.map((block) => block.text);
    let steps;
    try {
      steps = JSON.parse(texts.at(-1));
    } catch {
      steps = [{ say: `You said: ${texts.join(' | ')}; before it: ${session.said.map(([, text]) => text).join(' | ')}` }];
    }
    for (const text of texts) session.said.push(['user', text]);
    const { stopReason, said } = await follow(steps, params.sessionId, client, control.signal);
    session.said.push(['agent', said.join('')]);
    save(params.sessionId);
    return { stopReason, usage: { inputTokens: 40, outputTokens: 9, totalTokens: 49 } };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel?.())
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
