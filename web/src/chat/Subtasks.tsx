import { Link } from '@tanstack/react-router';

import { useTranslation } from '../i18n/i18n';
import { shown } from '../lib/hidden';
import { useChildren } from '../queries';
import { StatusBadge } from '../ui/StatusBadge';

// What this task launched, and how it goes, in one line.
export function Subtasks({ session }: { session: string }) {
  const { t } = useTranslation();
  const children = useChildren(session);
  if (!children || children.length === 0) return null;
  return (
    <nav
      aria-label={t('details.children')}
      className="-mx-1 mb-2 flex gap-2 overflow-x-auto px-1 py-0.5"
      data-testid="subtasks"
    >
      {children.map((task) => (
        <Link
          key={task.id}
          to="/chat"
          search={{ taskId: task.id }}
          className="card flex shrink-0 items-center gap-2 px-2.5 py-1 hover:bg-hover"
        >
          <span className="max-w-48 truncate text-[13px]">{shown(task.title)}</span>
          <StatusBadge task={task} />
        </Link>
      ))}
    </nav>
  );
}
