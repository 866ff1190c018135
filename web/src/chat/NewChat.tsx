import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { GitBranch, GitFork, SlidersHorizontal, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';

import { api, call } from '../api/client';
import type { Agent, Task } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { randomKey } from '../lib/clipboard';
import { lastFolder, useFolders } from '../lib/folders';
import { shown } from '../lib/hidden';
import { queryClient, upToDate, useActive, useAgents, useTask } from '../queries';
import { showError } from '../tasks/actions';
import { AgentIcon } from '../ui/AgentIcon';
import { Composer } from './Composer';
import { readDraft, writeDraft } from './drafts';
import { FirstVisit, needsSetUp } from './FirstVisit';
import { FolderChip } from './FolderChip';
import {
  attemptsOf,
  changed,
  hasWorktree,
  isSeveral,
  launchOf,
  noOptions,
  textsOf,
  type Attachment,
  type Fork,
} from './launch';
import { LaunchOptions } from './LaunchOptions';
import { messageText } from './Message';

const samples = ['help', 'tools', 'think', 'ask', 'long'] as const;

interface Props {
  agentId: string | undefined;
  forkOf: string | undefined;
  at: string | undefined;
}

export default function NewChat({ agentId, forkOf, at }: Props) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const agents = useAgents();
  const known = useFolders('');
  const parent = useTask(forkOf).data;
  const fork: Fork | undefined = parent?.session_id && at ? { session: parent.session_id, message: at } : undefined;
  // A conversation is no command.
  // Who one talks to first, one's own before what ships; what cannot be had is last.
  const rank = (agent: Agent) =>
    (agent.available ? 0 : 8) + (agent.driver === 'command' ? 4 : agent.driver === 'demo' ? 2 : agent.builtin ? 1 : 0);
  const all = (agents.data?.agents ?? [])
    .filter((agent) => !forkOf || agent.driver !== 'command')
    .sort((a, b) => rank(a) - rank(b));
  // An agent to talk to comes first; the plain command is always there.
  const wanted = agentId ?? parent?.agent_id;
  const chosen =
    all.find((agent) => agent.id === wanted || agent.name === wanted) ??
    all.find((agent) => agent.available && agent.id === agents.data?.default_agent) ??
    all.find((agent) => agent.available && agent.driver !== 'command') ??
    all[0];
  const command = chosen?.driver === 'command';
  const place = forkOf ? `fork ${forkOf}` : 'new';
  const [options, setOptions] = useState(() => ({ ...noOptions, folder: lastFolder.get() }));
  const [open, setOpen] = useState(false);
  const [nonce, setNonce] = useState(0);
  // The same words asked twice because an answer was lost make one task.
  const keys = useRef(new Map<string, string>());

  // What is written is found again by its key.
  const headerFor = (written: string) => {
    const key = keys.current.get(written) ?? randomKey();
    keys.current.set(written, key);
    return { 'Idempotency-Key': `"${key}"` };
  };
  const launchOne = async (
    text: string,
    files: Attachment[],
    batch: string | undefined,
    place: number,
  ): Promise<Task> => {
    const body = { ...launchOf(text, chosen!, options, fork, files), ...(batch ? { batch_id: batch } : {}) };
    const header = headerFor(`${place} ${JSON.stringify({ ...body, batch_id: undefined })}`);
    return call(api.POST('/api/tasks', { body, params: { header } }));
  };
  // The same for several agents: to where they are compared.
  const several = !command && !forkOf && isSeveral(options);
  const launchAttempts = async (text: string, files: Attachment[]): Promise<void> => {
    const body = attemptsOf(text, chosen!, options, files);
    const header = headerFor(`attempts ${JSON.stringify(body)}`);
    const { batch_id: batch } = await call(api.POST('/api/batches', { body, params: { header } }));
    launched();
    void navigate({ to: '/attempts', search: { batch } });
  };
  const launched = () => {
    keys.current.clear();
    lastFolder.set(options.folder.trim());
    writeDraft(place, '');
  };
  const launch = async (text: string, files: Attachment[]): Promise<boolean> => {
    if (!chosen || (forkOf && !fork)) return false;
    const texts = textsOf(text, options);
    try {
      if (several) {
        await launchAttempts(text, files);
        return true;
      }
      let batch = texts.length > 1 ? 'new' : undefined;
      let first: Task | undefined;
      for (const [i, each] of texts.entries()) {
        const task = await launchOne(each, files, batch, i);
        queryClient.setQueryData(['task', task.id], upToDate(task));
        first ??= task;
        if (batch) batch = task.batch_id ?? batch;
      }
      launched();
      if (batch) void navigate({ to: '/tasks', search: { batch } });
      else if (first) void navigate({ to: '/chat', search: { taskId: first.id } });
      return true;
    } catch (error) {
      showError(error);
      return false;
    }
  };
  useEffect(() => {
    document.title = `${forkOf ? t('chat.fork.title') : t('chat.new')} · errand`;
  }, [t, forkOf]);

  const count = changed(options);
  return (
    <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <div className="column my-auto py-10">
        <h1 className="text-center text-[26px] font-semibold tracking-tight">
          {forkOf ? t('chat.fork.title') : t('chat.new')}
        </h1>
        <p className="mt-1 mb-7 text-center text-muted">{forkOf ? t('chat.fork.hint') : t('chat.newHint')}</p>
        {forkOf && parent && at && <ForkOf task={parent} at={at} />}
        {!forkOf && agents.data && needsSetUp(agents.data.agents) && <FirstVisit agents={agents.data.agents} />}
        <fieldset className="mb-5">
          <legend className="mb-2 text-sm font-medium text-muted">{t('chat.pickAgent')}</legend>
          <div className="grid grid-cols-2 gap-2 max-md:grid-cols-1">
            {agents.isPending && <div className="skeleton h-20" />}
            {all.map((agent) => {
              const on = agent.id === chosen?.id;
              const look = on ? 'border-accent bg-accent-soft' : agent.available ? 'hover:bg-hover' : 'bg-panel';
              return (
                <label
                  key={agent.id}
                  title={agent.unavailable_reason ?? undefined}
                  className={`card flex gap-3 p-3 has-focus-visible:outline-2 has-focus-visible:outline-accent ${agent.available ? 'cursor-pointer' : 'cursor-not-allowed'} ${look}`}
                >
                  <input
                    type="radio"
                    name="agent"
                    className="sr-only"
                    checked={on}
                    disabled={!agent.available}
                    onChange={() =>
                      void navigate({
                        to: '/chat',
                        search: (old) => ({ ...old, agentId: agent.id }),
                        replace: true,
                      })
                    }
                  />
                  <AgentIcon
                    agent={agent}
                    size={18}
                    className={`mt-0.5 shrink-0 ${agent.available ? 'text-accent-text' : 'text-muted'}`}
                  />
                  <span className="min-w-0">
                    <span className={`block truncate font-medium ${agent.available ? '' : 'text-muted'}`}>
                      {agent.name}
                    </span>
                    <span className="line-clamp-2 text-xs text-muted">
                      {agent.available
                        ? t(`agents.about.${agent.id}`, { defaultValue: agent.description ?? agent.driver })
                        : (agent.unavailable_reason ?? t('agents.unavailable'))}
                    </span>
                  </span>
                </label>
              );
            })}
          </div>
        </fieldset>
        <Composer
          key={nonce}
          place={place}
          autoFocus
          mono={command}
          placeholder={
            forkOf ? t('chat.fork.placeholder') : command ? t('chat.commandPlaceholder') : t('chat.placeholder')
          }
          sendLabel={
            forkOf
              ? t('chat.fork.start')
              : command
                ? t('chat.run')
                : several
                  ? t('launch.others.start', { n: options.others.length + 1 })
                  : t('chat.start')
          }
          disabled={!chosen?.available || (forkOf !== undefined && !fork)}
          attach={!command}
          folder={options.folder.trim() || known?.default.path}
          onSend={launch}
        >
          <FolderChip folder={options.folder} onChange={(folder) => setOptions((old) => ({ ...old, folder }))} />
          <button type="button" className="btn btn-ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
            <SlidersHorizontal size={15} aria-hidden />
            {t('launch.options')}
            {count > 0 && (
              <span className="rounded-full bg-accent px-1.5 text-[11px] text-on-accent tabular-nums">{count}</span>
            )}
          </button>
          {options.perLine && <span>{t('launch.perLineHint')}</span>}
          {hasWorktree({ ...options, others: several ? options.others : [] }) && (
            <span className="chip" data-testid="isolated">
              <GitBranch size={12} aria-hidden />
              {several ? t('launch.others.chip', { n: options.others.length + 1 }) : t('launch.isolated')}
            </span>
          )}
        </Composer>
        {!options.isolate && !several && (
          <OfferIsolation folder={options.folder} onTake={() => setOptions((old) => ({ ...old, isolate: 'head' }))} />
        )}
        {open && (
          <LaunchOptions
            options={options}
            agent={chosen}
            agents={all.filter((agent) => agent.available && agent.driver !== 'command')}
            command={command}
            fork={forkOf !== undefined}
            onChange={(change) => setOptions((old) => ({ ...old, ...change }))}
          />
        )}
        {chosen?.driver === 'demo' && !forkOf && (
          <div className="mt-5 flex flex-wrap justify-center gap-2" role="group" aria-label={t('chat.samples.label')}>
            {samples.map((sample) => (
              <button
                key={sample}
                type="button"
                className="rounded-full border border-line-strong px-3 py-1 text-[13px] text-muted hover:bg-hover hover:text-text"
                onClick={() => {
                  const text = `${readDraft(place)} ${sample === 'long' ? 'long 30' : sample}`.trim();
                  writeDraft(place, text);
                  setNonce((n) => n + 1);
                }}
              >
                {t(`chat.samples.${sample}`)}
              </button>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

// Others are at work where this one would be: then nobody could say who changed what.
function OfferIsolation({ folder, onTake }: { folder: string; onTake: () => void }) {
  const { t } = useTranslation();
  const known = useFolders('');
  const typed = folder.trim().replace(/(?<=.)\/+$/, '') || (known?.default.path ?? '');
  const here = known?.home ? typed.replace(/^~(?=\/|$)/, known.home) : typed;
  const there = useActive(true).data?.tasks.filter((task) => task.work_dir === here).length ?? 0;
  // The server's default is where people start things that belong nowhere.
  if (there === 0 || here === known?.default.path) return null;
  return (
    <p
      className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 px-2 text-sm text-muted"
      data-testid="offer-isolation"
    >
      {t('launch.offerIsolate', { count: there })}
      <button type="button" className="text-accent-text underline underline-offset-2" onClick={onTake}>
        {t('launch.offerIsolateButton')}
      </button>
    </p>
  );
}

// Whose conversation it begins with, and where that is cut.
function ForkOf({ task, at }: { task: Task; at: string }) {
  const { t } = useTranslation();
  const message = useQuery({
    queryKey: ['fork', task.id, at],
    queryFn: async ({ signal }) => {
      // From the end: what people fork from is mostly near it.
      for (let before = 2_000_000_000, i = 0; i < 20; i++) {
        const page = await call(
          api.GET('/api/tasks/{id}/messages', {
            params: { path: { id: task.id }, query: { before, limit: 100 } },
            signal,
          }),
        );
        const found = page.messages.find((each) => each.id === at);
        if (found || !page.more) return found ?? null;
        before = page.messages[0]?.seq ?? 0;
      }
      return null;
    },
  }).data;
  const text = message
    ? messageText(message)
        .trim()
        .split('\n', 1)[0]
        ?.replace(/^#+\s*/, '')
    : '';
  return (
    <div className="card mb-5 flex items-start gap-3 bg-panel p-4" data-testid="fork-of">
      <GitFork size={18} className="mt-0.5 shrink-0 text-accent-text" aria-hidden />
      <p className="min-w-0 flex-1">
        {t('chat.fork.of')}{' '}
        <Link to="/chat" search={{ taskId: task.id }} hash={at} className="font-medium underline underline-offset-2">
          <bdi>{shown(task.title)}</bdi>
        </Link>
        {text && (
          <>
            {' '}
            {t('chat.fork.until')}
            <span className="mt-1 line-clamp-2 text-sm text-muted">{text}</span>
          </>
        )}
      </p>
      <Link
        to="/chat"
        search={{ taskId: task.id }}
        className="btn btn-ghost btn-icon -m-1"
        aria-label={t('common.keep')}
        title={t('common.keep')}
      >
        <X size={15} aria-hidden />
      </Link>
    </div>
  );
}
