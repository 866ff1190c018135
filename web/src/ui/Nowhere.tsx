// What is shown where there is no page: an address that is none, and a page that broke.
import { Link } from '@tanstack/react-router';
import { Bug, Compass } from 'lucide-react';

import { useTranslation } from '../i18n/i18n';
import { Empty } from './Empty';

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Empty page icon={Compass} title={t('notFound.title')}>
      <Link to="/tasks" search={{}} className="btn mt-3">
        {t('notFound.back')}
      </Link>
    </Empty>
  );
}

// Something in the page itself is broken: the tasks are not.
export function Broken({ error }: { error: unknown }) {
  const { t } = useTranslation();
  return (
    <Empty page icon={Bug} title={t('errors.page')}>
      <p className="font-mono text-xs break-words">{error instanceof Error ? error.message : String(error)}</p>
      <button type="button" className="btn mt-4" onClick={() => location.reload()}>
        {t('errors.reload')}
      </button>
    </Empty>
  );
}
