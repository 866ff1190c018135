// Paired phones: for the owner all of them, to be revoked; for a phone itself what it is, and how to end it.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { api, ApiError, call } from '../api/client';
import { lock, ownDevice } from '../api/session';
import type { PairedDevice } from '../api/types';
import { useTranslation } from '../i18n/i18n';
import { dateTime } from '../lib/format';
import { shown } from '../lib/hidden';
import { forgetDevice, type Device } from '../phone/device';
import { queryClient } from '../queries';
import { PhonePush } from './PhonePush';
import { toast } from '../ui/toast';

function useReason() {
  const { t } = useTranslation();
  return (error: unknown) => (error instanceof ApiError && error.status > 0 ? error.message : t('errors.unreachable'));
}

export function Devices() {
  const { t } = useTranslation();
  const devices = useQuery({
    queryKey: ['devices'],
    queryFn: ({ signal }) => call(api.GET('/api/devices', { signal })),
    staleTime: 5000,
  }).data?.devices;
  return (
    <div className="flex flex-col gap-4" data-testid="devices">
      {devices?.length === 0 && <p className="text-muted">{t('devices.none')}</p>}
      {devices?.map((device) => (
        <Row key={device.id} device={device} />
      ))}
    </div>
  );
}

function Row({ device }: { device: PairedDevice }) {
  const { t, language } = useTranslation();
  const reason = useReason();
  const [busy, setBusy] = useState(false);
  const revoke = async () => {
    setBusy(true);
    try {
      await call(api.DELETE('/api/devices/{id}', { params: { path: { id: device.id } } }));
      toast('ok', t('devices.revoked', { name: shown(device.name) }));
    } catch (error) {
      toast('bad', reason(error));
    } finally {
      setBusy(false);
      await queryClient.invalidateQueries({ queryKey: ['devices'] });
    }
  };
  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <p className="truncate font-medium">{shown(device.name)}</p>
        <p className="text-sm text-muted">
          {t('devices.used', { scopes: device.scopes.join(', '), when: dateTime(device.last_used_at, language) })}
        </p>
      </div>
      <button type="button" className="btn shrink-0" disabled={busy} onClick={() => void revoke()}>
        {t('devices.revoke')}
      </button>
    </div>
  );
}

export function OwnDevice({ device }: { device: Device }) {
  const { t } = useTranslation();
  const reason = useReason();
  const unpair = async () => {
    try {
      await call(api.DELETE('/api/devices/{id}', { params: { path: { id: device.id } } }));
    } catch (error) {
      return toast('bad', reason(error));
    }
    await forgetDevice();
    ownDevice.set(null);
    lock(null);
  };
  return (
    <div className="flex flex-col gap-4" data-testid="own-device">
      <p>{t('devices.may', { scopes: device.scopes.join(', ') })}</p>
      <PhonePush device={device} />
      <p className="text-sm text-muted">{t('devices.install')}</p>
      <div className="flex justify-end">
        <button type="button" className="btn" onClick={() => void unpair()}>
          {t('devices.unpair')}
        </button>
      </div>
    </div>
  );
}
