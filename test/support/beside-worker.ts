/** The thread of `beside.ts`: runs one statement at a time and says when its answer is there. */

import { type MessagePort, workerData } from 'node:worker_threads';
import { SQL } from 'bun';

const { port, flag, options } = workerData as {
  port: MessagePort;
  flag: Int32Array;
  options: SQL.PostgresOrMySQLOptions;
};
const db = new SQL(options);

async function answerTo({ sql, values }: { sql: string; values: unknown[] }): Promise<unknown> {
  try {
    const rows = await db.unsafe(sql, values);
    return { rows: Array.from(rows), count: rows.count };
  } catch (fault) {
    return { problem: fault instanceof Error ? fault.message : String(fault) };
  }
}

port.on('message', async (asked) => {
  port.postMessage(await answerTo(asked));
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
});
