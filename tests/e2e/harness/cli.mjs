// The command line, as a person or a script uses it.
import { spawn } from 'node:child_process';

import { binary } from './server.mjs';

// Runs `errand WORDS` with the server's data folder. Answers {code, signal, out, err, json}; json is what a --json call
// printed (the last line's where it printed several). Standard input is empty unless `input` is given.
export function errand(server, words, { input, env = {}, within = 30_000, signal_after, cwd } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary, words, {
      cwd: cwd ?? server.folder,
      env: { ...server.env, ERRAND_DATA_DIR: server.data_dir, ERRAND_LISTEN: '127.0.0.1:0', ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
      if (signal_after?.(out)) child.kill('SIGINT');
    });
    child.stderr.on('data', (chunk) => (err += chunk));
    if (input !== undefined) child.stdin.end(input);
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`errand ${words.join(' ')} did not end within ${within} ms; it printed: ${out}${err}`));
    }, within);
    child.on('error', reject);
    // A server that this call started in the background must not keep our pipes: `held` says that one does.
    let held = false;
    let late;
    child.on('exit', () => (late = setTimeout(() => ((held = true), child.stdout.destroy(), child.stderr.destroy()), 3_000)));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      clearTimeout(late);
      resolve({ code, signal, out, err, held, json: parse(out) });
    });
  });
}

function parse(out) {
  for (const text of [out, out.trimEnd().split('\n').at(-1)]) {
    try {
      return JSON.parse(text);
    } catch {
      // Not JSON as a whole: the last line may be.
    }
  }
  return undefined;
}
