// One script for every agent: what errand promises of an agent (R2.2, R4.5, R4.6, R5, R6), tried with the real programs, as npm has
// them, against the scripted model. A row for each agent, a cell for each promise, printed as a table at the end. Where an agent
// cannot do it, its row says why (harness/agents.mjs) and the cell holds it to what errand does instead. A row whose program is
// not installed is skipped, and the run counts it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';

import { agent_rows, agent_skip, agent_world, alive, kill9, marked, marker, processes, suite_scope, until } from './harness/index.mjs';

const within = 120_000;

// Its tool with this mark runs; whoever ended instead says so at once.
const tool_runs = ({ server }, id, mark) =>
  until(
    async () => {
      const { status, error, result } = await server.task(id);
      return marked(mark).length > 0 || (['completed', 'failed', 'cancelled'].includes(status) && `${status}: ${error?.message ?? result}`);
    },
    { what: 'its tool runs', within },
  ).then((how) => assert.equal(how, true));

const cells = {
  async launch(w) {
    const { server, rule, ask, rest, row } = w;
    assert.ok((await server.get('/api/agents')).agents.some((agent) => agent.id === w.agent_id && agent.available), 'found on PATH, without a setting');
    rule('count to two', [row.shell('echo one; echo two'), { text: ['I have ', 'counted: 语.'], usage: { input: 40, output: 9 } }]);
    const { id } = await ask('count to two');
    w.first = await rest(id, { within });
    assert.deepEqual([w.first.status, w.first.result], ['completed', 'I have counted: 语.'], JSON.stringify(w.first.error));
    const { usage } = w.first.progress;
    assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0, JSON.stringify(usage));
  },

  async 'tool call'(w) {
    assert.equal(w.first.progress.tool_calls, 1);
    const parts = await w.parts(w.first.id);
    assert.deepEqual(parts.map((part) => part.type).filter((type) => type.startsWith('tool')), ['tool_call', 'tool_result']);
    const result = parts.find((part) => part.type === 'tool_result');
    if (!w.row.weaker?.['tool call']) assert.match(result.output, /one\s+two/);
    assert.equal(result.is_error, false);
  },

  async resume({ server, rule, said, asked, first }) {
    rule('and now three', [{ text: 'three' }]);
    await server.expect(202, 'POST', `/api/tasks/${first.id}/message`, { message: 'and now three' });
    const again = await server.when(first.id, (seen) => seen.turn === 2 && ['completed', 'failed'].includes(seen.status), { within });
    assert.equal(said(again).result, 'three', JSON.stringify(again.error));
    assert.match(asked(), /count to two.*counted: 语.*and now three/s, 'with the whole conversation');
    const roles = (await server.get(`/api/tasks/${first.id}/messages`)).messages.map((message) => message.role);
    assert.deepEqual(roles.filter((role, i) => role !== roles[i - 1]), ['user', 'assistant', 'user', 'assistant'], 'nothing was repeated');
  },

  async fork({ rule, ask, rest, asked, first }) {
    rule('which one', [{ text: 'up to three' }]);
    const child = await rest((await ask('which one', { fork: true, parent_session_id: first.session_id })).id, { within });
    assert.deepEqual([child.result, child.is_forked], ['up to three', true], JSON.stringify(child.error));
    assert.match(asked(), /count to two.*counted: 语.*which one/s);
  },

  async 'edit, asked and answered'({ server, rule, ask, rest, row, work_dir }) {
    const [yes, no] = ['yes.txt', 'no.txt'].map((name) => path.join(work_dir, name));
    rule('write them', [row.edit(yes, 'made'), row.edit(no, 'made'), { text: 'well' }]);
    const { id } = await ask('write them', { permission: 'ask' });
    for (const [file, decision] of [[yes, 'allow'], [no, 'deny']]) {
      const asks = (task) => task.waiting_for?.text.includes(path.basename(file)) || task.error;
      const { waiting_for, error } = await server.when(id, asks, { within });
      assert.equal(waiting_for?.kind, 'permission', JSON.stringify(error));
      assert.ok(!fs.existsSync(file), 'it waits for the answer');
      await server.expect(200, 'POST', `/api/tasks/${id}/answer`, { request_id: waiting_for.request_id, decision });
    }
    // A no ends the turn of some agents; none of them does it all the same.
    assert.ok(['completed', 'failed'].includes((await rest(id, { within })).status));
    assert.deepEqual([fs.readFileSync(yes, 'utf8').trim(), fs.existsSync(no)], ['made', false]);
  },

  async 'message while at work'(w) {
    const { server, model, rule, ask, row } = w;
    w.mark = marker();
    const long = row.shell(`echo begun; sleep ${w.mark}`);
    rule('begin', [{ ...row.shell('echo first'), wait: 'told' }, row.folds ? long : { text: 'the first' }]);
    rule('also this', [long, { text: 'never' }]);
    w.working = (await ask('begin')).id;
    await model.waiting('told', { timeout_ms: within });
    await server.expect(202, 'POST', `/api/tasks/${w.working}/message`, { message: 'also this' });
    // An agent that steers is told at once, one that queues after its first answer: either way in this turn.
    model.release('told');
    await tool_runs(w, w.working, w.mark);
    assert.equal((await server.task(w.working)).turn, 1);
    assert.match(w.asked(), /begin.*also this/s);
    const taken = async () => (await server.get(`/api/tasks/${w.working}/messages`)).messages.filter((message) => message.role === 'user' && message.completed_at);
    await until(async () => (await taken()).length === 2, { what: 'it has taken both messages', within });
  },

  async 'cancel inside a tool'({ server, rest, working, mark, agent_pids, row }) {
    // Its own process, above its tool; others may be kept warm for their tasks.
    const all = new Map(processes().map((one) => [one.pid, one.ppid]));
    const above = (pid) => (pid ? [pid, ...above(all.get(pid))] : []);
    const own = above(marked(mark)[0].pid).filter((pid) => agent_pids().includes(pid));
    await server.cancel(working);
    assert.equal((await rest(working, { within })).status, 'cancelled');
    await until(() => marked(mark).length === 0, { what: 'its tool is gone', within: 30_000 });
    // OpenCode's one process is for all tasks.
    if (row.died !== 'interrupted') await until(() => own.every((pid) => !alive(pid)), { what: 'all of it is gone', within: 30_000 });
  },

  async 'kill -9 of errand'({ server, model, rule, ask, rest, parts, row, agent_pids }) {
    rule('two steps', [row.shell('echo one'), { text: 'all done', wait: 'in the middle' }]);
    const { id } = await ask('two steps');
    await model.waiting('in the middle', { timeout_ms: within });
    // The built-in agent has no process: what could be seen there is its tool's, which ends.
    const before = row.died ? agent_pids() : [];
    await server.kill9();
    assert.ok(before.every((pid) => agent_pids().includes(pid)), 'the agent goes on');
    model.release('in the middle');
    // The built-in agent dies with the server, and asks its model again.
    if (!row.died) model.release('in the middle');
    await server.start();
    const task = await rest(id, { within });
    assert.deepEqual([task.status, task.result, task.progress.tool_calls], ['completed', 'all done', 1], JSON.stringify(task.error));
    assert.equal((await parts(id)).filter((part) => part.type === 'text' && part.text.endsWith('all done')).length, 1, 'told once');
  },

  async 'kill -9 of the agent'(w) {
    const { server, rule, ask, rest, said, row, agent_pids } = w;
    const mark = marker();
    rule('hang', [row.shell(`echo begun; sleep ${mark}`), { text: 'never' }]);
    const { id } = await ask('hang');
    await tool_runs(w, id, mark);
    for (const pid of agent_pids()) kill9(pid);
    const task = await rest(id, { within });
    assert.equal(task.status, 'failed');
    assert.equal(task.error.code, row.died, task.error.message);
    await until(() => marked(mark).length === 0, { what: 'its tool is gone', within: 60_000 });
    // It is given its prompt again, and the message with it.
    for (const words of ['hang', 'work now']) rule(words, [{ text: 'worked' }]);
    await server.expect(200, 'POST', `/api/tasks/${id}/retry`, { message: 'work now' });
    const again = await server.when(id, (seen) => seen.attempt === 2 && ['completed', 'failed'].includes(seen.status), { within });
    assert.equal(said(again).result, 'worked', JSON.stringify(again.error));
    assert.match(w.asked(), /hang.*work now/s);
  },

  async 'usage limit'({ server, rule, ask, rest, said, row, cannot }) {
    const limit = { status: 429, error: { type: 'rate_limit_error', message: 'You hit your limit.' } };
    rule('The usage limit is over', [{ text: 'went on' }]);
    rule('much work', [cannot ? { ...limit, times: 1, text: 'went on' } : row.waits_itself ? limit : { ...limit, retry_after: 3600 }]);
    const { id } = await ask('much work');
    if (cannot) {
      const task = await rest(id, { within });
      if (task.status === 'completed') return assert.equal(task.result, 'went on');
      assert.match(task.error.message, /limit|429/i);
      rule('much work', [{ text: 'went on' }]);
      await server.expect(200, 'POST', `/api/tasks/${id}/retry`, {});
      const again = await server.when(id, (seen) => seen.attempt === 2 && ['completed', 'failed'].includes(seen.status), { within });
      return assert.equal(said(again).result, 'went on', JSON.stringify(again.error));
    }
    const { waiting_for, error } = await server.when(id, (task) => task.waiting_for || task.error, { within });
    assert.equal(waiting_for?.kind, 'quota', JSON.stringify(error));
    assert.ok(Date.parse(waiting_for.until) > Date.now(), JSON.stringify(waiting_for));
    if (row.weaker?.['usage limit']) {
      await server.cancel(id);
      return assert.equal((await rest(id, { within })).status, 'cancelled');
    }
    rule('much work', [{ text: 'went on' }]);
    await server.expect(200, 'DELETE', '/api/quotas');
    assert.equal((await rest(id, { within })).result, 'went on');
  },

  async 'batch of three'({ server, rule, ask, rest, row }) {
    const names = ['first', 'second', 'third'];
    for (const name of names) rule(`say ${name}`, [row.shell(`echo ${name}`), { text: `${name} is done` }]);
    const { batch_id, id } = await ask('say first', { batch_id: 'new' });
    const others = await Promise.all(names.slice(1).map((name) => ask(`say ${name}`, { batch_id })));
    const ended = await Promise.all([id, ...others.map((task) => task.id)].map((one) => rest(one, { within })));
    assert.deepEqual(ended.map((task) => task.result), names.map((name) => `${name} is done`));
    assert.deepEqual(ended.map((task) => task.progress.tool_calls), [1, 1, 1]);
    const batch = await server.get(`/api/batches/${batch_id}`);
    assert.equal(batch.tasks?.length ?? batch.total, 3, JSON.stringify(batch));
  },

  async 'errand’s tools'({ server, rule, ask, rest, parts, row }) {
    rule('delegate', [row.own('background_execute', { command: 'echo from below' }), { text: 'delegated' }]);
    const { id } = await ask('delegate', { enable_mcp: true });
    const task = await rest(id, { within });
    assert.deepEqual([task.status, task.result], ['completed', 'delegated'], JSON.stringify(task.error));
    const { tasks } = await server.get(`/api/tasks?parent_session_id=${task.session_id}`);
    assert.deepEqual(tasks.map((child) => child.kind), ['command'], JSON.stringify(await parts(id)));
  },

  async 'the model’s no'({ rule, ask, rest }) {
    rule('break', [{ status: 400, error: { message: 'the model says no' } }]);
    const task = await rest((await ask('break')).id, { within });
    assert.equal(task.status, 'failed', JSON.stringify(task));
    assert.match(task.error.message, /the model says no/);
  },
};

const table = Object.keys(agent_rows).map((name) => ({ agent: name }));
const footnotes = [];

describe('The script', { concurrency: 2, timeout: 1_800_000 }, () => {
  for (const [index, [name, row]] of Object.entries(agent_rows).entries()) {
    const skip = agent_skip(row);
    const seen = table[index];
    describe(name, { skip, concurrency: 1 }, () => {
      if (skip) return;
      const scope = suite_scope();
      let world;
      for (const [cell, script] of Object.entries(cells)) {
        const cannot = row.cannot?.[cell];
        if (cannot) footnotes.push(`${name}, ${cell}: cannot; ${cannot}`);
        if (row.weaker?.[cell]) footnotes.push(`${name}, ${cell}: ${row.weaker[cell]}`);
        test(cell, { timeout: 600_000 }, async (t) => {
          seen[cell] = 'FAILED';
          world ??= await agent_world(scope, name);
          if (cannot && !row.instead?.includes(cell)) {
            seen[cell] = 'cannot';
            return t.skip(cannot);
          }
          const began = performance.now();
          world.cannot = cannot;
          await script(world).catch((error) => {
            scope.passed = false;
            throw error;
          });
          seen[cell] = cannot ? 'instead' : `${((performance.now() - began) / 1000).toFixed(1)} s`;
        });
      }
    });
    if (skip) seen.launch = 'skipped';
  }
  after(() => {
    const width = Math.max(...Object.keys(cells).map((cell) => cell.length));
    const line = (first, of) => `# ${first.padEnd(width)} ${table.map((one) => of(one).padStart(13)).join('')}`;
    console.log([line('', (one) => one.agent), ...Object.keys(cells).map((cell) => line(cell, (one) => one[cell] ?? ''))].join('\n'));
    for (const note of footnotes) console.log(`# ${note}`);
  });
});
