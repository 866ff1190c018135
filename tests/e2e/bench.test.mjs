// What bench/run makes of its rounds: medians, spreads, ratios, the table and the picture. No server, and nothing is measured.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { is_settled, judged, median, ratio, shown, spread, svg, table } from '../../bench/figures.mjs';
import { workloads } from '../../bench/workloads.mjs';
import { temporary_folder } from './harness/server.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const figure = (system, values, more = {}) => ({ what: 'w6.3', system, unit: '/s', run: 'a', rounds: values.map((value, at) => ({ round: at + 1, value })), ...more });
const result = (figures) => ({ run: 'a', at: '2026-11-18T09:00:00.000Z', commit: 'abc', machine: { cores: 2, file_system: 'ext4' }, systems: { errand: { version: '', durable: 'on disk' }, 'task-spooler': { version: '1.0.1', durable: 'nothing is stored' } }, figures });

test('the spread is that of the middle half: one bad round does not widen it for ever', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([1, 2, 3, 4]), 2.5);
  assert.equal(spread([100]), Infinity);
  assert.equal(spread([90, 100, 110]), 0.1);
  assert.ok(spread([100, 101, 99, 100, 1000]) < 0.05);
});

test('a ratio is made of the rounds that both have, one by one', () => {
  // The machine became twice as slow in the third round: for both.
  const times = ratio(figure('errand', [200, 220, 100]), figure('task-spooler', [100, 110, 50]));
  assert.deepEqual(times, { value: 2, spread: 0, rounds: 3 });
  const gap = figure('task-spooler', [100, 100]);
  gap.rounds[1].round = 3;
  assert.equal(ratio(figure('errand', [200, 900, 300]), gap).rounds, 2);
  assert.equal(ratio(figure('errand', [200]), figure('task-spooler', [])), undefined);
});

test('figures of two runs have no ratio', () => {
  assert.throws(() => ratio(figure('errand', [200]), figure('task-spooler', [100], { run: 'b' })), /two different runs/);
});

test('the table of two runs is refused; that of one is printed', (t) => {
  const folder = temporary_folder(t, 'bench');
  const files = [figure('errand', [200, 210, 190]), figure('task-spooler', [100, 100, 100], { run: 'b' })].map((one) => {
    const file = path.join(folder, `${one.run}.json`);
    fs.writeFileSync(file, JSON.stringify(result([one])));
    return file;
  });
  const run = (...args) => spawnSync(process.execPath, [path.join(root, 'bench/run.mjs'), '--table', ...args], { encoding: 'utf8' });
  const both = run(...files);
  assert.equal(both.status, 2);
  assert.match(both.stderr, /two different runs, so they have no ratio/);
  assert.equal(both.stdout, '');
  const one = run(files[0]);
  assert.equal(one.status, 0);
  assert.match(one.stdout, /W6 commands, 3 at once \| errand \| on disk \| 200\/s/);
});

test('rounds go on until the ratios are settled', () => {
  const ours = figure('errand', [100, 200, 300]);
  assert.ok(is_settled([ours, figure('raw', [200, 400, 600])], 3), 'both moved alike');
  assert.ok(!is_settled([ours, figure('raw', [200, 400, 1200])], 3));
  assert.ok(!is_settled([figure('errand', [100, 100]), figure('raw', [200, 200])], 3), 'too few');
  assert.ok(!is_settled([ours], 3), 'alone it is its own spread that counts');
  assert.ok(is_settled([figure('errand', [100, 101, 102])], 3));
});

test('the table says what is durable, what was aimed at, and what is not settled', () => {
  const ours = figure('errand', [200, 200, 200]), theirs = figure('task-spooler', [100, 100, 160]);
  const text = table(result([ours, theirs]), workloads);
  assert.match(text, /\| task-spooler 1\.0\.1 \| nothing is stored \| 100\/s \| 30 % of 3 \| 2\.00 x \(not settled: spread 19 %\)/);
  assert.match(text, /at least 1\.7 x task-spooler: met/);
  assert.equal(judged({ at_most: 1.5 }, figure('errand', [2], { unit: 'ms' }), new Map()), 'at most 1.50 ms: missed');
  assert.equal(shown(16700, '/s'), '16,700/s');
});

test('the picture has a bar for each system', () => {
  const picture = svg(result([figure('errand', [200, 210]), figure('task-spooler', [100, 120])]), workloads);
  assert.equal(picture.match(/<rect x=/g).length, 2);
  assert.match(picture, /^<svg [^]*<\/svg>\n$/);
});

test('every figure that is aimed at with a system is measured with that system', () => {
  for (const { systems, figures } of Object.values(workloads))
    for (const { target } of Object.values(figures)) for (const system of Object.keys(target?.times ?? {})) assert.ok(systems.includes(system), system);
});

test('a word that is neither a workload nor a peer is refused', () => {
  const refused = spawnSync(process.execPath, [path.join(root, 'bench/run.mjs'), 'w99'], { encoding: 'utf8' });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /w99 is neither a workload nor a peer/);
});
