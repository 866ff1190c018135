// How the messages of this tab were sent: the server keeps the message, and when it is to be read is known here alone.
export type Mode = 'steer' | 'queue' | 'interrupt';
export const modes: readonly Mode[] = ['steer', 'queue', 'interrupt'];

const sent = new Map<string, Mode>();
const most = 200;

export function remember(taskId: string, text: string, mode: Mode): void {
  sent.set(`${taskId} ${text}`, mode);
  if (sent.size > most) sent.delete(sent.keys().next().value ?? '');
}
export const modeOf = (taskId: string, text: string): Mode | undefined => sent.get(`${taskId} ${text}`);
