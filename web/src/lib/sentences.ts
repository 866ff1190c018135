// What went wrong, in the reader's language. The server's sentences are English, and the best there is for those who read it.
// For others its codes travel, and the words are ours (i18n/zh.server.json); what has no words of ours stays as it is.
import { ApiError } from '../api/client';
import type { Task } from '../api/types';
import type { Translate } from '../i18n/i18n';

export function errorText(error: unknown, t: Translate): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  if (error.status === 0) return t('errors.unreachable');
  const plain = t(`server.code.${error.code}`, { detail: error.message, defaultValue: error.message });
  return error.reason ? t(`server.reason.${error.reason}`, { detail: error.message, defaultValue: plain }) : plain;
}

export const failureText = (error: NonNullable<Task['error']>, t: Translate): string =>
  t(`server.task.${error.code}`, { defaultValue: error.message });
