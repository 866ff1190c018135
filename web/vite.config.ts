import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// `ERRAND_DEV_URL` and `ERRAND_DEV_TOKEN` let `npm run dev` work against a running server, without logging in.
const target = process.env.ERRAND_DEV_URL ?? 'http://127.0.0.1:4747';
const token = process.env.ERRAND_DEV_TOKEN;

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    // Data URLs would need a wider policy for nothing.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
    // One file to the first row, with all that main.tsx needs: each further one would be a request that the row waits for. What
    // only later pages need stays out of it.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'virtual', test: /node_modules.@tanstack.(react-)?virtual/ },
            { name: 'marked', test: /node_modules.marked/ },
            { name: 'app', priority: 1, test: /web.src.main\.tsx/ },
          ],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: {
    proxy: {
      '/api': {
        target,
        changeOrigin: true,
        headers: { origin: target, ...(token ? { authorization: `Bearer ${token}` } : {}) },
      },
    },
  },
  test: { environment: 'node', include: ['src/**/*.test.{ts,tsx}'] },
});
