import { useTranslation } from '../i18n/i18n';
import { Dialog, type Confirmation } from './Dialog';

export default function Confirm({
  title,
  body,
  action,
  danger,
  onConfirm,
  onClose,
}: Confirmation & { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="text-muted">{body}</div>
      <div className="mt-5 flex justify-end gap-2">
        <button type="button" className="btn" onClick={onClose}>
          {t('common.keep')}
        </button>
        <button
          type="button"
          autoFocus
          className={`btn ${danger ? 'btn-danger' : 'btn-primary'}`}
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
