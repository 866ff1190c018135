// A model's name: written, or chosen from what the agent's provider lists, what it was given before, and its own. The provider
// is asked when somebody comes to the field: that may start a program.
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';

import { api, call } from '../api/client';
import type { Agent } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { errorText } from '../lib/sentences';
import { useConversations } from '../queries';
import { modelsOf } from './launch';

interface Props {
  agent: Agent | undefined; // Whose models are offered.
  value: string;
  onChange: (model: string) => void;
  id?: string;
  placeholder?: string; // What holds where none is named; else the agent's own.
}

export function ModelField({ agent, value, onChange, id, placeholder }: Props) {
  const { t } = useTranslation();
  const list = useId();
  const hint = useId();
  const [asked, setAsked] = useState(false);
  const { data, error, isFetching } = useQuery({
    queryKey: ['models', agent?.id],
    enabled: asked && agent?.available === true,
    queryFn: ({ signal }) =>
      call(api.GET('/api/agents/{id}/models', { params: { path: { id: agent?.id ?? '' } }, signal })),
    staleTime: 5 * 60_000, // As long as the server remembers it.
    retry: false,
  });
  const used = modelsOf(agent, useConversations(true).data?.tasks ?? []);
  const listed = data?.models ?? [];
  const names = new Map(listed.map(({ id, name }) => [id, name]));
  const all = [...used.filter((id) => !names.has(id)), ...names.keys()];
  const said = isFetching
    ? t('launch.models.asking')
    : error
      ? t('launch.models.failed', { why: errorText(error, t) })
      : data?.source
        ? t(`launch.models.${data.source}`, { count: listed.length })
        : '';
  return (
    <>
      <input
        id={id}
        className="field"
        value={value}
        list={list}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={hint}
        data-testid="model"
        onFocus={() => setAsked(true)}
        onChange={(event) => onChange(event.target.value)}
        placeholder={placeholder ?? agent?.model ?? t('launch.agents')}
      />
      <datalist id={list}>
        {all.map((id) => (
          <option key={id} value={id}>
            {names.get(id)}
          </option>
        ))}
      </datalist>
      <span id={hint} className="mt-1 block text-xs text-muted empty:hidden" data-testid="models-said">
        {said}
      </span>
    </>
  );
}
