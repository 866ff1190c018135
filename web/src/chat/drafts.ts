// What somebody was writing, kept until the server has it: a reload, a crash or a lost server costs no words.
const key = (place: string) => `errand.draft.${place}`;

export function readDraft(place: string): string {
  try {
    return sessionStorage.getItem(key(place)) ?? '';
  } catch {
    return '';
  }
}

export function writeDraft(place: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(key(place), text);
    else sessionStorage.removeItem(key(place));
  } catch {
    // Then it lives as long as the box.
  }
}
