import { ArrowDown } from 'lucide-react';
import type { ReactNode } from 'react';

import { isBusy, type Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { showError } from '../tasks/actions';
import { RowView } from './RowView';
import type { Transcript } from './transcript';
import { useReading } from './useReading';
import { useRows } from './useRows';

interface Props {
  task: Task;
  transcript: Transcript;
  loadEarlier: () => Promise<void>;
  footer: ReactNode;
}

export function Conversation({ task, transcript, loadEarlier, footer }: Props) {
  const { t } = useTranslation();
  const rows = useRows(task, transcript);
  const { scroller, virtual, height, head, atEnd, toEnd, onScroll, earlier, lit } = useReading(
    rows,
    transcript.more,
    loadEarlier,
  );
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('chat.transcript')}
        data-testid="transcript"
        className="h-full overflow-y-auto outline-none [overflow-anchor:none]"
      >
        <div className="column relative" style={{ height }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index - head];
            return (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={`absolute inset-x-6 top-0 flow-root max-md:inset-x-4 ${lit && row && 'message' in row && row.message.id === lit ? 'lit' : ''}`}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {head && item.index === 0 ? (
                  <div className="py-3 text-center">
                    <button type="button" className="btn" onClick={() => void earlier().catch(showError)}>
                      {t('chat.earlier')}
                    </button>
                  </div>
                ) : row ? (
                  <RowView
                    row={row}
                    taskId={task.id}
                    folder={task.work_dir}
                    busy={isBusy(task) && task.status !== 'pending'}
                    waiting={task.waiting_for?.request_id}
                  />
                ) : (
                  footer
                )}
              </div>
            );
          })}
        </div>
      </div>
      {!atEnd && (
        <button
          type="button"
          className="btn absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-[var(--shadow)]"
          onClick={toEnd}
        >
          <ArrowDown size={14} aria-hidden />
          {t('chat.latest')}
        </button>
      )}
    </div>
  );
}
