// English is in the first bundle; Chinese is fetched when it is chosen.
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';

import en from './en.json';

export type Language = 'en' | 'zh';

export const language = (): Language => (i18next.language === 'zh' ? 'zh' : 'en');

export async function startI18n(): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: en } },
    interpolation: { escapeValue: false }, // React does.
    showSupportNotice: false,
  } as Parameters<typeof i18next.init>[0]);
  if (document.documentElement.lang === 'zh') await setLanguage('zh');
}

export async function setLanguage(next: Language): Promise<void> {
  if (next === 'zh' && !i18next.hasResourceBundle('zh', 'translation')) {
    const zh = (await import('./zh.json')).default;
    i18next.addResourceBundle('zh', 'translation', zh);
  }
  await i18next.changeLanguage(next);
  document.documentElement.lang = next === 'zh' ? 'zh' : 'en';
  try {
    localStorage.setItem('errand.language', next);
  } catch {
    // Storage is off.
  }
}
