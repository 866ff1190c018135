// What errand adds to a turn: each agent alone, as a person would start it, and through errand, one after the other, against the
// scripted model (tests/model), with one command in the turn. Time from the order to the end; and the CPU time of errand's own
// processes (server and supervisor), which the agent alone does not need.
//   node bench/agents.mjs [RUNS] [AGENT...]      needs build/release/errand and build/tools/e2e (scripts/test fetches it)
import { spawn } from 'node:child_process';
import path from 'node:path';

import { agent_rows, agent_skip, agent_world } from '../tests/e2e/harness/agents.mjs';
import { tools_folder } from '../tests/e2e/harness/contract.mjs';
import { cpu_ms } from '../tests/e2e/harness/processes.mjs';

const codex = path.join(tools_folder, 'node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex');
const alone = {
  claude: (bin) => [`${bin}/claude`, '-p', '--allowedTools', 'Bash', '--', 'go'],
  opencode: (bin) => [`${bin}/opencode`, 'run', 'go'],
  codex: () => [codex, 'exec', '--skip-git-repo-check', 'go'],
};

const runs = Number(process.argv[2] ?? 7);
const names = process.argv.length > 3 ? process.argv.slice(3) : Object.keys(alone);

const ended = (words, options) =>
  new Promise((resolve, reject) => {
    const child = spawn(words[0], words.slice(1), { ...options, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${words[0]} ended with ${code}`))));
  });
const timed = async (work) => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
const sorted = (numbers) => numbers.slice().sort((a, b) => a - b);
const median = (numbers) => sorted(numbers)[Math.floor(numbers.length / 2)];

console.log(`agent | alone, ms | through errand, ms | more | errand's CPU, ms   (median of ${runs}; the fastest)`);
for (const name of names) {
  const skip = agent_skip(agent_rows[name]);
  if (skip) {
    console.log(`${name} | skipped: ${skip}`);
    continue;
  }
  const undo = [];
  const scope = { after: (step) => undo.push(step), passed: true };
  const { server, ask, rest, rule, row, folder, work_dir } = await agent_world(scope, name);
  rule('go', [row.shell('echo one'), { text: 'done' }]);
  const own = () => [server.pid, ...server.supervisor_pids()].reduce((sum, pid) => sum + (cpu_ms(pid) || 0), 0);
  const through = async () => {
    const before = own();
    let task;
    const ms = await timed(async () => (task = await rest((await ask('go')).id, { within: 300_000 })));
    if (task.status !== 'completed') throw new Error(JSON.stringify(task.error));
    return [ms, own() - before];
  };
  const by_itself = () => timed(() => ended(alone[name](path.join(folder, 'bin')), { cwd: work_dir, env: { ...server.env, DISABLE_AUTOUPDATER: '1' } }));
  // Once without counting: what each writes at its first start is not a turn's.
  await by_itself();
  await through();
  const [left, right, cpu] = [[], [], []];
  for (let i = 0; i < runs; i++) {
    left.push(await by_itself());
    const [ms, used] = await through();
    right.push(ms);
    cpu.push(used);
  }
  const cell = (numbers) => `${median(numbers).toFixed(0)} (${sorted(numbers)[0].toFixed(0)})`;
  console.log([name, cell(left), cell(right), `${((median(right) / median(left) - 1) * 100).toFixed(0)} %`, cell(cpu)].join(' | '));
  for (const step of undo) await step();
}
