// Jobs are added alone: see workloads.mjs.
import { load, serve, store } from './serve.mjs';

const { PgBoss } = load('pg-boss');
const boss = new PgBoss(store);
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue('bench');
serve((body) => boss.send('bench', body));
