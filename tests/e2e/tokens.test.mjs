// The estimate of tokens against real tokenizers: OpenAI's cl100k and o200k (gpt-tokenizer) and the one that Anthropic
// has published (@anthropic-ai/tokenizer). What counts is the largest of the three: never less, at most 30 % more.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { kinds, mixture, random } from './harness/texts.mjs';

const root = resolve(import.meta.dirname, '../..');
const program = join(dirname(resolve(process.env.ERRAND_BIN)), 'tests/fork/estimate_tokens');
let truth;

before(async () => {
  const tools = createRequire(join(resolve(process.env.ERRAND_E2E_TOOLS), 'package.json'));
  const cl100k = tools('gpt-tokenizer/encoding/cl100k_base');
  const o200k = tools('gpt-tokenizer/encoding/o200k_base');
  const claude = tools('@anthropic-ai/tokenizer').getTokenizer();
  const plain = { allowedSpecial: 'all' };
  truth = (text) => Math.max(cl100k.countTokens(text, plain), o200k.countTokens(text, plain), claude.encode(text.normalize('NFKC'), 'all').length);
});

function estimates(texts) {
  const out = execFileSync(program, { input: texts.join('\0'), maxBuffer: 64 << 20 });
  return out.toString().trim().split('\n').map(Number);
}

// Holds all texts to both sides, and says how close they came.
function hold(t, texts, what) {
  const guessed = estimates(texts);
  assert.equal(guessed.length, texts.length);
  const ratios = texts.map((text, i) => ({ ratio: guessed[i] / truth(text), i }));
  const sorted = ratios.toSorted((a, b) => a.ratio - b.ratio);
  t.diagnostic(`${texts.length} texts: ${sorted[0].ratio.toFixed(3)} to ${sorted.at(-1).ratio.toFixed(3)}, median ${sorted[sorted.length >> 1].ratio.toFixed(3)}`);
  for (const { ratio, i } of [sorted[0], sorted.at(-1)])
    assert.ok(ratio >= 1 && ratio <= 1.3, `${what(i)}: ${guessed[i]} is ${ratio.toFixed(3)} of the truth: ${JSON.stringify(texts[i].slice(0, 200))}`);
}

// Short ones beside long ones: a limit is held by the sum of many messages.
const lengths = [600, 1500, 6000, 20000];
const seeds = Array.from({ length: process.env.ERRAND_TEST_LONG ? 100 : 12 }, (_, i) => i + 1);

for (const [name, make] of Object.entries({ ...kinds, mixture }))
  test(`the estimate for ${name} is never less than the truth and at most 30 % above it`, (t) => {
    const list = seeds.flatMap((seed) => lengths.map((length) => ({ seed, length })));
    hold(t, list.map(({ seed, length }) => make(random(seed), length)), (i) => `seed ${list[i].seed}, ${list[i].length} characters`);
  });

test("so is it for this project's own pages and sources", (t) => {
  // By folder, in slices: one file of a few lines says nothing of the estimate.
  const slices = [];
  for (const folder of ['.', 'docs', 'src/task', 'src/engine', 'src/net', 'src/cli', 'web/src/chat', 'web/src/i18n', 'tests/e2e']) {
    const files = readdirSync(join(root, folder)).filter((file) => /\.(md|cc|h|tsx?|mjs)$/.test(file));
    const text = files.map((file) => readFileSync(join(root, folder, file), 'utf8').replaceAll('\0', '')).join('\n');
    for (let at = 0; at === 0 || at + 10000 < text.length; at += 40000) slices.push({ folder, text: text.slice(at, at + 40000).toWellFormed() });
  }
  assert.ok(slices.length > 20);
  hold(t, slices.map(({ text }) => text), (i) => slices[i].folder);
});
