// Names for the generated types: the server's OpenAPI document is the one description of the wire.
import type { components, operations } from './schema.gen';

type Schemas = components['schemas'];
export type Task = Schemas['Task'];
export type TaskBrief = Schemas['TaskBrief'];
export type Status = Schemas['Status'];
export type Counts = Schemas['Counts'];
export type TaskList = Schemas['TaskList'];
export type Progress = Schemas['Progress'];
export type WaitingFor = Schemas['WaitingFor'];
export type Message = Schemas['Message'];
export type Messages = Schemas['Messages'];
export type Part = Schemas['Part'];
export type Agent = Schemas['Agent'];
export type AgentRequest = Schemas['AgentRequest'];
export type PermissionRule = Schemas['PermissionRule'];
export type Settings = Schemas['Settings'];
export type SettingsChange = Schemas['SettingsChange'];
export type Health = Schemas['Health'];
export type Batch = Schemas['Batch'];
export type Launch = Schemas['Launch'];
export type Artifact = Schemas['Artifact'];
export type ArtifactPreview = Schemas['ArtifactPreview'];
export type TaskQuery = NonNullable<operations['listTasks']['parameters']['query']>;

// What an event's `data` is, by its type. The document says it in words: `data` is an object there.
export interface EventData {
  'task.created': { task: TaskBrief };
  'task.status': { task: TaskBrief };
  'task.progress': { progress: Progress };
  'task.warning': { code: string; text: string };
  'task.match': { pattern: string; line: string };
  'message.created': { message: Message };
  'message.delta': { message_id: string; part: number; type: 'text' | 'reasoning'; text: string };
  'message.completed': { message: Message };
  'tool.started': { message_id: string; call_id: string; name: string; input: unknown };
  'tool.completed': {
    call_id: string;
    output: string;
    truncated: boolean;
    size: number;
    is_error: boolean;
    ms: number;
  };
  output: { stream: 'stdout' | 'stderr'; run: number; offset: number; length: number; text: string };
  'ask.created': { request_id: string; kind: string; text: string; options?: string[] };
  'ask.answered': { request_id: string; decision: string; by: string; answer?: string; message?: string };
  'notice.created': { notice_id: string };
  'notice.taken': { notice_id: string };
  end: { status: Status };
  'task.deleted': { reason?: string };
}
export type EventType = keyof EventData;
export type TaskEvent = {
  [T in EventType]: { seq: number; pos: number; task_id: string; type: T; at: string; data: EventData[T] };
}[EventType];

export const atWork = (status: Status): boolean => status === 'pending' || status === 'running' || status === 'resumed';
// At work, or its processes are not gone yet.
export const isBusy = (task: Pick<TaskBrief, 'status' | 'stopping'>): boolean => atWork(task.status) || task.stopping;
export const needsInput = (task: Pick<TaskBrief, 'waiting_for' | 'status'>): boolean =>
  atWork(task.status) && (task.waiting_for?.kind === 'answer' || task.waiting_for?.kind === 'permission');
