// What the server did not want to do, and the files that are why.
import { MessageSquareWarning } from 'lucide-react';

import type { ApiError } from '../api/client';
import { useTranslation } from '../i18n/i18n';
import { shown } from '../lib/hidden';
import { errorText } from '../lib/sentences';

export const filesShown = 100;

export function Refusal({ error, onAsk }: { error: ApiError; onAsk: (() => void) | null }) {
  const { t } = useTranslation();
  return (
    <div role="alert" className="mt-3 rounded-xl border border-amber bg-amber-soft p-3 text-sm" data-testid="refusal">
      <p className="break-words">{errorText(error, t)}</p>
      {error.files.length > 0 && (
        <ul
          className="mt-2 max-h-40 overflow-auto font-mono text-[12.5px]"
          tabIndex={0}
          aria-label={t('changes.inTheWay')}
        >
          {error.files.slice(0, filesShown).map((file) => (
            <li key={file} className="truncate">
              <bdi>{shown(file)}</bdi>
            </li>
          ))}
          {error.files.length > filesShown && (
            <li>{t('changes.moreInTheWay', { count: error.files.length - filesShown })}</li>
          )}
        </ul>
      )}
      {onAsk && (
        <button type="button" className="btn mt-3" onClick={onAsk}>
          <MessageSquareWarning size={15} aria-hidden />
          {t('changes.askAgent')}
        </button>
      )}
    </div>
  );
}
