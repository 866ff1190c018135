import { describe, expect, it } from 'vitest';

import { answerTo, noticeOf, pageOf, parsePush, type Push } from './notice';

const asked: Push = {
  id: 'ntf_1',
  type: 'asked',
  task_id: 'task_1',
  title: 'Tidy up',
  question: 'permission',
  request_id: 'req_1',
  reason: null,
  text: 'rm -r build',
};
const phone = ['read', 'tasks', 'approve'];
const names = (push: Push, scopes: string[]) =>
  noticeOf(push, scopes, 'en').options.actions.map(({ action }) => action);

describe('a push', () => {
  it('is shown with what the person can do about it', () => {
    const notice = noticeOf(asked, phone, 'en-GB');
    expect(notice.title).toBe('Needs your permission: Tidy up');
    expect(notice.options).toMatchObject({ body: 'rm -r build', tag: 'task_1', requireInteraction: true });
    expect(names(asked, phone)).toEqual(['allow', 'deny']);
    expect(names({ ...asked, question: 'answer' }, phone)).toEqual(['reply']);
    expect(names({ ...asked, type: 'failed', request_id: null }, phone)).toEqual([]);
    expect(noticeOf(asked, phone, 'zh-CN').title).toBe('需要您的许可: Tidy up');
  });
  it('offers nothing that the server would refuse', () => {
    expect(names(asked, ['read'])).toEqual([]);
    expect(names(asked, ['read', 'tasks'])).toEqual([]);
    expect(names({ ...asked, question: 'answer' }, ['read', 'approve'])).toEqual([]);
  });
  it('says only what it was told', () => {
    const bare = { ...asked, title: null, text: null, question: null, type: 'failed', reason: 'exit' } as const;
    expect(noticeOf(bare, phone, 'en')).toMatchObject({ title: 'Failed', options: { body: 'exit' } });
  });
  it('is answered by the action that was tapped, and opened by any other tap', () => {
    expect(answerTo(asked, 'allow', null)).toEqual({ request_id: 'req_1', decision: 'allow' });
    expect(answerTo(asked, 'deny', undefined)).toEqual({ request_id: 'req_1', decision: 'deny' });
    expect(answerTo(asked, '', null)).toBeNull();
    expect(answerTo(asked, 'reply', 'yes')).toBeNull();
    const question = { ...asked, question: 'answer' } as const;
    expect(answerTo(question, 'reply', '  blue ')).toEqual({ request_id: 'req_1', answer: 'blue' });
    expect(answerTo(question, 'reply', '  ')).toBeNull();
    expect(answerTo(question, 'allow', null)).toBeNull();
    expect(answerTo({ ...asked, type: 'completed' }, 'allow', null)).toBeNull();
    expect(pageOf(asked)).toBe('/chat?taskId=task_1');
    expect(pageOf({ ...asked, task_id: null })).toBe('/tasks');
  });
  it('that is none of ours is nothing', () => {
    expect(parsePush(JSON.stringify(asked))).toEqual(asked);
    for (const text of [
      '',
      'x',
      'null',
      '{}',
      JSON.stringify({ ...asked, type: 'other' }),
      JSON.stringify({ ...asked, title: 3 }),
    ])
      expect(parsePush(text)).toBeNull();
  });
});
