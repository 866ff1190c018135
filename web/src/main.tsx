import './styles.css';

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';

import { access, ownDevice, start } from './api/session';
import { startI18n } from './i18n/i18n';
import { arrives } from './lib/arrives';
import { useStore } from './lib/store';
import { settled, startLive } from './live/live';
import { startNotifications } from './live/notify';
import { startWorker } from './phone/register';
import { queryClient, startQueries } from './queries';
import { router } from './router';
import { startTheme } from './ui/preferences';
import { Toaster } from './ui/toast';

const Locked = lazy(() => arrives(() => import('./ui/Locked')));
const Pair = lazy(() => arrives(() => import('./phone/Pair')));
// Whoever is here wants to pair this browser, logged in or not.
const pairing = location.pathname === '/pair';

function App() {
  const state = useStore(access);
  if (pairing)
    return (
      <Suspense>
        <Pair />
      </Suspense>
    );
  if (state === 'checking') return null;
  if (state === 'locked')
    return (
      <Suspense>
        <Locked />
      </Suspense>
    );
  return <RouterProvider router={router} />;
}

async function main(): Promise<void> {
  startTheme();
  await startI18n();
  const ready = pairing ? Promise.resolve() : start();
  startLive();
  startQueries();
  startNotifications();
  await ready;
  // A phone can be told, and be offline; the owner's own browser needs neither.
  if (pairing || ownDevice.get()) startWorker();
  // Connect first, then read: so nothing is read twice. A slow start of the stream holds the page up for a moment only.
  await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, 250))]);
  const root = document.getElementById('root');
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App />
        <Toaster />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void main();
