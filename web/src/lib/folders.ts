// Folders on the server's machine: what it knows of them, and how people read them.
import { useQuery } from '@tanstack/react-query';

import { api, call } from '../api/client';
import { ownDevice } from '../api/session';
import type { Folders } from '../api/types';
import { kept, store, useStore } from './store';

// The one that was used last in this browser; empty: the server's default.
export const lastFolder = kept<string>('errand.folder', '');

// The server's, once it is known: every row asks, so it is no query of its own.
const home = store('');

export const useFolders = (path: string): Folders | undefined =>
  useQuery({
    enabled: useStore(ownDevice) === null, // They are the owner's: a phone is not told.
    queryKey: ['folders', path],
    queryFn: async ({ signal }) => {
      const folders = await call(api.GET('/api/folders', { params: { query: path ? { path } : {} }, signal }));
      home.set(folders.home ?? '');
      return folders;
    },
    staleTime: 30_000,
    retry: false,
  }).data;

// "/home/me/project" is "~/project".
export const fromHome = (path: string, root: string | null | undefined): string =>
  root && root !== '/' && (path === root || path.startsWith(`${root}/`)) ? `~${path.slice(root.length)}` : path;

export const useShownFolder = (path: string | null): string => {
  const known = useStore(home);
  return path ? fromHome(path, known) : '';
};
