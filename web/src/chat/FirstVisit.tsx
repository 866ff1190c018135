// Where only the demonstration is there: what is missing until an agent can work, and what was found.
import { CircleCheck, CircleDashed, KeyRound } from 'lucide-react';

import type { Agent } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { shown } from '../lib/hidden';
import { CopyLine } from '../ui/CopyLine';

// Those that are set up by a person: a command needs nothing, and the demonstration does no work.
export const needsSetUp = (agents: Agent[]): boolean =>
  !agents.some((agent) => agent.available && agent.driver !== 'command' && agent.driver !== 'demo');

export function FirstVisit({ agents }: { agents: Agent[] }) {
  const { t } = useTranslation();
  return (
    <section className="card mb-5 bg-panel p-4" aria-labelledby="first-visit" data-testid="first-visit">
      <h2 id="first-visit" className="flex items-center gap-2 font-medium">
        <KeyRound size={16} className="text-accent-text" aria-hidden />
        {t('firstVisit.title')}
      </h2>
      <p className="mt-1 mb-3 text-sm text-muted">{t('firstVisit.how')}</p>
      <CopyLine text="errand setup" />
      <p className="mt-3 mb-1 text-sm text-muted">{t('firstVisit.found')}</p>
      <ul className="flex flex-col gap-1 text-[13px]">
        {agents.map((agent) => {
          const Icon = agent.available ? CircleCheck : CircleDashed;
          return (
            <li key={agent.id} className="flex items-start gap-2">
              <Icon
                size={15}
                className={`mt-0.5 shrink-0 ${agent.available ? 'text-green' : 'text-muted'}`}
                aria-hidden
              />
              <span className="min-w-0">
                <span className="font-medium">{shown(agent.name)}</span>
                {': '}
                {agent.available
                  ? t(`agents.about.${agent.id}`, { defaultValue: agent.description ?? agent.driver })
                  : (agent.unavailable_reason ?? t('agents.unavailable'))}
              </span>
            </li>
          );
        })}
      </ul>
      <p className="mt-3 text-sm text-muted">{t('firstVisit.after')}</p>
    </section>
  );
}
