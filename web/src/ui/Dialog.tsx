import { useTranslation } from '../i18n/i18n';
import { X } from 'lucide-react';
import { useEffect, useRef, type ReactNode } from 'react';

// The browser's own modal dialog: focus trap, Escape and the backdrop come with it.
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}) {
  const { t } = useTranslation();
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
      className={`m-auto w-[calc(100vw-2rem)] ${wide ? 'max-w-2xl' : 'max-w-md'} max-h-[calc(100dvh-2rem)] flex-col overflow-hidden rounded-2xl border border-line bg-raised p-0 text-text shadow-[var(--shadow)] backdrop:bg-[rgb(10_10_20/0.45)] open:flex`}
    >
      <div className="flex shrink-0 items-center justify-between gap-4 px-5 pt-4">
        <h2 className="text-base font-semibold">{title}</h2>
        <button type="button" className="btn btn-ghost btn-icon" onClick={onClose} aria-label={t('common.close')}>
          <X size={16} aria-hidden />
        </button>
      </div>
      <div className="min-h-0 overflow-y-auto px-5 pt-2 pb-5">{children}</div>
    </dialog>
  );
}

export interface Confirmation {
  title: string;
  body: ReactNode;
  action: string;
  danger?: boolean;
  onConfirm: () => void;
}
