import { Link } from '@tanstack/react-router';
import { ArrowLeft, Ellipsis, Pin, RotateCcw, Square, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';

import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { arrives } from '../lib/arrives';
import { useShownFolder } from '../lib/folders';
import { shortModel } from '../lib/format';
import { shown as shownName } from '../lib/hidden';
import { usePhone } from '../lib/hooks';
import type { ChatTab } from '../search';
import { act, can } from '../tasks/actions';
import { wholeTitle } from '../tasks/summary';
import type { MenuAt } from '../tasks/TaskMenu';
import { StatusBadge } from '../ui/StatusBadge';
import { Usage } from './Usage';

const TaskMenu = lazy(() => arrives(() => import('../tasks/TaskMenu')));

interface Props {
  task: Task;
  tabs: ChatTab[];
  shown: ChatTab;
  onTab: (tab: ChatTab) => void;
  onCancel: () => void;
  onDelete: () => void;
}

export function TaskHeader({ task, tabs, shown, onTab, onCancel, onDelete }: Props) {
  const { t } = useTranslation();
  const phone = usePhone();
  const command = task.kind === 'command';
  const folder = useShownFolder(task.work_dir);
  const [menu, setMenu] = useState<MenuAt | null>(null);
  return (
    <header className="border-b border-line px-6 pt-4 max-md:px-4">
      <div className="flex items-center gap-3">
        <Link
          to="/tasks"
          search={{}}
          className="btn btn-ghost btn-icon -ml-2"
          aria-label={t('notFound.back')}
          title={t('notFound.back')}
        >
          <ArrowLeft size={17} aria-hidden />
        </Link>
        <h1
          className={`min-w-0 truncate text-[17px] font-semibold tracking-tight ${command && task.command?.startsWith(task.title.replace(/…$/, '')) ? 'font-mono text-[15px]' : ''}`}
          title={wholeTitle(task)}
        >
          {shownName(task.title)}
        </h1>
        {task.pinned && <Pin size={14} className="shrink-0 text-accent" aria-label={t('tasks.row.pinned')} />}
        {!phone && <StatusBadge task={task} />}
        <span className="ml-auto flex shrink-0 items-center gap-1">
          {can.retry(task) && (
            <button type="button" className="btn" onClick={() => void act('retry', task.id)}>
              <RotateCcw size={14} aria-hidden />
              <span className="max-md:sr-only">{t('tasks.actions.retry')}</span>
            </button>
          )}
          {can.cancel(task) && (
            <button type="button" className="btn" onClick={onCancel}>
              <Square size={11} fill="currentColor" aria-hidden />
              <span className="max-md:sr-only">{t('tasks.actions.cancel')}</span>
            </button>
          )}
          <button
            type="button"
            className="btn btn-ghost btn-icon"
            aria-haspopup="menu"
            aria-label={t('tasks.actions.more')}
            title={t('tasks.actions.more')}
            onClick={(event) => {
              const { right, bottom } = event.currentTarget.getBoundingClientRect();
              setMenu({ task, right, bottom });
            }}
          >
            <Ellipsis size={16} aria-hidden />
          </button>
          <button
            type="button"
            className="btn btn-ghost btn-icon"
            onClick={onDelete}
            aria-label={t('tasks.actions.delete')}
            title={t('tasks.actions.delete')}
          >
            <Trash2 size={15} aria-hidden />
          </button>
        </span>
      </div>
      <Suspense>{menu && <TaskMenu at={{ ...menu, task }} onClose={() => setMenu(null)} />}</Suspense>
      {phone && (
        <p className="mt-1.5 flex min-w-0 items-center gap-3 overflow-hidden">
          <StatusBadge task={task} />
          <span className="truncate text-xs text-muted">
            {task.agent} · <bdi className="font-mono">{shownName(folder)}</bdi>
          </span>
          <Usage task={task} />
        </p>
      )}
      <div className="mt-2 flex items-end gap-6 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4">
        <div className="-ml-3 flex shrink-0" role="tablist" aria-label={t('chat.tabs')}>
          {tabs.map((each) => (
            <button
              key={each}
              type="button"
              role="tab"
              id={`tab-${each}`}
              aria-selected={each === shown}
              aria-controls="panel"
              onClick={() => onTab(each)}
              className={`border-b-2 px-3 py-2 text-[13px] font-medium whitespace-nowrap ${each === shown ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text'}`}
            >
              {t(`chat.tab.${each}`)}
            </button>
          ))}
        </div>
        {!phone && (
          <span className="mb-2.5 ml-auto flex min-w-0 items-center gap-3 text-xs text-muted">
            <span className="min-w-0 truncate font-mono" title={t('details.workDir')} data-testid="task-folder">
              <bdi>{shownName(folder)}</bdi>
            </span>
            <span className="min-w-0 truncate">
              {task.agent}
              {task.model ? ` · ${shortModel(task.model)}` : ''}
            </span>
            <Usage task={task} />
          </span>
        )}
      </div>
    </header>
  );
}
