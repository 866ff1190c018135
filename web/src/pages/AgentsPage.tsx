import { Link } from '@tanstack/react-router';
import { Bot, MessageSquarePlus, ServerOff, Sparkles, Terminal } from 'lucide-react';
import { useEffect } from 'react';

import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { useAgents } from '../queries';
import { Empty } from '../ui/Empty';

export function AgentsPage() {
  const { t } = useTranslation();
  const agents = useAgents();
  useEffect(() => {
    document.title = `${t('nav.agents')} · errand`;
  }, [t]);
  return (
    <div className="min-h-0 flex-1 overflow-auto">
      <header className="px-6 pt-5 pb-4 max-md:px-4">
        <h1 className="text-[22px] font-semibold tracking-tight">{t('nav.agents')}</h1>
        <p className="mt-0.5 text-muted">{t('agents.subtitle')}</p>
      </header>
      {agents.isError && !agents.data && <Empty icon={ServerOff} title={t('errors.unreachable')} />}
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(20rem,1fr))] gap-4 px-6 pb-8 max-md:grid-cols-1 max-md:px-4">
        {(agents.data?.agents ?? []).map((agent) => {
          const Icon = agent.driver === 'command' ? Terminal : agent.driver === 'demo' ? Sparkles : Bot;
          const facts: [string, string][] = [
            [t('agents.driver'), agent.driver],
            [t('tasks.columns.model'), agent.model ?? '–'],
            [
              t('agents.permission'),
              agent.permission ? t(`agents.permissions.${agent.permission}`) : t('agents.default'),
            ],
            [t('agents.limit'), agent.max_concurrent === null ? t('agents.default') : String(agent.max_concurrent)],
          ];
          return (
            <li key={agent.id} className="card flex flex-col p-5">
              <div className="flex items-center gap-3">
                <span className="grid size-10 place-items-center rounded-xl bg-accent-soft text-accent-text">
                  <Icon size={20} aria-hidden />
                </span>
                <h2 className="text-base font-semibold">{agent.name}</h2>
                {agent.builtin && <span className="chip ml-auto">{t('agents.builtin')}</span>}
                {!agent.available && (
                  <span className={`chip bg-amber-soft text-amber ${agent.builtin ? '' : 'ml-auto'}`}>
                    {t('agents.unavailable')}
                  </span>
                )}
              </div>
              <p className="mt-3 flex-1 text-muted">
                {t(`agents.about.${agent.id}`, { defaultValue: agent.description ?? '' })}
              </p>
              {agent.unavailable_reason && <p className="mt-2 text-sm text-amber">{agent.unavailable_reason}</p>}
              <dl className="mt-4 grid grid-cols-2 gap-x-4 gap-y-2 text-[13px]">
                {facts.map(([name, value]) => (
                  <div key={name}>
                    <dt className="text-xs text-muted">{name}</dt>
                    <dd className="font-medium">{value}</dd>
                  </div>
                ))}
              </dl>
              {agent.tools.length > 0 && (
                <p className="mt-3 flex flex-wrap gap-1" aria-label={t('agents.toolList')}>
                  {agent.tools.map((tool) => (
                    <span key={tool} className="chip font-mono text-[11px]">
                      {tool}
                    </span>
                  ))}
                </p>
              )}
              {agent.prompt && (
                <details className="mt-3 text-sm text-muted">
                  <summary>{t('agents.prompt')}</summary>
                  <pre tabIndex={0} className="mt-2 max-h-64 overflow-auto font-sans whitespace-pre-wrap">
                    {agent.prompt}
                  </pre>
                </details>
              )}
              <div className="mt-5 flex gap-2">
                {agent.available && (
                  <Link
                    to="/chat"
                    search={{ agentId: agent.id }}
                    className="btn btn-primary flex-1"
                    aria-label={`${t('tasks.newTask')}: ${agent.name}`}
                  >
                    <MessageSquarePlus size={15} aria-hidden />
                    {t('tasks.newTask')}
                  </Link>
                )}
                <Link
                  to="/tasks"
                  search={{ agent: agent.id }}
                  className="btn"
                  aria-label={`${t('agents.tasks')}: ${agent.name}`}
                >
                  {t('agents.tasks')}
                </Link>
              </div>
            </li>
          );
        })}
      </ul>
      <p className="px-6 pb-8 text-sm text-muted max-md:px-4">{t('agents.more')}</p>
    </div>
  );
}
