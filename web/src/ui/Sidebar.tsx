import { Link, useRouterState } from '@tanstack/react-router';
import {
  Bot,
  ChartColumn,
  Languages,
  ListTodo,
  MessageSquare,
  Moon,
  Plug,
  PlugZap,
  Settings,
  Sun,
  type LucideIcon,
} from 'lucide-react';

import { setLanguage, useTranslation } from '../i18n/i18n';
import { connection, counts, retryNow } from '../live/live';
import { useNow } from '../lib/hooks';
import { useStore } from '../lib/store';
import { useAsking } from '../queries';
import { theme } from './preferences';

const items: { to: '/chat' | '/tasks' | '/agents' | '/usage' | '/settings'; key: string; icon: LucideIcon }[] = [
  { to: '/chat', key: 'nav.chat', icon: MessageSquare },
  { to: '/tasks', key: 'nav.tasks', icon: ListTodo },
  { to: '/agents', key: 'nav.agents', icon: Bot },
  { to: '/usage', key: 'nav.usage', icon: ChartColumn },
  { to: '/settings', key: 'nav.settings', icon: Settings },
];

// The mark, drawn here: one request less before the first row.
const Mark = () => (
  <svg viewBox="0 0 32 32" width={24} height={24} className="shrink-0" aria-hidden>
    <rect width="32" height="32" rx="8" fill="#3d52d5" />
    <path
      d="M9 16.5l4.6 4.6L23 11"
      fill="none"
      stroke="#fff"
      strokeWidth="3.2"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);

// Only where there is something running.
function RunningBadge() {
  const { t } = useTranslation();
  const running = useStore(counts)?.running ?? 0;
  if (running === 0) return null;
  return (
    <span
      data-testid="running-badge"
      className="ml-auto grid h-5 min-w-5 place-items-center rounded-full bg-accent px-1.5 text-[11px] font-semibold text-on-accent tabular-nums"
    >
      <span aria-hidden>{running > 999 ? '999+' : running}</span>
      <span className="sr-only">{t('nav.running', { count: running })}</span>
    </span>
  );
}

// What waits for a person is told before what runs.
function AskingBadge() {
  const { t } = useTranslation();
  const asking = useAsking();
  if (asking === 0) return null;
  return (
    <span
      data-testid="asking-badge"
      className="grid h-5 min-w-5 place-items-center rounded-full bg-violet px-1.5 text-[11px] font-semibold text-bg tabular-nums"
    >
      <span aria-hidden>{asking > 99 ? '99+' : asking}</span>
      <span className="sr-only">{t('nav.asking', { count: asking })}</span>
    </span>
  );
}

export function ConnectionState() {
  const { t } = useTranslation();
  const now = useNow();
  const state = useStore(connection);
  if (state.state === 'live') {
    return (
      <span
        className="flex items-center gap-2 px-3 py-1.5 text-xs text-muted md:max-lg:justify-center md:max-lg:px-0"
        data-testid="connection"
        data-state="live"
        title={t('connection.live')}
      >
        <span className="size-2 rounded-full bg-green" aria-hidden />
        <span className="md:max-lg:sr-only">{t('connection.live')}</span>
      </span>
    );
  }
  if (state.state === 'broken') {
    const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
    return (
      <button
        type="button"
        onClick={retryNow}
        data-testid="connection"
        data-state="broken"
        className="flex w-full items-center gap-2 rounded-lg bg-red-soft px-3 py-1.5 text-left text-xs text-red md:max-lg:justify-center md:max-lg:px-0"
      >
        <Plug size={14} className="shrink-0" aria-hidden />
        <span className="md:max-lg:sr-only">
          {seconds > 0 ? t('connection.broken', { seconds }) : t('connection.connecting')}
        </span>
      </button>
    );
  }
  return (
    <span
      className="flex items-center gap-2 px-3 py-1.5 text-xs text-muted md:max-lg:justify-center md:max-lg:px-0"
      data-testid="connection"
      data-state={state.state}
      title={t('connection.connecting')}
    >
      <PlugZap size={14} aria-hidden />
      <span className="md:max-lg:sr-only">{t('connection.connecting')}</span>
    </span>
  );
}

export function Sidebar() {
  const { t, language } = useTranslation();
  const path = useRouterState({ select: (state) => state.location.pathname });
  useStore(theme);
  const dark = document.documentElement.dataset.theme === 'dark';
  const zh = language === 'zh';
  return (
    <aside className="flex shrink-0 flex-col border-line bg-panel max-md:order-last max-md:border-t md:w-15 md:border-r lg:w-56">
      <div className="flex items-center gap-2.5 px-[18px] pt-5 pb-4 max-md:hidden lg:px-5">
        <Mark />
        <span className="text-[17px] font-semibold tracking-tight max-lg:hidden">errand</span>
      </div>
      <nav
        aria-label={t('nav.label')}
        className="flex gap-0.5 px-2 lg:px-3 max-md:justify-around max-md:px-1 max-md:pb-[env(safe-area-inset-bottom)] md:flex-col"
      >
        {items.map(({ to, key, icon: Icon }) => {
          const active = path.startsWith(to);
          return (
            <Link
              key={to}
              to={to}
              aria-current={active ? 'page' : undefined}
              title={t(key)}
              className={`relative flex items-center gap-3 rounded-lg px-3 font-medium max-md:min-w-16 max-md:flex-col max-md:gap-0.5 max-md:py-2 max-md:text-[11px] md:h-9 md:max-lg:justify-center md:max-lg:px-0 ${
                active ? 'bg-accent-soft text-accent-text' : 'text-muted hover:bg-hover hover:text-text'
              }`}
            >
              <Icon size={18} aria-hidden />
              <span className="md:max-lg:sr-only">{t(key)}</span>
              {to === '/tasks' && (
                <>
                  <span className="max-lg:absolute max-lg:top-0 max-lg:right-[calc(50%+4px)] max-lg:scale-90 lg:ml-auto">
                    <AskingBadge />
                  </span>
                  <span className="max-lg:absolute max-lg:top-0 max-lg:left-[calc(50%+4px)] max-lg:scale-90">
                    <RunningBadge />
                  </span>
                </>
              )}
            </Link>
          );
        })}
      </nav>
      <div className="mt-auto flex flex-col gap-1 p-2 max-md:hidden lg:p-3">
        <ConnectionState />
        <div className="flex gap-1 md:max-lg:flex-col md:max-lg:items-center">
          <button
            type="button"
            className="btn btn-ghost flex-1 justify-start md:max-lg:w-8 md:max-lg:flex-none md:max-lg:justify-center md:max-lg:px-0"
            title={zh ? 'English' : '中文'}
            onClick={() => void setLanguage(zh ? 'en' : 'zh')}
            lang={zh ? 'en' : 'zh'}
            data-testid="language"
          >
            <Languages size={16} aria-hidden />
            <span className="md:max-lg:sr-only">{zh ? 'English' : '中文'}</span>
          </button>
          <button
            type="button"
            className="btn btn-ghost btn-icon"
            aria-label={dark ? t('theme.toLight') : t('theme.toDark')}
            title={dark ? t('theme.toLight') : t('theme.toDark')}
            onClick={() => theme.set(dark ? 'light' : 'dark')}
            data-testid="theme"
          >
            {dark ? <Sun size={16} aria-hidden /> : <Moon size={16} aria-hidden />}
          </button>
        </div>
      </div>
    </aside>
  );
}
