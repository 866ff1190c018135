import { useQuery } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';

import { api, call } from '../api/client';
import { logout, ownDevice } from '../api/session';
import { setLanguage, type Language, useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { bytes } from '../lib/format';
import { shown } from '../lib/hidden';
import { useStore, type Store } from '../lib/store';
import { Devices, OwnDevice } from './Devices';
import { ServerSettings } from './ServerSettings';
import { Webhooks } from './Webhooks';
import { beep } from '../live/notify';
import { notifications, sendWith, sound, theme } from '../ui/preferences';
import { toast } from '../ui/toast';

function Section({ title, hint, children }: { title: string; hint: string; children: ReactNode }) {
  return (
    <section className="grid grid-cols-[16rem_1fr] gap-8 border-b border-line py-7 last:border-b-0 max-lg:grid-cols-1 max-lg:gap-3">
      <div>
        <h2 className="font-semibold">{title}</h2>
        <p className="mt-1 text-sm text-muted">{hint}</p>
      </div>
      <div className="card flex flex-col gap-4 p-5 max-md:p-4">{children}</div>
    </section>
  );
}

function Choice<T extends string>({
  label,
  source,
  options,
  onChange,
}: {
  label: string;
  source: Store<T>;
  options: [T, string][];
  onChange?: (value: T) => void;
}) {
  const value = useStore(source);
  return (
    <label className="flex items-center justify-between gap-4">
      <span>{label}</span>
      <select
        className="field w-48"
        value={value}
        onChange={(event) => (onChange ?? source.set)(event.target.value as T)}
      >
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ToggleProps {
  label: string;
  source: Store<'on' | 'off'>;
  onChange: (value: 'on' | 'off') => void;
}
function Toggle({ label, source, onChange }: ToggleProps) {
  return (
    <label className="flex items-center justify-between gap-4">
      <span>{label}</span>
      <input
        type="checkbox"
        role="switch"
        className="switch"
        checked={useStore(source) === 'on'}
        onChange={(event) => onChange(event.target.checked ? 'on' : 'off')}
      />
    </label>
  );
}

export function SettingsPage() {
  const { t, language } = useTranslation();
  const device = useStore(ownDevice);
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => call(api.GET('/api/settings', { signal })),
    staleTime: 60_000,
  }).data;
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => call(api.GET('/api/health', { signal })),
    staleTime: 5000,
  }).data;
  const [permission, setPermission] = useState(
    typeof Notification === 'undefined' ? 'denied' : Notification.permission,
  );
  useEffect(() => {
    document.title = `${t('nav.settings')} · errand`;
  }, [t]);
  const notify = async (value: 'on' | 'off') => {
    if (value === 'on' && permission !== 'granted') {
      const given = typeof Notification === 'undefined' ? 'denied' : await Notification.requestPermission();
      setPermission(given);
      if (given !== 'granted') return toast('bad', t('settings.notificationsBlocked'));
    }
    notifications.set(value);
  };
  const seconds = (value: number | null | undefined) =>
    value === null || value === undefined || value === 0 ? t('settings.never') : t('settings.seconds', { n: value });
  const facts: [string, string][] = settings
    ? [
        [t('settings.overLimit'), settings.allow_over_limit ? t('common.yes') : t('common.no')],
        [t('settings.commandTimeout'), seconds(settings.command_timeout_s)],
        [t('settings.maxRestarts'), String(settings.max_restarts)],
        [t('settings.outputLimit'), bytes(settings.output_limit_bytes)],
        [t('settings.limitCpu'), seconds(settings.limit_cpu_s)],
        [
          t('settings.limitMemory'),
          settings.limit_memory_bytes === null ? t('settings.never') : bytes(settings.limit_memory_bytes),
        ],
        [
          t('settings.limitProcesses'),
          settings.limit_processes === null ? t('settings.never') : String(settings.limit_processes),
        ],
        [t('details.workDir'), settings.default_work_dir ?? '–'],
      ]
    : [];
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <header className="px-6 pt-5 max-md:px-4">
        <h1 className="text-[22px] font-semibold tracking-tight">{t('nav.settings')}</h1>
      </header>
      <div className="max-w-5xl px-6 pb-10 max-md:px-4">
        <Section title={t('settings.looks')} hint={t('settings.looksHint')}>
          <label className="flex items-center justify-between gap-4">
            <span>{t('settings.language')}</span>
            <select
              className="field w-48"
              value={language === 'zh' ? 'zh' : 'en'}
              onChange={(event) => void setLanguage(event.target.value as Language)}
            >
              <option value="en" lang="en">
                English
              </option>
              <option value="zh" lang="zh">
                中文
              </option>
            </select>
          </label>
          <Choice
            label={t('settings.theme')}
            source={theme}
            options={[
              ['system', t('theme.system')],
              ['light', t('theme.light')],
              ['dark', t('theme.dark')],
            ]}
          />
          <Choice
            label={t('settings.send')}
            source={sendWith}
            options={[
              ['enter', 'Enter'],
              ['mod-enter', 'Ctrl+Enter'],
            ]}
          />
        </Section>
        <Section title={t('settings.notifications')} hint={t('settings.notificationsHint')}>
          <Toggle
            label={t('settings.browserNotifications')}
            source={notifications}
            onChange={(value) => void notify(value)}
          />
          <Toggle
            label={t('settings.sound')}
            source={sound}
            onChange={(value) => {
              sound.set(value);
              if (value === 'on') beep(); // So that one hears what one gets.
            }}
          />
        </Section>
        {device ? (
          <Section title={t('devices.own')} hint={t('devices.ownHint', { name: shown(device.name) })}>
            <OwnDevice device={device} />
          </Section>
        ) : (
          <>
            <Section title={t('devices.title')} hint={t('devices.hint')}>
              <Devices />
            </Section>
            <Section title={t('webhooks.title')} hint={t('webhooks.hint')}>
              <Webhooks />
            </Section>
            <Section title={t('settings.server')} hint={t('settings.serverHint')}>
              {settings && <ServerSettings settings={settings} />}
            </Section>
          </>
        )}
        <Section title={t('settings.fixed')} hint={t('settings.fixedHint')}>
          <dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-6 gap-y-2.5">
            {facts.map(([name, value]) => (
              <div key={name} className="contents">
                <dt className="text-muted">{name}</dt>
                <dd className="max-w-96 text-right font-medium break-all">{value}</dd>
              </div>
            ))}
          </dl>
        </Section>
        <Section title={t('settings.about')} hint={t('settings.aboutHint')}>
          <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-2.5">
            <dt className="text-muted">{t('settings.version')}</dt>
            <dd className="text-right font-medium">{health?.version ?? '–'}</dd>
            <dt className="text-muted">{t('settings.store')}</dt>
            <dd className="max-w-96 text-right font-medium break-all">{health?.store ?? '–'}</dd>
          </dl>
          {!device && (
            <div className="flex justify-end">
              <button type="button" className="btn" onClick={() => void logout()}>
                <LogOut size={15} aria-hidden />
                {t('settings.logout')}
              </button>
            </div>
          )}
        </Section>
      </div>
    </div>
  );
}
