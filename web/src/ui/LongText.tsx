// Text as it is, some of it at a time: a browser lays a megabyte of it out for seconds.
import { useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import { bytes } from '../lib/format';

const step = 20_000;

// The beginning of a text, and how to see more of it.
export function useShown(text: string, each: number): { shown: string; rest: number; more: () => void } {
  const [most, setMost] = useState(each);
  // A little more than fits is no reason to ask.
  if (text.length <= most * 1.1) return { shown: text, rest: 0, more: () => {} };
  const half = /[\ud800-\udbff]/.test(text.charAt(most - 1));
  const shown = text.slice(0, half ? most + 1 : most);
  return { shown, rest: text.length - shown.length, more: () => setMost(most + each) };
}

export function More({ rest, onClick }: { rest: number; onClick: () => void }) {
  const { t } = useTranslation();
  if (rest === 0) return null;
  return (
    <button
      type="button"
      className="px-4 pb-2 text-xs text-accent-text underline underline-offset-2"
      onClick={onClick}
      data-testid="more-text"
    >
      {t('chat.moreText', { size: bytes(rest) })}
    </button>
  );
}

export function LongText({ text, className }: { text: string; className: string }) {
  const { shown, rest, more } = useShown(text, step);
  return (
    <>
      <p className={`whitespace-pre-wrap break-words ${className}`}>{shown}</p>
      <More rest={rest} onClick={more} />
    </>
  );
}
