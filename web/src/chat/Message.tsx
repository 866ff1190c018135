// What can be done with a message: copy it, link to it, go on from it in a new task.
import { Link } from '@tanstack/react-router';
import { Check, Copy, GitFork, Link2 } from 'lucide-react';
import { useState } from 'react';

import type { Message } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { copy } from '../lib/clipboard';
import { dateTime } from '../lib/format';
import { toast } from '../ui/toast';

export const messageText = (message: Message): string =>
  message.parts
    .map((part) => (part.type === 'text' ? part.text : part.type === 'file' ? part.name : ''))
    .filter(Boolean)
    .join('\n\n');

const button = 'grid size-6 place-items-center rounded hover:bg-hover hover:text-text';

export function MessageActions({ message, taskId }: { message: Message; taskId: string }) {
  const { t, language } = useTranslation();
  const [copied, setCopied] = useState(false);
  const link = () => {
    const url = new URL(location.href);
    url.hash = message.id;
    void copy(url.href).then((ok) => ok && toast('ok', t('chat.linkCopied')));
  };
  const take = () =>
    void copy(messageText(message)).then((ok) => {
      setCopied(ok);
      setTimeout(() => setCopied(false), 1500);
    });
  return (
    <div className="flex h-6 items-center gap-0.5 text-xs text-muted" data-actions={message.id}>
      <button type="button" className={button} onClick={take} aria-label={t('chat.copy')} title={t('chat.copy')}>
        {copied ? <Check size={13} className="text-green" aria-hidden /> : <Copy size={13} aria-hidden />}
      </button>
      <button
        type="button"
        className={button}
        onClick={link}
        aria-label={t('chat.copyLink')}
        title={t('chat.copyLink')}
      >
        <Link2 size={14} aria-hidden />
      </button>
      <Link
        to="/chat"
        search={{ forkOf: taskId, at: message.id }}
        className={button}
        aria-label={t('chat.fork.here')}
        title={t('chat.fork.here')}
      >
        <GitFork size={13} aria-hidden />
      </Link>
      <time className="px-1" dateTime={message.created_at} title={dateTime(message.created_at, language)}>
        {new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(Date.parse(message.created_at))}
      </time>
    </div>
  );
}
