// A systemctl that keeps one unit of a user, for a home of its own: it starts what the unit's file says, knows its main
// process, and writes down what it was asked.
import fs from 'node:fs';
import path from 'node:path';

import { alive } from './processes.mjs';
import { temporary_folder } from './server.mjs';

const script = `#!/bin/bash
echo "$*" >> "$FAKE_SYSTEMD/calls"
[ "$1" = --user ] || { echo "only the user's own is here" >&2; exit 1; }
shift
words=()
for word in "$@"; do case $word in --|--now|--quiet|--property=*|--value) ;; *) words+=("$word") ;; esac; done
what=\${words[0]} unit=\${words[1]}
file=$HOME/.config/systemd/user/errand.service
main() { local pid; pid=$(cat "$FAKE_SYSTEMD/main" 2>/dev/null) && [ -n "$pid" ] && [ -e "/proc/$pid/exe" ] && echo "$pid"; }
stop() { local pid; pid=$(main) || return 0; kill "$pid"; while [ -e "/proc/$pid/exe" ]; do sleep 0.02; done; }
start() { main >/dev/null && return 0; [ -e "$file" ] || return 1
  eval "$(sed -n 's/^ExecStart=//p' "$file") </dev/null >>\\"$FAKE_SYSTEMD/log\\" 2>&1 &"; echo $! > "$FAKE_SYSTEMD/main"; }
case $what in
  show-environment|daemon-reload) exit 0 ;;
  show) if [ "$unit" = errand.service ]; then main || echo 0; else echo 0; fi ;;
  is-active) main >/dev/null ;;
  is-enabled) [ -e "$FAKE_SYSTEMD/enabled" ] ;;
  enable) touch "$FAKE_SYSTEMD/enabled"; start ;;
  disable) rm -f "$FAKE_SYSTEMD/enabled"; stop ;;
  start) start ;;
  stop) stop ;;
  restart) stop; start ;;
  *) exit 1 ;;
esac
`;

// `env` goes to whatever is to meet it. Hooks run in their order, so this is made before the home that it works in.
export function fake_systemd(t) {
  const state = { folder: undefined };
  const main = () => Number(fs.readFileSync(path.join(state.folder, 'main'), 'utf8').trim() || 0);
  t.after(() => {
    try {
      process.kill(main());
    } catch {
      // None runs.
    }
  });
  state.folder = temporary_folder(t, 'systemd');
  const bin = path.join(state.folder, 'bin');
  fs.mkdirSync(bin);
  fs.writeFileSync(path.join(bin, 'systemctl'), script, { mode: 0o755 });
  const calls = () => (fs.existsSync(path.join(state.folder, 'calls')) ? fs.readFileSync(path.join(state.folder, 'calls'), 'utf8').trim().split('\n') : []);
  return {
    env: { FAKE_SYSTEMD: state.folder, PATH: `${bin}:${process.env.PATH}` },
    bin,
    main,
    runs: () => alive(main()),
    calls,
    // What it was asked to change.
    orders: () => calls().map((line) => line.replace(/^--user /, '').replace(' --now', '').replace(' --', '')).filter((line) => /^(start|stop|restart|enable|disable) /.test(line)),
  };
}
