import { useNavigate } from '@tanstack/react-router';
import { Bot, FolderOpen, Sparkles, Terminal } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';

import { api, call } from '../api/client';
import type { Launch } from '../api/types';
import { randomKey } from '../lib/clipboard';
import { queryClient, useAgents } from '../queries';
import { showError } from '../tasks/actions';
import { Composer } from './Composer';
import { readDraft, writeDraft } from './drafts';

const samples = ['help', 'tools', 'think', 'ask', 'long'] as const;

export function NewChat({ agentId }: { agentId: string | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const agents = useAgents();
  const all = agents.data?.agents ?? [];
  // An agent to talk to comes first; the plain command is always there.
  const chosen =
    all.find((agent) => agent.id === agentId || agent.name === agentId) ??
    all.find((agent) => agent.available && agent.driver !== 'command') ??
    all[0];
  const command = chosen?.driver === 'command';
  const [folder, setFolder] = useState('');
  const [options, setOptions] = useState(false);
  const [nonce, setNonce] = useState(0);
  // The same words asked twice because an answer was lost make one task.
  const key = useRef({ body: '', key: '' });

  const launch = async (text: string): Promise<boolean> => {
    if (!chosen) return false;
    const body: Launch = command ? { kind: 'command', command: text } : { agent_id: chosen.id, message: text };
    if (folder.trim()) body.work_dir = folder.trim();
    const written = JSON.stringify(body);
    if (key.current.body !== written) key.current = { body: written, key: randomKey() };
    try {
      const task = await call(
        api.POST('/api/tasks', { body, params: { header: { 'Idempotency-Key': `"${key.current.key}"` } } }),
      );
      key.current = { body: '', key: '' };
      writeDraft('new', '');
      queryClient.setQueryData(['task', task.id], task);
      void navigate({ to: '/chat', search: { taskId: task.id } });
      return true;
    } catch (error) {
      showError(error);
      return false;
    }
  };
  useEffect(() => {
    document.title = `${t('chat.new')} · errand`;
  }, [t]);

  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="m-auto w-full max-w-3xl px-6 py-10 max-md:px-4">
        <h1 className="text-center text-[26px] font-semibold tracking-tight">{t('chat.new')}</h1>
        <p className="mt-1 mb-7 text-center text-muted">{t('chat.newHint')}</p>
        <fieldset className="mb-5">
          <legend className="mb-2 text-sm font-medium text-muted">{t('chat.pickAgent')}</legend>
          <div className="grid grid-cols-[repeat(auto-fill,minmax(14rem,1fr))] gap-2">
            {agents.isPending && <div className="skeleton h-20" />}
            {all.map((agent) => {
              const Icon = agent.driver === 'command' ? Terminal : agent.driver === 'demo' ? Sparkles : Bot;
              const on = agent.id === chosen?.id;
              const look = on ? 'border-accent bg-accent-soft' : agent.available ? 'hover:bg-hover' : 'bg-panel';
              return (
                <label
                  key={agent.id}
                  title={agent.unavailable_reason ?? undefined}
                  className={`card flex gap-3 p-3 has-focus-visible:outline-2 has-focus-visible:outline-accent ${agent.available ? 'cursor-pointer' : 'cursor-not-allowed'} ${look}`}
                >
                  <input
                    type="radio"
                    name="agent"
                    className="sr-only"
                    checked={on}
                    disabled={!agent.available}
                    onChange={() => void navigate({ to: '/chat', search: { agentId: agent.id }, replace: true })}
                  />
                  <Icon size={18} className="mt-0.5 shrink-0 text-accent-text" aria-hidden />
                  <span className="min-w-0">
                    <span className="block font-medium">{agent.name}</span>
                    <span className="line-clamp-2 text-xs text-muted">
                      {agent.available
                        ? t(`agents.about.${agent.id}`, { defaultValue: agent.description ?? agent.driver })
                        : t('agents.unavailable')}
                    </span>
                  </span>
                </label>
              );
            })}
          </div>
        </fieldset>
        <Composer
          key={nonce}
          place="new"
          autoFocus
          mono={command}
          placeholder={command ? t('chat.commandPlaceholder') : t('chat.placeholder')}
          sendLabel={command ? t('chat.run') : t('chat.start')}
          disabled={!chosen?.available}
          onSend={launch}
        >
          <button type="button" className="btn btn-ghost" aria-expanded={options} onClick={() => setOptions(!options)}>
            <FolderOpen size={15} aria-hidden />
            {folder || t('chat.workDir')}
          </button>
        </Composer>
        {options && (
          <label className="mt-3 block">
            <span className="mb-1 block text-sm text-muted">{t('chat.workDirLabel')}</span>
            <input
              className="field font-mono text-[13px]"
              value={folder}
              onChange={(event) => setFolder(event.target.value)}
              placeholder="/src/app"
            />
          </label>
        )}
        {chosen?.driver === 'demo' && (
          <div className="mt-5 flex flex-wrap justify-center gap-2" role="group" aria-label={t('chat.samples.label')}>
            {samples.map((sample) => (
              <button
                key={sample}
                type="button"
                className="rounded-full border border-line-strong px-3 py-1 text-[13px] text-muted hover:bg-hover hover:text-text"
                onClick={() => {
                  const text = `${readDraft('new')} ${sample === 'long' ? 'long 30' : sample}`.trim();
                  writeDraft('new', text);
                  setNonce((n) => n + 1);
                }}
              >
                {t(`chat.samples.${sample}`)}
              </button>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}
