// Texts of every kind that conversations are made of, generated: a seed is a text. Nothing here is anybody's prose.

// A small generator of numbers (mulberry32): the same texts on every machine.
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { next, below, pick: (list) => list[below(list.length)], bytes: (n) => Buffer.from(Array.from({ length: n }, () => below(256))) };
}

const words = (text) => text.trim().split(/\s+/);

const english = {
  who: words(`I we you they somebody nobody everyone Anna the_engineer our_team the_server a_client the_database this_module
    the_reviewer her_colleague the_compiler the_kernel one_of_the_tests the_new_release a_background_task my_editor the_parser`),
  does: words(`reads writes keeps removes understands ignores explains measures remembers replaces compares rebuilds schedules
    interrupts acknowledges documents simplifies investigates reproduces refactors synchronises throttles serialises validates
    overlooks postpones approves questions approximates`),
  what: words(`message result file folder connection transaction index configuration permission response exception deadline
    bottleneck assumption requirement measurement dependency interface structure directory repository paragraph sentence
    conversation subscription certificate checksum snapshot hypothesis regression environment responsibility throughput`),
  how: words(`slowly carefully at_once again twice without_noticing in_parallel before_lunch after_the_restart by_accident
    for_the_third_time under_heavy_load with_great_care as_usual on_every_machine within_milliseconds reluctantly`),
  kind: words(`small large old recent broken correct unexpected temporary durable invisible duplicate expensive harmless
    incomplete reliable concurrent asynchronous well-known half-finished unlikely overdue reasonable`),
  joins: words(`because although while and but so unless whenever which_is_why since until even_though`),
};
const spaced = (word) => word.replaceAll('_', ' ');
const capital = (text) => text[0].toUpperCase() + text.slice(1);

export function prose(r, length) {
  let out = '';
  const clause = () =>
    `${spaced(r.pick(english.who))} ${r.pick(english.does)} ${r.pick(['the', 'a', 'every', 'this', 'its'])} ` +
    `${r.below(2) ? r.pick(english.kind) + ' ' : ''}${r.pick(english.what)}${r.below(3) ? '' : ' ' + spaced(r.pick(english.how))}`;
  while (out.length < length) {
    let sentence = capital(clause());
    if (r.below(2)) sentence += `${r.pick([',', ';', '', ' –'])} ${spaced(r.pick(english.joins))} ${clause()}`;
    if (!r.below(8)) sentence += ` (${r.below(1000)} of them, ${(r.next() * 100).toFixed(1)} %)`;
    if (!r.below(10)) sentence += `: "${clause()}"`;
    out += sentence + r.pick(['. ', '. ', '.\n', '!', '? ', '.\n\n']).padEnd(1);
  }
  return out.slice(0, length);
}

export function markdown(r, length) {
  let out = '';
  while (out.length < length) {
    const form = r.below(6);
    if (form === 0) out += `## ${capital(r.pick(english.kind))} ${r.pick(english.what)}\n\n`;
    else if (form === 1) out += Array.from({ length: 2 + r.below(5) }, () => `- **${r.pick(english.what)}**: ${prose(r, 40 + r.below(60)).trim()}\n`).join('') + '\n';
    else if (form === 2) out += '```sh\n' + `errand ${r.pick(['list', 'show', 'wait'])} --json | grep "${r.pick(english.what)}"` + '\n```\n\n';
    else if (form === 3)
      out += `| ${r.pick(english.what)} | ${r.pick(english.what)} |\n|---|---|\n` + Array.from({ length: 3 }, () => `| \`${r.pick(english.what)}\` | ${r.below(10000)} ms |\n`).join('') + '\n';
    else out += prose(r, 200 + r.below(200)).trim() + '\n\n';
  }
  return out.slice(0, length);
}

const chinese = {
  who: words('我们 服务器 这个任务 后台程序 用户 开发者 数据库 编译器 他 她的同事 测试 新版本 客户端 代理 子任务 管理员 会话 操作系统'),
  does: words('检查 读取 保存 删除 理解 忽略 解释 测量 恢复 替换 比较 重建 调度 中断 确认 记录 简化 调查 重现 验证 推迟 批准 取消 提交 监控'),
  what: words(`消息 结果 文件 目录 连接 事务 索引 配置 权限 响应 异常 期限 瓶颈 假设 需求 依赖 接口 结构 仓库 段落 对话 订阅 证书 快照 环境 责任
    吞吐量 日志 进程 内存 磁盘 网络 队列 缓存 线程 错误信息 执行计划`),
  how: words('慢慢地 仔细地 立刻 再次 并行地 意外地 照常 在高负载下 重启之后 每次都 几乎从不 在几毫秒之内 勉强'),
  kind: words('很小的 巨大的 旧的 最近的 损坏的 正确的 意外的 临时的 持久的 重复的 昂贵的 无害的 不完整的 可靠的 并发的 合理的'),
  joins: words('因为 虽然 但是 而且 所以 除非 每当 直到 即使 与此同时 另外'),
};
export function chineseProse(r, length) {
  let out = '';
  const clause = () => `${r.pick(chinese.who)}${r.below(2) ? r.pick(chinese.how) : ''}${r.pick(chinese.does)}了${r.below(2) ? r.pick(chinese.kind) : ''}${r.pick(chinese.what)}`;
  while (out.length < length) {
    out += clause() + (r.below(2) ? `，${r.pick(chinese.joins)}${clause()}` : '');
    if (!r.below(8)) out += `（共${r.below(1000)}个，占${(r.next() * 100).toFixed(1)}%）`;
    if (!r.below(10)) out += `：“${clause()}”`;
    out += r.pick(['。', '。', '！', '？', '。\n', '；', '。\n\n']);
  }
  return out.slice(0, length);
}

const part = (r) => r.pick(english.what).replace('-', '');
const camel = (r) => part(r) + Array.from({ length: 1 + r.below(2) }, () => capital(part(r))).join('');
const snake = (r) => Array.from({ length: 1 + r.below(3) }, () => part(r)).join('_');

function cpp(r) {
  const name = snake(r);
  return `// ${prose(r, 60).trim()}\nResult<${capital(camel(r))}> ${name}(const std::string& ${snake(r)}, int64_t ${snake(r)}) {\n` +
    `  std::vector<${capital(part(r))}> ${part(r)};\n  for (size_t i = ${r.below(10)}; i < ${snake(r)}.size(); ++i) {\n` +
    `    if (${snake(r)}[i] == '${r.pick(['x', '\\n', '{', ' '])}' && !${name}_.empty()) return fail(Code::not_found, "${prose(r, 40).replace(/["\n]/g, '')}");\n` +
    `    ${part(r)}.push_back(std::move(${snake(r)}(i, ${r.below(5000)}, 0x${r.below(65536).toString(16)})));\n  }\n  return ${part(r)};\n}\n\n`;
}
function python(r) {
  return `class ${capital(camel(r))}(${capital(part(r))}):\n    """${prose(r, 70).replace(/["\n]/g, '')}"""\n\n    def __init__(self, ${snake(r)}=None, *, ${snake(r)}: int = ${r.below(300)}) -> None:\n` +
    `        self._${snake(r)} = [${snake(r)} for x in range(${r.below(100)}) if x % ${1 + r.below(9)} != 0]\n` +
    `        self.${snake(r)} = {"${snake(r)}": ${r.next().toFixed(4)}, "${camel(r)}": f"{${snake(r)}!r}: {x:>${r.below(20)}}"}\n\n` +
    `    def ${snake(r)}(self):\n        try:\n            return self._${snake(r)}[-${1 + r.below(9)}]\n        except (KeyError, ValueError) as error:\n            raise RuntimeError("${part(r)}") from error\n\n`;
}
function typescript(r) {
  return `export async function ${camel(r)}({ ${camel(r)}, ${part(r)} }: Props): Promise<${capital(part(r))}[]> {\n  const [${part(r)}, set${capital(part(r))}] = useState<string | null>(null);\n` +
    `  const ${camel(r)} = await fetch(\`/api/${part(r)}/\${${camel(r)}}?limit=${r.below(500)}\`, { headers: { accept: 'application/json' } });\n` +
    `  if (!${camel(r)}.ok) throw new Error('${prose(r, 30).replace(/['\n"]/g, '')}');\n  return <div className="${part(r)}-${part(r)}" onClick={() => ${camel(r)}?.()}>{${camel(r)}.map((x) => x.${part(r)} ?? ${r.below(10)})}</div>;\n}\n\n`;
}
function shell(r) {
  return `#!/usr/bin/env bash\nset -euo pipefail\nfor f in "$${part(r).toUpperCase()}"/*.{cc,h}; do\n  [[ -f $f && ! -L $f ]] || continue\n` +
    `  grep -rn --include='*.${part(r).slice(0, 3)}' -e '${part(r)}' "$f" | awk -F: '{ print $1 ":" $2 }' | sort -u | head -n ${r.below(100)} >>/tmp/${part(r)}.log 2>&1\ndone\n`;
}
export function code(r, length) {
  const languages = [cpp, python, typescript, shell];
  const one = r.below(2) ? [r.pick(languages)] : languages;
  let out = '';
  while (out.length < length) out += r.pick(one)(r);
  return out.slice(0, length);
}

export function json(r, length) {
  const value = (depth) => {
    const form = r.below(depth > 2 ? 4 : 6);
    if (form === 0) return r.below(1e6);
    if (form === 1) return prose(r, 10 + r.below(40)).trim();
    if (form === 2) return r.next() < 0.5;
    if (form === 3) return new Date(1.7e12 + r.below(1e9) * 100).toISOString();
    if (form === 4) return Array.from({ length: r.below(5) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: 1 + r.below(5) }, () => [r.below(2) ? snake(r) : camel(r), value(depth + 1)]));
  };
  const indent = r.below(2) * 2;
  let out = '';
  while (out.length < length) out += JSON.stringify({ id: `task_${r.bytes(13).toString('hex')}`, [snake(r)]: value(0), [camel(r)]: value(0) }, null, indent) + '\n';
  return out.slice(0, length);
}

export function log(r, length) {
  let out = '';
  while (out.length < length)
    out += `${new Date(1.7e12 + r.below(1e9) * 100).toISOString()} ${r.pick(['INFO', 'WARN', 'ERROR', 'DEBUG'])} [${part(r)}-${r.below(20)}] ${camel(r)}.${camel(r)}(${part(r)}.java:${r.below(900)}) ` +
      `${prose(r, 40).replace(/\n/g, ' ').trim()} ip=10.${r.below(256)}.${r.below(256)}.${r.below(256)}:${r.below(65536)} took=${(r.next() * 1000).toFixed(2)}ms\n`;
  return out.slice(0, length);
}

export function diff(r, length) {
  let out = '';
  while (out.length < length) {
    out += `diff --git a/src/${part(r)}/${snake(r)}.cc b/src/${part(r)}/${snake(r)}.cc\nindex ${r.bytes(5).toString('hex').slice(0, 9)}..${r.bytes(5).toString('hex').slice(0, 9)} 100644\n@@ -${r.below(400)},7 +${r.below(400)},9 @@\n`;
    out += code(r, 300).split('\n').map((line) => r.pick([' ', ' ', '+', '-']) + line).join('\n') + '\n';
  }
  return out.slice(0, length);
}

// Lines as `base64` and PEM files have them, or one long word as in data: URLs.
export function base64(r, length) {
  const text = r.bytes(length).toString(r.below(2) ? 'base64' : 'base64url').slice(0, length);
  return r.below(2) ? text.replace(/(.{76})/g, '$1\n').slice(0, length) : text;
}
// What looks like chance and is not: text as base64.
export const base64Text = (r, length) => Buffer.from(prose(r, length)).toString('base64').slice(0, length);
export function hex(r, length) {
  const text = r.bytes(length).toString('hex');
  return (r.below(2) ? text.replace(/(.{64})/g, '$1  file\n') : text).slice(0, length);
}
export function numbers(r, length) {
  let out = '';
  while (out.length < length) out += (r.next() * 10 ** r.below(7)).toFixed(r.below(4)) + r.pick([',', ', ', '\t', '\n', ' ']);
  return out.slice(0, length);
}

export const kinds = { prose, markdown, chineseProse, code, json, log, diff, base64, base64Text, hex, numbers };

// Pieces of several kinds behind each other, as a conversation has them.
export function mixture(r, length) {
  const chosen = Array.from({ length: 2 + r.below(3) }, () => r.pick(Object.values(kinds)));
  let out = '';
  while (out.length < length) out += r.pick(chosen)(r, 100 + r.below(800)) + r.pick(['\n', '\n\n', ' ']);
  return out.slice(0, length);
}
