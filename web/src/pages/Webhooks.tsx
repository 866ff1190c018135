// Where notifications go beside this browser: added, tried, switched off and removed. Secrets are shown once.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { api, ApiError, call } from '../api/client';
import type { Webhook, WebhookContent, WebhookOccasion } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { shown } from '../lib/hidden';
import { queryClient } from '../queries';
import { CopyLine } from '../ui/CopyLine';
import { toast } from '../ui/toast';

const occasions: WebhookOccasion[] = ['asked', 'failed', 'completed', 'cancelled'];
const contents: WebhookContent[] = ['none', 'title', 'text'];
const read = () => queryClient.invalidateQueries({ queryKey: ['webhooks'] });

export function Webhooks() {
  const { t } = useTranslation();
  const [secret, setSecret] = useState('');
  const webhooks = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => call(api.GET('/api/webhooks', { signal })),
    staleTime: 5000,
  }).data?.webhooks;
  return (
    <div className="flex flex-col gap-4" data-testid="webhooks">
      {webhooks?.map((webhook) => (
        <Row key={webhook.id} webhook={webhook} />
      ))}
      {secret && (
        <div role="status">
          <p className="mb-1 text-sm text-muted">{t('webhooks.secret')}</p>
          <CopyLine text={secret} />
        </div>
      )}
      <Add onSecret={setSecret} />
    </div>
  );
}

function useReason() {
  const { t } = useTranslation();
  return (error: unknown) => (error instanceof ApiError && error.status > 0 ? error.message : t('errors.unreachable'));
}

function Row({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation();
  const reason = useReason();
  const [busy, setBusy] = useState(false);
  const path = { params: { path: { id: webhook.id } } };
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      toast('bad', reason(error));
    } finally {
      setBusy(false);
      await read();
    }
  };
  const test = () =>
    act(async () => {
      const tried = await call(api.POST('/api/webhooks/{id}/test', path));
      if (tried.delivered) toast('ok', t('webhooks.delivered'));
      else toast('bad', tried.error ?? t('webhooks.notDelivered'));
    });
  const remove = () => act(() => call(api.DELETE('/api/webhooks/{id}', path)).then(() => undefined));
  const enable = (enabled: boolean) =>
    act(() => call(api.PATCH('/api/webhooks/{id}', { ...path, body: { enabled } })).then(() => undefined));
  const trouble = webhook.disabled_because ?? webhook.error;
  return (
    <div className="flex items-start justify-between gap-4 border-b border-line pb-4">
      <div className="min-w-0">
        <p className="truncate font-medium">{shown(webhook.name)}</p>
        <p className="truncate text-sm text-muted">
          {webhook.url} · {webhook.on.map((each) => t(`webhooks.on.${each}`)).join(', ')}
        </p>
        <p className="text-sm text-muted">
          {t('webhooks.counts', { delivered: webhook.delivered, waiting: webhook.waiting, lost: webhook.given_up })}
        </p>
        {trouble && <p className="text-sm text-red">{trouble}</p>}
      </div>
      <div className="flex shrink-0 items-center gap-2">
        <button type="button" className="btn" disabled={busy} onClick={() => void test()}>
          {t('webhooks.test')}
        </button>
        <button type="button" className="btn" disabled={busy} onClick={() => void remove()}>
          {t('webhooks.remove')}
        </button>
        <input
          type="checkbox"
          role="switch"
          className="switch"
          aria-label={t('webhooks.enabled', { name: shown(webhook.name) })}
          checked={webhook.enabled}
          disabled={busy}
          onChange={(event) => void enable(event.target.checked)}
        />
      </div>
    </div>
  );
}

function Add({ onSecret }: { onSecret: (secret: string) => void }) {
  const { t } = useTranslation();
  const reason = useReason();
  const [url, setUrl] = useState('');
  const [on, setOn] = useState<WebhookOccasion[]>(['asked', 'failed']);
  const [content, setContent] = useState<WebhookContent>('title');
  const [quiet, setQuiet] = useState('');
  const [refused, setRefused] = useState('');
  const [busy, setBusy] = useState(false);
  const add = async () => {
    setBusy(true);
    setRefused('');
    onSecret('');
    try {
      const made = await call(api.POST('/api/webhooks', { body: { url, on, content, quiet: quiet || null } }));
      onSecret(made.secret ?? '');
      setUrl('');
      await read();
    } catch (error) {
      setRefused(reason(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <label className="flex flex-col gap-1">
        <span>{t('webhooks.url')}</span>
        <input
          className="field"
          type="url"
          required
          value={url}
          placeholder="https://ntfy.sh/…"
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setUrl(event.target.value)}
        />
        <span className="text-xs text-muted">{t('webhooks.urlHint')}</span>
      </label>
      <fieldset className="flex flex-wrap gap-x-5 gap-y-2">
        <legend className="mb-1">{t('webhooks.when')}</legend>
        {occasions.map((each) => (
          <label key={each} className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={on.includes(each)}
              onChange={(event) =>
                setOn(occasions.filter((one) => (one === each ? event.target.checked : on.includes(one))))
              }
            />
            {t(`webhooks.on.${each}`)}
          </label>
        ))}
      </fieldset>
      <label className="flex items-center justify-between gap-4">
        <span>{t('webhooks.content')}</span>
        <select
          className="field w-48 shrink-0"
          value={content}
          onChange={(event) => setContent(event.target.value as WebhookContent)}
        >
          {contents.map((each) => (
            <option key={each} value={each}>
              {t(`webhooks.contents.${each}`)}
            </option>
          ))}
        </select>
      </label>
      <label className="flex items-center justify-between gap-4">
        <span>{t('webhooks.quiet')}</span>
        <input
          className="field w-48 shrink-0"
          value={quiet}
          placeholder="22:00-07:00"
          pattern="\d\d:\d\d-\d\d:\d\d"
          onChange={(event) => setQuiet(event.target.value)}
        />
      </label>
      {refused && (
        <p className="rounded-lg bg-red-soft px-3 py-2 text-red" role="alert">
          {refused}
        </p>
      )}
      <div className="flex justify-end">
        <button type="submit" className="btn btn-primary" disabled={busy || !url || on.length === 0}>
          {t('webhooks.add')}
        </button>
      </div>
    </form>
  );
}
