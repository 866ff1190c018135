// The worker that reads the Markdown which the page does not dare to: see parser.ts.
import type { ToPage } from './parser';
import { treeOf } from './tree';

const scope = self as unknown as {
  onmessage: (event: MessageEvent<{ text: string }>) => void;
  postMessage(message: ToPage): void;
};
scope.onmessage = ({ data }) => {
  try {
    scope.postMessage({ kind: 'tree', tree: treeOf(data.text) });
  } catch {
    scope.postMessage({ kind: 'failed' }); // Too deep for the stack.
  }
};
scope.postMessage({ kind: 'ready' });
