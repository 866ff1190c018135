// R10.8: every string in both languages, seed 001's own in its words, and no string that nobody uses or nobody wrote.
import fs from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import first from './en.json';
import more from './en.more.json';
import zh from './zh.json';

const en = { ...first, ...more };
type Tree = { [key: string]: string | Tree };
const flat = (tree: Tree, prefix = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[prefix + key, value]] : flat(value, `${prefix}${key}.`),
  );
const base = (key: string) => key.replace(/_(one|other)$/, '');
const names = (text: string) => [...new Set(text.match(/{{\w+}}/g) ?? [])].sort();
const english = flat(en);
const chinese = flat(zh);

describe('translations', () => {
  it('have the same keys in both languages', () => {
    expect([...new Set(chinese.map(([key]) => base(key)))].sort()).toEqual(
      [...new Set(english.map(([key]) => base(key)))].sort(),
    );
  });
  it('name the same values', () => {
    const other = new Map(english.map(([key, text]) => [base(key), names(text)]));
    for (const [key, text] of chinese) {
      // A plural may leave the number out where there is one.
      const known = other.get(base(key)) ?? [];
      for (const name of names(text)) expect(known.concat('{{count}}'), key).toContain(name);
    }
  });
  it('are not empty, and Chinese is Chinese', () => {
    for (const [key, text] of [...english, ...chinese]) expect(text.trim(), key).not.toBe('');
    for (const [key, text] of chinese)
      if (!['chat.tokensUnit', 'settings.seconds'].includes(key)) expect(text, key).toMatch(/\p{Script=Han}/u);
  });
  it('have the form of each plural that the language needs', () => {
    for (const [key] of english)
      if (key.endsWith('_one')) expect(english.map(([each]) => each)).toContain(key.replace('_one', '_other'));
  });
  it('are seed 001 own words', () => {
    expect(en.tasks.title).toBe('Task Management');
    expect(en.tasks.subtitle).toBe('Monitor and manage your running agent tasks.');
    expect(en.tasks.search).toBe('Search tasks...');
    expect(en.tasks.filter).toMatchObject({ all: 'All', running: 'Running', completed: 'Completed', failed: 'Failed' });
    expect(en.tasks.columns).toMatchObject({
      name: 'Task Name',
      agent: 'Agent',
      status: 'Status',
      model: 'Model',
      started: 'Started',
      duration: 'Duration',
      actions: 'Actions',
    });
    expect(en.tasks.status).toMatchObject({
      pending: 'Pending',
      running: 'Running',
      completed: 'Completed',
      failed: 'Failed',
      cancelled: 'Cancelled',
      resumed: 'Resumed',
    });
    expect(en.tasks.actions).toMatchObject({ viewChat: 'View Chat', cancel: 'Cancel', delete: 'Delete' });
    expect(en.tasks.empty).toBe('No tasks yet. Start a chat to create your first task.');
    expect(en.tasks.newTask).toBe('New Task');
    expect(zh.nav.tasks).toBe('任务');
    expect(zh.tasks.title).toBe('任务管理');
    expect(zh.tasks.subtitle).toBe('监控和管理正在运行的代理任务。');
    expect(zh.tasks.search).toBe('搜索任务...');
    expect(zh.tasks.filter).toMatchObject({ all: '全部', running: '运行中', completed: '已完成', failed: '失败' });
    expect(zh.tasks.columns).toMatchObject({
      name: '任务名称',
      agent: '代理',
      status: '状态',
      model: '模型',
      started: '开始时间',
      duration: '持续时间',
      actions: '操作',
    });
    expect(zh.tasks.status).toMatchObject({
      pending: '等待中',
      running: '运行中',
      completed: '已完成',
      failed: '失败',
      cancelled: '已取消',
      resumed: '恢复运行',
    });
    expect(zh.tasks.actions).toMatchObject({ viewChat: '查看对话', cancel: '取消', delete: '删除' });
    expect(zh.tasks.empty).toBe('暂无任务。开始对话以创建您的第一个任务。');
    expect(zh.tasks.newTask).toBe('新建任务');
  });
  it('exist for every key in the sources', () => {
    const known = new Set(english.map(([key]) => base(key)));
    const root = path.resolve(import.meta.dirname, '..');
    for (const file of fs.readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!/\.tsx?$/.test(file) || /\.(test|gen)\./.test(file)) continue;
      const source = fs.readFileSync(path.join(root, file), 'utf8');
      for (const [, key] of source.matchAll(/\bt\('([\w.-]+)'/g)) expect(known, `${key} in ${file}`).toContain(key);
    }
  });
});
