// The page's addresses. Filters and what is open live in the address, so that they can be kept, shared and gone back to.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';

import { arrives } from './lib/arrives';
import { Shell } from './ui/Shell';
import { chatSearch, taskSearch } from './search';
import { TasksPage } from './tasks/TasksPage';

const NotFound = lazyRouteComponent(() => arrives(() => import('./ui/Nowhere')), 'NotFound');
const Broken = lazyRouteComponent(() => arrives(() => import('./ui/Nowhere')), 'Broken');

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => redirect({ to: '/tasks', search: {}, replace: true, throw: true }),
});
export const tasksRoute = createRoute({
  getParentRoute: () => root,
  path: '/tasks',
  validateSearch: taskSearch,
  component: TasksPage,
});
export const chatRoute = createRoute({
  getParentRoute: () => root,
  path: '/chat',
  validateSearch: chatSearch,
  component: lazyRouteComponent(() => arrives(() => import('./chat/ChatPage')), 'ChatPage'),
});
const agentsRoute = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  component: lazyRouteComponent(() => arrives(() => import('./pages/AgentsPage')), 'AgentsPage'),
});
const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => arrives(() => import('./pages/SettingsPage')), 'SettingsPage'),
});
const batchesRoute = createRoute({
  getParentRoute: () => root,
  path: '/batches',
  component: lazyRouteComponent(() => arrives(() => import('./pages/BatchesPage')), 'BatchesPage'),
});
const usageRoute = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  component: lazyRouteComponent(() => arrives(() => import('./pages/UsagePage')), 'UsagePage'),
});

export const router = createRouter({
  routeTree: root.addChildren([home, tasksRoute, chatRoute, agentsRoute, batchesRoute, usageRoute, settingsRoute]),
  // Plain words in the address, as people write and read them.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const params = new URLSearchParams();
    for (const [key, value] of Object.entries(search))
      if (value !== undefined && value !== '') params.set(key, String(value));
    const text = params.toString().replaceAll('%2C', ',');
    return text ? `?${text}` : '';
  },
  defaultPreload: 'intent',
  defaultErrorComponent: Broken,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
