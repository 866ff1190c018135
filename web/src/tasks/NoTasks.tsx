// Where rows would be: nothing yet, nothing that matches, or nothing that could be read.
import { Link } from '@tanstack/react-router';
import { ListTodo, Plus, SearchX, ServerOff } from 'lucide-react';

import { ApiError } from '../api/client';
import { useTranslation } from '../i18n/i18n';
import { CopyLine } from '../ui/CopyLine';
import { Empty } from '../ui/Empty';

interface Props {
  error: Error | null;
  filtered: boolean;
  onClear: () => void;
  onRetry: () => void;
}

export default function NoTasks({ error, filtered, onClear, onRetry }: Props) {
  const { t } = useTranslation();
  if (error)
    return (
      <Empty icon={ServerOff} title={t('errors.list')}>
        <p>{error instanceof ApiError && error.status > 0 ? error.message : t('errors.unreachable')}</p>
        <button type="button" className="btn mt-4" onClick={onRetry}>
          {t('common.tryAgain')}
        </button>
      </Empty>
    );
  if (filtered)
    return (
      <Empty icon={SearchX} title={t('tasks.noneMatch')}>
        <button type="button" className="btn mt-3" onClick={onClear}>
          {t('tasks.clearFilters')}
        </button>
      </Empty>
    );
  return (
    <Empty icon={ListTodo} title={t('tasks.empty')}>
      <Link to="/chat" search={{}} className="btn btn-primary mt-2 mb-6 h-9">
        <Plus size={16} aria-hidden />
        {t('tasks.newTask')}
      </Link>
      <p className="mb-2 text-sm">{t('tasks.emptyHint')}</p>
      <div className="mx-auto w-72 max-w-full">
        <CopyLine text="errand ask --agent demo help" />
      </div>
    </Empty>
  );
}
