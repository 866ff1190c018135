// What errand adds to a turn: each agent alone, as a person would start it, and through errand, in pairs that alternate, against
// the scripted model (tests/model), with one command in the turn. The model thinks for THINK_MS before each of its two answers, so
// that it is a turn of seconds. Time from the order to the end, as the median of the pairs' differences: what else the machine does
// meets both of a pair. And the CPU time of errand's own processes (server and supervisor), which the agent alone does not need.
//   node bench/agents.mjs [PAIRS [AGENT...]]      needs build/release/errand and build/tools/e2e (scripts/test fetches it)
// An agent gets SECONDS (40) for all its pairs, and one turn at most TURN_S (60); what takes longer is ended and said.
import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';

import { agent_rows, agent_skip, agent_world } from '../tests/e2e/harness/agents.mjs';
import { tools_folder } from '../tests/e2e/harness/contract.mjs';
import { cpu_ms } from '../tests/e2e/harness/processes.mjs';

const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
const [think_ms, seconds, turn_s] = [number('THINK_MS', 1000), number('SECONDS', 40), number('TURN_S', 60)];
const pairs = Number(process.argv[2] ?? 9);

// The built-in agent has no program of its own: the least that such a turn can be is its two requests and its command.
const bare = `
const ask = async (messages) => {
  const answer = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: 'm', max_tokens: 1000, stream: true, tools: [{ name: 'bash', description: 'x', input_schema: { type: 'object' } }], messages }) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
};
const go = { role: 'user', content: 'go' };
await ask([go]);
const output = (await import('node:child_process')).execFileSync('bash', ['-c', 'echo one'], { encoding: 'utf8' });
await ask([go, { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} }] }, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: output }] }]);
`;
const alone = {
  builtin: () => [process.execPath, '--input-type=module', '-e', bare],
  claude: (bin) => [`${bin}/claude`, '-p', '--allowedTools', 'Bash', '--', 'go'],
  opencode: (bin) => [`${bin}/opencode`, 'run', 'go'],
};
// An agent over ACP alone is its program with the least client that there can be. (`codex exec` is another program than the adapter
// that errand drives, and starts without Node.)
const alone_over_acp = {
  codex: (bin) => [`${bin}/codex-acp`],
  'acp:gemini': (bin) => [`${bin}/gemini`, '--acp', '-m', 'gemini-2.5-flash'],
};
const names = process.argv.length > 3 ? process.argv.slice(3) : [...Object.keys(alone), ...Object.keys(alone_over_acp)];

// In a process group of its own, so that whatever it has started goes with it. `talk(child, done)`: it is over when that says so,
// instead of at its own end.
const ended = (words, options, talk) =>
  new Promise((resolve, reject) => {
    const child = spawn(words[0], words.slice(1), { ...options, stdio: talk ? 'pipe' : ['ignore', 'ignore', 'pipe'], detached: true });
    let last = '';
    child.stderr.on('data', (piece) => (last = (last + piece).slice(-500)));
    const over = (error) => {
      clearTimeout(timer);
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
      if (error) reject(new Error(`alone it ${error}: ${last}`));
      else resolve();
    };
    const timer = setTimeout(() => over(`did not end within ${turn_s} s`), turn_s * 1000);
    child.once('error', reject);
    child.once('exit', (code) => over(code === 0 ? null : `ended with ${code}`));
    talk?.(child, over);
  });

// A session, and one prompt in it; whatever it asks is allowed.
const talk_acp = (cwd) => (child, done) => {
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const steps = [
    () => send({ id: 0, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false }, clientInfo: { name: 'bench', version: '1' } } }),
    () => send({ id: 1, method: 'session/new', params: { cwd, mcpServers: [] } }),
    ({ sessionId }) => send({ id: 2, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: 'go' }] } }),
    () => done(),
  ];
  let rest = '';
  child.stdin.on('error', () => {});
  child.stdout.on('data', (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const message of lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))) {
      if (message.method === 'session/request_permission') send({ id: message.id, result: { outcome: { outcome: 'selected', optionId: message.params.options.find((option) => option.kind.startsWith('allow')).optionId } } });
      else if (message.error) done(`answered ${JSON.stringify(message.error)}`);
      else if (message.result) steps[message.id + 1](message.result);
    }
  });
  steps[0]();
};
const timed = async (work) => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
const median = (numbers) => numbers.slice().sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function measure(name, world) {
  const { server, ask, rest, rule, row, folder, work_dir } = world;
  rule('go', [{ ...row.shell('echo one'), delay_ms: think_ms }, { text: 'done', delay_ms: think_ms }]);
  const own = () => [server.pid, ...server.supervisor_pids()].reduce((sum, pid) => sum + (cpu_ms(pid) || 0), 0);
  const through = async () => {
    const before = own();
    let task;
    const ms = await timed(async () => (task = await rest((await ask('go')).id, { within: turn_s * 1000 })));
    if (task.status !== 'completed') throw new Error(JSON.stringify(task.error));
    return [ms, own() - before];
  };
  const env = { ...server.env, DISABLE_AUTOUPDATER: '1' };
  const bin = path.join(folder, 'bin');
  const words = (alone[name] ?? alone_over_acp[name])(bin);
  const by_itself = () => timed(() => ended(words, { cwd: work_dir, env }, alone[name] ? undefined : talk_acp(work_dir)));
  // Once without counting: what each writes at its first start is not a turn's.
  await by_itself();
  await through();
  const measured = [];
  const until = performance.now() + seconds * 1000;
  while (measured.length < pairs && (measured.length < 3 || performance.now() < until)) {
    // Each goes first in every other pair.
    const late = measured.length % 2 ? await by_itself() : null;
    const [ms, cpu] = await through();
    measured.push({ alone: late ?? (await by_itself()), through: ms, cpu });
  }
  const more = measured.map((pair) => (pair.through / pair.alone - 1) * 100);
  const cell = (key) => median(measured.map((pair) => pair[key])).toFixed(0);
  return [cell('alone'), cell('through'), `${median(more).toFixed(1)} % (${Math.min(...more).toFixed(0)} to ${Math.max(...more).toFixed(0)})`, cell('cpu'), measured.length];
}

console.log(`load ${os.loadavg()[0].toFixed(1)} on ${os.availableParallelism()} cores; the model thinks for 2 x ${think_ms} ms; medians of pairs`);
console.log('agent | alone, ms | through errand, ms | more | CPU of errand, ms | pairs');
for (const name of names) {
  const skip = agent_skip(agent_rows[name]);
  if (skip) {
    console.log(`${name} | skipped: ${skip}`);
    continue;
  }
  const undo = [];
  const scope = { after: (step) => undo.push(step), passed: true };
  try {
    console.log([name, ...(await measure(name, await agent_world(scope, name)))].join(' | '));
  } catch (error) {
    console.log(`${name} | failed: ${error.message.replace(/\s+/g, ' ')}`);
  }
  for (const step of undo) await step();
}
console.log(`load ${os.loadavg()[0].toFixed(1)} at the end`);
