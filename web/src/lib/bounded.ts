// Maps that keep the newest. Many go at once: a map is slow to find its first entry behind those that were deleted.
export function forgetOldest<K, V>(map: Map<K, V>, most: number): void {
  if (map.size < most * 2) return;
  let surplus = map.size - most;
  for (const key of map.keys()) {
    if (surplus-- <= 0) return;
    map.delete(key);
  }
}
