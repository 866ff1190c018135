import type { ReactNode, RefObject } from 'react';

import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import type { Action } from './actions';
import { allRows, rowTop } from './rows';
import { isEmpty, type Selection } from './selection';
import type { MenuAt } from './TaskMenu';
import { SkeletonRow, TaskRow } from './TaskRow';
import type { TaskRows } from './useTaskRows';

const headings = ['name', 'agent', 'status', 'model', 'started', 'duration', 'actions'] as const;

interface HeadProps {
  selection: Selection;
  total: number;
  onAll: () => void;
  onClear: () => void;
}

function TableHead({ selection, total, onAll, onClear }: HeadProps) {
  const { t } = useTranslation();
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="task-grid sticky top-0 z-10 h-9 border-b border-line bg-panel text-xs font-medium text-muted max-md:hidden"
    >
      <div role="columnheader" className="flex">
        <input
          type="checkbox"
          className="size-4 accent-[var(--accent)]"
          aria-label={t('tasks.selectAll')}
          title={t('tasks.selectAll')}
          checked={!isEmpty(selection)}
          disabled={total === 0}
          ref={(box) => {
            if (box) box.indeterminate = !isEmpty(selection) && !selection.all && selection.ids.size < total;
          }}
          onChange={() => (isEmpty(selection) ? onAll() : onClear())}
        />
      </div>
      {headings.map((heading) => (
        <div
          key={heading}
          role="columnheader"
          className={`col-${heading} ${heading === 'actions' ? 'text-right' : ''}`}
        >
          {t(`tasks.columns.${heading}`)}
        </div>
      ))}
    </div>
  );
}

interface Props {
  list: TaskRows;
  scroller: RefObject<HTMLDivElement | null>;
  phone: boolean;
  inBatch: boolean; // The whole list is of one batch.
  focus: number;
  selection: Selection;
  covered: number; // Room below the last row, for what floats above it.
  onOpen: (task: Task) => void;
  onSelect: (index: number, range: boolean) => void;
  onAction: (action: Action, task: Task) => void;
  onMenu: (at: MenuAt) => void;
  onBatch: (id: string) => void;
  onAll: () => void;
  onClear: () => void;
  onNear: () => void; // Somebody points at a row, or came to one.
  children: ReactNode; // What stands there where no row does.
}

export function TaskTable({
  list,
  scroller,
  phone,
  inBatch,
  focus,
  selection,
  covered,
  onOpen,
  onSelect,
  onAction,
  onMenu,
  onBatch,
  onAll,
  onClear,
  onNear,
  children,
}: Props) {
  const { t } = useTranslation();
  const { rows, drawn } = list;
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label={t('tasks.listLabel')}
      data-testid="task-list"
      className="min-h-0 flex-1 overflow-auto outline-none focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]"
    >
      <div role="table" aria-label={t('tasks.title')} aria-rowcount={rows.count + 1} className="min-w-full">
        <TableHead selection={selection} total={rows.count} onAll={onAll} onClear={onClear} />
        {rows.count > 0 && (
          <div
            className="relative w-full"
            style={{ height: allRows(rows) + covered }}
            role="presentation"
            onPointerOver={onNear}
            onFocus={onNear}
          >
            {drawn.map((index) => {
              const row = list.at(index);
              return row ? (
                <TaskRow
                  key={index}
                  task={row.task}
                  top={rowTop(rows, index)}
                  depth={row.depth}
                  fold={list.fold(row.task)}
                  onFold={list.toggle}
                  inBatch={inBatch}
                  onOpen={onOpen}
                  index={index}
                  phone={phone}
                  focused={index === focus}
                  selected={selection.all || selection.ids.has(row.task.id)}
                  onSelect={onSelect}
                  onAction={onAction}
                  onMenu={onMenu}
                  onBatch={onBatch}
                  batch={list.batch(row)}
                />
              ) : (
                <SkeletonRow key={index} phone={phone} top={rowTop(rows, index)} />
              );
            })}
          </div>
        )}
      </div>
      {list.head.isPending && Array.from({ length: 8 }, (_, i) => <SkeletonRow key={i} phone={phone} />)}
      {children}
    </div>
  );
}
