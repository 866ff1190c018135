// An agent that misbehaves, as it is told by its first word. It speaks the protocol by hand, for no library would.
import readline from 'node:readline';

const mode = process.argv[2];
const print = (value) => process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify({ jsonrpc: '2.0', ...value })}\n`);
const update = (update) => print({ method: 'session/update', params: { sessionId: 's', update } });
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
process.stderr.write('I am not well\n');
if (mode === 'leaves') process.exit(7);
if (mode === 'silent') setInterval(() => {}, 1 << 30);

const prompts = {
  half({ id }) {
    const line = JSON.stringify({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } });
    say('in two');
    process.stdout.write(line.slice(0, 20), () => process.stdout.write(`${line.slice(20)}\n`));
  },
  cut() {
    say('and then');
    process.stdout.write('{"jsonrpc":"2.0","id":', () => process.kill(process.pid, 'SIGKILL'));
  },
  async flood({ id }) {
    for (let i = 0; i < 20_000; i++) {
      say(`${i} `);
      if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    print({ id, result: { stopReason: 'end_turn' } });
  },
  long() {
    process.stdout.write('x'.repeat(40 << 20));
  },
  odd({ id }) {
    print('Loading the model...');
    print('[]');
    print('{"jsonrpc":"2.0","method":');
    print({ id: 4711, result: {} });
    print({ id: 'x', error: { code: 1, message: 'no' } });
    print({ id: null, result: null });
    print({ id: 'ask', method: 'client/dance', params: { deeply: [[[[{}]]]] } });
    print({ id: 1.5, method: 'session/request_permission', params: {} });
    print({ method: '_private/notice', params: 7 });
    update({ sessionUpdate: 'from_the_future', what: 1 });
    update(7);
    update({ sessionUpdate: 'tool_call' });
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'never begun', status: 'completed', rawOutput: { output: 'yes' } });
    say('still here');
    print({ id, result: { stopReason: 'something new' } });
  },
  dies: () => process.kill(process.pid, 'SIGKILL'),
  deaf() {
    process.stdin.pause();
    say('I do not listen');
  },
};

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (mode === 'silent') return;
  if (message.method === 'initialize') print({ id: message.id, result: { protocolVersion: mode === 'future' ? 3 : 1 } });
  if (message.method === 'session/new') print({ id: message.id, result: { sessionId: 's' } });
  if (message.method === 'session/prompt') prompts[mode](message);
});
// It does not leave when its input ends.
if (mode === 'deaf') setInterval(() => {}, 1 << 30);
