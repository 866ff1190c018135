// The one way to the server: typed by its own document, with the session's secret on every call.
import createClient, { type Middleware } from 'openapi-fetch';

import type { paths } from './schema.gen';
import { credentials } from './credentials';
import { lock, session } from './session';
import type { Problem } from './types';

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: the server was not reached.
    readonly code: string,
    message: string,
    readonly reason?: string,
    readonly files: string[] = [], // What is in the way, where the server names it.
  ) {
    super(message);
  }
}

const withSession: Middleware = {
  onRequest({ request }) {
    const secret = session();
    for (const [name, value] of Object.entries(secret ? credentials(secret) : {})) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (response.status === 401) {
      const problem = (await response
        .clone()
        .json()
        .catch(() => null)) as Partial<Problem> | null;
      lock(problem?.detail ?? null);
    }
    return response;
  },
};

export const api = createClient<paths>({ baseUrl: '/' });
api.use(withSession);

// No answer came; what was given up is no error.
const unreached = (error: unknown): Error =>
  error instanceof DOMException && error.name === 'AbortError'
    ? error
    : new ApiError(0, 'unreachable', error instanceof Error ? error.message : String(error));

// What the server says is wrong.
function refused(response: Response, body: unknown): ApiError {
  const { code, detail, reason, files } = (body ?? {}) as Partial<Problem> & { files?: unknown };
  const named = Array.isArray(files) ? files.filter((each) => typeof each === 'string') : [];
  return new ApiError(response.status, code ?? 'internal', detail ?? response.statusText, reason, named);
}

// The data of a call, or an ApiError with the server's own sentence.
export async function call<T>(pending: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let result;
  try {
    result = await pending;
  } catch (error) {
    throw unreached(error);
  }
  if (result.error) {
    throw refused(result.response, result.error);
  }
  return result.data as T;
}

// For what the generated client does not do: logs, artifacts, and names in addresses that are encoded already. With a body it
// is a POST.
export async function fetchText(path: string, signal?: AbortSignal, body?: object): Promise<Response> {
  const secret = session();
  let response;
  try {
    response = await fetch(path, {
      signal: signal ?? null,
      headers: {
        ...(secret ? credentials(secret) : {}),
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
  } catch (error) {
    throw unreached(error);
  }
  if (response.status === 401) lock(null);
  if (!response.ok) throw refused(response, await response.json().catch(() => ({})));
  return response;
}
