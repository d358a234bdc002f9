/** A process of its own that opens a data directory and says how that went; see open.test.ts. */

import { OperatorError } from '../../src/base/operator-error.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

const [, , dataDir = '', startMs = '0'] = process.argv;
// All of them at the same moment.
while (performance.timeOrigin + performance.now() < Number(startMs)) await Bun.sleep(0);
try {
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
  await store.listProviders();
  await store.close();
  console.log('opened');
} catch (error) {
  console.log(error instanceof OperatorError ? error.message : Bun.inspect(error));
}
