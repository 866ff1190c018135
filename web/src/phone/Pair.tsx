// /pair: a phone becomes a device of this server. The code comes from `errand phone`: scanned, it is in the address;
// typed where the phone opens links elsewhere.
import { Smartphone } from 'lucide-react';
import { useEffect, useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { pair, Refused } from './device';

// What people call it; they may say otherwise.
export function nameOf(agent: string): string {
  const known: [RegExp, string][] = [
    [/iPhone/, 'iPhone'],
    [/iPad/, 'iPad'],
    [/Android/, 'Android'],
    [/Macintosh/, 'Mac'],
    [/Windows/, 'Windows'],
    [/Linux/, 'Linux'],
  ];
  return known.find(([pattern]) => pattern.test(agent))?.[1] ?? '';
}

// Neither the history nor a copied address may have it.
function takeCode(): string {
  const code = location.hash.slice(1);
  if (code) history.replaceState(history.state, '', location.pathname);
  return code.slice(0, 20);
}
const scanned = takeCode();

export default function Pair() {
  const { t } = useTranslation();
  const [code, setCode] = useState(scanned);
  const [name, setName] = useState(() => nameOf(navigator.userAgent));
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState('');
  const able = window.isSecureContext && typeof indexedDB !== 'undefined';
  useEffect(() => {
    document.title = `${t('pair.title')} · errand`;
  }, [t]);
  const send = async () => {
    setBusy(true);
    setRefused('');
    try {
      await pair(code, name.trim());
      location.replace('/tasks');
    } catch (error) {
      setBusy(false);
      setRefused(error instanceof Refused ? error.message : t('errors.unreachable'));
    }
  };
  return (
    <main className="grid min-h-dvh place-items-center p-6">
      <form
        className="card flex w-full max-w-md flex-col gap-4 p-8 shadow-[var(--shadow)] max-md:p-6"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <div className="grid size-12 place-items-center rounded-2xl bg-accent-soft text-accent-text">
          <Smartphone size={22} aria-hidden />
        </div>
        <h1 className="text-xl font-semibold tracking-tight">{t('pair.title')}</h1>
        {able ? (
          <>
            <p className="text-muted">{t('pair.body')}</p>
            <label className="flex flex-col gap-1">
              <span>{t('pair.code')}</span>
              <input
                className="field font-mono tracking-widest uppercase"
                required
                maxLength={20}
                value={code}
                placeholder="ABCD-EFGH"
                autoComplete="one-time-code"
                autoCapitalize="characters"
                spellCheck={false}
                onChange={(event) => setCode(event.target.value)}
              />
            </label>
            <label className="flex flex-col gap-1">
              <span>{t('pair.name')}</span>
              <input
                className="field"
                required
                maxLength={40}
                value={name}
                autoComplete="off"
                onChange={(event) => setName(event.target.value)}
              />
            </label>
            {refused && (
              <p className="rounded-lg bg-red-soft px-3 py-2 text-red" role="alert">
                {refused}
              </p>
            )}
            <button type="submit" className="btn btn-primary" disabled={busy || !code.trim() || !name.trim()}>
              {t('pair.submit')}
            </button>
            <p className="text-sm text-muted">{t('pair.hint')}</p>
          </>
        ) : (
          <p className="rounded-lg bg-amber-soft px-3 py-2 text-amber" role="alert">
            {t('pair.insecure')}
          </p>
        )}
      </form>
    </main>
  );
}
