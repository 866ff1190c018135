// The inspector's command line and the conformance suite, both official, against the real server in both eras.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { binary, patience, Server, temporary_folder, tools_folder } from './harness/index.mjs';

const run = promisify(execFile);
const packages = path.join(tools_folder, 'node_modules/@modelcontextprotocol');
const skip = fs.existsSync(path.join(packages, 'inspector')) ? false : 'the pinned clients are not installed: scripts/test does it';

async function inspector(t, args) {
  const home = temporary_folder(t, 'inspector');
  const { stdout } = await run(process.execPath, [path.join(packages, 'inspector/clients/launcher/build/index.js'), '--cli', ...args], {
    env: { PATH: process.env.PATH, HOME: home },
    timeout: 120_000 * patience,
    maxBuffer: 16 << 20,
  });
  return JSON.parse(stdout);
}

for (const era of ['legacy', 'modern']) {
  test(`Every tool, resource and prompt, by the inspector: ${era}`, { skip }, async (t) => {
    const server = await Server.start(t);
    const ask = (method, ...more) =>
      inspector(t, ['--transport', 'http', '--server-url', `${server.url}/mcp?session=inspected`, '--header', `Authorization: Bearer ${server.token}`, '--protocol-era', era, '--method', method, ...more]);
    const call = async (tool, args = {}) => {
      const pairs = Object.entries(args).map(([name, value]) => `${name}=${value}`);
      const result = await ask('tools/call', '--tool-name', tool, ...(pairs.length ? ['--tool-arg', ...pairs] : []));
      assert.notEqual(result.isError, true, `${tool}: ${JSON.stringify(result.content)}`);
      return result;
    };
    const { tools } = await ask('tools/list', '--strict');
    const task = (await call('background_execute', { command: 'echo inspected', description: 'Inspected' })).structuredContent.task_id;
    // The inspector takes tasks: in the modern era it waits until this one has ended.
    await call('background_task', { agent: 'demo', prompt: 'text' });
    const agent = (await server.ask('long 300', { parent_session_id: 'inspected' })).id;
    await call('background_output', { task_id: task, block: 'true', timeout: '30' });
    const called = new Set(['background_execute', 'background_task', 'background_output']);
    for (const [tool, args] of [
      ['background_list', {}],
      ['background_message', { task_id: agent, message: 'hello' }],
      ['background_cancel', { task_id: agent }],
      ['background_retry', { task_id: agent }],
      ['background_cancel', { task_id: agent }],
      ['session_manager', { action: 'keep', key: 'k', value: 'v' }],
      ['look_at', { task_id: task }],
    ]) {
      await call(tool, args);
      called.add(tool);
    }
    const { resources } = await ask('resources/list');
    assert.ok(resources.length >= 2);
    for (const { uri } of resources) assert.equal((await ask('resources/read', '--uri', uri)).contents[0].uri, uri);
    assert.ok((await ask('resources/templates/list')).resourceTemplates.length >= 5);
    const { prompts } = await ask('prompts/list');
    for (const { name } of prompts) assert.ok((await ask('prompts/get', '--prompt-name', name)).messages.length > 0);
    await call('background_clear', {});
    called.add('background_clear');
    assert.deepEqual(tools.map((tool) => tool.name).filter((name) => !called.has(name)), []);
  });
}

test('The inspector finds its way over standard input and output', { skip }, async (t) => {
  const server = await Server.start(t);
  const { tools } = await inspector(t, ['--protocol-era', 'auto', '--method', 'tools/list', '-e', `ERRAND_DATA_DIR=${server.data_dir}`, '--', binary, 'mcp']);
  assert.ok(tools.length >= 9);
});

// What the conformance suite checks of any server; its other scenarios want the tools of a test server.
const scenarios = {
  '2025-11-25': ['server-initialize', 'server-session-lifecycle', 'ping', 'logging-set-level', 'tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection'],
  '2026-07-28': ['server-stateless', 'tools-list', 'resources-list', 'prompts-list', 'caching', 'http-header-validation', 'sep-2164-resource-not-found', 'dns-rebinding-protection'],
};

// The suite knows no tokens: whoever stands between adds it, and nothing else.
async function with_token(t, server) {
  const proxy = http.createServer((from, to) => {
    const headers = { ...from.headers, authorization: `Bearer ${server.token}` };
    headers.host = headers.host?.replace(`:${proxy.address().port}`, `:${server.port}`);
    headers.origin &&= headers.origin.replace(`:${proxy.address().port}`, `:${server.port}`);
    const onward = http.request({ host: '127.0.0.1', port: server.port, method: from.method, path: from.url, headers, setHost: false }, (reply) => {
      to.writeHead(reply.statusCode, reply.headers);
      reply.pipe(to);
    });
    onward.on('error', () => to.destroy());
    to.on('close', () => onward.destroy());
    from.pipe(onward);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${proxy.address().port}/mcp`;
}

test('The conformance suite finds nothing', { skip }, async (t) => {
  const server = await Server.start(t);
  const url = await with_token(t, server);
  const folder = temporary_folder(t, 'conformance');
  for (const [version, names] of Object.entries(scenarios))
    for (const name of names) {
      const args = [path.join(packages, 'conformance/dist/index.js'), 'server', '--url', url, '--scenario', name, '--spec-version', version, '--timeout', String(30_000 * patience)];
      const said = await run(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, timeout: 120_000 * patience }).catch((error) => error);
      // Four of its checks (of server-stateless) need tools that only a test server has, and say so: two of what a tool
      // may not rely on, one of questions inside a stream, one of log messages; modern_test.cc has its own of these.
      const all = [...`${said.stdout}`.matchAll(/^\s+Error: (.*)$/gm)].map((match) => match[1]);
      const errors = all.filter((error) => !/^Not testable: .*diagnostic tool 'test_/.test(error));
      assert.equal(all.length - errors.length, name === 'server-stateless' ? 4 : 0, `${version} ${name}: ${all.join('\n')}`);
      assert.ok(said.stdout && errors.length === 0 && /Passed: [1-9]/.test(said.stdout), `${version} ${name}:\n${said.stdout}\n${said.stderr}`);
    }
});
