import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { memo } from 'react';

import { useTranslation } from '../i18n/i18n';

export const Heading = memo(function Heading({ agent }: { agent: string | undefined }) {
  const { t } = useTranslation();
  return (
    <header className="flex items-start gap-4 px-6 pt-5 pb-4 max-md:px-4">
      <div className="min-w-0 flex-1">
        <h1 className="text-[22px] leading-tight font-semibold tracking-tight">{t('tasks.title')}</h1>
        <p className="mt-0.5 text-muted max-md:hidden">{t('tasks.subtitle')}</p>
      </div>
      <Link to="/chat" search={agent ? { agentId: agent } : {}} className="btn btn-primary h-9">
        <Plus size={16} aria-hidden />
        {t('tasks.newTask')}
      </Link>
    </header>
  );
});
