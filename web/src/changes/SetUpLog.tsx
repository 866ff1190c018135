// What the set-up command of a worktree printed: its end, read again while it works. It is fetched when somebody looks.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { plain } from '../chat/ansi';
import { useTranslation } from '../i18n/i18n';
import { readSetUpLog } from './api';

const lookMs = 1000;

export function SetUpLog({ id, preparing }: { id: string; preparing: boolean }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(preparing);
  const { data } = useQuery({
    queryKey: ['task', id, 'setup', preparing],
    queryFn: ({ signal }) => readSetUpLog(id, signal),
    enabled: open,
    refetchInterval: preparing ? lookMs : false,
  });
  return (
    <details
      className="basis-full text-xs"
      data-testid="set-up-log"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className="text-muted">{t('changes.setUpLog')}</summary>
      {data !== undefined && (
        <pre className="mt-1 max-h-48 overflow-auto rounded bg-code p-2 font-mono whitespace-pre-wrap" tabIndex={0}>
          {data === '' ? t('changes.setUpEmpty') : data.split('\n').map(plain).join('\n')}
        </pre>
      )}
    </details>
  );
}
