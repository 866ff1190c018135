// How an artifact is shown, by what it says it is. Pure.
import type { Artifact } from '../api/types';

export type View = 'picture' | 'pdf' | 'html';

const most: Record<View, number> = { picture: 20_000_000, pdf: 50_000_000, html: 5_000_000 };
const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp', 'image/svg+xml'];
const byName: [RegExp, string][] = [
  [/\.png$/i, 'image/png'],
  [/\.jpe?g$/i, 'image/jpeg'],
  [/\.gif$/i, 'image/gif'],
  [/\.webp$/i, 'image/webp'],
  [/\.avif$/i, 'image/avif'],
  [/\.svg$/i, 'image/svg+xml'],
  [/\.pdf$/i, 'application/pdf'],
  [/\.html?$/i, 'text/html'],
];

// The one type that the bytes are given: the browser must not guess another.
export function typeOf({ name, media_type }: Pick<Artifact, 'name' | 'media_type'>): string {
  const told = media_type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const named = byName.find(([pattern]) => pattern.test(name))?.[1];
  return told === '' || told === 'application/octet-stream' ? (named ?? told) : told;
}

// Null: as text, or not at all.
export function viewOf(artifact: Pick<Artifact, 'name' | 'media_type' | 'size'>): View | null {
  const type = typeOf(artifact);
  const view: View | null = pictures.includes(type)
    ? 'picture'
    : type === 'application/pdf'
      ? 'pdf'
      : type === 'text/html'
        ? 'html'
        : null;
  return view && artifact.size <= most[view] ? view : null;
}
