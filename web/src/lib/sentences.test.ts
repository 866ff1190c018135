import { afterAll, expect, it } from 'vitest';

import { ApiError } from '../api/client';
import { addWords, setWords, t } from '../i18n/i18n';
import server from '../i18n/zh.server.json';
import { errorText, failureText } from './sentences';

afterAll(() => setWords('en'));
const refused = new ApiError(409, 'conflict', 'It runs already.');
const gone = new ApiError(404, 'not_found', 'It was deleted.', 'deleted');
const failed = { code: 'timeout', message: 'It was ended after 5 s.', details: {} };

it('says in English what the server says', () => {
  expect(errorText(refused, t)).toBe('It runs already.');
  expect(errorText(gone, t)).toBe('It was deleted.');
  expect(failureText(failed, t)).toBe(failed.message);
  expect(errorText(new ApiError(0, 'unreachable', 'x'), t)).toMatch(/cannot be reached/);
  expect(errorText(new Error('own'), t)).toBe('own');
});

it('has words of its own for others, and loses nothing that it has none for', () => {
  addWords('zh', server);
  setWords('zh');
  expect(errorText(refused, t)).toBe('当前状态不允许此操作：It runs already.');
  expect(errorText(gone, t)).toBe('此任务已被删除。');
  expect(failureText(failed, t)).toMatch(/时间上限/);
  expect(errorText(new ApiError(418, 'teapot', 'Short.', 'stout'), t)).toBe('Short.');
  expect(failureText({ ...failed, code: 'constructor' }, t)).toBe(failed.message);
});
