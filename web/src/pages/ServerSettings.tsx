// What can be changed while the server runs; it holds over restarts.
import { useState } from 'react';

import { api, ApiError, call } from '../api/client';
import type { Settings, ToolsFamily } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { toolFamilies } from '../lib/families';
import { shown } from '../lib/hidden';
import { queryClient, useAgents } from '../queries';
import { toast } from '../ui/toast';
import { changeOf, fields, formOf, maps, wrongFields, type NumberField } from './settingsForm';

export function ServerSettings({ settings }: { settings: Settings }) {
  const { t } = useTranslation();
  const [form, setForm] = useState(() => formOf(settings));
  const [saving, setSaving] = useState(false);
  const [refused, setRefused] = useState('');
  const wrong = wrongFields(form);
  const change = changeOf(form, settings);
  const agents = useAgents().data?.agents ?? [];
  // The one that holds stays in the list, whatever became of its agent.
  const names = [
    ...new Set([
      ...agents.filter((agent) => agent.available && agent.driver !== 'command').map((agent) => agent.name),
      ...(settings.default_agent === 'auto' ? [] : [settings.default_agent]),
    ]),
  ];
  const dirty = Object.keys(change).length > 0 || wrong.length > 0;

  const save = async () => {
    setSaving(true);
    setRefused('');
    try {
      const now = await call(api.PATCH('/api/settings', { body: change }));
      queryClient.setQueryData(['settings'], now);
      void queryClient.invalidateQueries({ queryKey: ['agents'] });
      setForm(formOf(now));
      toast('ok', t('settings.saved'));
    } catch (error) {
      setRefused(error instanceof ApiError && error.status > 0 ? error.message : t('errors.unreachable'));
    } finally {
      setSaving(false);
    }
  };

  return (
    <form
      className="flex flex-col gap-4"
      data-testid="server-settings"
      onSubmit={(event) => {
        event.preventDefault();
        if (wrong.length === 0) void save();
      }}
    >
      {(Object.keys(fields) as NumberField[]).map((key) => (
        <label key={key} className="flex items-center justify-between gap-4">
          <span>
            {t(`settings.field.${key}`)}
            <span className="block text-xs text-muted">{t(`settings.hint.${key}`)}</span>
          </span>
          <span className="flex w-48 shrink-0 items-center gap-2">
            <input
              className="field"
              inputMode="decimal"
              value={form[key]}
              placeholder={key === 'max_memory' ? t('launch.none') : fields[key].none ? t('settings.never') : ''}
              aria-invalid={wrong.includes(key)}
              onChange={(event) => setForm({ ...form, [key]: event.target.value })}
            />
            {fields[key].unit > 1 && (
              <span className="w-10 shrink-0 text-xs text-muted">
                {key === 'max_memory' ? 'GiB' : t(fields[key].unit === 60 ? 'settings.minutes' : 'settings.days')}
              </span>
            )}
          </span>
        </label>
      ))}
      {maps.map((key) => (
        <label key={key} className="flex items-start justify-between gap-4">
          <span>
            {t(`settings.field.${key}`)}
            <span className="block text-xs text-muted">{t(`settings.hint.${key}`)}</span>
          </span>
          <textarea
            rows={2}
            className="field h-auto w-48 shrink-0 py-1.5 font-mono text-[13px]"
            value={form[key]}
            placeholder={key === 'max_per_agent' ? 'reviewer = 2' : 'claude-sonnet-5-5 = 4'}
            spellCheck={false}
            aria-invalid={wrong.includes(key)}
            onChange={(event) => setForm({ ...form, [key]: event.target.value })}
          />
        </label>
      ))}
      <label className="flex items-center justify-between gap-4">
        <span>
          {t('settings.field.default_agent')}
          <span className="block text-xs text-muted">{t('settings.hint.default_agent')}</span>
        </span>
        <select
          className="field w-48 shrink-0"
          value={form.default_agent}
          onChange={(event) => setForm({ ...form, default_agent: event.target.value })}
        >
          <option value="auto">{t('settings.autoAgent')}</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {shown(name)}
            </option>
          ))}
        </select>
      </label>
      <label className="flex items-center justify-between gap-4">
        <span>
          {t('settings.field.tools_family')}
          <span className="block text-xs text-muted">{t('settings.hint.tools_family')}</span>
        </span>
        <select
          className="field w-48 shrink-0 font-mono text-[13px]"
          value={form.tools_family}
          onChange={(event) => setForm({ ...form, tools_family: event.target.value as ToolsFamily })}
        >
          {toolFamilies.map((each) => (
            <option key={each} value={each}>
              {each}_*
            </option>
          ))}
        </select>
      </label>
      <label className="flex items-center justify-between gap-4">
        <span>
          {t('settings.field.wake')}
          <span className="block text-xs text-muted">{t('settings.hint.wake')}</span>
        </span>
        <input
          type="checkbox"
          role="switch"
          className="switch"
          checked={form.wake}
          onChange={(event) => setForm({ ...form, wake: event.target.checked })}
        />
      </label>
      {wrong.length > 0 && (
        <p className="text-sm text-red" role="alert">
          {t(maps.some((key) => key === wrong[0]) ? 'settings.needsLines' : 'settings.needsNumber', {
            name: t(`settings.field.${wrong[0]}`),
          })}
        </p>
      )}
      {refused && (
        <p className="rounded-lg bg-red-soft px-3 py-2 text-red" role="alert">
          {refused}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <button type="button" className="btn" disabled={!dirty} onClick={() => setForm(formOf(settings))}>
          {t('settings.revert')}
        </button>
        <button type="submit" className="btn btn-primary" disabled={!dirty || wrong.length > 0 || saving}>
          {t('common.save')}
        </button>
      </div>
    </form>
  );
}
