// One file of a task's changes: what happened to it, and its patch. What is generated, huge or no text is folded or told.
import { useQueryClient } from '@tanstack/react-query';
import { ArrowLeft, ChevronDown, ChevronUp } from 'lucide-react';
import { useState, type ReactNode } from 'react';

import type { ChangedFile, Task } from '../api/types';
import { useTranslation, type Translate } from '../i18n/i18n';
import { bytes, number } from '../lib/format';
import { shown } from '../lib/hidden';
import { errorText } from '../lib/sentences';
import { CopyLine } from '../ui/CopyLine';
import { Counts } from './FileList';
import { PatchLines, type Step } from './PatchLines';
import type { Comment } from './review';
import { usePatch } from './useChanges';
import type { Review } from './useReview';

const foldedFrom = 1500; // Changed lines.
const link = '120000';
const program = '100755';

// What happened to it beside its lines.
export function factsOf(file: ChangedFile, t: Translate): string[] {
  const facts = [t(`changes.status.${file.status}`)];
  const there = file.status !== 'added' && file.status !== 'deleted';
  if (file.mode === link && file.old_mode !== link) facts.push(t('changes.mode.link'));
  else if (file.old_mode === link && there && file.mode !== link) facts.push(t('changes.mode.noLink'));
  else if (file.mode === program && file.old_mode !== program) facts.push(t('changes.mode.program'));
  else if (file.old_mode === program && there) facts.push(file.mode === program ? '' : t('changes.mode.noProgram'));
  if (file.generated) facts.push(t('changes.generated'));
  if (file.binary) facts.push(t('changes.binary'));
  return facts.filter(Boolean);
}

const Note = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-1 flex-col items-center justify-center gap-3 p-8 text-center text-balance text-muted">
    {children}
  </div>
);

// So that it is one word of a shell whatever is in it.
const word = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

interface Props {
  task: Task;
  file: ChangedFile;
  split: boolean;
  phone: boolean;
  review: Review | null;
  comments: Comment[];
  step: Step | null;
  onEnd: (by: 1 | -1) => void;
  onBack: (() => void) | null;
  onNext: (by: 1 | -1) => void;
}

export function FilePatch(props: Props) {
  const { task, file, split, phone, review, comments, step, onEnd, onBack, onNext } = props;
  const { t, language } = useTranslation();
  const client = useQueryClient();
  const [unfolded, setUnfolded] = useState(false);
  const lines = file.added + file.removed;
  const folded = !unfolded && comments.length === 0 && (file.generated || lines > foldedFrom);
  const { patch, why, error } = usePatch(task.id, folded || file.binary ? null : file.name);
  const body = () => {
    if (file.binary || patch?.binary)
      return (
        <Note>
          {file.size === null ? t('changes.isBinary') : t('changes.isBinarySize', { size: bytes(file.size) })}
        </Note>
      );
    if (folded)
      return (
        <Note>
          <p>
            {file.generated
              ? t('changes.isGenerated')
              : t('changes.isLarge', { count: lines, n: number(lines, language) })}
          </p>
          <button type="button" className="btn" onClick={() => setUnfolded(true)}>
            {t('changes.show')}
          </button>
        </Note>
      );
    if (error)
      return (
        <Note>
          <p>{errorText(error, t)}</p>
          <button
            type="button"
            className="btn"
            onClick={() => void client.invalidateQueries({ queryKey: ['patch', task.id, file.name] })}
          >
            {t('common.tryAgain')}
          </button>
        </Note>
      );
    if (why !== null)
      return (
        <Note>
          <p>{why || t('changes.notShown')}</p>
          <div className="w-full max-w-md">
            <CopyLine text={`errand diff ${task.id} ${word(file.path)}`} />
          </div>
        </Note>
      );
    if (!patch)
      return (
        <div className="flex flex-col gap-2 p-4" aria-busy>
          <div className="skeleton h-4 w-1/2" />
          <div className="skeleton h-4 w-2/3" />
          <div className="skeleton h-4 w-1/3" />
        </div>
      );
    if (patch.hunks.length === 0 && !patch.broken) return <Note>{t('changes.noLines')}</Note>;
    return (
      <PatchLines
        name={file.name}
        path={file.path}
        patch={patch}
        split={split && !phone}
        phone={phone}
        review={review}
        comments={comments}
        step={step}
        onEnd={onEnd}
      />
    );
  };
  return (
    <section className="flex min-h-0 min-w-0 flex-1 flex-col" aria-label={shown(file.path)}>
      <header className="flex items-center gap-3 border-b border-line px-4 py-2 max-md:gap-1.5 max-md:px-2">
        {onBack && (
          <button type="button" className="btn btn-ghost btn-icon" onClick={onBack} aria-label={t('changes.back')}>
            <ArrowLeft size={16} aria-hidden />
          </button>
        )}
        <div className="min-w-0 flex-1">
          <h2 className="truncate font-mono text-[13px] font-medium" title={shown(file.path)} data-testid="patch-path">
            {file.old_path && (
              <>
                <bdi className="text-muted">{shown(file.old_path)}</bdi>
                <span className="text-muted"> → </span>
              </>
            )}
            <bdi>{shown(file.path)}</bdi>
          </h2>
          <p className="truncate text-xs text-muted">{factsOf(file, t).join(' · ')}</p>
        </div>
        <Counts file={file} />
        {phone && (
          <span className="flex">
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              onClick={() => onNext(-1)}
              aria-label={t('shortcuts.fileUp')}
            >
              <ChevronUp size={16} aria-hidden />
            </button>
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              onClick={() => onNext(1)}
              aria-label={t('shortcuts.fileDown')}
            >
              <ChevronDown size={16} aria-hidden />
            </button>
          </span>
        )}
      </header>
      {body()}
    </section>
  );
}
