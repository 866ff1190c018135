// What a push says, as the notification that is shown, and what a tap on it means. Pure.
export interface Push {
  id: string;
  type: 'asked' | 'failed' | 'completed' | 'cancelled' | 'test';
  task_id: string | null;
  title: string | null;
  question: 'permission' | 'answer' | null;
  request_id: string | null;
  reason: string | null;
  text: string | null;
}

// Actions are not in every browser, and a field to type into is in a few (Android's).
export interface NoticeAction {
  action: 'allow' | 'deny' | 'reply';
  title: string;
  type?: 'text';
  placeholder?: string;
}
export interface Notice {
  title: string;
  options: NotificationOptions & { actions: NoticeAction[]; renotify: boolean; requireInteraction: boolean };
}

const words = {
  en: {
    permission: 'Needs your permission',
    asked: 'Asks you',
    failed: 'Failed',
    completed: 'Done',
    cancelled: 'Cancelled',
    test: 'errand can reach this phone',
    allow: 'Allow',
    deny: 'Deny',
    reply: 'Answer',
    type: 'Type an answer',
    sent: 'Answered',
    lost: 'Your answer did not arrive',
    open: 'Tap to answer in errand.',
  },
  zh: {
    permission: '需要您的许可',
    asked: '向您提问',
    failed: '失败',
    completed: '已完成',
    cancelled: '已取消',
    test: 'errand 可以通知这部手机',
    allow: '允许',
    deny: '拒绝',
    reply: '回答',
    type: '输入回答',
    sent: '已回答',
    lost: '您的回答没有送达',
    open: '点按以在 errand 中回答。',
  },
};
export type Words = (typeof words)['en'];
export const wordsFor = (language: string): Words => (/^zh/i.test(language) ? words.zh : words.en);

const isText = (value: unknown): value is string | null => value === null || typeof value === 'string';

// Nothing where it is none of ours.
export function parsePush(text: string): Push | null {
  try {
    const push = JSON.parse(text) as Push;
    const good =
      typeof push.id === 'string' &&
      ['asked', 'failed', 'completed', 'cancelled', 'test'].includes(push.type) &&
      [push.task_id, push.title, push.request_id, push.reason, push.text].every(isText);
    return good ? push : null;
  } catch {
    return null;
  }
}

// `scopes`: what this phone may do. An action that the server would refuse is not offered.
export function noticeOf(push: Push, scopes: string[], language: string): Notice {
  const say = wordsFor(language);
  const permission = push.type === 'asked' && push.question === 'permission';
  const actions: NoticeAction[] = [];
  if (permission && push.request_id && scopes.includes('approve'))
    actions.push({ action: 'allow', title: say.allow }, { action: 'deny', title: say.deny });
  else if (push.type === 'asked' && !permission && push.request_id && scopes.includes('tasks'))
    actions.push({ action: 'reply', title: say.reply, type: 'text', placeholder: say.type });
  const headline = permission ? say.permission : say[push.type];
  return {
    title: push.title ? `${headline}: ${push.title}` : headline,
    options: {
      body: push.text ?? push.reason ?? '',
      tag: push.task_id ?? push.id, // A later one of the same task takes its place.
      renotify: true,
      requireInteraction: push.type === 'asked',
      icon: '/favicon.svg',
      data: push,
      actions,
    },
  };
}

// What is sent for a tap: an answer, or nothing where the task is to be opened.
export function answerTo(push: Push, action: string, reply: string | null | undefined): object | null {
  if (push.type !== 'asked' || !push.request_id) return null;
  const request_id = push.request_id;
  if (push.question === 'permission' && (action === 'allow' || action === 'deny'))
    return { request_id, decision: action };
  if (push.question !== 'permission' && action === 'reply' && reply?.trim())
    return { request_id, answer: reply.trim() };
  return null;
}

export const pageOf = (push: Push): string =>
  push.task_id ? `/chat?taskId=${encodeURIComponent(push.task_id)}` : '/tasks';
