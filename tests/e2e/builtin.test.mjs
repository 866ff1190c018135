// The built-in agent, whole: one binary and a model's address. Issue by issue what "done" means: it edits a file, runs a
// test, asks for a permission that another client answers, delegates, is resumed, steered and cancelled.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { call, results_told, start_builtin, system_told, tools_told } from './harness/builtin.mjs';
import { errand, Server, until } from './harness/index.mjs';

for (const api of ['anthropic', 'chat', 'responses'])
  test(`With only a model address set it edits a file and runs a test (${api})`, async (t) => {
    const { server, model, launch, read, write, transcript, work } = await start_builtin(t, { api });
    write('sum.sh', 'echo $((1 + 1))\n');
    model.rule('fix the sum', [
      { reasoning: 'I look first.', signature: 'c2ln', ...call('read', { path: 'sum.sh' }) },
      call('edit', { path: 'sum.sh', old_string: '1 + 1', new_string: '1 + 2' }, { text: 'I mend it.' }),
      call('bash', { command: 'sh sum.sh' }),
      { text: ['The sum ', 'is right now: 3.'] },
    ]);
    const { id } = await launch('fix the sum');
    const task = await server.at_rest(id);
    assert.equal(task.status, 'completed', JSON.stringify(task.error));
    assert.equal(task.result, 'The sum is right now: 3.');
    assert.equal(read('sum.sh'), 'echo $((1 + 2))\n');
    assert.equal(task.progress.tool_calls, 3);
    assert.deepEqual(task.progress.recent_tools.map((tool) => tool.name), ['read', 'edit', 'bash']);
    assert.ok(task.progress.usage.input_tokens > 0 && task.progress.usage.output_tokens > 0);
    const told = results_told(model.requests().at(-1));
    assert.match(told[0], /1 \+ 1/);
    assert.match(told[2], /^3$/m);
    const lines = await transcript(id);
    assert.ok(lines.includes('user text: fix the sum'));
    assert.ok(lines.includes('call edit') && lines.includes('assistant text: I mend it.'));
    // What the model is told of the task, and nothing of our keys.
    assert.match(system_told(model.requests()[0]), new RegExp(`The work dir is ${work}`));
    assert.equal(new Set(model.requests().map(system_told)).size, 1);
    assert.ok(tools_told(model.requests()[0]).includes('ask_user'));
    // A server that is no provider's own says itself which model it has.
    if (api === 'chat') assert.equal(model.requests()[0].body.model, 'scripted');
    const events = await server.events(id);
    assert.ok(events.some((e) => e.type === 'message.delta' && e.data.text.includes('The sum')));
    assert.doesNotMatch(JSON.stringify([task, events]) + server.log_tail(1000), /test-key|c2ln/);
  });

test('errand ask chooses it where a model is set, and follows it to its result', async (t) => {
  const { server, model, work } = await start_builtin(t);
  model.rule('say hello', [{ text: 'Hello from the model.' }]);
  const asked = await errand(server, ['ask', '--wait', 'say hello'], { cwd: work });
  assert.equal(asked.code, 0, asked.err);
  assert.match(asked.out, /Hello from the model\./);
  const agents = await errand(server, ['agents']);
  assert.match(agents.out, /builtin/);
});

test('Without a model it is listed, says what to set, and is refused in the same words', async (t) => {
  const server = await Server.start(t);
  const { agents } = await server.get('/api/agents');
  for (const id of ['builtin', 'background-task-manager']) {
    const agent = agents.find((a) => a.id === id);
    assert.match(agent.unavailable_reason, /ANTHROPIC_API_KEY.*errand\.toml/);
  }
  const reply = await server.api('POST', '/api/tasks', { agent_id: 'builtin', message: 'hi' });
  assert.ok(reply.status >= 400, reply.text);
  assert.match(reply.json.detail, /ANTHROPIC_API_KEY/);
});

test('A model of the settings is enough, by its name too, and its key comes from the named variable', async (t) => {
  const { server, model, launch } = await start_builtin(t, { env: { ANTHROPIC_BASE_URL: '', ANTHROPIC_API_KEY: '', MY_KEY: 'k-77' }, keys: ['k-77'] });
  await server.kill9();
  delete server.env.ANTHROPIC_BASE_URL;
  delete server.env.ANTHROPIC_API_KEY;
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `[models.local]\nbase_url = "${model.url}/v1"\napi = "openai_chat"\nkey_env = "MY_KEY"\nmodel = "tiny"\n`);
  await server.start();
  model.set_default({ text: 'here' });
  for (const [wanted, used] of [[undefined, 'tiny'], ['local', 'tiny'], ['local/other', 'other'], ['third', 'third']]) {
    const { id } = await launch('hi', wanted ? { model: wanted } : {});
    assert.equal((await server.at_rest(id)).result, 'here');
    assert.equal(model.requests().at(-1).body.model, used);
  }
});

// R4.6
describe('A permission', () => {
  test('is asked for, answered from another client, and the task goes on', async (t) => {
    const { server, model, launch, asking, read, transcript } = await start_builtin(t);
    model.rule('write it', [call('write', { path: 'note.txt', content: 'hello\n' }), { text: 'Written.' }]);
    const { id } = await launch('write it', { permission: 'ask' });
    const waiting = await asking(id);
    assert.equal(waiting.waiting_for.kind, 'permission');
    assert.match(waiting.waiting_for.text, /note\.txt/);
    assert.deepEqual(waiting.waiting_for.options, ['allow', 'allow_always', 'deny'], 'it names what can be answered');
    assert.deepEqual((await errand(server, ['answer', id])).out.split('\n').map((line) => line.trim()).filter((line) => /^[0-9] /.test(line)), ['1 allow', '2 allow_always', '3 deny']);
    assert.equal(model.requests().length, 1);
    const answered = await errand(server, ['answer', id, 'allow']);
    assert.equal(answered.code, 0, answered.err);
    const task = await server.at_rest(id);
    assert.equal(task.result, 'Written.');
    assert.equal(read('note.txt'), 'hello\n');
    const events = await server.events(id);
    assert.ok(events.find((e) => e.type === 'ask.created'));
    assert.equal(events.find((e) => e.type === 'ask.answered').data.decision, 'allow');
    assert.ok((await transcript(id)).includes('call write'));
  });

  test('that is denied is told to the model with the person\'s word, and nothing was done', async (t) => {
    const { server, model, launch, asking, answer, file } = await start_builtin(t);
    model.rule('write it', [call('write', { path: 'note.txt', content: 'x' }), { text: 'Then not.' }]);
    const { id } = await launch('write it', { permission: 'ask' });
    const { waiting_for } = await asking(id);
    await answer(id, { request_id: waiting_for.request_id, decision: 'deny', message: 'not on a Friday' });
    assert.equal((await server.at_rest(id)).result, 'Then not.');
    assert.match(results_told(model.requests().at(-1))[0], /Denied, with these words: not on a Friday/);
    assert.ok(!fs.existsSync(file('note.txt')));
  });

  test('survives kill -9 of the server and is asked once', async (t) => {
    const { server, model, launch, asking, answer, read } = await start_builtin(t);
    model.rule('write it', [call('write', { path: 'note.txt', content: 'x' }), { text: 'Written.' }]);
    const { id } = await launch('write it', { permission: 'ask' });
    const before = (await asking(id)).waiting_for.request_id;
    await server.restart();
    const after = (await asking(id)).waiting_for.request_id;
    assert.equal(after, before);
    await answer(id, { request_id: after, decision: 'allow' });
    assert.equal((await server.at_rest(id)).result, 'Written.');
    assert.equal(read('note.txt'), 'x');
    const events = await server.events(id);
    assert.equal(events.filter((e) => e.type === 'ask.created').length, 1);
    assert.equal(model.requests().length, 2);
  });

  test('is not asked for what only reads inside the work dir', async (t) => {
    const { server, model, launch, write } = await start_builtin(t);
    write('a.txt', 'aaa');
    model.rule('look', [{ tools: [{ name: 'read', input: { path: 'a.txt' } }, { name: 'glob', input: { pattern: '*.txt' } }] }, { text: 'Seen.' }]);
    const { id } = await launch('look', { permission: 'ask' });
    assert.equal((await server.at_rest(id)).result, 'Seen.');
    assert.deepEqual(results_told(model.requests().at(-1)).map((r) => /a{3}|a\.txt/.test(r)), [true, true]);
  });
});

test('A question with options is asked and its answer told', async (t) => {
  const { server, model, launch, asking, answer } = await start_builtin(t);
  model.rule('paint', [call('ask_user', { question: 'Which colour?', options: ['red', 'blue'] }), { text: 'Painted.' }]);
  const { id } = await launch('paint');
  const { waiting_for } = await asking(id);
  assert.equal(waiting_for.kind, 'answer');
  assert.equal(waiting_for.text, 'Which colour?');
  assert.deepEqual((await server.events(id)).find((e) => e.type === 'ask.created').data.options, ['red', 'blue']);
  await answer(id, { request_id: waiting_for.request_id, answer: 'blue' });
  assert.equal((await server.at_rest(id)).result, 'Painted.');
  assert.deepEqual(results_told(model.requests().at(-1)), ['blue']);
});

// R5.1
describe('A message to a task at work', () => {
  test('joins the conversation at the next step, and is shown as pending until then', async (t) => {
    const { server, model, launch, say, messages } = await start_builtin(t);
    model.rule('work', [call('bash', { command: 'true' }, { wait: 'first' }), { text: 'Done as you said.' }]);
    const { id } = await launch('work');
    await model.waiting('first');
    await say(id, 'in blue, please');
    assert.equal((await messages(id)).find((m) => m.parts[0].text === 'in blue, please').completed_at, null);
    model.release('first');
    assert.equal((await server.at_rest(id)).result, 'Done as you said.');
    assert.equal(model.requests().length, 2);
    assert.match(JSON.stringify(model.requests()[1].body.messages), /in blue, please/);
    assert.ok((await messages(id)).find((m) => m.parts[0].text === 'in blue, please').completed_at);
  });

  test('that interrupts cuts the answer, and the turn that follows has both', async (t) => {
    const { server, model, launch, say, messages } = await start_builtin(t);
    model.rule('tell a story', [{ text: ['Once upon ', 'a time'], wait_at: { frame: 4, name: 'story' } }]);
    const { id } = await launch('tell a story');
    await model.waiting('story');
    await until(async () => (await messages(id)).some((m) => m.role === 'assistant'), { what: 'the answer has begun' });
    model.rule('stop that', [{ text: 'Stopped.' }]);
    await say(id, 'stop that', { when: 'interrupt' });
    const task = await server.when(id, (seen) => seen.status === 'completed' && seen.turn === 2);
    assert.equal(task.result, 'Stopped.');
    assert.equal((await model.over(1)).state, 'gone');
    assert.match(JSON.stringify(model.requests()[1].body.messages), /tell a story.*Once upon.*interrupted.*stop that/);
  });
});

// R5.2, R5.3
test('A completed task is resumed with the whole conversation in place', async (t) => {
  const { server, model, launch, say } = await start_builtin(t);
  model.rule('remember 42', [{ text: 'I will.' }]);
  model.rule('which number', [{ text: 'It was 42.' }]);
  const { id } = await launch('remember 42');
  await server.at_rest(id);
  await server.restart();
  await say(id, 'which number was it?');
  const task = await server.when(id, (seen) => seen.status === 'completed' && seen.resume_count === 1);
  assert.equal(task.result, 'It was 42.');
  const said = model.requests().at(-1).body.messages.map((m) => [m.role, JSON.stringify(m.content)]);
  assert.deepEqual(said.map(([role]) => role), ['user', 'assistant', 'user']);
  assert.match(said[1][1], /I will\./);
});

// Item "delegates": R7, R8, R1.10.
test('It delegates two background tasks of a batch, waits for them without a slot, and is told', async (t) => {
  const { server, model, launch, transcript, work } = await start_builtin(t, { args: ['--max-concurrent', '1'] });
  model.rule('delegate', [
    {
      tools: [
        { name: 'background_execute', input: { command: 'echo one > one.txt', batch_id: 'new', description: 'first', work_dir: work } },
        { name: 'background_execute', input: { command: 'echo two > two.txt', batch_id: 'new', description: 'second', work_dir: work } },
      ],
    },
    call('background_list', {}),
    call('background_output', { task_id: '$first', block: true, timeout: 20 }),
    { text: 'Both are done.' },
  ]);
  const { id } = await launch('delegate');
  const children = await until(async () => {
    const { tasks } = await server.get(`/api/tasks?parent_session_id=${(await server.task(id)).session_id}`);
    return tasks.length === 2 && tasks;
  });
  const task = await server.at_rest(id, { within: 30_000 });
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  for (const child of children) {
    const seen = await server.at_rest(child.id, { within: 30_000 });
    assert.equal(seen.status, 'completed');
    assert.equal(seen.parent_message_id.startsWith('msg_'), true);
  }
  assert.ok((await transcript(id)).filter((line) => line === 'call background_execute').length === 2);
});

// R4.5
test('A usage limit is waited for, shown, and no failure', async (t) => {
  const { server, model, launch } = await start_builtin(t);
  model.rule('work', [{ status: 429, times: 1, retry_after: 61, error: { type: 'rate_limit_error', message: 'You hit your limit.' } }]);
  const { id } = await launch('work');
  const task = await server.when(id, (seen) => seen.waiting_for?.kind === 'quota');
  assert.equal(task.status, 'running');
  assert.ok(Date.parse(task.waiting_for.until) > Date.now());
  await server.cancel(id);
  assert.equal((await server.at_rest(id)).status, 'cancelled');
});

// A provider that is wrong about its limit, or says "in 3,000 years", holds nothing for long.
describe('A usage limit that is absurd', () => {
  const absurd = { status: 429, retry_after: 99999999999, error: { type: 'rate_limit_error', message: 'quota exceeded' } };
  const waits = (seen) => seen.waiting_for?.kind === 'quota';
  const in_a_day = (time) => Date.parse(time) - Date.now() <= 24 * 3600_000;

  test('holds for a day at most, and not longer than the task that met it', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('work', [{ ...absurd, times: 1, text: 'Done.' }]);
    const met = await launch('work');
    const task = await server.when(met.id, waits);
    assert.ok(in_a_day(task.waiting_for.until), task.waiting_for.until);
    const [quota] = (await server.get('/api/quotas')).quotas;
    assert.equal(quota.driver, 'builtin');
    assert.deepEqual(quota.task_ids, [met.id]);
    assert.ok(in_a_day(quota.until) && Date.parse(quota.since) <= Date.now(), JSON.stringify(quota));
    const next = await launch('work');
    await until(async () => (await server.get('/api/quotas')).quotas[0]?.queued === 1, { what: 'the next one to be held' });
    await server.cancel(met.id);
    assert.equal((await server.at_rest(next.id)).result, 'Done.');
    assert.deepEqual((await server.get('/api/quotas')).quotas, []);
  });

  test('is ended by a person, also after a restart', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('work', [{ ...absurd, times: 1, text: 'Done.' }]);
    const met = await launch('work');
    await server.when(met.id, waits);
    await server.restart();
    const next = await launch('work');
    const doctor = await errand(server, ['doctor']);
    assert.match(doctor.out, /usage limit +builtin.* since 20\S+, until 20\S+ at the latest: 1 waiting/);
    const listed = await errand(server, ['quota']);
    assert.match(listed.out, /^builtin\S* +since \S+ +until \S+ +1 waiting, [01] in line\n.*quota exceeded.*\n +task_/m);
    const [account] = listed.out.split(' ');
    assert.equal((await errand(server, ['quota', 'clear', 'nobody'])).code, 3);
    const cleared = await errand(server, ['quota', 'clear', account]);
    assert.equal(cleared.code, 0, cleared.err);
    for (const { id } of [met, next]) assert.equal((await server.at_rest(id)).result, 'Done.');
    assert.match((await errand(server, ['quota'])).err, /No task waits for a usage limit/);
    assert.equal(model.requests().length, 3);
  });
});

describe('What goes wrong is said', () => {
  test('a wrong key', async (t) => {
    const { server, model, launch } = await start_builtin(t, { keys: ['another'] });
    const { id } = await launch('hi');
    const task = await server.at_rest(id);
    assert.equal(task.error.code, 'model_auth');
    assert.match(task.error.message, /key/);
    assert.doesNotMatch(JSON.stringify(task), /test-key/);
    assert.equal(model.requests().length <= 1, true);
  });

  test('a server that is not there', async (t) => {
    const server = await Server.start(t, { env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', ERRAND_MODEL: 'm' } });
    const { id } = await server.launch({ agent_id: 'builtin', message: 'hi' });
    const task = await server.at_rest(id, { within: 30_000 });
    assert.equal(task.error.code, 'model_unreachable');
  });

  test('a refusal, in the provider\'s words', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('bad thing', [{ text: 'I will not help with that.', stop: 'refusal' }]);
    const { id } = await launch('bad thing');
    const task = await server.at_rest(id);
    assert.equal(task.error.code, 'refused');
    assert.match(task.error.message, /I will not help with that\./);
  });

  test('an empty answer, after one nudge', async (t) => {
    const { server, model, launch, transcript } = await start_builtin(t);
    model.set_default({ text: '' });
    const { id } = await launch('hi');
    const task = await server.at_rest(id);
    assert.equal(task.error.code, 'empty_result');
    assert.equal(model.requests().length, 2);
    assert.equal((await transcript(id)).filter((line) => line.startsWith('system notice nudge')).length, 1);
  });

  // R4.2
  test('a model that never answers: hung, with what was seen; begun again where the task says so', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.rule('hello', [{ hang: true }]);
    const { id } = await launch('hello', { idle_timeout_s: 1 });
    const task = await server.at_rest(id);
    assert.equal(task.error.code, 'hung');
    assert.match(task.error.message, /it has waited for the model's answer/);
    model.rule('once more', [{ hang: true }]);
    const other = await launch('once more', { idle_timeout_s: 1, on_hang: 'restart' });
    await until(() => model.requests().length >= 2, { what: 'it is asked' });
    model.rule('once more', [{ text: 'There.' }]);
    assert.equal((await server.at_rest(other.id, { within: 20_000 })).result, 'There.');
    assert.ok((await server.events(other.id)).some((e) => e.type === 'task.warning' && e.data.code === 'restart'));
  });

  test('a stream that breaks is asked for again, and nothing is said twice', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.queue({ text: ['Half of ', 'it'], cut_at: 4 }, { text: 'All of it.' });
    const { id } = await launch('hi');
    const task = await server.at_rest(id);
    assert.equal(task.result, 'All of it.');
    assert.deepEqual(model.requests()[1].body.messages, model.requests()[0].body.messages);
  });

  test('an overloaded provider, after its tries', async (t) => {
    const { server, model, launch } = await start_builtin(t);
    model.set_default({ status: 529, headers: { 'retry-after-ms': '1' }, error: { type: 'overloaded_error', message: 'Overloaded' } });
    const { id } = await launch('hi');
    const task = await server.at_rest(id, { within: 30_000 });
    assert.equal(task.error.code, 'model_overloaded');
    assert.equal(task.error.details.retryable, true);
    assert.equal(model.requests().length, 3);
    // R1.9: retry goes on in the same conversation.
    model.set_default({ text: 'Now.' });
    await server.expect(200, 'POST', `/api/tasks/${id}/retry`, {});
    assert.equal((await server.at_rest(id)).result, 'Now.');
  });
});

test('A conversation that nears the model\'s limit is compacted, and the transcript says so', async (t) => {
  const { server, model, launch, write, transcript } = await start_builtin(t);
  await server.kill9();
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), '[models.small]\napi = "anthropic"\n' + `base_url = "${model.url}"\nkey_env = "ANTHROPIC_API_KEY"\nmodel = "small"\ncontext_tokens = 20000\noutput_tokens = 1000\n`);
  await server.start();
  write('long.txt', 'All work and no play makes Jack a dull boy.\n'.repeat(300));
  model.rule('read and read', [...Array.from({ length: 6 }, (_, i) => call('read', { path: 'long.txt' }, { usage: { input: 4000 * (i + 1), output: 50 } })), { text: 'Read enough.' }], { tools: true });
  model.rule('<conversation>', [{ text: 'SUMMARY: the file was read several times.' }], { tools: false });
  model.rule('<summary>', [call('read', { path: 'long.txt' }), { text: 'Read enough.' }], { tools: true });
  const { id } = await launch('read and read', { model: 'small' });
  const task = await server.at_rest(id, { within: 30_000 });
  assert.equal(task.result, 'Read enough.', JSON.stringify(task.error));
  assert.ok((await transcript(id)).some((line) => line.startsWith('system notice compaction: SUMMARY')));
  assert.match(JSON.stringify(model.requests().at(-1).body.messages[0]), /SUMMARY: the file was read/);
});

// R1.6
test('Cancel ends the model\'s answer and the command, and only then says so', async (t) => {
  const { server, model, launch, work } = await start_builtin(t);
  model.rule('start', [call('bash', { command: 'echo $$ > pid; exec sleep 600', timeout: 600 })]);
  const { id } = await launch('start');
  const pid_file = path.join(work, 'pid');
  const pid = await until(() => fs.existsSync(pid_file) && fs.readFileSync(pid_file, 'utf8').trim(), { what: 'the command runs' });
  assert.equal((await server.cancel(id)).status, 'cancelled');
  await server.at_rest(id);
  assert.ok(!fs.existsSync(`/proc/${pid}`) || / Z /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8')));
  model.rule('talk', [{ text: 'On and on', hang_at: 4 }]);
  const other = await launch('talk');
  await model.asked(2);
  await server.cancel(other.id);
  assert.equal((await server.at_rest(other.id)).status, 'cancelled');
  assert.equal((await model.over(2)).state, 'gone');
});

// R10.9
describe('What a launch switches on', () => {
  test('AGENTS.md of the work dir is read, add_dirs widen what may be touched', async (t) => {
    const { server, model, launch, write, work } = await start_builtin(t);
    write('AGENTS.md', 'Always write in verse.\n');
    const more = path.join(server.folder, 'more');
    fs.mkdirSync(more);
    fs.writeFileSync(path.join(more, 'x.txt'), 'from outside');
    model.rule('read x', [call('read', { path: path.join(more, 'x.txt') }), { text: 'ok' }]);
    const { id } = await launch('read x', { add_dirs: [more], permission: 'deny' });
    assert.equal((await server.at_rest(id)).status, 'completed');
    const first = system_told(model.requests()[0]);
    assert.match(first, /Always write in verse\./);
    assert.match(first, new RegExp(`You may also work in ${more}`));
    assert.match(results_told(model.requests().at(-1))[0], /from outside/);
    // Without it the same read is outside, and denied here.
    const other = await launch('read x', { permission: 'deny' });
    await server.at_rest(other.id);
    assert.match(results_told(model.requests().at(-1))[0], /Denied/);
    assert.ok(work);
  });

  test('enable_skills lists the skills of the work dir, and only then', async (t) => {
    const { server, model, launch, file } = await start_builtin(t);
    fs.mkdirSync(file('.claude/skills/verse'), { recursive: true });
    fs.writeFileSync(file('.claude/skills/verse/SKILL.md'), '---\nname: verse\ndescription: Writes in verse.\n---\nUse iambic pentameter.\n');
    fs.mkdirSync(file('.errand/skills/verse'), { recursive: true });
    fs.copyFileSync(file('.claude/skills/verse/SKILL.md'), file('.errand/skills/verse/SKILL.md'));
    model.set_default({ text: 'ok' });
    for (const enable_skills of [true, false]) {
      const { id } = await launch('hi', { enable_skills });
      await server.at_rest(id);
      assert.equal(/Writes in verse\./.test(JSON.stringify(model.requests().at(-1).body)), enable_skills);
    }
  });
});

// R9.6
test('The background task manager works on it, with its own prompt and tools', async (t) => {
  const { server, model } = await start_builtin(t);
  model.rule('BACKGROUND', [call('background_execute', { command: 'echo built', description: 'the build' }), { text: 'Started.' }]);
  const { id } = await server.launch({ agent_id: 'background-task-manager', message: 'BACKGROUND: build it', permission: 'allow' });
  const task = await server.at_rest(id);
  assert.equal(task.result, 'Started.', JSON.stringify(task.error));
  assert.match(system_told(model.requests()[0]), /^You are the Background Task Manager|Background Task Manager/);
  const offered = tools_told(model.requests()[0]);
  assert.ok(offered.includes('background_execute') && offered.includes('look_at'));
  assert.ok(!offered.includes('bash') && !offered.includes('write'));
});

const mcp_server = `
import readline from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'weather', version: '1' } } });
  else if (method === 'tools/list')
    say({ id, result: { tools: [{ name: 'weather', description: 'Tells the weather.', inputSchema: { type: 'object', properties: { city: { type: 'string' } } } }] } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: 'Sunny in ' + params.arguments.city }] } });
  else if (id !== undefined) say({ id, result: {} });
});
`;

test('enable_mcp gives it the tools of the settings\' servers, and only then', async (t) => {
  const { server, model, launch } = await start_builtin(t);
  await server.kill9();
  const script = path.join(server.folder, 'mcp.mjs');
  fs.writeFileSync(script, mcp_server);
  fs.writeFileSync(path.join(server.data_dir, 'errand.toml'), `[mcp.sky]\ncommand = [${JSON.stringify(process.execPath)}, ${JSON.stringify(script)}]\n`);
  await server.start();
  model.rule('weather', [call('mcp__sky__weather', { city: 'Rome' }), { text: 'Told.' }]);
  const { id } = await launch('weather', { enable_mcp: true });
  const task = await server.at_rest(id, { within: 30_000 });
  assert.equal(task.result, 'Told.', JSON.stringify(task.error));
  assert.match(results_told(model.requests().at(-1))[0], /Sunny in Rome/);
  const other = await launch('hello');
  await server.at_rest(other.id);
  assert.ok(!tools_told(model.requests().at(-1)).some((name) => name.startsWith('mcp__')));
});
