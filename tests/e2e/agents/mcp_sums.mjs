// An MCP server over standard input and output, without packages: its one tool tells the key that it was given.
import readline from 'node:readline';

const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const tools = [{ name: 'key', description: 'Tells its key.', inputSchema: { type: 'object', properties: {} } }];

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'sums', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: `the key is ${process.env.SUMS_KEY}` }] } });
  else say({ id, error: { code: -32601, message: 'Method not found' } });
});
