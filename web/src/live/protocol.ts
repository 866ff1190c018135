// What a tab and the hub (one for all tabs, in a shared worker) say to each other.
import type { Counts, TaskEvent } from '../api/types';

export type ToHub =
  | { kind: 'hello'; session: string | null }
  | { kind: 'watch'; tasks: string[] } // The whole transcripts this tab shows now.
  | { kind: 'retry' } // The machine is back on the network: do not wait.
  | { kind: 'alive' }
  | { kind: 'bye' };

export type Connection =
  | { state: 'connecting' }
  | { state: 'live' }
  | { state: 'broken'; retryAt: number } // Wall time of the next try.
  | { state: 'unauthorized' };

export type FromHub =
  | { kind: 'connection'; connection: Connection }
  | { kind: 'events'; events: TaskEvent[] }
  | { kind: 'counts'; counts: Counts; running: number }
  | { kind: 'watching'; tasks: string[] } // From here on every event of these comes: read their snapshots now.
  | { kind: 'reset' }; // Something may have been missed: read everything again.
