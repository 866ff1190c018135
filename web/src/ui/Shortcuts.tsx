import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { Dialog } from './Dialog';

// As the keyboard in front of them has it.
const mod = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘' : 'Ctrl';
const shortcuts: [string[], string][] = [
  [[mod, 'K'], 'palette'],
  [['/'], 'search'],
  [['j'], 'down'],
  [['k'], 'up'],
  [['x'], 'select'],
  [['Shift', 'j', 'k'], 'extend'],
  [['→', '←'], 'fold'],
  [['Enter'], 'open'],
  [['c'], 'new'],
  [['g', 't'], 'tasks'],
  [['g', 'c'], 'chat'],
  [['g', 'a'], 'agents'],
  [['g', 's'], 'settings'],
  [['Esc'], 'clear'],
  [['j'], 'fileDown'],
  [['k'], 'fileUp'],
  [['n'], 'changeDown'],
  [['p'], 'changeUp'],
  [['?'], 'help'],
];

export default function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog title={t('shortcuts.title')} onClose={onClose}>
      <dl className="mt-2 grid grid-cols-[1fr_auto] gap-x-6 gap-y-2">
        {shortcuts.map(([keys, name]) => (
          <div key={name} className="contents">
            <dt>{t(`shortcuts.${name}`)}</dt>
            <dd className="flex justify-end gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="grid h-6 min-w-6 place-items-center rounded-md border border-line-strong bg-panel px-1.5 font-mono text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
