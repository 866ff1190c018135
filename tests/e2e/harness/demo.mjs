// Words that make the demo agent (`demo`) do what a test needs; `errand ask help` lists them.
export const demo = {
  short: 'hello', // Streams a little text and completes.
  long: 'long 600', // Works for ten minutes, showing life.
  tools: 'tools', // Three tool calls, one of which fails.
  question: 'ask',
  permission: 'permission',
  failure: 'fail',
  busy: 'tools '.repeat(32).trim(), // Some hundred events in twenty seconds.
};
