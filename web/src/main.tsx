import './styles.css';

import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';

import { access, start } from './api/session';
import { startI18n } from './i18n/i18n';
import { arrives } from './lib/arrives';
import { useStore } from './lib/store';
import { settled, startLive } from './live/live';
import { startNotifications } from './live/notify';
import { queryClient, startQueries } from './queries';
import { router } from './router';
import { startTheme } from './ui/preferences';
import { Toaster } from './ui/toast';

const Locked = lazy(() => arrives(() => import('./ui/Locked')));

function App() {
  const state = useStore(access);
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
  const ready = start();
  startLive();
  startQueries();
  startNotifications();
  await ready;
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
