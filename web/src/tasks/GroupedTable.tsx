// The list in groups, each under its name with what is in it counted; a group can be closed.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import type { ReactNode, RefObject } from 'react';

import { api, call } from '../api/client';
import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { useShownFolder } from '../lib/folders';
import { number, shortId } from '../lib/format';
import { shown } from '../lib/hidden';
import type { Grouping } from '../search';
import type { Action } from './actions';
import type { Group } from './groups';
import type { Selection } from './selection';
import type { MenuAt } from './TaskMenu';
import { SkeletonRow, TaskRow } from './TaskRow';
import { groupedMost, type TaskGroups } from './useGroups';

interface Props {
  by: Grouping;
  all: TaskGroups;
  scroller: RefObject<HTMLDivElement | null>;
  phone: boolean;
  height: number; // Of a row.
  focus: number;
  selection: Selection;
  covered: number; // Room below the last row, for what floats above it.
  onOpen: (task: Task) => void;
  onSelect: (index: number, range: boolean) => void;
  onAction: (action: Action, task: Task) => void;
  onMenu: (at: MenuAt) => void;
  onBatch: (id: string) => void;
  onNear: () => void;
  children: ReactNode; // What stands there where no row does.
}

// What a group is called, and where that leads.
function Name({ by, group }: { by: Grouping; group: Group }) {
  const { t } = useTranslation();
  const folder = useShownFolder(by === 'folder' ? group.key : null);
  const session = useQuery({
    queryKey: ['session', group.key],
    enabled: by === 'session' && group.key !== '',
    queryFn: ({ signal }) => call(api.GET('/api/sessions/{id}', { params: { path: { id: group.key } }, signal })),
    retry: false,
  }).data;
  if (group.key === '') return t(`groups.no.${by}`);
  if (by === 'folder') return <bdi className="font-mono text-[13px]">{shown(folder)}</bdi>;
  const short = shortId(group.key).replace(/^\w+_/, '');
  if (by === 'batch')
    return (
      <Link to="/tasks" search={{ batch: group.key }} className="hover:underline">
        {t('tasks.batchIs', { id: short })}
      </Link>
    );
  const title = shown(session?.title ?? t('groups.session', { id: short }));
  return session?.task_id ? (
    <Link to="/chat" search={{ taskId: session.task_id }} className="hover:underline">
      {title}
    </Link>
  ) : (
    <Link to="/tasks" search={{ parent: group.key }} className="hover:underline">
      {title}
    </Link>
  );
}

function Heading({ by, group, open, onToggle }: { by: Grouping; group: Group; open: boolean; onToggle: () => void }) {
  const { t, language } = useTranslation();
  return (
    <div className="sticky top-0 z-10 flex h-10 items-center gap-2 border-b border-line bg-panel px-6 max-md:px-4">
      <button
        type="button"
        className="-ml-1.5 grid size-7 shrink-0 place-items-center rounded hover:bg-hover"
        aria-expanded={open}
        aria-label={t(open ? 'groups.close' : 'groups.open')}
        onClick={onToggle}
      >
        <ChevronDown size={16} className={open ? '' : '-rotate-90'} aria-hidden />
      </button>
      <h2 className="min-w-0 truncate font-medium">
        <Name by={by} group={group} />
      </h2>
      <span className="shrink-0 text-sm text-muted tabular-nums">{number(group.tasks.length, language)}</span>
      <span className="ml-auto flex shrink-0 gap-1.5">
        {group.asking > 0 && (
          <span className="chip bg-violet-soft text-violet">{t('groups.asking', { count: group.asking })}</span>
        )}
        {group.failed > 0 && (
          <span className="chip bg-red-soft text-red">{t('tasks.row.batchFailed', { count: group.failed })}</span>
        )}
        {group.running > 0 && (
          <span className="chip bg-blue-soft text-blue max-md:hidden">
            {t('groups.running', { count: group.running })}
          </span>
        )}
      </span>
    </div>
  );
}

export default function GroupedTable(props: Props) {
  const { by, all, scroller, phone, height, focus, selection, covered, children } = props;
  const { t, language } = useTranslation();
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={t('tasks.listLabel')}
      data-testid="task-list"
      className="min-h-0 flex-1 overflow-auto outline-none focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]"
      onPointerOver={props.onNear}
      onFocus={props.onNear}
    >
      {all.groups.map((group) => {
        const open = !all.closed.has(group.key);
        const first = all.firsts.get(group.key) ?? 0;
        return (
          <section key={group.key} aria-label={group.key || t(`groups.no.${by}`)} data-group={group.key}>
            <Heading by={by} group={group} open={open} onToggle={() => all.toggle(group.key)} />
            {open && (
              <div
                role="table"
                aria-label={t('tasks.title')}
                className="relative [content-visibility:auto]"
                style={{ height: group.tasks.length * height, containIntrinsicHeight: group.tasks.length * height }}
              >
                {group.tasks.map((task, i) => (
                  <TaskRow
                    key={task.id}
                    task={task}
                    index={first + i}
                    top={i * height}
                    depth={0}
                    fold="none"
                    onFold={() => {}}
                    inBatch={by === 'batch'}
                    phone={phone}
                    focused={first + i === focus}
                    selected={selection.all || selection.ids.has(task.id)}
                    batch={undefined}
                    onOpen={props.onOpen}
                    onSelect={props.onSelect}
                    onAction={props.onAction}
                    onMenu={props.onMenu}
                    onBatch={props.onBatch}
                  />
                ))}
              </div>
            )}
          </section>
        );
      })}
      {all.total > all.read && all.read > 0 && (
        <p
          className="flex flex-wrap items-center gap-3 px-6 py-4 text-sm text-muted max-md:px-4"
          data-testid="grouped-bound"
        >
          {t('groups.bound', { n: number(all.read, language), total: number(all.total, language) })}
          {all.read < groupedMost && (
            <button type="button" className="btn" disabled={!all.more} onClick={() => all.more?.()}>
              {t('groups.more')}
            </button>
          )}
        </p>
      )}
      {all.pending && Array.from({ length: 8 }, (_, i) => <SkeletonRow key={i} phone={phone} />)}
      {children}
      <div style={{ height: covered }} />
    </div>
  );
}
