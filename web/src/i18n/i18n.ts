// The page's words. English for the first page is in the first bundle; the words of the others come with them (more.ts),
// and Chinese is fetched when it is chosen. Our own because it is all that i18next did here, for a tenth of its size: the
// files are in its form ({{value}}, key_one, key_other), so that tools for translators read them.
import { useSyncExternalStore } from 'react';

import { arrives } from '../lib/arrives';
import { store } from '../lib/store';
import en from './en.json';

export type Language = 'en' | 'zh';
export type Words = { [key: string]: string | Words };
export type Values = { count?: number; defaultValue?: string } & Record<string, unknown>;
export type Translate = (key: string, values?: Values) => string;

const words: Record<Language, Map<string, string>> = { en: new Map(), zh: new Map() };
const plurals: Partial<Record<Language, Intl.PluralRules>> = {};
const current = store<Language>('en');

export function addWords(language: Language, tree: Words, prefix = ''): void {
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === 'string') words[language].set(prefix + key, value);
    else addWords(language, value, `${prefix}${key}.`);
  }
}
addWords('en', en);

function find(key: string, count: number | undefined): string | undefined {
  for (const language of [current.get(), 'en'] as const) {
    const known = words[language];
    const form = count === undefined ? undefined : (plurals[language] ??= new Intl.PluralRules(language)).select(count);
    const found = (form && (known.get(`${key}_${form}`) ?? known.get(`${key}_other`))) ?? known.get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

// A key that nobody wrote is shown as it is: it must be seen. What is put in is text, and React escapes it.
const translate: Translate = (key, values = {}) =>
  (find(key, values.count) ?? values.defaultValue ?? key).replace(/{{(\w+)}}/g, (whole, name: string) =>
    name in values ? String(values[name]) : whole,
  );
export const t: Translate = translate;
export const language = (): Language => current.get();

// A new function for each language, so that what was made with the old one is made again.
const made = { en: { t: translate, language: 'en' as Language }, zh: { t: translate, language: 'zh' as Language } };
made.zh.t = (key, values) => translate(key, values);
export const useTranslation = (): { t: Translate; language: Language } =>
  made[useSyncExternalStore(current.subscribe, current.get, current.get)];

export const setWords = (next: Language): void => current.set(next);

export async function startI18n(): Promise<void> {
  if (document.documentElement.lang === 'zh') await setLanguage('zh');
}

export async function setLanguage(next: Language): Promise<void> {
  if (next === 'zh' && words.zh.size === 0)
    for (const each of await arrives(() => Promise.all([import('./zh.json'), import('./zh.server.json')])))
      addWords('zh', each.default);
  setWords(next);
  document.documentElement.lang = next;
  try {
    localStorage.setItem('errand.language', next);
  } catch {
    // Storage is off.
  }
}
