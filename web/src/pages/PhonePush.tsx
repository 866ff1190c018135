// Notifications on this phone: switched on and off, tried, and what for.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { ApiError } from '../api/client';
import type { PushRules, WebhookContent, WebhookOccasion } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import type { Device } from '../phone/device';
import { Hindered, readPush, switchOff, switchOn, tryPush } from '../phone/push';
import { queryClient } from '../queries';
import { toast } from '../ui/toast';

const occasions: WebhookOccasion[] = ['asked', 'failed', 'completed', 'cancelled'];
const contents: WebhookContent[] = ['none', 'title', 'text'];
const usual: PushRules = { on: ['asked', 'failed'], content: 'text', quiet: null };

export function PhonePush({ device }: { device: Device }) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const push = useQuery({
    queryKey: ['push', device.id],
    queryFn: ({ signal }) => readPush(device, signal),
    staleTime: 5000,
  }).data;
  if (!push) return null;
  const told = push.subscription;
  const rules: PushRules = told ? { on: told.on, content: told.content, quiet: told.quiet } : usual;
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      if (error instanceof Hindered) toast('bad', t(`push.${error.why}`));
      else if (error instanceof ApiError && error.status > 0) toast('bad', error.message);
      else toast('bad', t('push.failed'));
    } finally {
      // Before anything else can be changed: a change says all the rules, and must know those that hold.
      await queryClient.invalidateQueries({ queryKey: ['push', device.id] });
      setBusy(false);
    }
  };
  // The browser gives the same subscription again; the server takes the new rules with it.
  const change = (next: PushRules) => void act(() => switchOn(device, push.key, next));
  const test = () =>
    act(async () => {
      const tried = await tryPush(device);
      if (tried.delivered) toast('ok', t('push.sent'));
      else toast('bad', tried.error ?? t('push.failed'));
    });
  return (
    <div className="flex flex-col gap-4" data-testid="push">
      <label className="flex items-center justify-between gap-4">
        <span>{t('push.title')}</span>
        <input
          type="checkbox"
          role="switch"
          className="switch"
          checked={told !== null}
          disabled={busy}
          onChange={(event) =>
            void act(() => (event.target.checked ? switchOn(device, push.key, usual) : switchOff(device)))
          }
        />
      </label>
      {told && (
        <>
          <fieldset className="flex flex-wrap gap-x-5 gap-y-2" disabled={busy}>
            <legend className="mb-1">{t('webhooks.when')}</legend>
            {occasions.map((each) => (
              <label key={each} className="flex items-center gap-2">
                <input
                  type="checkbox"
                  checked={rules.on.includes(each)}
                  disabled={rules.on.length === 1 && rules.on.includes(each)}
                  onChange={(event) =>
                    change({
                      ...rules,
                      on: occasions.filter((one) => (one === each ? event.target.checked : rules.on.includes(one))),
                    })
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
              value={rules.content}
              disabled={busy}
              onChange={(event) => change({ ...rules, content: event.target.value as WebhookContent })}
            >
              {contents.map((each) => (
                <option key={each} value={each}>
                  {t(`webhooks.contents.${each}`)}
                </option>
              ))}
            </select>
          </label>
          <Quiet
            key={rules.quiet ?? ''}
            quiet={rules.quiet}
            busy={busy}
            onChange={(quiet) => change({ ...rules, quiet })}
          />
          {told.error && <p className="text-sm text-red">{told.error}</p>}
          <div className="flex justify-end">
            <button type="button" className="btn" disabled={busy} onClick={() => void test()}>
              {t('webhooks.test')}
            </button>
          </div>
        </>
      )}
      <p className="text-sm text-muted">{t('push.hint')}</p>
    </div>
  );
}

interface QuietProps {
  quiet: string | null;
  busy: boolean;
  onChange: (quiet: string | null) => void;
}
// Sent when it is whole, not with every key.
function Quiet({ quiet, busy, onChange }: QuietProps) {
  const { t } = useTranslation();
  const [text, setText] = useState(quiet ?? '');
  return (
    <label className="flex items-center justify-between gap-4">
      <span>{t('webhooks.quiet')}</span>
      <input
        className="field w-48 shrink-0"
        value={text}
        placeholder="22:00-07:00"
        disabled={busy}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => text !== (quiet ?? '') && onChange(text || null)}
      />
    </label>
  );
}
