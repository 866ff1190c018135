// What ESLint holds the page to: TypeScript's rules that need types (a promise that nobody waits for, a text made of an
// object), and React's: hooks in order, effects that name all that they read, renders without side effects. The form is
// Prettier's; no rule here is about it.
import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import { defineConfig, globalIgnores } from 'eslint/config';
import ts from 'typescript-eslint';

export default defineConfig(
  globalIgnores(['src/api/schema.gen.ts', 'public/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    // What is hidden in a text is looked for by its code: such characters are meant to stand side by side.
    rules: { 'no-misleading-character-class': ['error', { allowEscape: true }] },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [ts.configs.recommendedTypeChecked, hooks.configs.flat['recommended-latest']],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // A name that is taken out of an object so that the rest is without it.
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      'react-hooks/exhaustive-deps': 'error',
      // Says only what React's compiler would not optimise. The page is built without it.
      'react-hooks/incompatible-library': 'off',
    },
  },
  { files: ['*.js', '*.mjs'], languageOptions: { globals: { console: 'readonly', process: 'readonly' } } },
);
