// What the page may cost, measured in Chromium against the release binary: node bench/page/budget.mjs [tasks]
// Prints a table of what was measured beside what is allowed, and ends with 1 where something is over. Needs what
// scripts/test sets up. The machine's load counts: run it on a quiet one.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';

import { root, Server } from '../../tests/e2e/harness/server.mjs';
import { Browser, until } from '../../tests/page/harness/browser.mjs';

const many = Number(process.argv[2] ?? 10_000);
const undo = [];
const t = { after: (step) => undo.unshift(step), passed: true };
const rows = [];
const report = (name, measured, allowed, unit) => rows.push({ name, measured: Math.round(measured * 10) / 10, allowed, unit, over: measured > allowed });
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

// --- What is sent.
const dist = path.join(root, 'build/page/dist');
const size = (file, pack) => pack(fs.readFileSync(path.join(dist, file))).length / 1000;
const index = fs.readFileSync(path.join(dist, 'index.html'), 'utf8');
const first = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((match) => match[1]);
const all = fs.readdirSync(path.join(dist, 'assets')).map((name) => `assets/${name}`);
report('initial JS and CSS, brotli', first.reduce((sum, file) => sum + size(file, zlib.brotliCompressSync), 0), 160, 'kB');
report('initial JS and CSS, gzip', first.reduce((sum, file) => sum + size(file, zlib.gzipSync), 0), 180, 'kB');
report('largest lazy file, gzip', Math.max(...all.filter((file) => !first.includes(file)).map((file) => size(file, zlib.gzipSync))), 35, 'kB');
report('all files, brotli', all.reduce((sum, file) => sum + size(file, zlib.brotliCompressSync), 0), 250, 'kB');

try {
  const server = await Server.start(t, { args: ['--max-concurrent', '8'] });
  const browser = await Browser.open(t);
  let next = 0;
  const worker = async () => {
    while (next < many) await server.launch({ agent_id: 'demo', message: 'noop', title: `task ${next++} of the backlog` }, { check: false });
  };
  await Promise.all(Array.from({ length: 32 }, worker));

  // --- To the first row, in a fresh browser each time.
  const person = await browser.person(t, server);
  const page = await person.login();
  await page.locator('[data-task]').first().waitFor();
  const firsts = [];
  let requests = 0;
  for (let i = 0; i < 5; i++) {
    requests = 0;
    const count = () => requests++;
    page.on('request', count);
    await page.goto(`${server.url}/tasks`, { waitUntil: 'commit' });
    await page.locator('[data-task]').first().waitFor();
    firsts.push(await page.evaluate(() => performance.now()));
    page.off('request', count);
  }
  report(`first row of ${many} tasks`, median(firsts), 600, 'ms');
  report('requests to it', requests, 12, '');

  // --- Scrolling and jumping.
  const list = page.getByTestId('task-list');
  const gaps = await list.evaluate(async (box) => {
    const found = [];
    let last = performance.now();
    const end = last + 3000;
    while (last < end) {
      box.scrollTop += 600;
      const now = await new Promise(requestAnimationFrame);
      found.push(now - last);
      last = now;
    }
    return found.slice(2).sort((a, b) => a - b);
  });
  report('scrolling: frame gap, 95 %', gaps[Math.floor(gaps.length * 0.95)], 34, 'ms');
  const jumps = [];
  for (const part of [0.3, 0.8, 0.5, 0.95]) {
    const began = performance.now();
    await list.evaluate((box, where) => box.scrollTo(0, box.scrollHeight * where), part);
    await until(async () => {
      const shown = await page.locator('[data-task]').evaluateAll((each) => each.map((row) => Number(row.getAttribute('aria-rowindex'))));
      return shown.length > 5 && Math.abs(Math.min(...shown) / many - part) < 0.05;
    });
    jumps.push(performance.now() - began);
  }
  report('a jump anywhere is filled', median(jumps), 150, 'ms');
  const began = performance.now();
  await page.getByRole('searchbox').fill(`task ${many - 7} of`);
  await until(async () => (await page.locator('[data-task]').count()) === 1);
  report('search, to the result (120 ms of it waits for more letters)', performance.now() - began, 400, 'ms');

  // --- A flood of text.
  const task = await server.ask('silent 2 flood 30000');
  await page.goto(`${server.url}/chat?taskId=${task.id}`);
  await page.getByTestId('transcript').waitFor();
  await page.evaluate(() => {
    globalThis.long = [];
    new PerformanceObserver((seen) => globalThis.long.push(...seen.getEntries().map((entry) => entry.duration))).observe({ type: 'longtask' });
  });
  await server.at_rest(task.id, { within: 60_000 });
  await page.getByText('That were 30000 pieces of text.').waitFor();
  const long = await page.evaluate(() => globalThis.long);
  report('30,000 pieces of text at once: blocked', long.reduce((sum, ms) => sum + ms - 50, 0), 500, 'ms');
  report('elements on the page then', await page.locator('*').count(), 500, '');
  const from_end = await page.getByTestId('transcript').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
  report('distance from the end then', from_end, 40, 'px');

  // --- A long log.
  const log = await server.run('seq 1 100000 | sed "s/^/line of a long log /"');
  await server.at_rest(log.id);
  await page.goto(`${server.url}/chat?taskId=${log.id}`, { waitUntil: 'commit' });
  await page.getByText('line of a long log 100000').waitFor();
  report('100,000 lines of a log, from the address to the last line', await page.evaluate(() => performance.now()), 1500, 'ms');
} finally {
  for (const step of undo) await step();
}

console.log(`load ${os.loadavg().map((each) => each.toFixed(1)).join(' ')}, ${os.cpus().length} cores`);
for (const { name, measured, allowed, unit, over } of rows) console.log(`${over ? 'OVER' : 'ok  '} ${name}: ${measured} ${unit} (at most ${allowed})`);
process.exit(rows.some((row) => row.over) ? 1 : 0);
