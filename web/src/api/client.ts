// The one way to the server: typed by its own document, with the session's secret on every call.
import createClient, { type Middleware } from 'openapi-fetch';

import type { paths } from './schema.gen';
import { lock, session } from './session';
import type { Problem } from './types';

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: the server was not reached.
    readonly code: string,
    message: string,
    readonly reason?: string,
  ) {
    super(message);
  }
}

const credentials: Middleware = {
  onRequest({ request }) {
    const secret = session();
    if (secret) request.headers.set('X-Errand-Session', secret);
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
api.use(credentials);

// The data of a call, or an ApiError with the server's own sentence.
export async function call<T>(pending: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let result;
  try {
    result = await pending;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'unreachable', error instanceof Error ? error.message : String(error));
  }
  if (result.error) {
    const { code, detail, reason } = result.error as Partial<Problem>;
    throw new ApiError(result.response.status, code ?? 'internal', detail ?? result.response.statusText, reason);
  }
  return result.data as T;
}

// For what is no JSON: logs and artifacts.
export async function fetchText(path: string, signal?: AbortSignal): Promise<Response> {
  const secret = session();
  const response = await fetch(path, { signal: signal ?? null, headers: secret ? { 'X-Errand-Session': secret } : {} });
  if (response.status === 401) lock(null);
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
    throw new ApiError(response.status, problem.code ?? 'internal', problem.detail ?? response.statusText);
  }
  return response;
}
