import { Link } from '@tanstack/react-router';
import { Copy, MessageSquarePlus, Pencil, Plus, ServerOff, Trash2 } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';

import { api, call } from '../api/client';
import type { Agent } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { arrives } from '../lib/arrives';
import { bytes, cost, number, shortDuration } from '../lib/format';
import { queryClient, useAgents } from '../queries';
import { showError } from '../tasks/actions';
import { AgentIcon } from '../ui/AgentIcon';
import Confirm from '../ui/Confirm';
import type { Confirmation } from '../ui/Dialog';
import { Empty } from '../ui/Empty';
import { toast } from '../ui/toast';

const AgentEditor = lazy(() => arrives(() => import('./AgentEditor')));

interface Editing {
  agent?: Agent;
  copy: boolean;
}

export function AgentsPage() {
  const { t } = useTranslation();
  const agents = useAgents();
  const [editing, setEditing] = useState<Editing | null>(null);
  const [question, setQuestion] = useState<Confirmation | null>(null);
  useEffect(() => {
    document.title = `${t('nav.agents')} · errand`;
  }, [t]);
  const all = agents.data?.agents ?? [];
  const remove = (agent: Agent) =>
    setQuestion({
      title: t('agents.remove.title', { name: agent.name }),
      body: t('agents.remove.body'),
      action: t('tasks.actions.delete'),
      danger: true,
      onConfirm: () =>
        void call(api.DELETE('/api/agents/{id}', { params: { path: { id: agent.id } } }))
          .then(() => {
            toast('ok', t('agents.remove.done', { name: agent.name }));
            return queryClient.invalidateQueries({ queryKey: ['agents'] });
          })
          .catch(showError),
    });
  // Agents of one's own first: they are why one comes here. The plain command, which is none, last.
  const rank = (agent: Agent) => (agent.builtin ? 1 : 0) + (agent.driver === 'command' ? 1 : 0);
  const sorted = [...all].sort((a, b) => rank(a) - rank(b) || Number(b.available) - Number(a.available));
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <header className="flex items-start gap-4 px-6 pt-5 pb-4 max-md:px-4">
        <div className="min-w-0 flex-1">
          <h1 className="text-[22px] leading-tight font-semibold tracking-tight">{t('nav.agents')}</h1>
          <p className="mt-0.5 text-muted max-md:hidden">{t('agents.subtitle')}</p>
        </div>
        <button type="button" className="btn btn-primary h-9" onClick={() => setEditing({ copy: false })}>
          <Plus size={16} aria-hidden />
          {t('agents.edit.new')}
        </button>
      </header>
      {agents.isError && !agents.data && <Empty icon={ServerOff} title={t('errors.unreachable')} />}
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(21rem,1fr))] gap-4 px-6 pb-8 max-md:grid-cols-1 max-md:px-4">
        {sorted.map((agent) => (
          <Card
            key={agent.id}
            agent={agent}
            onEdit={(copy) => setEditing({ agent, copy })}
            onRemove={() => remove(agent)}
          />
        ))}
      </ul>
      <Suspense>{editing && <AgentEditor {...editing} agents={all} onClose={() => setEditing(null)} />}</Suspense>
      {question && <Confirm {...question} onClose={() => setQuestion(null)} />}
    </div>
  );
}

function Card({ agent, onEdit, onRemove }: { agent: Agent; onEdit: (copy: boolean) => void; onRemove: () => void }) {
  const { t, language } = useTranslation();
  const { budget, limits } = agent;
  const facts: [string, string][] = [[t('agents.driver'), agent.driver]];
  if (agent.driver !== 'command') facts.push([t('tasks.columns.model'), agent.model ?? t('agents.edit.drivers')]);
  // What is set; what is not is the server's own, and that is said where it is changed.
  if (agent.permission || agent.permission_rules.length > 0)
    facts.push([
      t('agents.permission'),
      agent.permission
        ? t(`agents.permissions.${agent.permission}`)
        : t('agents.ruleCount', { count: agent.permission_rules.length }),
    ]);
  if (agent.max_concurrent !== null) facts.push([t('agents.limit'), String(agent.max_concurrent)]);
  if (budget.cost_usd) facts.push([t('agents.edit.cost'), cost(budget.cost_usd)]);
  if (budget.tokens) facts.push([t('agents.edit.tokens'), number(budget.tokens, language)]);
  if (limits.memory_bytes) facts.push([t('agents.edit.memory'), number(limits.memory_bytes / 1e6, language)]);
  if (limits.cpu_s) facts.push([t('agents.edit.cpu'), number(limits.cpu_s, language)]);
  const { program } = agent;
  if (program?.version) facts.push([t('agents.version'), program.version]);
  if (program?.logged_in) facts.push([t('agents.login'), program.login ?? t('agents.loggedIn')]);
  // What it costs to start, as it was last seen.
  if (program?.start_ms) facts.push([t('agents.start'), shortDuration(program.start_ms)]);
  if (program?.memory_bytes) facts.push([t('agents.processMemory'), bytes(program.memory_bytes)]);
  if (program && program.running + program.waiting > 0)
    facts.push([
      t('agents.processes'),
      t('agents.processesNow', { running: program.running, waiting: program.waiting }) +
        (program.waiting > 0 ? ` (${bytes(program.waiting_memory_bytes)})` : ''),
    ]);
  const abilities = (Object.keys(agent.capabilities) as (keyof Agent['capabilities'])[]).filter(
    (ability) => agent.capabilities[ability],
  );
  const action = 'grid size-8 place-items-center rounded-lg text-muted hover:bg-hover hover:text-text';
  return (
    <li className="card flex flex-col p-5" data-agent={agent.name}>
      <div className="flex items-center gap-3">
        <span
          className={`grid size-10 shrink-0 place-items-center rounded-xl ${agent.available ? 'bg-accent-soft text-accent-text' : 'bg-grey-soft text-grey'}`}
        >
          <AgentIcon agent={agent} size={20} />
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="truncate text-base font-semibold" title={agent.name}>
            {agent.name}
          </h2>
          <p className="text-xs text-muted">{agent.builtin ? t('agents.builtin') : t('agents.own')}</p>
        </div>
        {agent.driver !== 'command' && (
          <span className="-mt-4 -mr-2 flex shrink-0 self-start">
            {!agent.builtin && (
              <button
                type="button"
                className={action}
                onClick={() => onEdit(false)}
                aria-label={`${t('agents.edit.button')}: ${agent.name}`}
                title={t('agents.edit.button')}
              >
                <Pencil size={15} aria-hidden />
              </button>
            )}
            <button
              type="button"
              className={action}
              onClick={() => onEdit(true)}
              aria-label={`${t('agents.edit.copy')}: ${agent.name}`}
              title={t('agents.edit.copy')}
            >
              <Copy size={15} aria-hidden />
            </button>
            {!agent.builtin && (
              <button
                type="button"
                className={`${action} hover:text-red`}
                onClick={onRemove}
                aria-label={`${t('tasks.actions.delete')}: ${agent.name}`}
                title={t('tasks.actions.delete')}
              >
                <Trash2 size={15} aria-hidden />
              </button>
            )}
          </span>
        )}
      </div>
      <p className="mt-3 line-clamp-3 text-muted">
        {t(`agents.about.${agent.id}`, { defaultValue: agent.description ?? '' })}
      </p>
      {!agent.available && (
        <p className="mt-3 rounded-lg bg-amber-soft px-3 py-2 text-sm text-amber">
          <span className="font-medium">{t('agents.unavailable')}.</span> {agent.unavailable_reason}
        </p>
      )}
      {program?.logged_in === false && (
        <p className="mt-3 rounded-lg bg-amber-soft px-3 py-2 text-sm text-amber" data-testid="no-login">
          <span className="font-medium">{t('agents.notLoggedIn')}</span> {program.log_in}
        </p>
      )}
      <dl className="mt-4 grid grid-cols-2 gap-x-4 gap-y-2 text-[13px]">
        {facts.map(([name, value]) => (
          <div key={name} className="min-w-0">
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="truncate font-medium" title={value}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
      {abilities.length > 0 && (
        <details className="mt-3 text-sm text-muted">
          <summary>{t('agents.can')}</summary>
          <ul className="mt-2 list-disc pl-5">
            {abilities.map((ability) => (
              <li key={ability}>{t(`agents.abilities.${ability}`)}</li>
            ))}
          </ul>
        </details>
      )}
      {agent.tools.length > 0 && (
        <details className="mt-3 text-sm text-muted">
          <summary>{t('agents.toolCount', { count: agent.tools.length })}</summary>
          <p className="mt-2 flex flex-wrap gap-1">
            {agent.tools.map((tool) => (
              <span key={tool} className="chip font-mono text-[11px]">
                {tool}
              </span>
            ))}
          </p>
        </details>
      )}
      {agent.prompt && (
        <details className="mt-2 text-sm text-muted">
          <summary>{t('agents.prompt')}</summary>
          <pre tabIndex={0} className="mt-2 max-h-64 overflow-auto font-sans whitespace-pre-wrap">
            {agent.prompt}
          </pre>
        </details>
      )}
      <div className="mt-auto flex items-center gap-2 pt-5">
        {agent.available && (
          <Link
            to="/chat"
            search={{ agentId: agent.id }}
            className="btn flex-1"
            aria-label={`${t('tasks.newTask')}: ${agent.name}`}
          >
            <MessageSquarePlus size={15} aria-hidden />
            {t('tasks.newTask')}
          </Link>
        )}
        <Link
          to="/tasks"
          search={{ agent: agent.id }}
          className="btn flex-1"
          aria-label={`${t('agents.tasks')}: ${agent.name}`}
        >
          {t('agents.tasks')}
        </Link>
      </div>
    </li>
  );
}
