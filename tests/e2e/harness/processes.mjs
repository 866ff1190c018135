// Looks at processes through /proc: who is left, how big is it.
import fs from 'node:fs';

function read(path) {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

// {pid, ppid, state, argv} of every process that we may see.
export function processes() {
  const found = [];
  for (const name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    const end = stat.lastIndexOf(')');
    if (end < 0) continue;
    const [state, ppid] = stat.slice(end + 2).split(' ');
    found.push({ pid: Number(name), ppid: Number(ppid), state, argv: read(`/proc/${name}/cmdline`).split('\0').slice(0, -1) });
  }
  return found;
}

// A number that no other process has in its arguments: `sleep ${marker()}` sleeps for a day and can be found again,
// whatever it does to its parent, session, environment or files.
export function marker() {
  return `86400.${String(process.pid).padStart(7, '0')}${String(next++).padStart(5, '0')}`;
}
let next = 1;

// Live processes with the marker among their arguments. `sh -c` holds the whole script in one argument: those count too.
export function marked(mark) {
  return processes().filter((p) => p.state !== 'Z' && p.argv.some((word) => word.includes(mark)));
}

export function zombies_of(pids) {
  return processes().filter((p) => p.state === 'Z' && pids.includes(p.ppid));
}

export function alive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  return !/^State:\s+Z/m.test(read(`/proc/${pid}/status`));
}

export function rss_bytes(pid) {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

// CPU time so far, user and system: what a busy machine does not stretch.
export function cpu_ms(pid) {
  const stat = read(`/proc/${pid}/stat`);
  const [user, system] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}

export function open_files(pid) {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

// Ends a process that the caller started, at once.
export function kill9(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
