// The workloads: what each measures, with whom, and what is aimed at (docs/benchmarks.md). `figures` are what errand_bench prints.
// `stores`: it matters what is on disk when; this is what the raw limit has there. `work` and `sizes`: what a peer is started for,
// and with how many jobs at once; once for each.

export const workloads = {
  w1: {
    title: 'durable creation: POST a task, on disk before the answer; all slots are taken',
    systems: ['raw', 'errand', 'bullmq', 'pg-boss', 'graphile-worker'],
    stores: 'on disk',
    work: 'none',
    sizes: [0],
    figures: {
      'w1.1': { title: 'W1 tasks created, 1 client', target: { times: { raw: 0.4, bullmq: 2 } } },
      'w1.64': { title: 'W1 tasks created, 64 clients', target: { times: { raw: 0.45, bullmq: 2 } } },
      'w1.commit': { title: 'W1 one raw commit, p50' },
    },
  },
  w2: {
    title: 'no-op tasks: created, begun, completed, result stored; 64 clients',
    // pg-boss takes a batch every half a second at most: nothing that tasks a second would tell.
    systems: ['errand', 'bullmq', 'graphile-worker'],
    stores: 'on disk',
    work: 'noop',
    sizes: [16, 64],
    figures: {
      'w2.16': { title: 'W2 no-op tasks through, 16 at once', target: { times: { bullmq: 1.3 } } },
      'w2.64': { title: 'W2 no-op tasks through, 64 at once', target: { at_least: 6000, times: { bullmq: 2 } } },
      'w2.idle': { title: 'W2 create to completed, idle, p50', target: { at_most: 1.5 } },
    },
  },
  w3: {
    title: 'one task emits 10,000 stored events; every stream gets all of them',
    systems: ['raw', 'errand'],
    figures: {
      'w3.1': { title: 'W3 deliveries, 1 reader' },
      'w3.100': { title: 'W3 deliveries, 100 readers' },
      'w3.1000': { title: 'W3 deliveries, 1,000 readers', target: { times: { raw: 0.4 } } },
      'w3.paced': { title: 'W3 paced, 100 events/s, 1,000 readers, p99' },
    },
  },
  w4: {
    title: 'what an idle server costs',
    systems: ['errand'],
    figures: {
      'w4.start': { title: 'W4 first answer after exec', target: { at_most: 40 } },
      'w4.server': { title: 'W4 server at start', target: { at_most: 16 } },
      'w4.supervisor': { title: 'W4 supervisor', target: { at_most: 4 } },
      'w4.pending': { title: 'W4 per pending task', target: { at_most: 1024 } },
      'w4.stream': { title: 'W4 per idle stream', target: { at_most: 6144 } },
    },
  },
  w5: {
    title: 'lists and searches over 100,000 stored tasks (--tasks)',
    systems: ['errand'],
    figures: {
      'w5.page': { title: 'W5 page of 50 by status, p99', target: { at_most: 2 } },
      'w5.running': { title: 'W5 running count, p99', target: { at_most: 2 } },
      'w5.counts': { title: 'W5 counts by status, p99', target: { at_most: 2 } },
      'w5.rare': { title: 'W5 search, a rare number, p99', target: { at_most: 10 } },
      'w5.common': { title: 'W5 search, a common word, p99', target: { at_most: 10 } },
      'w5.part': { title: 'W5 search, a part of words, p99', target: { at_most: 10 } },
      'w5.chinese': { title: 'W5 search, Chinese, p99', target: { at_most: 10 } },
    },
  },
  w6: {
    title: '1,000 x /bin/true, output captured',
    systems: ['raw', 'errand', 'task-spooler', 'nq', 'bullmq'],
    stores: 'nothing is stored',
    work: 'command',
    sizes: [3, 16],
    figures: {
      'w6.3': { title: 'W6 commands, 3 at once', target: { times: { raw: 0.5, 'task-spooler': 1.7 } } },
      'w6.16': { title: 'W6 commands, 16 at once', target: { times: { raw: 0.5, 'task-spooler': 2 } } },
    },
  },
  w7: {
    title: 'kill -9, then the time until it serves again (--tasks, --waiting)',
    systems: ['errand'],
    figures: {
      'w7.ended': { title: 'W7 serving again, 100,000 ended tasks', target: { at_most: 300 } },
      'w7.waiting': { title: 'W7 serving again, 100,000 waiting ones more', target: { at_most: 300 } },
    },
  },
  w9: {
    title: 'a command that prints 1 GiB',
    systems: ['raw', 'errand'],
    figures: { w9: { title: 'W9 output', target: { times: { raw: 0.4 } } } },
  },
};
