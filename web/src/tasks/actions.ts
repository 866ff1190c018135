// What can be done with tasks, one or many, from every place that shows them.
import { api, ApiError, call } from '../api/client';
import { atWork, type Task, type TaskEdit, type TaskQuery } from '../api/types';
import { t } from '../i18n/i18n';
import { toast, toastError } from '../ui/toast';

export type Action = 'cancel' | 'delete' | 'retry';

export const cancelTask = (id: string) => call(api.POST('/api/tasks/{id}/cancel', { params: { path: { id } } }));
export const deleteTask = (id: string) => call(api.DELETE('/api/tasks/{id}', { params: { path: { id } } }));
export const retryTask = (id: string, message?: string) =>
  call(api.POST('/api/tasks/{id}/retry', { params: { path: { id } }, ...(message ? { body: { message } } : {}) }));

// The record, not the work: what changed comes back with the stream.
export async function editTask(id: string, body: TaskEdit): Promise<void> {
  try {
    await call(api.PATCH('/api/tasks/{id}', { params: { path: { id } }, body }));
  } catch (error) {
    showError(error);
  }
}

// Of a permission, from the row: for this once.
export async function answerOnce(task: Task, decision: 'allow' | 'deny'): Promise<void> {
  const request = task.waiting_for?.request_id;
  if (!request) return;
  try {
    await call(
      api.POST('/api/tasks/{id}/answer', {
        params: { path: { id: task.id } },
        body: { request_id: request, decision },
      }),
    );
  } catch (error) {
    showError(error);
  }
}

const one: Record<Action, (id: string) => Promise<unknown>> = {
  cancel: cancelTask,
  delete: deleteTask,
  retry: retryTask,
};

export const can: Record<Action, (task: Pick<Task, 'status'>) => boolean> = {
  cancel: (task) => atWork(task.status),
  delete: () => true,
  retry: (task) => task.status === 'failed' || task.status === 'cancelled',
};

export const showError = (error: unknown): void => toastError(error);

export async function act(action: Action, id: string): Promise<boolean> {
  try {
    await one[action](id);
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}

// As it is now; null where it is gone.
export const readTask = (id: string): Promise<Task | null> =>
  call(api.GET('/api/tasks/{id}', { params: { path: { id } } })).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });

// Every task that matches a filter, as it is now. The filter was frozen when the question was asked.
export async function matching(query: TaskQuery): Promise<Task[]> {
  const found: Task[] = [];
  const { fold_batches: _, ...each } = query; // Every task, also those that a batch's row stands for.
  let cursor: string | undefined;
  do {
    const page = await call(
      api.GET('/api/tasks', { params: { query: { ...each, limit: 500, ...(cursor ? { cursor } : {}) } } }),
    );
    found.push(...page.tasks);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return found;
}

const atOnce = 6;

// Says at the end how many it did; one that fails (it ended meanwhile, say) stops nothing.
export async function actOnAll(action: Action, ids: string[]): Promise<void> {
  const queue = [...ids];
  let done = 0;
  let firstError: unknown;
  const worker = async () => {
    for (let id = queue.shift(); id; id = queue.shift()) {
      try {
        await one[action](id);
        done++;
      } catch (error) {
        firstError ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, worker));
  if (done > 0) toast('ok', t(`bulk.done.${action}`, { count: done }));
  if (firstError) showError(firstError);
}
