import { useQuery } from '@tanstack/react-query';

import { api, call } from '../api/client';
import { useTranslation } from '../i18n/i18n';

const told = ['full', 'unlinked', 'damaged', 'away', 'taken'] as const;

// Nothing new is stored, or only deleting is possible: said on every page, above what it is about.
export function StoreState() {
  const { t } = useTranslation();
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => call(api.GET('/api/health', { signal })),
    refetchInterval: 15_000,
    staleTime: 5000,
  }).data;
  const state = told.find((each) => each === health?.status);
  if (!state) return null;
  return (
    <div role="alert" className="border-b border-red/40 bg-red-soft px-6 py-2.5 text-sm max-md:px-4">
      <p className="font-medium">{t(`store.${state}`)}</p>
      {health?.problem && <p className="mt-0.5 break-words text-muted">{health.problem}</p>}
    </div>
  );
}
