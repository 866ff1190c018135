// Attempts at the same work side by side: what each changed, how it did in a test, what it took and cost. One is taken, and
// the others are discarded with it.
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Check, FlaskConical, GitMerge, LoaderCircle, ServerOff, Undo2, X } from 'lucide-react';
import { useEffect, useState } from 'react';

import { api, ApiError, call } from '../api/client';
import type { Attempt, Task } from '../api/types';
import { order } from '../changes/api';
import { MessageField } from '../changes/MessageField';
import { Refusal } from '../changes/Refusal';
import { useTranslation } from '../i18n/i18n';
import '../i18n/more';
import { number, taskDuration } from '../lib/format';
import { quoted, shown } from '../lib/hidden';
import { useNow } from '../lib/hooks';
import { errorText } from '../lib/sentences';
import { queryClient } from '../queries';
import { showError } from '../tasks/actions';
import { Dialog } from '../ui/Dialog';
import { Empty } from '../ui/Empty';
import { StatusBadge } from '../ui/StatusBadge';
import { toast } from '../ui/toast';
import { canTake, canTest, costText, isOpen, someWork, testState } from './attempts';

const keyOf = (batch: string) => ['batch', batch, 'attempts'];
const readAgain = (batch: string) => queryClient.invalidateQueries({ queryKey: keyOf(batch) });
const lookMs = 2000; // While something is at work: what it changes has no event of its own.

const nameOf = (task: Task): string => shown(task.model ? `${task.agent} · ${task.model}` : task.agent);

function Test({ test }: { test: Task | null }) {
  const { t } = useTranslation();
  const state = testState(test);
  if (!test) return <span className="text-muted">–</span>;
  const text =
    state === 'failed' && test.exit_code !== null
      ? t('attempts.exit', { code: test.exit_code })
      : t(`attempts.test.${state}`);
  const icon =
    state === 'passed' ? (
      <Check size={14} className="text-green" aria-hidden />
    ) : state === 'failed' ? (
      <X size={14} className="text-red" aria-hidden />
    ) : (
      <LoaderCircle size={14} className="spin text-blue" aria-hidden />
    );
  return (
    <Link
      to="/chat"
      search={{ taskId: test.id, tab: 'log' }}
      className="inline-flex items-center gap-1 underline decoration-line-strong underline-offset-2"
      data-test={state}
    >
      {icon}
      {text}
    </Link>
  );
}

// Takes one of them: a merge of it, as it ended.
function Take({
  attempt,
  others,
  batch,
  onClose,
}: {
  attempt: Attempt;
  others: number;
  batch: string;
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const { task } = attempt;
  const [message, setMessage] = useState<string | null>(null);
  const [working, setWorking] = useState(false);
  const [refusal, setRefusal] = useState<ApiError | null>(null);
  const take = async () => {
    setWorking(true);
    setRefusal(null);
    const text = message?.trim();
    try {
      const done = await call(
        api.POST('/api/tasks/{id}/merge', {
          params: { path: { id: task.id } },
          body: { discard_others: true, ...(text ? { message: text } : {}) },
        }),
      );
      const left = done.left ?? [];
      if (left.length > 0) toast('bad', t('attempts.left', { count: left.length }));
      else toast('ok', t('attempts.taken'));
      onClose();
    } catch (error) {
      if (error instanceof ApiError && error.status > 0) setRefusal(error);
      else showError(error);
    }
    setWorking(false);
    await readAgain(batch);
  };
  return (
    <Dialog title={t('attempts.takeTitle', { agent: nameOf(task) })} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void take();
        }}
      >
        <p className="text-muted">
          {t('attempts.takeBody', { target: quoted(task.isolation?.target ?? ''), count: others })}
        </p>
        <MessageField task={task} value={message} onChange={setMessage} />
        {refusal && <Refusal error={refusal} onAsk={null} />}
        {refusal?.reason === 'conflict' && <p className="mt-2 text-xs text-muted">{t('attempts.conflictHint')}</p>}
        <div className="mt-5 flex justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            {t('common.keep')}
          </button>
          <button type="submit" className="btn btn-primary" disabled={working}>
            {working && <LoaderCircle size={15} className="spin" aria-hidden />}
            {t('attempts.take')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Row({ attempt, all, batch, onTake }: { attempt: Attempt; all: Attempt[]; batch: string; onTake: () => void }) {
  const { t, language } = useTranslation();
  const now = useNow();
  const { task, changes, test } = attempt;
  const [working, setWorking] = useState(false);
  const state = task.isolation?.state;
  const undo = state === 'merged' ? 'merge/undo' : state === 'discarded' ? 'discard/undo' : null;
  const takeBack = async () => {
    if (!undo) return;
    setWorking(true);
    try {
      await order(task.id, undo);
      toast('ok', t(`changes.done.${undo.replace('/', '_')}`));
    } catch (error) {
      showError(error);
    }
    setWorking(false);
    await readAgain(batch);
  };
  const sum = (value: number | undefined, sign: string) => (value === undefined ? '?' : sign + number(value, language));
  const cell = 'px-3 py-2 text-right tabular-nums';
  return (
    <tr className="border-b border-line" data-attempt={task.id} data-state={state ?? 'none'}>
      <th scope="row" className="max-w-64 truncate px-3 py-2 text-left font-medium" title={nameOf(task)}>
        <Link to="/chat" search={{ taskId: task.id }} className="hover:underline">
          <bdi>{nameOf(task)}</bdi>
        </Link>
      </th>
      <td className="px-3 py-2">
        <span className="flex flex-wrap items-center gap-2">
          <StatusBadge task={task} />
          {(state === 'merged' || state === 'discarded' || state === 'conflict' || state === 'lost') && (
            <span className="text-xs text-muted">{t(`attempts.state.${state}`)}</span>
          )}
        </span>
      </td>
      <td className={cell} title={attempt.why ? shown(attempt.why) : undefined}>
        <Link to="/chat" search={{ taskId: task.id, tab: 'changes' }} className="underline decoration-line-strong">
          {changes ? t('attempts.files', { count: changes.files, n: number(changes.files, language) }) : '?'}
        </Link>
      </td>
      <td className={`${cell} text-green`}>{sum(changes?.added, '+')}</td>
      <td className={`${cell} text-red`}>{sum(changes?.removed, '−')}</td>
      <td className="px-3 py-2">
        <Test test={test} />
      </td>
      <td className={cell}>{taskDuration(task, now) ?? '?'}</td>
      <td className={cell}>{costText(task)}</td>
      <td className="px-3 py-2 text-right">
        {isOpen(attempt) && (
          <button type="button" className="btn" disabled={!canTake(attempt, all)} onClick={onTake}>
            <GitMerge size={15} aria-hidden />
            {t('attempts.take')}
          </button>
        )}
        {undo && (
          <button type="button" className="btn" disabled={working} onClick={() => void takeBack()}>
            {working ? <LoaderCircle size={15} className="spin" aria-hidden /> : <Undo2 size={15} aria-hidden />}
            {t(state === 'merged' ? 'changes.merge.undo' : 'changes.discard.undo')}
          </button>
        )}
      </td>
    </tr>
  );
}

function TestForm({ batch, all }: { batch: string; all: Attempt[] }) {
  const { t } = useTranslation();
  const [command, setCommand] = useState(() => all.find((each) => each.test)?.test?.command ?? '');
  const [working, setWorking] = useState(false);
  const run = async () => {
    setWorking(true);
    try {
      const params = { path: { id: batch } };
      await call(api.POST('/api/batches/{id}/test', { params, body: { command: command.trim() } }));
    } catch (error) {
      showError(error);
    }
    setWorking(false);
    await readAgain(batch);
  };
  return (
    <form
      className="flex flex-wrap items-end gap-2 px-6 pb-4 max-md:px-4"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <label className="min-w-0 flex-1 basis-72">
        <span className="mb-1 block text-xs font-medium text-muted">{t('attempts.command')}</span>
        <input
          className="field font-mono text-[13px]"
          value={command}
          maxLength={10_000}
          spellCheck={false}
          placeholder="make test"
          onChange={(event) => setCommand(event.target.value)}
        />
      </label>
      <button type="submit" className="btn" disabled={working || command.trim() === '' || !canTest(all)}>
        <FlaskConical size={15} aria-hidden />
        {t('attempts.run')}
      </button>
    </form>
  );
}

const columns = ['agent', 'status', 'files', 'added', 'removed', 'test', 'time', 'cost'] as const;
const right = new Set<string>(['files', 'added', 'removed', 'time', 'cost']);

export function AttemptsPage() {
  const { t } = useTranslation();
  const { batch = '' } = useSearch({ from: '/attempts' });
  const [taken, setTaken] = useState<string | null>(null);
  useEffect(() => {
    document.title = `${t('attempts.title')} · errand`;
  }, [t]);
  const read = useQuery({
    queryKey: keyOf(batch),
    queryFn: ({ signal }) => call(api.GET('/api/batches/{id}/attempts', { params: { path: { id: batch } }, signal })),
    staleTime: 0,
    refetchInterval: (query) => (query.state.data && someWork(query.state.data.attempts) ? lookMs : false),
  });
  const all = read.data?.attempts ?? [];
  const chosen = all.find((each) => each.task.id === taken);
  if (read.isError && all.length === 0)
    return (
      <Empty page icon={ServerOff} title={t('attempts.none')}>
        <p>{errorText(read.error, t)}</p>
      </Empty>
    );
  return (
    <div className="min-h-0 flex-1 overflow-auto" aria-busy={read.isPending}>
      <header className="px-6 pt-5 pb-4 max-md:px-4">
        <h1 className="text-[22px] leading-tight font-semibold tracking-tight">{t('attempts.title')}</h1>
        <p className="mt-0.5 truncate text-muted">
          <bdi>{shown(all[0]?.task.title ?? '')}</bdi>
        </p>
        <Link to="/tasks" search={{ batch }} className="text-sm text-accent-text hover:underline">
          {t('attempts.tasks')}
        </Link>
      </header>
      {all.length > 0 && <TestForm batch={batch} all={all} />}
      {all.length > 0 && (
        <div
          className="overflow-x-auto border-t border-line"
          tabIndex={0}
          role="region"
          aria-label={t('attempts.title')}
        >
          <table className="w-full min-w-200 text-[13px]">
            <thead className="text-muted">
              <tr className="border-b border-line">
                {columns.map((column) => (
                  <th
                    key={column}
                    scope="col"
                    className={`px-3 py-2 font-medium ${right.has(column) ? 'text-right' : 'text-left'}`}
                  >
                    {t(`attempts.column.${column}`)}
                  </th>
                ))}
                <td />
              </tr>
            </thead>
            <tbody>
              {all.map((attempt) => (
                <Row
                  key={attempt.task.id}
                  attempt={attempt}
                  all={all}
                  batch={batch}
                  onTake={() => setTaken(attempt.task.id)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {all.length > 0 && <p className="px-6 py-3 text-xs text-muted max-md:px-4">{t('attempts.hint')}</p>}
      {chosen && (
        <Take
          attempt={chosen}
          others={all.filter((each) => each !== chosen && isOpen(each)).length}
          batch={batch}
          onClose={() => setTaken(null)}
        />
      )}
    </div>
  );
}
