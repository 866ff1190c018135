// Ctrl-K: go anywhere, do the common things, find a task. Loaded when it is first asked for.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { Bot, Languages, ListTodo, MessageSquarePlus, Moon, Settings } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';

import { api, call } from '../api/client';
import { setLanguage, useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { shown } from '../lib/hidden';
import { useDebounced } from '../lib/hooks';
import { theme } from './preferences';
import { StatusBadge } from './StatusBadge';

const group =
  '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-3 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted';

function Item({
  icon,
  children,
  onSelect,
  value,
}: {
  icon: ReactNode;
  children: ReactNode;
  onSelect: () => void;
  value: string;
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-10 cursor-pointer items-center gap-3 rounded-lg px-3 data-[selected=true]:bg-accent-soft data-[selected=true]:text-accent-text"
    >
      <span className="text-muted">{icon}</span>
      {children}
    </Command.Item>
  );
}

export default function Palette({ onClose }: { onClose: () => void }) {
  const { t, language } = useTranslation();
  const navigate = useNavigate();
  const ref = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const q = useDebounced(text.trim(), 120);
  const found = useQuery({
    queryKey: ['palette', q],
    queryFn: ({ signal }) =>
      call(api.GET('/api/tasks', { params: { query: { limit: 8, ...(q ? { q } : {}) } }, signal })),
    placeholderData: (old) => old,
  });
  useEffect(() => ref.current?.showModal(), []);
  const go = (act: () => void) => () => {
    onClose();
    act();
  };
  return (
    <dialog
      ref={ref}
      aria-label={t('palette.title')}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
      className="mx-auto mt-[12vh] w-[calc(100vw-2rem)] max-w-xl rounded-2xl border border-line bg-raised p-0 text-text shadow-[var(--shadow)] backdrop:bg-[rgb(10_10_20/0.45)]"
    >
      <Command label={t('palette.title')} loop>
        <Command.Input
          autoFocus
          value={text}
          onValueChange={setText}
          placeholder={t('palette.placeholder')}
          className="h-13 w-full border-b border-line bg-transparent px-5 text-base outline-none"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-2">
          <Command.Empty className="p-6 text-center text-muted">{t('palette.none')}</Command.Empty>
          <Command.Group heading={t('palette.actions')} className={group}>
            <Item
              value={`new ${t('tasks.newTask')}`}
              icon={<MessageSquarePlus size={16} />}
              onSelect={go(() => void navigate({ to: '/chat', search: {} }))}
            >
              {t('tasks.newTask')}
            </Item>
            <Item
              value={`tasks ${t('nav.tasks')}`}
              icon={<ListTodo size={16} />}
              onSelect={go(() => void navigate({ to: '/tasks', search: {} }))}
            >
              {t('nav.tasks')}
            </Item>
            <Item
              value={`agents ${t('nav.agents')}`}
              icon={<Bot size={16} />}
              onSelect={go(() => void navigate({ to: '/agents' }))}
            >
              {t('nav.agents')}
            </Item>
            <Item
              value={`settings ${t('nav.settings')}`}
              icon={<Settings size={16} />}
              onSelect={go(() => void navigate({ to: '/settings' }))}
            >
              {t('nav.settings')}
            </Item>
            <Item
              value={`theme ${t('theme.toggle')}`}
              icon={<Moon size={16} />}
              onSelect={go(() => theme.set(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'))}
            >
              {t('theme.toggle')}
            </Item>
            <Item
              value="language English 中文"
              icon={<Languages size={16} />}
              onSelect={go(() => void setLanguage(language === 'zh' ? 'en' : 'zh'))}
            >
              {language === 'zh' ? 'English' : '中文'}
            </Item>
          </Command.Group>
          {(found.data?.tasks.length ?? 0) > 0 && (
            <Command.Group heading={t('nav.tasks')} className={group}>
              {found.data?.tasks.map((task) => (
                <Command.Item
                  key={task.id}
                  value={`${task.id} ${task.title} ${q}`}
                  onSelect={go(() => void navigate({ to: '/chat', search: { taskId: task.id } }))}
                  className="flex h-10 cursor-pointer items-center gap-3 rounded-lg px-3 data-[selected=true]:bg-accent-soft"
                >
                  <span className="min-w-0 flex-1 truncate">{shown(task.title)}</span>
                  <StatusBadge task={task} />
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </dialog>
  );
}
