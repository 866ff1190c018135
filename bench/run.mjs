// bench/run: see there, and docs/benchmarks.md. Rounds of errand_bench, one system after the other.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

import { is_settled, shown, svg, table } from './figures.mjs';
import { peers } from './peers.mjs';
import { workloads } from './workloads.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const bench = path.join(root, 'build/release/bench/errand_bench');
const least = 3; // Rounds.

// What is measured in other ways, and prints tables of its own: each by itself.
const native = (name) => [path.join(root, 'build/release/bench', name)];
const script = (name) => [process.execPath, path.join(root, 'bench', name)];
const studies = { agents: script('agents.mjs'), codex: script('codex.mjs'), opencode: script('opencode.mjs'), page: script('page/budget.mjs'), fork: native('fork_bench'), lists: native('lists_bench'), store: native('store_bench') };

const usage = `usage: bench/run [--rounds N] [--tasks N] [--waiting N] [WORKLOAD...] [PEER...]
       bench/run STUDY [ARGUMENT...]
       bench/run --table FILE...
WORKLOAD: ${Object.keys(workloads).join(' ')}; PEER: ${Object.keys(peers).join(' ')}; STUDY: ${Object.keys(studies).join(' ')}`;
const stop = (text) => {
  console.error(text);
  process.exit(2);
};

if (studies[process.argv[2]]) {
  const [program, ...args] = studies[process.argv[2]];
  const { status } = spawnSync(program, [...args, ...process.argv.slice(3)], { stdio: 'inherit', cwd: root, env: { ERRAND_BIN: path.join(root, 'build/release/errand'), ERRAND_E2E_TOOLS: path.join(root, 'build/tools/e2e'), ERRAND_PAGE_TOOLS: path.join(root, 'build/tools/page'), ERRAND_MODEL_TOOLS: path.join(root, 'build/tools/model'), ...process.env } });
  process.exit(status ?? 1);
}

const { values: options, positionals: words } = (() => {
  try {
    return parseArgs({ allowPositionals: true, options: { rounds: { type: 'string', default: '9' }, tasks: { type: 'string' }, waiting: { type: 'string' }, table: { type: 'boolean' }, help: { type: 'boolean' } } });
  } catch (error) {
    stop(`${error.message}\n${usage}`);
  }
})();
if (options.help) {
  console.log(usage);
  process.exit(0);
}

if (options.table) {
  const runs = words.map((file) => JSON.parse(fs.readFileSync(file, 'utf8')));
  // Figures of two runs in one table have no ratios: it is refused (figures.mjs).
  const all = { ...runs[0], figures: runs.flatMap(({ figures }) => figures), systems: Object.assign({}, ...runs.map(({ systems }) => systems)) };
  try {
    console.log(table(all, workloads));
  } catch (error) {
    stop(error.message);
  }
  process.exit(0);
}

const unknown = words.find((word) => !workloads[word] && !peers[word]);
if (unknown) stop(`${unknown} is neither a workload nor a peer.\n${usage}`);
const wanted = words.filter((word) => workloads[word]);
const asked_peers = words.filter((word) => peers[word]);
const chosen = wanted.length ? wanted : Object.keys(workloads);
const most = Math.max(1, Number(options.rounds) || 1);
const systems_of = (name) => workloads[name].systems.filter((system) => !peers[system] || !asked_peers.length || asked_peers.includes(system));

// Whatever runs when this is ended goes with it.
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, async () => {
    for (const one of running) await one.stop();
    process.exit(130);
  });

const file_system = (folder) => execFileSync('stat', ['-f', '-c', '%T', folder], { encoding: 'utf8' }).trim();
const temporary = process.env.TMPDIR ?? '/tmp';
const result = {
  run: randomUUID(),
  at: new Date().toISOString(),
  commit: execFileSync('git', ['describe', '--always', '--abbrev=12', '--match=', '--dirty'], { cwd: root, encoding: 'utf8' }).trim(),
  machine: { cores: os.availableParallelism(), processor: os.cpus()[0]?.model ?? '?', kernel: os.release(), file_system: file_system(temporary), load_before: os.loadavg()[0] },
  systems: {
    errand: { version: '', durable: 'on disk' },
    raw: { version: '' },
  },
  left_out: {},
  generator: {},
  figures: [],
};

const run_bench = async (args) => {
  const { stdout } = await promisify(execFile)(bench, args, { maxBuffer: 1 << 26, timeout: 600_000 });
  return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
};
const sizes = ['tasks', 'waiting'].flatMap((name) => (options[name] ? [`--${name}`, options[name]] : []));

/** The figures of one system in one round. */
async function measure(workload, system) {
  const peer = peers[system];
  if (!peer?.start) return run_bench([workload, system, ...sizes]);
  const lines = [];
  for (const at_once of workloads[workload].sizes) {
    const one = await peer.start(workloads[workload].work, at_once);
    running.add(one);
    try {
      lines.push(...(await run_bench([workload, `peer:${one.port}`, '--at-once', String(at_once)])));
    } finally {
      running.delete(one);
      await one.stop();
    }
  }
  return lines;
}

const needed = new Set(chosen.flatMap(systems_of).filter((system) => peers[system]));
for (const system of needed) {
  try {
    const version = await peers[system].install();
    result.systems[system] = { version, durable: peers[system].durable };
    if (peers[system].env) Object.assign(process.env, peers[system].env());
  } catch (error) {
    // A table without a peer is a table; one without errand is none.
    result.left_out[system] = error.message.split('\n')[0];
    console.error(`${system} is left out: ${result.left_out[system]}`);
  }
}

const about = result.machine;
console.log(`errand ${result.commit}, ${result.at}, ${about.cores} cores (${about.processor}), Linux ${about.kernel}, ${about.file_system} in ${temporary}, load ${about.load_before.toFixed(1)}`);
for (const line of await run_bench(['load', 'raw'])) result.generator[line.what] = line.value;
console.log(`The load generator alone, with a server that stores nothing: ${shown(result.generator['load.1'], '/s')} with 1 connection, ${shown(result.generator['load.64'], '/s')} with 64. Nothing measured over HTTP can be faster.`);

for (const name of chosen) {
  const systems = systems_of(name).filter((system) => !(system in result.left_out));
  const here = () => result.figures.filter(({ what }) => what in workloads[name].figures);
  for (let round = 1; round <= most && !(round > least && is_settled(here(), least)); ++round) {
    // Each goes first in its turn: what one leaves behind (dirty pages, warm caches) meets all.
    const order = systems.map((_, at) => systems[(at + round - 1) % systems.length]);
    for (const system of order) {
      process.stderr.write(`${name} round ${round}: ${system}\n`);
      let lines;
      try {
        lines = await measure(name, system);
      } catch (error) {
        if (system === 'errand' || system === 'raw') throw error;
        result.left_out[system] ??= error.message.split('\n').slice(0, 2).join(' ');
        console.error(`${system} failed in ${name}: ${error.message}`);
        systems.splice(systems.indexOf(system), 1);
        continue;
      }
      for (const { what, value, unit, ...more } of lines) {
        let figure = result.figures.find((one) => one.what === what && one.system === system);
        if (!figure) result.figures.push((figure = { what, system, unit, run: result.run, rounds: [] }));
        figure.rounds.push({ round, value, ...more });
      }
    }
  }
}

about.load_after = os.loadavg()[0];
const folder = path.join(root, 'build/bench');
fs.mkdirSync(folder, { recursive: true });
const file = path.join(folder, `${result.at.replaceAll(':', '').slice(0, 17)}Z`);
fs.writeFileSync(`${file}.json`, `${JSON.stringify(result, null, 1)}\n`);
fs.writeFileSync(`${file}.svg`, svg(result, workloads));
console.log(`\n${table(result, workloads)}\n`);
for (const [system, why] of Object.entries(result.left_out)) console.log(`${system}: left out (${why})`);
console.log(`load ${about.load_after.toFixed(1)} at the end; spread: how far the middle half of the rounds lies apart. ${path.relative(root, file)}.json and .svg`);
