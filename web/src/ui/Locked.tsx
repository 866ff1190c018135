import { KeyRound } from 'lucide-react';

import { refusal } from '../api/session';
import { useTranslation } from '../i18n/i18n';
import { useStore } from '../lib/store';
import { CopyLine } from './CopyLine';

// Nobody is logged in: what to do, in one command. A tab that logs in opens this one too.
export default function Locked() {
  const { t } = useTranslation();
  const why = useStore(refusal);
  return (
    <main className="grid h-dvh place-items-center p-6">
      <div className="card w-full max-w-md p-8 shadow-[var(--shadow)]">
        <div className="mb-5 grid size-12 place-items-center rounded-2xl bg-accent-soft text-accent-text">
          <KeyRound size={22} aria-hidden />
        </div>
        <h1 className="text-xl font-semibold tracking-tight">{t('locked.title')}</h1>
        <p className="mt-2 mb-4 text-muted">{t('locked.body')}</p>
        <CopyLine text="errand open" />
        <p className="mt-4 text-sm text-muted">{t('locked.why')}</p>
        <p className="mt-4 text-sm text-muted">
          {t('locked.phone')}{' '}
          <a className="text-accent-text underline" href="/pair">
            {t('locked.pair')}
          </a>
        </p>
        {why && <p className="mt-3 rounded-lg bg-amber-soft px-3 py-2 text-sm text-amber">{why}</p>}
      </div>
    </main>
  );
}
