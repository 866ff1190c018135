// Others who are to do the same work, each in a worktree of its own: an agent and a model in each row.
import { Plus, X } from 'lucide-react';

import type { Agent } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import type { Other } from './launch';
import { ModelField } from './ModelField';

const othersMost = 15; // Beside the one that is chosen, as many as are compared.

interface Props {
  agents: Agent[]; // That can be chosen.
  others: Other[];
  onChange: (others: Other[]) => void;
}

export function OtherAgents({ agents, others, onChange }: Props) {
  const { t } = useTranslation();
  const put = (at: number, change: Partial<Other>) =>
    onChange(others.map((each, i) => (i === at ? { ...each, ...change } : each)));
  const first = agents[0];
  return (
    <fieldset className="md:col-span-2" data-testid="other-agents">
      <legend className="mb-1 text-xs font-medium text-muted">{t('launch.others.legend')}</legend>
      {others.map((other, i) => (
        <div key={i} className="mb-2 flex items-start gap-2" data-testid="other-agent">
          <select
            className="field min-w-0 flex-1"
            aria-label={t('launch.others.agent', { n: i + 2 })}
            value={other.agent}
            onChange={(event) => put(i, { agent: event.target.value, model: '' })}
          >
            {agents.map((agent) => (
              <option key={agent.id} value={agent.id}>
                {agent.name}
              </option>
            ))}
          </select>
          <label className="min-w-0 flex-1">
            <span className="sr-only">{t('launch.others.model', { n: i + 2 })}</span>
            <ModelField
              agent={agents.find((agent) => agent.id === other.agent)}
              value={other.model}
              onChange={(model) => put(i, { model })}
            />
          </label>
          <button
            type="button"
            className="btn btn-ghost btn-icon"
            aria-label={t('launch.others.remove', { n: i + 2 })}
            title={t('launch.others.remove', { n: i + 2 })}
            onClick={() => onChange(others.filter((_, at) => at !== i))}
          >
            <X size={15} aria-hidden />
          </button>
        </div>
      ))}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {first && others.length < othersMost && (
          <button type="button" className="btn" onClick={() => onChange([...others, { agent: first.id, model: '' }])}>
            <Plus size={15} aria-hidden />
            {t('launch.others.add')}
          </button>
        )}
        <span className="text-xs text-muted">{t('launch.others.hint')}</span>
      </div>
    </fieldset>
  );
}
