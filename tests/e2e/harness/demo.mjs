// Words that make the demo agent (`demo`) do what a test needs.
export const demo = {
  short: 'hello', // Streams a little text and completes.
  long: 'long', // Works for minutes, showing life.
  tools: 'tool',
  question: 'question',
  permission: 'permission',
  failure: 'fail',
  flood: 'flood',
};
