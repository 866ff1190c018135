import { RotateCw } from 'lucide-react';
import { useState } from 'react';

import { api, call } from '../api/client';
import { useTranslation } from '../i18n/i18n';
import { queryClient } from '../queries';
import { showError } from '../tasks/actions';
import { toast } from './toast';

const read = () => call(api.GET('/api/quotas'));

// The account whose usage limit this task waits for.
async function accountOf(task: string): Promise<string | undefined> {
  const { quotas } = await read();
  const own = quotas.find((quota) => quota.task_ids.includes(task));
  return (own ?? (quotas.length === 1 ? quotas[0] : undefined))?.account;
}

// Ends a usage limit: of an account, or that which a task waits for. Whoever waits asks the provider again.
export function AskAgain({ of }: { of: { account: string } | { task: string } }) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      const which = 'account' in of ? of.account : await accountOf(of.task);
      if (which) await call(api.DELETE('/api/quotas', { params: { query: { account: which } } }));
      toast('ok', t(which ? 'waiting.asked' : 'waiting.over'));
      void queryClient.invalidateQueries({ queryKey: ['quotas'] });
    } catch (error) {
      showError(error);
    }
    setBusy(false);
  };
  return (
    <button type="button" className="btn shrink-0" disabled={busy} onClick={() => void run()}>
      <RotateCw size={14} aria-hidden />
      {t('waiting.askAgain')}
    </button>
  );
}
