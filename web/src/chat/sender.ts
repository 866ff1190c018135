// Sends a message to a task: into its turn, as its next turn, or as a retry where it failed or was cancelled.
import { api, call } from '../api/client';
import { atWork, type Task } from '../api/types';
import { queryClient, upToDate } from '../queries';
import { showError } from '../tasks/actions';
import { wordsOf, type Attachment } from './launch';
import { remember, type Mode } from './sent';

// Resolves with whether it is stored; where it is not, the person was told why.
export const sender =
  (task: Task, mode: Mode) =>
  async (text: string, files: Attachment[] = []): Promise<boolean> => {
    const words = wordsOf(text, files);
    const path = { id: task.id };
    const working = atWork(task.status);
    try {
      if (task.status === 'failed' || task.status === 'cancelled') {
        const again = await call(api.POST('/api/tasks/{id}/retry', { params: { path }, body: words }));
        queryClient.setQueryData(['task', task.id], upToDate(again));
      } else {
        if (working) remember(task.id, text, mode);
        const body = { ...words, ...(working ? { when: mode } : {}) };
        const taken = await call(api.POST('/api/tasks/{id}/message', { params: { path }, body }));
        queryClient.setQueryData(['task', task.id], upToDate(taken.task));
      }
      return true;
    } catch (failure) {
      showError(failure);
      return false;
    }
  };
