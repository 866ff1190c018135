// The shared worker: the hub for all tabs.
import { Hub } from './hub';
import type { ToHub } from './protocol';

const hub = new Hub();
const scope = self as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = ({ ports }) => {
  const port = ports[0];
  if (!port) return;
  port.onmessage = ({ data }: MessageEvent<ToHub>) => hub.receive(port, data);
};
