// T14: however a task ends, nothing of it is left, and its end is told truthfully (P7, P9, R2.3).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { marked, marker, patience, Server, until, zombies_of } from './harness/index.mjs';

// Each leaves at least one process with the marker running behind the main one.
const shapes = {
  child: (m) => `sh -c 'sleep ${m}; true' &`,
  background: (m) => `(sleep ${m} &) ; sleep ${m} &`,
  setsid: (m) => `setsid sleep ${m} &`,
  'double fork': (m) => `setsid sh -c 'sleep ${m} & sleep ${m} & exit 0'`,
  'ignores TERM': (m) => `sh -c 'trap "" TERM HUP INT; sleep ${m} & while :; do sleep ${m}; done' &`,
  daemonising: (m) => `env -i setsid sh -c 'cd /; exec </dev/null >/dev/null 2>&1; (sleep ${m} &) ; exit 0'`,
  pipe: (m) => `sleep ${m} | head -n 1 | cat &`,
};

// How it ends: how the main process goes on, what is done to it, and what the task must then say.
// Without a server. A process that only starts another one may end meanwhile: each shape has one that stays.
function all_go_on(tasks) {
  for (const [shape, { own }] of tasks) assert.ok(marked(own).length > 0, `${shape} goes on`);
}

const endings = {
  finish: {
    tail: () => 'sleep 0.2; exit 3',
    act: async () => {},
    expect: (task) => assert.deepEqual([task.status, task.exit_code, task.signal], ['failed', 3, null]),
  },
  cancel: {
    act: (server, id) => server.cancel(id),
    expect: (task) => assert.deepEqual([task.status, task.reason], ['cancelled', 'cancelled_by_user']),
  },
  timeout: {
    launch: { timeout_s: 2 },
    act: async () => {},
    expect: (task) => assert.deepEqual([task.status, task.reason], ['failed', 'timeout']),
  },
  'server TERM': {
    before: async (server, tasks) => {
      assert.equal((await server.term()).code, 0);
      all_go_on(tasks);
      await server.start();
    },
    act: async (server, id) => {
      assert.equal((await server.task(id)).status, 'running', 'taken up again');
      await server.cancel(id);
    },
    expect: (task) => assert.equal(task.status, 'cancelled'),
  },
  'server KILL': {
    before: async (server, tasks) => {
      await server.kill9();
      all_go_on(tasks);
      await server.start();
    },
    act: async (server, id) => {
      assert.equal((await server.task(id)).status, 'running', 'taken up again');
      await server.cancel(id);
    },
    expect: (task) => assert.equal(task.status, 'cancelled'),
  },
  'supervisor KILL': {
    before: async (server) => server.kill9_supervisor(),
    act: async () => {},
    expect: (task) => assert.deepEqual([task.status, task.reason], ['failed', 'interrupted']),
  },
};

describe('T14', { concurrency: 3 }, () => {
  for (const [ending, { launch = {}, tail = (m) => `sleep ${m}`, before = async () => {}, act, expect }] of Object.entries(endings)) {
    test(`T14: ${ending} leaves no process of any of ${Object.keys(shapes).length} shapes`, async (t) => {
      const server = await Server.start(t, { args: ['--max-concurrent', '16'] });
      const mark = marker();
      const tasks = new Map();
      for (const [shape, command] of Object.entries(shapes)) {
        const own = `${mark}${tasks.size + 1}`;
        tasks.set(shape, { own, id: (await server.run(`${command(own)}\n${tail(own)}`, launch)).id });
      }
      if (ending !== 'finish') {
        for (const [shape, { own }] of tasks) await until(() => marked(own).length >= 2, { within: 10_000 * patience, what: `${shape} runs` });
      }
      await before(server, tasks);
      for (const { id } of tasks.values()) await act(server, id);
      await until(() => marked(mark).length === 0, {
        within: 5_000 + (ending === 'timeout' ? 2_000 : 0) + (ending === 'finish' ? 500 : 0),
        what: 'no process is left',
      }).catch((error) => {
        const left = [...tasks].filter(([, { own }]) => marked(own).length > 0).map(([shape]) => shape);
        throw new Error(`${error.message}: ${left.join(', ')}`);
      });
      for (const [shape, { id }] of tasks) {
        const done = await server.at_rest(id);
        try {
          expect(done);
        } catch (error) {
          error.message = `${shape}: ${error.message} ${JSON.stringify(done.error)}`;
          throw error;
        }
      }
      await until(() => zombies_of([...server.supervisor_pids(), server.child.pid]).length === 0, { what: 'no zombie is left' });
    });
  }

  test('A run whose task is gone is ended by the next server (R2.3)', async (t) => {
    const server = await Server.start(t);
    const mark = marker();
    const task = await server.run(`trap '' TERM; sleep ${mark}`);
    await until(() => marked(mark).length > 0, { what: 'it runs' });
    await server.expect(204, 'DELETE', `/api/tasks/${task.id}`);
    await server.kill9();
    await server.start();
    await until(() => marked(mark).length === 0, { within: 5_000 * patience, what: 'no process is left' });
  });
});
