// The message of a commit: what the server would write, to be changed; or what the task's agent writes when it is asked.
import { useQuery } from '@tanstack/react-query';
import { Sparkles } from 'lucide-react';
import { useEffect, useRef } from 'react';

import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { readCommitText } from './api';

export function MessageField({
  task,
  value,
  onChange,
  onAsk,
}: {
  task: Task;
  value: string | null; // Null: nobody has written anything yet.
  onChange: (text: string) => void;
  onAsk?: () => void;
}) {
  const { t } = useTranslation();
  const text = useQuery({
    queryKey: ['commit-text', task.id, task.turn, task.status],
    queryFn: ({ signal }) => readCommitText(task.id, signal),
    staleTime: 0,
  }).data;
  // Once, and never over what somebody wrote.
  const filled = useRef(false);
  useEffect(() => {
    if (!text || filled.current || value !== null) return;
    filled.current = true;
    onChange(text.body ? `${text.subject}\n\n${text.body}` : text.subject);
  }, [text, value, onChange]);
  return (
    <div className="mt-3">
      <label className="block">
        <span className="mb-1 block text-xs font-medium text-muted">{t('changes.merge.message')}</span>
        <textarea
          rows={5}
          className="field h-auto py-2"
          value={value ?? ''}
          maxLength={10_000}
          onChange={(event) => onChange(event.target.value)}
        />
      </label>
      {onAsk && text && text.source !== 'agent' && (
        <button type="button" className="btn btn-ghost mt-1" onClick={onAsk}>
          <Sparkles size={15} aria-hidden />
          {t('changes.merge.askText')}
        </button>
      )}
    </div>
  );
}
