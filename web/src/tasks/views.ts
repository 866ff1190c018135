// Saved views: a name for what the address says. They are this browser's own.
import { store } from '../lib/store';
import { taskSearch, type TaskSearch } from '../search';

export interface View {
  name: string;
  search: TaskSearch;
}

const key = 'errand.views';
export const viewsMost = 30;
const nameMost = 60;

// What is stored may be old, or anybody's: only what is a view is taken.
export function readViews(text: string | null): View[] {
  let all: unknown;
  try {
    all = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(all)) return [];
  return all
    .flatMap((each: unknown): View[] => {
      const { name, search } = (each ?? {}) as { name?: unknown; search?: unknown };
      if (typeof name !== 'string' || name.trim() === '' || typeof search !== 'object' || search === null) return [];
      return [{ name: name.slice(0, nameMost), search: taskSearch(search as Record<string, unknown>) }];
    })
    .slice(0, viewsMost);
}

function stored(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // Storage is off: views last as long as the page.
  }
}

export const views = store<View[]>(readViews(stored()));

function keep(all: View[]): void {
  views.set(all);
  try {
    localStorage.setItem(key, JSON.stringify(all));
  } catch {
    // As above.
  }
}

// One of the same name is replaced.
export const saveView = (name: string, search: TaskSearch): void =>
  keep(
    [
      { name: name.trim().slice(0, nameMost), search },
      ...views.get().filter((view) => view.name !== name.trim()),
    ].slice(0, viewsMost),
  );
export const dropView = (name: string): void => keep(views.get().filter((view) => view.name !== name));

export const sameView = (a: TaskSearch, b: TaskSearch): boolean => {
  const text = (search: TaskSearch) => JSON.stringify(Object.entries(search).sort(([x], [y]) => x.localeCompare(y)));
  return text(a) === text(b);
};
