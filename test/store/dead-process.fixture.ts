/** A process that holds a distribution and a destination, says so, and waits for its end. */

import { openSqliteStore } from '../../src/store/sqlite/store.ts';

const [dataDir = ''] = process.argv.slice(2);
const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1024 });
const lease = { owner: await store.nameWorker(), nowMs: Date.now(), leaseMs: 3_600_000 };
const work = await store.claimWork(lease);
const destinations = await store.claimDestinations(lease, ['apns'], 1, 1, []);
console.log(work.length, destinations.length);
await new Promise(() => setInterval(() => {}, 1_000_000));
