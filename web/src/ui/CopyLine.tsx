import { Check, Copy } from 'lucide-react';
import { useState } from 'react';

import { useTranslation } from '../i18n/i18n';
import { copy } from '../lib/clipboard';

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const { t } = useTranslation();
  const [done, setDone] = useState(false);
  return (
    <button
      type="button"
      className="btn btn-ghost btn-icon"
      aria-label={label ?? t('common.copy')}
      title={label ?? t('common.copy')}
      onClick={() => {
        void copy(text).then((ok) => {
          setDone(ok);
          setTimeout(() => setDone(false), 1500);
        });
      }}
    >
      {done ? <Check size={15} className="text-green" aria-hidden /> : <Copy size={15} aria-hidden />}
    </button>
  );
}

// A command to run, with a button that copies it.
export function CopyLine({ text }: { text: string }) {
  return (
    <div className="card flex items-center gap-2 bg-code py-1 pr-1 pl-3 text-left font-mono text-[13px] text-text">
      <code className="min-w-0 flex-1 truncate">{text}</code>
      <CopyButton text={text} />
    </div>
  );
}
