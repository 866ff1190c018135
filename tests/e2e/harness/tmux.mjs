// A terminal that a person sits at: tmux holds it, types into it and says what stands on it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';

import { binary, temporary_folder } from './server.mjs';
import { until } from './wait.mjs';

export const no_tmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'tmux is not installed';

export class Terminal {
  // A shell with the server's data folder.
  static async open(t, server, { columns = 80, rows = 24, env = {} } = {}) {
    const terminal = new Terminal();
    // Before its folder goes, with the socket by which it is reached: hooks run in their order.
    t.after(() => spawnSync('tmux', ['-S', terminal.socket, 'kill-server']));
    terminal.socket = path.join(temporary_folder(t, 'tmux'), 's');
    terminal.env = { ...server.env, ERRAND_DATA_DIR: server.data_dir, LANG: 'C.UTF-8', TERM: 'xterm-256color', PS1: '$ ', PATH: `${path.dirname(binary)}:${process.env.PATH}`, ...env };
    terminal.tmux('-f', '/dev/null', '-u', 'new-session', '-d', '-x', columns, '-y', rows, '-c', server.folder, 'bash', '--norc', '--noprofile', '-i');
    terminal.run('clear; echo "shell is"" ready"');
    await terminal.shows(/^shell is ready/m);
    return terminal;
  }

  tmux(...words) {
    return execFileSync('tmux', ['-S', this.socket, ...words.map(String)], { env: this.env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }
  // What stands there, line by line; `escapes`: with its colours; `history`: with what has scrolled away.
  screen({ escapes = false, history = false } = {}) {
    return this.tmux('capture-pane', '-p', ...(escapes ? ['-e'] : []), ...(history ? ['-S', '-'] : []));
  }
  // Text as it is typed.
  type(text) {
    this.tmux('send-keys', '-l', text);
  }
  // Keys by tmux's names: Enter, Escape, Up, C-c.
  press(...keys) {
    this.tmux('send-keys', ...keys);
  }
  paste(text) {
    this.tmux('set-buffer', text);
    this.tmux('paste-buffer', '-p');
  }
  run(line) {
    this.type(line);
    this.press('Enter');
  }
  resize(columns, rows) {
    this.tmux('resize-window', '-x', columns, '-y', rows);
  }
  async shows(pattern, options = {}) {
    try {
      return await until(() => pattern.exec(this.screen(options)), { within: 10_000, what: `the terminal shows ${pattern}` });
    } catch (error) {
      error.message += `\n${this.screen(options)}`;
      throw error;
    }
  }
  async shows_not(pattern) {
    await until(() => !pattern.test(this.screen()), { what: `the terminal shows ${pattern} no longer` });
  }
  // The shell has its terminal back as it was: it echoes, takes lines, and shows its own screen.
  async is_restored() {
    // What is typed before the program has left would be the program's.
    await until(() => this.tmux('display-message', '-p', '#{pane_current_command}').trim() === 'bash', { what: 'the shell is in front' });
    this.run('stty -a | tr " " "\\n" | grep -x -e icanon -e echo | tr "\\n" "+"; echo "the shell"" is back"');
    await this.shows(/(icanon\+echo|echo\+icanon)\+the shell is back/);
    assert.equal(this.tmux('display-message', '-p', '#{alternate_on}').trim(), '0', 'its own screen');
    this.run('clear');
    await this.shows_not(/the shell is back/);
  }
}
