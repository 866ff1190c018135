// Which attempt of a task is shown, where it has several: the last one, and with it each new one, unless somebody chose.
import { useTranslation } from '../i18n/i18n';

// Null: the last one.
export type Chosen = number | 'all' | null;

interface Props {
  attempts: number;
  chosen: Chosen;
  all?: boolean; // They can be shown together.
  onChoose: (chosen: Chosen) => void;
}

export function AttemptSwitch({ attempts, chosen, all = false, onChoose }: Props) {
  const { t } = useTranslation();
  if (attempts < 2) return null;
  return (
    <select
      className="field w-auto"
      aria-label={t('log.attempt')}
      data-testid="attempt"
      value={chosen ?? attempts}
      onChange={(event) => {
        const { value } = event.target;
        onChoose(value === 'all' ? 'all' : Number(value) === attempts ? null : Number(value));
      }}
    >
      {all && <option value="all">{t('log.allAttempts')}</option>}
      {Array.from({ length: attempts }, (_, i) => (
        <option key={i} value={i + 1}>
          {t('tasks.row.attempt', { n: i + 1 })}
        </option>
      ))}
    </select>
  );
}
