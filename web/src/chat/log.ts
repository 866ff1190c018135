// The end of a log that grows, by lines: what comes is put behind what is there, and is never read again. Pure.
const charactersMost = 8 << 20;
const linesMost = 400_000;

export class LogLines {
  private all: string[] = [];
  private characters = 0;
  private ends = true; // The last line has its end.
  private sought = { words: '', until: 0, found: [] as number[] };
  first = 1; // The number of the first line that is here.

  get count(): number {
    return this.all.length;
  }
  line(index: number): string {
    return this.all[index] ?? '';
  }

  push(text: string): void {
    if (text === '') return;
    // The last line may go on: it is looked through again.
    const last = this.all.length - 1;
    if (!this.ends && this.sought.until > last) {
      this.sought.until = last;
      if (this.sought.found.at(-1) === last) this.sought.found.pop();
    }
    const fresh = text.split('\n');
    const ends = fresh.at(-1) === '';
    if (ends) fresh.pop();
    fresh.forEach((line, i) => {
      if (i === 0 && !this.ends) this.all[last] += line;
      else this.all.push(line);
    });
    this.ends = ends;
    this.characters += text.length;
    this.drop();
  }

  // The oldest go, many at once.
  private drop(): void {
    if (this.characters <= charactersMost && this.all.length <= linesMost) return;
    let gone = 0;
    while (
      gone < this.all.length - 1 &&
      (this.characters > charactersMost / 2 || this.all.length - gone > linesMost / 2)
    )
      this.characters -= this.line(gone++).length + 1;
    this.all.splice(0, gone);
    this.first += gone;
    this.sought = { words: '', until: 0, found: [] };
  }

  // Which lines have these words (in small letters) in them. What was looked through before is not looked through again.
  search(words: string): number[] {
    if (this.sought.words !== words) this.sought = { words, until: 0, found: [] };
    for (; this.sought.until < this.all.length; this.sought.until++)
      if (this.line(this.sought.until).toLowerCase().includes(words)) this.sought.found.push(this.sought.until);
    return this.sought.found;
  }
}

// "3-5": the runs of the attempt, where it has several; no more than anybody chooses from.
const runsMost = 101;
export function runsOf(said: string | null, shown: number): number[] {
  const [first, last] = (said ?? '').split('-').map(Number);
  if (!first || !last || last < first) return [shown];
  const from = Math.max(first, last - runsMost + 1);
  return Array.from({ length: last - from + 1 }, (_, i) => from + i);
}
