// Completion of a file that is named in a message: the server knows what is in the task's folder.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { api, call } from '../api/client';
import { useDebounced } from '../lib/hooks';
import { fromFolder, type Mention } from './mention';

export interface Hint {
  path: string; // From the folder.
  folder: boolean;
}

const hintsMost = 12;

export function useMention(folder: string | null | undefined, mention: Mention | null) {
  const [closed, setClosed] = useState<number | null>(null); // The @ that its writer wants no help with.
  const [at, setAt] = useState(0);
  const open = Boolean(folder) && mention !== null && mention.from !== closed;
  const base = `${folder?.replace(/\/+$/, '') ?? ''}/`;
  const typed = useDebounced(open ? mention.typed : null, 80);
  const path = typed === null ? '' : /^[~/]/.test(typed) ? typed : base + typed;
  const found = useQuery({
    queryKey: ['files', path],
    enabled: path !== '',
    queryFn: ({ signal }) => call(api.GET('/api/folders', { params: { query: { path, files: true } }, signal })),
    staleTime: 5000,
    placeholderData: (old) => old,
    retry: false,
  }).data;
  const named = (each: { path: string; shown: string }) =>
    fromFolder(base.startsWith('~') || path.startsWith('~') ? each.shown : each.path, base);
  const hints: Hint[] =
    open && found
      ? [
          ...found.files.map((each) => ({ path: named(each), folder: false })),
          ...found.folders.map((each) => ({ path: named(each), folder: true })),
        ]
          // What was read for an earlier word does not fit this one.
          .filter((each) => each.path.startsWith(mention.typed))
          .slice(0, hintsMost)
      : [];
  const chosen = Math.min(at, hints.length - 1);
  return {
    hints,
    chosen,
    move: (by: number) => setAt((chosen + by + hints.length) % hints.length),
    reset: () => setAt(0),
    close: () => setClosed(mention?.from ?? null),
  };
}
