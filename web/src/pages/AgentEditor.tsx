// Makes an agent, or changes one. What is left empty is the driver's or the server's own.
import { useQuery } from '@tanstack/react-query';
import { LoaderCircle } from 'lucide-react';
import { useState, type ReactNode } from 'react';

import { api, ApiError, call } from '../api/client';
import type { Agent } from '../api/types';
import { ModelField } from '../chat/ModelField';
import { useTranslation } from '../i18n/i18n';
import { queryClient } from '../queries';
import { Dialog } from '../ui/Dialog';
import { toast } from '../ui/toast';
import { bodyOf, faults, formOf, modelsFrom, newForm, type AgentForm } from './agentForm';

interface Props {
  agent?: Agent | undefined; // The one that is changed, or copied.
  copy: boolean;
  agents: Agent[]; // All that there are.
  onClose: () => void;
}

// The tools that errand's own agent has; an agent of another driver has its own.
const handTools = ['read', 'write', 'edit', 'bash', 'grep', 'glob', 'list', 'todo'];

export default function AgentEditor({ agent, copy, agents, onClose }: Props) {
  const { t } = useTranslation();
  const drivers = [...new Set(agents.map((each) => each.driver))].filter((driver) => driver !== 'command');
  const before = copy ? undefined : agent;
  const [form, setForm] = useState<AgentForm>(() =>
    agent
      ? { ...formOf(agent), ...(copy ? { name: `${agent.name.replace(/[^\w.-]+/g, '-')}-2` } : {}) }
      : newForm(drivers.includes('builtin') ? 'builtin' : (drivers[0] ?? '')),
  );
  const [tried, setTried] = useState(false);
  const [saving, setSaving] = useState(false);
  const [refused, setRefused] = useState('');
  const own = useQuery({
    queryKey: ['tools'],
    queryFn: ({ signal }) => call(api.GET('/api/tools', { signal })),
    staleTime: Infinity,
  }).data;
  const wrong = tried ? faults(form) : {};

  const save = async () => {
    setTried(true);
    if (Object.keys(faults(form)).length > 0) return;
    setSaving(true);
    setRefused('');
    try {
      const body = bodyOf(form, before);
      if (before) await call(api.PUT('/api/agents/{id}', { params: { path: { id: before.id } }, body }));
      else await call(api.POST('/api/agents', { body }));
      await queryClient.invalidateQueries({ queryKey: ['agents'] });
      toast('ok', t(before ? 'agents.edit.saved' : 'agents.edit.made', { name: body.name }));
      onClose();
    } catch (error) {
      // The server's own sentence, beside the form that it is about.
      setRefused(error instanceof ApiError && error.status > 0 ? error.message : t('errors.unreachable'));
    } finally {
      setSaving(false);
    }
  };

  const field = (key: keyof AgentForm, label: string, input: (id: string) => ReactNode, hint?: string) => (
    <div>
      <label htmlFor={`agent-${key}`} className="mb-1 block text-xs font-medium text-muted">
        {label}
      </label>
      {input(`agent-${key}`)}
      {wrong[key] ? (
        <p className="mt-1 text-xs text-red" role="alert">
          {t(wrong[key])}
        </p>
      ) : (
        hint && <p className="mt-1 text-xs text-muted">{hint}</p>
      )}
    </div>
  );
  type Texts = { [K in keyof AgentForm]: AgentForm[K] extends string ? K : never }[keyof AgentForm];
  const set = (change: Partial<AgentForm>) => setForm((old) => ({ ...old, ...change }));
  const input = (key: Texts, label: string, placeholder: string, hint?: string, numeric = false) =>
    field(
      key,
      label,
      (id) => (
        <input
          id={id}
          className="field"
          value={form[key]}
          {...(numeric ? { inputMode: 'decimal' as const } : {})}
          onChange={(event) => set({ [key]: event.target.value })}
          placeholder={placeholder}
          aria-invalid={wrong[key] !== undefined}
        />
      ),
      hint,
    );
  const number = (key: Texts, label: string) => input(key, label, '–', undefined, true);
  const group = (title: string, children: ReactNode) => (
    <fieldset>
      <legend className="mb-2 text-[13px] font-semibold">{title}</legend>
      <div className="grid grid-cols-2 gap-4 md:grid-cols-4">{children}</div>
    </fieldset>
  );
  const area = (key: Texts, label: string, rows: number, placeholder: string, hint?: string, mono = false) =>
    field(
      key,
      label,
      (id) => (
        <textarea
          id={id}
          rows={rows}
          className={`field h-auto py-2 ${mono ? 'font-mono text-[13px]' : ''}`}
          value={form[key]}
          onChange={(event) => set({ [key]: event.target.value })}
          placeholder={placeholder}
          aria-invalid={wrong[key] !== undefined}
        />
      ),
      hint,
    );
  const chosen = new Set(form.tools.split(/[\s,]+/).filter(Boolean));
  const offered = [...new Set([...handTools, ...(own?.tools.map((tool) => tool.name) ?? []), ...chosen])];
  const toggle = (tool: string) => {
    const next = new Set(chosen);
    if (!next.delete(tool)) next.add(tool);
    set({ tools: [...next].join(', ') });
  };

  return (
    <Dialog
      wide
      title={before ? t('agents.edit.change', { name: before.name }) : t('agents.edit.new')}
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        noValidate
        data-testid="agent-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div className="grid gap-4 md:grid-cols-3">
          {input('name', t('agents.edit.name'), 'reviewer')}
          {field('driver', t('agents.driver'), (id) => (
            <select
              id={id}
              className="field"
              value={form.driver}
              onChange={(event) => set({ driver: event.target.value })}
            >
              {[...new Set([...drivers, form.driver])].filter(Boolean).map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          ))}
          {field('model', t('tasks.columns.model'), (id) => (
            <ModelField
              id={id}
              agent={modelsFrom(form.driver, agent, agents)}
              value={form.model}
              onChange={(model) => set({ model })}
              placeholder={t('agents.edit.drivers')}
            />
          ))}
        </div>
        {input('description', t('agents.edit.description'), t('agents.edit.descriptionSample'))}
        {area('prompt', t('agents.prompt'), 5, t('agents.edit.promptSample'))}
        <div>
          <p className="mb-1.5 text-xs font-medium text-muted" id="agent-tools">
            {t('agents.toolList')}:{' '}
            {chosen.size === 0 ? t('agents.edit.allTools') : t('agents.edit.someTools', { count: chosen.size })}
          </p>
          <div className="flex flex-wrap gap-1.5" role="group" aria-labelledby="agent-tools">
            {offered.map((tool) => (
              <button
                key={tool}
                type="button"
                aria-pressed={chosen.has(tool)}
                onClick={() => toggle(tool)}
                className={`h-7 rounded-lg border px-2 font-mono text-xs ${chosen.has(tool) ? 'border-accent bg-accent-soft text-accent-text' : 'border-line-strong text-muted hover:bg-hover'}`}
              >
                {tool}
              </button>
            ))}
          </div>
        </div>
        <div className="grid gap-4 md:grid-cols-[12rem_1fr]">
          {field('permission', t('agents.permission'), (id) => (
            <select
              id={id}
              className="field"
              value={form.permission}
              onChange={(event) => set({ permission: event.target.value as AgentForm['permission'] })}
            >
              <option value="">{t('agents.default')}</option>
              {(['ask', 'allow', 'deny'] as const).map((each) => (
                <option key={each} value={each}>
                  {t(`agents.permissions.${each}`)}
                </option>
              ))}
            </select>
          ))}
          {area(
            'rules',
            t('agents.edit.rules'),
            2,
            'allow bash git *\ndeny bash rm *',
            t('agents.edit.rulesHint'),
            true,
          )}
        </div>
        {field('isolate', t('launch.isolate'), (id) => (
          <select
            id={id}
            className="field"
            value={form.isolate}
            onChange={(event) => set({ isolate: event.target.value as AgentForm['isolate'] })}
          >
            <option value="">{t('launch.servers')}</option>
            {(['none', 'head', 'dirty'] as const).map((each) => (
              <option key={each} value={each}>
                {t(`launch.isolates.${each}`)}
              </option>
            ))}
          </select>
        ))}
        {area('setup', t('agents.edit.setup'), 1, 'npm ci', t('agents.edit.setupHint'), true)}
        {group(
          t('agents.edit.budget'),
          <>
            {number('cost', t('agents.edit.cost'))}
            {number('tokens', t('agents.edit.tokens'))}
            {number('toolCalls', t('agents.edit.toolCalls'))}
            {number('steps', t('agents.edit.steps'))}
          </>,
        )}
        {group(
          t('agents.edit.limits'),
          <>
            {number('cpu', t('agents.edit.cpu'))}
            {number('memory', t('agents.edit.memory'))}
            {number('processes', t('agents.edit.processes'))}
            {number('atOnce', t('agents.limit'))}
          </>,
        )}
        {area('options', t('agents.edit.options'), 2, 'effort = high', t('agents.edit.optionsHint'), true)}
        <div className="flex gap-6">
          {(['skills', 'mcp'] as const).map((key) => (
            <label key={key} className="flex items-center gap-2">
              <input
                type="checkbox"
                className="size-4 accent-[var(--accent)]"
                checked={form[key]}
                onChange={(event) => set({ [key]: event.target.checked })}
              />
              {t(`launch.${key}`)}
            </label>
          ))}
        </div>
        {refused && (
          <p className="rounded-lg bg-red-soft px-3 py-2 text-red" role="alert">
            {refused}
          </p>
        )}
        <div className="sticky -bottom-5 -mx-5 -mb-5 flex justify-end gap-2 border-t border-line bg-raised px-5 py-3">
          <button type="button" className="btn" onClick={onClose}>
            {t('common.keep')}
          </button>
          <button type="submit" className="btn btn-primary" disabled={saving}>
            {saving && <LoaderCircle size={15} className="spin" aria-hidden />}
            {before ? t('common.save') : t('agents.edit.make')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
