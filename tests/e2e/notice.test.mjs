// The summary at the end of a command, in seed 002's form, as text and as data (R9.5, R5.5, R3.7).
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Server } from './harness/index.mjs';

async function told(server, command, more = {}) {
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const task = await server.run(command, { title: 'the job', parent_session_id: session.id, ...more });
  const { notices } = await server.get(`/api/sessions/${session.id}/notices?block=true&timeout_s=20`);
  return { task, notice: notices[0], text: notices[0].text.replaceAll(task.id, 'TASK').replace(/Duration: [^\n]+/, 'Duration: D').replaceAll(server.data_dir, 'DATA') };
}

test('A success with artifacts', async (t) => {
  const server = await Server.start(t);
  const { notice, text } = await told(server, 'printf "\\033[32mok\\033[0m\\n"; echo report > $ERRAND_ARTIFACTS/report.txt');
  assert.equal(text, `### Background Task Completed: the job
- Status: Success
- Duration: D
- Output Path: DATA/run/TASK.1/log
- Summary: ok [exit code 0]
- Task: TASK
- Artifacts: 1 file, 7 B (look_at(task_id="TASK", path="artifacts"))
  - report.txt (7 B, text/plain)

ok
`);
  assert.equal(notice.data.ok, true);
  assert.equal(notice.data.exit_code, 0);
  assert.equal(notice.data.last_lines, 'ok\n');
  assert.equal(notice.data.output_lines, 1);
  assert.deepEqual(notice.data.artifacts.first.map((a) => [a.name, a.size]), [['report.txt', 7]]);
});

test('A failure, a signal and a timeout say which, and keep what was printed and left', async (t) => {
  const server = await Server.start(t);
  const failure = await told(server, 'echo why >&2; echo x > $ERRAND_ARTIFACTS/x; exit 3');
  assert.match(failure.text, /^### Background Task Failed: the job\n- Status: Failure\n/);
  assert.match(failure.text, /\[exit code 3\]\n/);
  assert.match(failure.text, /- Artifacts: 1 file/);
  assert.match(failure.text, /\n\nwhy\n$/);
  assert.deepEqual([failure.notice.data.ok, failure.notice.data.exit_code, failure.notice.data.error.code], [false, 3, 'exit']);
  const killed = await told(server, 'kill -SEGV $$');
  assert.match(killed.text, /\[ended by signal 11 \(SIGSEGV\)\]/);
  assert.equal(killed.notice.data.signal, 11);
  const late = await told(server, 'echo begun; echo x > $ERRAND_ARTIFACTS/x; sleep 60', { timeout_s: 4 });
  assert.equal(late.notice.data.error.code, 'timeout');
  assert.match(late.text, /- Status: Failure\n/);
  assert.match(late.text, /\(timeout\) \[ended by signal 15 \(SIGTERM\)\]/);
  assert.match(late.text, /- Artifacts: 1 file/);
  assert.match(late.text, /\n\nbegun\n$/);
});

test('A long output: the last lines, how much there was, never over the cap', async (t) => {
  const server = await Server.start(t);
  const { notice, text } = await told(server, 'seq 1 300000', { limits: { output_bytes: 200000 } });
  assert.match(text, /- Summary: 300000 \[exit code 0\]/);
  assert.match(text, /\[The last lines of 1\.9 MB; the log keeps the first and the last 100\.0 kB\. Read on with look_at\(task_id="TASK", path="log"\)/);
  assert.ok(text.endsWith('\n299999\n300000\n'));
  assert.ok(text.length < 17_500, `${text.length}`);
  assert.equal(notice.data.output_cut, true);
  assert.ok(notice.data.last_lines.length <= 2000);
});

test('A cancelled one says so', async (t) => {
  const server = await Server.start(t);
  const session = await server.expect(201, 'POST', '/api/sessions', {});
  const task = await server.run('sleep 60', { parent_session_id: session.id });
  await server.when(task.id, ['running']);
  await server.cancel(task.id);
  // The task is cancelled at once; its notice is made when its processes are gone.
  const { notices } = await server.get(`/api/sessions/${session.id}/notices?block=true&timeout_s=20`);
  assert.match(notices[0].text, /^### Background Task Cancelled: sleep 60\n- Status: Cancelled\n/);
  assert.equal(notices[0].data.status, 'cancelled');
});
