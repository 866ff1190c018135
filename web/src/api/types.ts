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
export type ToolsFamily = Schemas['ToolsFamily'];
export type PairedDevice = Schemas['Device'];
export type PushRules = Pick<Schemas['PushState'], 'on' | 'content' | 'quiet'>;
export type Webhook = Schemas['Webhook'];
export type WebhookContent = Schemas['WebhookContent'];
export type WebhookOccasion = Schemas['WebhookOccasion'];
export type SettingsChange = Schemas['SettingsChange'];
export type Problem = Schemas['Problem'];
export type Health = Schemas['Health'];
export type Batch = Schemas['Batch'];
export type BatchList = Schemas['BatchList'];
export type TaskEdit = Schemas['TaskEdit'];
export type UsageReport = Schemas['UsageReport'];
export type UsageSum = Schemas['UsageSum'];
export type Folders = Schemas['Folders'];
export type Inbox = Schemas['Inbox'];
export type Launch = Schemas['Launch'];
export type Changes = Schemas['Changes'];
export type ChangedFile = Schemas['ChangedFile'];
export type FilePatch = Schemas['FilePatch'];
export type Isolation = Schemas['Isolation'];
export type Attempt = Schemas['Attempt'];
export type NewAttempts = Schemas['NewAttempts'];
export type CommitText = Schemas['CommitText'];
export type Artifact = Schemas['Artifact'];
export type ArtifactPreview = Schemas['ArtifactPreview'];
export type TaskQuery = NonNullable<operations['listTasks']['parameters']['query']>;

// What the streams send. A task's own events are all but those that are true only now.
export type StreamEvent = Schemas['StreamEvent'];
export type StoredEvent = Schemas['Event'];
export type TaskEvent = StoredEvent | Schemas['TaskDeletedEvent'];

export const atWork = (status: Status): boolean => status === 'pending' || status === 'running' || status === 'resumed';
// At work, or its processes are not gone yet.
export const isBusy = (task: Pick<TaskBrief, 'status' | 'stopping'>): boolean => atWork(task.status) || task.stopping;
export const needsInput = (task: Pick<TaskBrief, 'waiting_for' | 'status'>): boolean =>
  atWork(task.status) && (task.waiting_for?.kind === 'answer' || task.waiting_for?.kind === 'permission');
