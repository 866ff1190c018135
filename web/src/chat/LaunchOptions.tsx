// What may be set beside the words of a new task. Everything has a default, so all of it is folded away at first.
import { useState, type ReactNode } from 'react';

import { useTranslation } from '../i18n/i18n';
import type { Agent } from '../api/types';
import { useSettings } from '../queries';
import { hasWorktree, isSeveral, noOptions, type Options } from './launch';
import { ModelField } from './ModelField';
import { OtherAgents } from './OtherAgents';

function Field({ label, wide = false, children }: { label: string; wide?: boolean; children: ReactNode }) {
  return (
    <label className={`block ${wide ? 'md:col-span-2' : ''}`}>
      <span className="mb-1 block text-xs font-medium text-muted">{label}</span>
      {children}
    </label>
  );
}

// Something of what is folded away is set.
const rare = [
  ...['title', 'description', 'labels', 'idle', 'hang', 'restarts', 'progress', 'keep', 'env', 'passEnv', 'artifacts'],
  ...['notify', 'cpu', 'memory', 'processes', 'files', 'output', 'nice', 'priority', 'tokens', 'turns', 'calls'],
  'overLimit',
] as (keyof Options)[];
const more = (options: Options): boolean => rare.some((key) => options[key] !== noOptions[key]);

interface Props {
  options: Options;
  agent: Agent | undefined;
  agents: Agent[]; // That could do it, too.
  command: boolean;
  fork: boolean;
  onChange: (change: Partial<Options>) => void;
}

export function LaunchOptions({ options, agent, agents, command, fork, onChange }: Props) {
  const { t } = useTranslation();
  const [unfolded] = useState(() => more(options)); // At first; then it is its reader's.
  const mayExceed = useSettings()?.allow_over_limit === true;
  const check = (key: 'skills' | 'mcp' | 'perLine' | 'interactive' | 'overLimit') => (
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
  type Written = { [key in keyof Options]: Options[key] extends string ? key : never }[keyof Options];
  const line = (key: Written, label: string, placeholder: string, numeric = true) => (
    <Field label={label}>
      <input
        className="field"
        inputMode={numeric ? 'decimal' : 'text'}
        value={options[key]}
        onChange={(event) => onChange({ [key]: event.target.value })}
        placeholder={placeholder}
      />
    </Field>
  );
  const lines = (key: Written, label: string, placeholder = '') => (
    <Field label={label} wide={key === 'folders'}>
      <textarea
        rows={2}
        className="field h-auto py-2 font-mono text-[13px]"
        value={options[key]}
        placeholder={placeholder}
        spellCheck={false}
        onChange={(event) => onChange({ [key]: event.target.value })}
      />
    </Field>
  );
  return (
    <div className="card mt-3 grid gap-x-4 gap-y-3 p-4 md:grid-cols-2" data-testid="launch-options">
      {!command && (
        <>
          {lines('folders', t('launch.folders'))}
          <Field label={t('tasks.columns.model')}>
            <ModelField agent={agent} value={options.model} onChange={(model) => onChange({ model })} />
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
          {line('cost', t('launch.cost'), t('launch.none'))}
        </>
      )}
      {line('minutes', t('launch.minutes'), t('launch.none'))}
      <Field label={t('launch.isolate')}>
        <select
          className="field"
          value={options.isolate}
          onChange={(event) => onChange({ isolate: event.target.value as Options['isolate'] })}
        >
          <option value="">{command ? t('launch.servers') : t('launch.agents')}</option>
          {(['none', 'head', 'dirty'] as const).map((each) => (
            <option key={each} value={each} disabled={each === 'none' && isSeveral(options)}>
              {t(`launch.isolates.${each}`)}
            </option>
          ))}
        </select>
      </Field>
      {hasWorktree(options) && line('setup', t('agents.edit.setup'), 'npm ci', false)}
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
      {!command && !fork && (
        <OtherAgents
          agents={agents}
          others={options.others}
          onChange={(others) =>
            onChange({
              others,
              // Each has a worktree, and all have the same text.
              ...(others.length > 0
                ? { perLine: false, isolate: options.isolate === 'none' ? '' : options.isolate }
                : {}),
            })
          }
        />
      )}
      <details className="md:col-span-2" open={unfolded}>
        <summary className="text-sm text-muted">{t('launch.more')}</summary>
        <div className="mt-3 grid gap-x-4 gap-y-3 md:grid-cols-2">
          {line('title', t('launch.title'), t('launch.titleDefault'), false)}
          {line('description', t('agents.edit.description'), '', false)}
          {lines('labels', t('launch.labels'), 'team=web')}
          {lines('env', t('launch.env'), 'CI=1')}
          {lines('passEnv', t('launch.passEnv'), 'SSH_AUTH_SOCK')}
          {lines('artifacts', t('launch.artifacts'), 'out/*.html')}
          {command && lines('notify', t('launch.notify'), 'error:')}
          {line('idle', t('launch.idle'), t('launch.servers'))}
          <Field label={t('launch.hang')}>
            <select
              className="field"
              value={options.hang}
              onChange={(event) => onChange({ hang: event.target.value as Options['hang'] })}
            >
              <option value="">{t('launch.servers')}</option>
              {(['fail', 'restart'] as const).map((each) => (
                <option key={each} value={each}>
                  {t(`launch.hangs.${each}`)}
                </option>
              ))}
            </select>
          </Field>
          {options.hang === 'restart' && line('restarts', t('launch.restarts'), t('launch.servers'))}
          {line('progress', t('launch.progress'), t('common.off'))}
          {line('keep', t('launch.keep'), t('launch.servers'))}
          {line('priority', t('launch.priority'), '0')}
          {!command && line('tokens', t('launch.tokens'), t('launch.none'))}
          {!command && line('turns', t('launch.turns'), t('launch.none'))}
          {!command && line('calls', t('launch.calls'), t('launch.none'))}
          {line('cpu', t('agents.edit.cpu'), t('launch.servers'))}
          {line('memory', t('agents.edit.memory'), t('launch.servers'))}
          {line('processes', t('agents.edit.processes'), t('launch.servers'))}
          {line('files', t('launch.files'), t('launch.servers'))}
          {line('output', t('launch.output'), t('launch.servers'))}
          {line('nice', t('launch.nice'), '0')}
        </div>
      </details>
      <div className="flex flex-wrap gap-x-6 gap-y-2 md:col-span-2">
        {command && check('interactive')}
        {mayExceed && check('overLimit')}
        {!command && check('skills')}
        {!command && check('mcp')}
        {!fork && !isSeveral(options) && check('perLine')}
      </div>
    </div>
  );
}
