// Holds every reply that a test sees to what /api/openapi.json says of it: the document is true or the test fails.
// Needs the pinned tools (build/tools/e2e); without them, as when one suite is run by hand, nothing is checked.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { request } from './http.mjs';

const default_tools = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../build/tools/e2e');
export const tools_folder = process.env.ERRAND_E2E_TOOLS ?? default_tools;
const tools = tools_folder;

// A module of the pinned tools, or undefined where they are not installed.
export async function tool(name) {
  if (!fs.existsSync(path.join(tools, 'node_modules'))) return undefined;
  const require = createRequire(path.join(tools, 'package.json'));
  return import(pathToFileURL(require.resolve(name)));
}

let contract;

async function load(server) {
  const ajv = await tool('ajv/dist/2020.js');
  if (!ajv) return null;
  const reply = await request({ port: server.port, path: '/api/openapi.json', headers: { authorization: `Bearer ${server.token}` } });
  if (reply.status !== 200) return null;
  const document = reply.json;
  const validator = new ajv.Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  validator.addSchema(document, 'api');
  const routes = Object.entries(document.paths).map(([template, item]) => ({
    template,
    item,
    pattern: new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{name\}$/, '.+').replace(/\{[^}]+\}/g, '[^/]+')}$`),
    literal: !template.includes('{'),
  }));
  // /api/tasks/running/count before /api/tasks/{id}/...
  routes.sort((a, b) => b.literal - a.literal);
  return { document, validator, routes, compiled: new Map() };
}

// The document's validator for one of its schemas, by the path to it.
function compiled(known, path) {
  const pointer = path.map((key) => encodeURIComponent(key.replace(/~/g, '~0').replace(/\//g, '~1'))).join('/');
  if (!known.compiled.has(pointer)) known.compiled.set(pointer, known.validator.compile({ $ref: `api#/${pointer}` }));
  return known.compiled.get(pointer);
}

// Holds what a stream of the API sent to the document.
export async function check_event(server, target, event) {
  contract ??= load(server).catch(() => null);
  const known = await contract;
  if (!known) {
    contract = undefined;
    return;
  }
  const schema = target.startsWith('/api/sessions/') ? 'SessionStreamEvent' : 'StreamEvent';
  const check = compiled(known, ['components', 'schemas', schema]);
  assert.ok(check(event.data), `${target} sent a ${event.event} that is not as the API document says: ${JSON.stringify(event.data).slice(0, 1000)}`);
}

export async function check_contract(server, method, target, reply) {
  contract ??= load(server).catch(() => null);
  const known = await contract;
  if (!known) {
    contract = undefined;
    return;
  }
  const clean = target.split('?')[0];
  const route = known.routes.find((r) => r.pattern.test(clean) && r.item[method.toLowerCase()]);
  if (!route) {
    assert.ok([400, 401, 403, 404, 405, 421].includes(reply.status), `${method} ${clean} is not in the API document and answered ${reply.status}`);
    return;
  }
  const where = `${method} ${route.template} ${reply.status}`;
  let responses = route.item[method.toLowerCase()].responses;
  let at = ['paths', route.template, method.toLowerCase(), 'responses'];
  let status = [String(reply.status), `${String(reply.status)[0]}XX`, 'default'].find((s) => s in responses);
  assert.ok(status, `${where}: the API document does not name this status`);
  let response = responses[status];
  at.push(status);
  if (response.$ref) {
    at = response.$ref.slice(2).split('/');
    response = at.reduce((node, key) => node[key.replace(/~1/g, '/').replace(/~0/g, '~')], known.document);
    at = at.map((key) => key.replace(/~1/g, '/').replace(/~0/g, '~'));
  }
  if (!reply.json) return;
  const type = (reply.headers['content-type'] ?? '').split(';')[0];
  const content = response.content?.[type];
  assert.ok(content, `${where}: the API document does not name ${type}`);
  if (!content.schema) return;
  const check = compiled(known, [...at, 'content', type, 'schema']);
  assert.ok(check(reply.json), `${where} is not as the API document says: ${known.validator.errorsText(check.errors)}\n${reply.text.slice(0, 1000)}`);
}
