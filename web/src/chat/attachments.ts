// Files that go with a message: pasted, dropped or picked. They travel in the message, so together they have a bound.
import type { Attachment } from './launch';

export const filesMost = 10;
export const bytesMost = 5_000_000; // As base64 within the 8 MiB that the server takes.

export interface Chosen {
  files: File[];
  refused: 'many' | 'large' | null; // Why the others are not with them.
}

// Which of the new files fit beside those that are there. Pure.
export function fitting(have: { size: number }[], more: File[]): Chosen {
  const files: File[] = [];
  let bytes = have.reduce((sum, file) => sum + file.size, 0);
  let refused: Chosen['refused'] = null;
  for (const file of more) {
    if (have.length + files.length >= filesMost) return { files, refused: 'many' };
    if (bytes + file.size > bytesMost) {
      refused = 'large';
      continue;
    }
    bytes += file.size;
    files.push(file);
  }
  return { files, refused };
}

// What browsers do not know by its name is text more often than not: whoever pastes a log means its words.
const textual =
  /\.(c|cc|cpp|css|csv|diff|go|h|hpp|java|js|json|jsx|kt|log|lua|md|mjs|patch|php|pl|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|xml|ya?ml)$/i;
export const mediaType = (file: { name: string; type: string }): string =>
  textual.test(file.name) ? 'text/plain' : (file.type || 'application/octet-stream').split(';', 1)[0]!;

export async function attachmentOf(file: File): Promise<Attachment> {
  const media_type = mediaType(file);
  const data = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '');
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
  // The browser's own guess of the type stands before the comma.
  const bytes = data.slice(data.indexOf(',') + 1);
  return { name: file.name.slice(0, 200) || 'file', media_type, url: `data:${media_type};base64,${bytes}` };
}
