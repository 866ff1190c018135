// The service worker, as one file of its own: its address stays the same, so it has no hash in its name.
import { defineConfig } from 'vite';

export default defineConfig({
  publicDir: false,
  build: {
    target: 'es2022',
    emptyOutDir: false,
    lib: { entry: 'src/phone/worker.ts', formats: ['iife'], name: 'errandWorker', fileName: () => 'sw.js' },
  },
});
