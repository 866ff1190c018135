import { Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import { arrives } from '../lib/arrives';
import { useFolders } from '../lib/folders';
import { usePhone } from '../lib/hooks';
import { useKeys } from '../lib/keys';
import { store, useStore } from '../lib/store';
import { connection } from '../live/live';
import { ConnectionState, Sidebar } from './Sidebar';
import { StoreState } from './StoreState';

const Palette = lazy(() => arrives(() => import('./Palette')));
const Shortcuts = lazy(() => arrives(() => import('./Shortcuts')));
export const paletteOpen = store(false);

export function Shell() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [help, setHelp] = useState(false);
  const palette = useStore(paletteOpen);
  useFolders(''); // What "~" stands for, for everything that names a folder.
  useKeys({
    '?': () => setHelp(true),
    c: () => void navigate({ to: '/chat', search: {} }),
    'mod+k': () => paletteOpen.set(!paletteOpen.get()),
    'g t': () => void navigate({ to: '/tasks', search: {} }),
    'g c': () => void navigate({ to: '/chat', search: {} }),
    'g a': () => void navigate({ to: '/agents' }),
    'g s': () => void navigate({ to: '/settings' }),
  });
  return (
    <div className="flex h-dvh max-md:flex-col">
      <a
        href="#main"
        className="sr-only z-50 focus:not-sr-only focus:absolute focus:m-2 focus:rounded-lg focus:bg-accent focus:px-3 focus:py-2 focus:text-on-accent"
      >
        {t('common.skip')}
      </a>
      <Sidebar />
      <PhoneConnection />
      <main id="main" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col bg-bg outline-none">
        <StoreState />
        <Outlet />
      </main>
      <Suspense>
        {help && <Shortcuts onClose={() => setHelp(false)} />}
        {palette && <Palette onClose={() => paletteOpen.set(false)} />}
      </Suspense>
    </div>
  );
}

// Where there is no sidebar to say it: only when it is lost.
function PhoneConnection() {
  const phone = usePhone();
  const { state } = useStore(connection);
  return phone && state === 'broken' ? (
    <div className="p-2">
      <ConnectionState />
    </div>
  ) : null;
}
