// The newest conversations, beside the one that is open: where there is room for both.
import { Link } from '@tanstack/react-router';
import { PanelLeftClose, PanelLeftOpen, Plus } from 'lucide-react';

import type { Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { ago, ms } from '../lib/format';
import { shown } from '../lib/hidden';
import { useNow } from '../lib/hooks';
import { kept, useStore } from '../lib/store';
import { useConversations } from '../queries';
import { shownState } from '../ui/StatusBadge';

const panel = kept<'open' | 'closed'>('errand.conversations', 'open');

function Row({ task, on }: { task: Task; on: boolean }) {
  const { t, language } = useTranslation();
  const now = useNow();
  const state = shownState(task);
  return (
    <li>
      <Link
        to="/chat"
        search={{ taskId: task.id }}
        aria-current={on ? 'page' : undefined}
        className={`block rounded-lg px-2.5 py-1.5 ${on ? 'bg-accent-soft' : 'hover:bg-hover'}`}
        data-conversation={task.id}
      >
        <span className="block truncate text-[13px]">{shown(task.title)}</span>
        <span className="flex items-center gap-1.5 text-xs text-muted">
          <span className={`grid size-4 shrink-0 place-items-center rounded-full ${state.tone}`}>{state.icon}</span>
          <span className="sr-only">{t(state.key)}</span>
          <span className="min-w-0 truncate">{task.agent}</span>
          <span className="ml-auto shrink-0">{ago(ms(task.updated_at) ?? now, now, language)}</span>
        </span>
      </Link>
    </li>
  );
}

export default function Conversations({ open }: { open: string | undefined }) {
  const { t } = useTranslation();
  const closed = useStore(panel) === 'closed';
  const list = useConversations(!closed).data?.tasks;
  if (closed)
    return (
      <div className="border-r border-line p-2">
        <button
          type="button"
          className="btn btn-ghost btn-icon"
          aria-label={t('chat.conversations.show')}
          title={t('chat.conversations.show')}
          onClick={() => panel.set('open')}
        >
          <PanelLeftOpen size={16} aria-hidden />
        </button>
      </div>
    );
  // A first visit has nothing to list, and needs no column for it.
  if (list ? list.length === 0 : !open) return null;
  return (
    <nav
      aria-label={t('chat.conversations.label')}
      className="flex w-60 shrink-0 flex-col border-r border-line"
      data-testid="conversations"
    >
      <div className="flex items-center gap-1 px-2 pt-3 pb-1">
        <button
          type="button"
          className="btn btn-ghost btn-icon"
          aria-label={t('chat.conversations.hide')}
          title={t('chat.conversations.hide')}
          onClick={() => panel.set('closed')}
        >
          <PanelLeftClose size={16} aria-hidden />
        </button>
        <Link to="/chat" search={{}} activeOptions={{ exact: true }} className="btn ml-auto">
          <Plus size={14} aria-hidden />
          {t('chat.new')}
        </Link>
      </div>
      <ul className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {list?.map((task) => (
          <Row key={task.id} task={task} on={task.id === open} />
        ))}
      </ul>
    </nav>
  );
}
