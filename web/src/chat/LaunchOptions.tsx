// What may be set beside the words of a new task. Everything has a default, so all of it is folded away at first.
import type { ReactNode } from 'react';

import { useTranslation } from '../i18n/i18n';
import type { Agent } from '../api/types';
import type { Options } from './launch';

function Field({ label, wide = false, children }: { label: string; wide?: boolean; children: ReactNode }) {
  return (
    <label className={`block ${wide ? 'md:col-span-2' : ''}`}>
      <span className="mb-1 block text-xs font-medium text-muted">{label}</span>
      {children}
    </label>
  );
}

interface Props {
  options: Options;
  agent: Agent | undefined;
  command: boolean;
  fork: boolean;
  onChange: (change: Partial<Options>) => void;
}

export function LaunchOptions({ options, agent, command, fork, onChange }: Props) {
  const { t } = useTranslation();
  const check = (key: 'skills' | 'mcp' | 'perLine') => (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-[var(--accent)]"
        checked={options[key] ?? (key === 'skills' ? agent?.enable_skills : agent?.enable_mcp) ?? false}
        onChange={(event) => onChange({ [key]: event.target.checked })}
      />
      {t(`launch.${key}`)}
    </label>
  );
  return (
    <div className="card mt-3 grid gap-x-4 gap-y-3 p-4 md:grid-cols-2" data-testid="launch-options">
      {!command && (
        <>
          <Field label={t('launch.folders')} wide>
            <textarea
              rows={2}
              className="field h-auto py-2 font-mono text-[13px]"
              value={options.folders}
              onChange={(event) => onChange({ folders: event.target.value })}
            />
          </Field>
          <Field label={t('tasks.columns.model')}>
            <input
              className="field"
              value={options.model}
              onChange={(event) => onChange({ model: event.target.value })}
              placeholder={t('launch.agents')}
            />
          </Field>
          <Field label={t('agents.permission')}>
            <select
              className="field"
              value={options.permission}
              onChange={(event) => onChange({ permission: event.target.value as Options['permission'] })}
            >
              <option value="">{t('launch.agents')}</option>
              {(['ask', 'allow', 'deny'] as const).map((each) => (
                <option key={each} value={each}>
                  {t(`agents.permissions.${each}`)}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t('launch.cost')}>
            <input
              className="field"
              inputMode="decimal"
              value={options.cost}
              onChange={(event) => onChange({ cost: event.target.value })}
              placeholder={t('launch.none')}
            />
          </Field>
        </>
      )}
      <Field label={t('launch.minutes')}>
        <input
          className="field"
          inputMode="decimal"
          value={options.minutes}
          onChange={(event) => onChange({ minutes: event.target.value })}
          placeholder={command ? t('launch.servers') : t('launch.none')}
        />
      </Field>
      {command && (
        <Field label={t('launch.sandbox')}>
          <select
            className="field"
            value={options.sandbox}
            onChange={(event) => onChange({ sandbox: event.target.value as Options['sandbox'] })}
          >
            <option value="">{t('launch.servers')}</option>
            {(['off', 'workspace', 'strict'] as const).map((each) => (
              <option key={each} value={each}>
                {t(`launch.sandboxes.${each}`)}
              </option>
            ))}
          </select>
        </Field>
      )}
      <div className="flex flex-wrap gap-x-6 gap-y-2 md:col-span-2">
        {!command && check('skills')}
        {!command && check('mcp')}
        {!fork && check('perLine')}
      </div>
    </div>
  );
}
