// R2.2 for the built-in agent: killed with its server at each step, it goes on from the stored conversation. What may have
// had effects is done once; what was cut is asked for again; everything is in the transcript.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { call, results_told, start_builtin } from './harness/builtin.mjs';
import { until, window_of } from './harness/index.mjs';

const lines = (text) => text.split('\n').filter(Boolean);

// An answer, a command, a file, the last word; `at` holds one of them.
async function story(t, at = {}) {
  const own = await start_builtin(t);
  own.model.rule('the story', [
    { text: ['I beg', 'in.'], ...call('bash', { command: 'echo ran >> witness; while [ ! -e go ]; do sleep 0.02; done; echo out' }), ...at.first },
    { ...call('write', { path: 'made.txt', content: 'made\n' }), ...at.second },
    { text: ['It is ', 'done.'], ...at.last },
  ]);
  return own;
}

async function ends_well({ server, model, transcript, read }, id) {
  const task = await server.at_rest(id, { within: 30_000 });
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  assert.equal(task.result, 'It is done.');
  assert.deepEqual(lines(read('witness')), ['ran']);
  assert.equal(read('made.txt'), 'made\n');
  const told = results_told(model.requests().at(-1));
  assert.equal(told.length, 2);
  assert.match(told[0], /out/);
  const all = await transcript(id);
  assert.equal(all.filter((line) => line === 'call bash').length, 1);
  assert.equal(all.filter((line) => line === 'call write').length, 1);
  assert.equal(all.at(-1), 'assistant text: It is done.');
  // Numbers without gaps: nothing was told that was not stored.
  const events = await server.events(id);
  assert.deepEqual(events.map((e) => e.seq), events.map((_, i) => i + 1));
  assert.equal(events.filter((e) => e.type === 'end').length, 1);
}

test('Killed before the model has answered: it is asked again', async (t) => {
  const own = await story(t, { first: { wait: 'here' } });
  own.write('go', '');
  const { id } = await own.launch('the story');
  await own.model.waiting('here');
  await own.server.kill9();
  await own.model.over(1);
  own.model.release('here'); // For the second time that it is asked.
  await own.server.start();
  await ends_well(own, id);
});

test('Killed in the middle of an answer: what there was is kept as interrupted, and it is asked again', async (t) => {
  const own = await story(t, { first: { wait_at: { frame: 4, name: 'here' } } });
  own.write('go', '');
  const { id } = await own.launch('the story');
  await own.model.waiting('here');
  await until(async () => (await own.messages(id)).some((m) => m.role === 'assistant' && m.parts[0]?.text === 'I beg'), { what: 'the beginning is stored' });
  await own.server.kill9();
  await own.model.over(1);
  own.model.release('here');
  await own.server.start();
  await ends_well(own, id);
  const answers = (await own.messages(id)).filter((m) => m.role === 'assistant');
  assert.equal(answers[0].interrupted, true);
  assert.equal(answers[0].parts[0].text, 'I beg');
  assert.equal(answers[1].interrupted ?? false, false);
  assert.deepEqual(own.model.requests()[1].body.messages, own.model.requests()[0].body.messages);
});

test('Killed while a command runs: the command lives on and is taken up', async (t) => {
  const own = await story(t);
  const { id } = await own.launch('the story');
  await until(() => fs.existsSync(own.file('witness')), { what: 'the command runs' });
  await own.server.kill9();
  own.write('go', '');
  await own.server.start();
  await ends_well(own, id);
});

test('Killed while a command runs that ends before the server is back: its output is whole', async (t) => {
  const own = await story(t);
  const { id } = await own.launch('the story');
  await until(() => fs.existsSync(own.file('witness')), { what: 'the command runs' });
  await own.server.kill9();
  own.write('go', '');
  await window_of(300); // It ends while nobody looks.
  await own.server.start();
  await ends_well(own, id);
});

test('Killed before the last word: only the last word is asked for again', async (t) => {
  const own = await story(t, { last: { wait_at: { frame: 3, name: 'here' } } });
  own.write('go', '');
  const { id } = await own.launch('the story');
  await own.model.waiting('here');
  await own.server.kill9();
  await own.model.over(3);
  own.model.release('here');
  await own.server.start();
  await ends_well(own, id);
  assert.equal(own.model.requests().length, 4);
});

test('Stopped with SIGTERM in the middle and started again, it goes on', async (t) => {
  const own = await story(t);
  const { id } = await own.launch('the story');
  await until(() => fs.existsSync(own.file('witness')), { what: 'the command runs' });
  assert.equal((await own.server.term()).code, 0);
  own.write('go', '');
  await own.server.start();
  await ends_well(own, id);
});

test('A call with effects that was cut by the supervisor\'s death too is told as interrupted, never run again', async (t) => {
  const own = await start_builtin(t);
  own.model.rule('risk', [call('bash', { command: 'echo ran >> witness; sleep 600', timeout: 600 }), { text: 'I looked: it ran once.' }]);
  const { id } = await own.launch('risk');
  await until(() => fs.existsSync(own.file('witness')), { what: 'the command runs' });
  await own.server.kill9();
  own.server.kill9_supervisor();
  await until(() => own.server.supervisor_pids().length === 0);
  await own.server.start();
  const task = await own.server.at_rest(id, { within: 30_000 });
  assert.equal(task.result, 'I looked: it ran once.', JSON.stringify(task.error));
  assert.match(results_told(own.model.requests().at(-1))[0], /[Ii]nterrupted|not known/);
  assert.deepEqual(lines(own.read('witness')), ['ran']);
});

test('A message that was sent before the kill is taken after it, once', async (t) => {
  const own = await story(t);
  const { id } = await own.launch('the story');
  await until(() => fs.existsSync(own.file('witness')), { what: 'the command runs' });
  await own.say(id, 'and be quick');
  await own.server.kill9();
  own.write('go', '');
  await own.server.start();
  await own.server.at_rest(id, { within: 30_000 });
  assert.equal(JSON.stringify(own.model.requests().at(-1).body.messages).split('and be quick').length, 2);
  const sent = (await own.messages(id)).filter((m) => m.parts[0]?.text === 'and be quick');
  assert.equal(sent.length, 1);
  assert.ok(sent[0].completed_at);
});

test('Killed again and again at random moments, every command ran once and the end is the same', async (t) => {
  const seed = Number(process.env.ERRAND_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`seed ${seed}`);
  let state = seed;
  const random = (n) => (state = (state * 1103515245 + 12345) % 2 ** 31) % n;
  const steps = 10;
  const own = await start_builtin(t);
  own.model.rule('count', [
    ...Array.from({ length: steps }, (_, i) => ({ text: `Step ${i}.`, chunk_ms: 3, ...call('bash', { command: `echo ${i} >> witness; sleep 0.03` }) })),
    { text: 'Counted.', chunk_ms: 5 },
  ]);
  const { id } = await own.launch('count');
  let kills = 0;
  for (; kills < 12; kills++) {
    await window_of(20 + random(250));
    const task = await own.server.task(id);
    if (task.status === 'completed') break;
    await own.server.restart();
  }
  const task = await own.server.at_rest(id, { within: 60_000 });
  assert.equal(task.status, 'completed', `seed ${seed}: ${JSON.stringify(task.error)}`);
  assert.equal(task.result, 'Counted.');
  const ran = lines(own.read('witness')).map(Number);
  assert.deepEqual(ran, [...Array(steps).keys()], `seed ${seed}, ${kills} kills`);
  assert.equal(results_told(own.model.requests().at(-1)).length, steps);
  t.diagnostic(`${kills} kills`);
});
