// Who reads Markdown, and for how long. Some texts cost the parser the square of their length, or its stack: what an agent
// wrote must not be able to stop its page. So a text that is plainly harmless is read at once; every other in a worker, which
// has some time for it and is ended behind that. Until it answers, and where it gives up, the text is shown as it is.
import { ownWorker } from '../lib/scripts';
import { treeOf, type Tree } from './tree';

// What is read on the page's own thread: at most so much text, so many marks that the parser pairs with each other, so long
// a word (it may be the beginning of an address), and lists and quotes so deep. Measured with texts that are made to be
// slow, on two busy cores: 120 ms for the worst of 41,616 that fit.
export const limits = { length: 8_000, marks: 400, cells: 400, word: 400, line: 4_000, depth: 8, indent: 40 };

export function isOrdinary(text: string): boolean {
  if (text.length > limits.length) return false;
  let marks = 0;
  let cells = 0;
  let word = 0;
  let line = 0;
  let depth = 0; // Marks at the beginning of the line that may each begin a list or a quote.
  let indent = 0;
  let begins = true;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 10 || c === 13) {
      word = line = depth = indent = 0;
      begins = true;
      continue;
    }
    if (++line > limits.line) return false;
    const digit = c >= 48 && c <= 57;
    if (begins) {
      if (c === 32 || c === 9) indent += c === 9 ? 4 : 1;
      else if (c === 62 || c === 45 || c === 42 || c === 43 || c === 46 || c === 41) depth++;
      else if (!digit) begins = false;
      if (depth > limits.depth || indent > limits.indent) {
        // A line of dashes or stars is a rule, and may be long.
        if (indent <= limits.indent && isRule(text, i)) begins = false;
        else return false;
      }
    }
    // * _ ~ ` [ ] < \ & !
    if (
      c === 42 ||
      c === 95 ||
      c === 126 ||
      c === 96 ||
      c === 91 ||
      c === 93 ||
      c === 60 ||
      c === 92 ||
      c === 38 ||
      c === 33
    )
      if (++marks > limits.marks) return false;
    if (c === 124 && ++cells > limits.cells) return false;
    word = c > 32 && c < 127 && c !== 124 ? word + 1 : 0;
    if (word > limits.word) return false;
  }
  return true;
}

// The line around `at` is one sign again and again.
function isRule(text: string, at: number): boolean {
  const from = text.lastIndexOf('\n', at) + 1;
  const end = text.indexOf('\n', at);
  const line = text.slice(from, end < 0 ? undefined : end).trim();
  return line.length < 200 && /^(-+|\*+)$/.test(line);
}

export type Outcome = Tree | 'failed';

export interface WorkerLike {
  onmessage: ((event: MessageEvent<ToPage>) => void) | null;
  onerror: ((event: unknown) => void) | null;
  postMessage(message: { text: string }): void;
  terminate(): void;
}
export type ToPage = { kind: 'ready' } | { kind: 'tree'; tree: Tree } | { kind: 'failed' };

interface Job {
  text: string;
  done: Set<(outcome: Outcome) => void>;
}

const textMost = 200_000; // More is not given to a worker: nobody reads so long a paragraph for its form.
const patienceMs = 1_500; // For one text,
const startMs = 20_000; // and for a worker to be there at all.
const knownMost = 200;

export class Parser {
  private worker: WorkerLike | null = null;
  private ready = false;
  private failedStarts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private current: Job | null = null;
  private waiting: Job[] = [];
  private known = new Map<string, Outcome>();
  private spentMs = 0;
  private renewing = false;

  // `nowMostMs`: read on this thread, between two of its tasks; no more than a person would notice, however many rows are
  // drawn at once.
  constructor(
    private start: () => WorkerLike,
    public nowMostMs = 50,
  ) {}

  // What is known already, or can be at once.
  now(text: string): Outcome | null {
    const known = this.known.get(text);
    if (known) return known;
    if (this.spentMs > this.nowMostMs || !isOrdinary(text)) return null;
    if (!this.renewing) {
      this.renewing = true;
      setTimeout(() => {
        this.renewing = false;
        this.spentMs = 0;
      });
    }
    const begin = performance.now();
    try {
      return treeOf(text);
    } catch {
      return null;
    } finally {
      this.spentMs += performance.now() - begin;
    }
  }

  // Calls `done` once, later. Returns how to take it back.
  ask(text: string, done: (outcome: Outcome) => void): () => void {
    if (text.length > textMost || this.failedStarts > 2) {
      const timer = setTimeout(() => done('failed'));
      return () => clearTimeout(timer);
    }
    let job = this.current?.text === text ? this.current : this.waiting.find((each) => each.text === text);
    if (!job) this.waiting.push((job = { text, done: new Set() }));
    const asked = job;
    asked.done.add(done);
    this.next();
    return () => {
      asked.done.delete(done);
      // What nobody waits for is not begun; what has begun goes on, and is known then.
      if (asked.done.size === 0) this.waiting = this.waiting.filter((each) => each !== asked);
    };
  }

  private next(): void {
    if (this.current || this.waiting.length === 0) return;
    if (!this.worker) return this.open();
    if (!this.ready) return;
    this.current = this.waiting.shift() ?? null;
    if (!this.current) return;
    this.worker.postMessage({ text: this.current.text });
    this.timer = setTimeout(() => {
      this.close();
      this.finish('failed');
    }, patienceMs);
  }

  private open(): void {
    const broken = () => {
      this.close();
      if (++this.failedStarts > 2)
        for (const job of this.waiting.splice(0)) for (const done of job.done) done('failed');
      this.finish('failed');
    };
    try {
      this.worker = this.start();
    } catch {
      return broken();
    }
    this.timer = setTimeout(broken, startMs);
    this.worker.onerror = broken;
    this.worker.onmessage = ({ data }) => {
      clearTimeout(this.timer);
      if (data.kind === 'ready') {
        this.ready = true;
        this.failedStarts = 0;
        this.next();
      } else this.finish(data.kind === 'tree' ? data.tree : 'failed');
    };
  }

  private close(): void {
    clearTimeout(this.timer);
    if (this.worker) this.worker.onmessage = this.worker.onerror = null;
    this.worker?.terminate();
    this.worker = null;
    this.ready = false;
  }

  private finish(outcome: Outcome): void {
    const job = this.current;
    this.current = null;
    if (job) {
      if (this.known.size >= knownMost) this.known.clear();
      this.known.set(job.text, outcome);
      for (const done of job.done) done(outcome);
    }
    this.next();
  }
}

export const parser = new Parser(() => ownWorker('markdown') as WorkerLike);
