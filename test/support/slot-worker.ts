/** A process of its own that knocks at links through the store itself, beside others. */

import { admitDevice } from '../../src/core/door.ts';
import { isRefused } from '../../src/core/outcome.ts';
import { Signals } from '../../src/core/signals.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from './actor.ts';
import { WIDE_LIMITS } from './bounds.ts';
import { noLeap } from './no-leap.ts';
import { NO_RIDES } from './no-rides.ts';
import { Random } from './random.ts';

export interface SlotWorkerOrder {
  dataDir: string;
  seed: number;
  domainHash: string;
  codes: string[];
  hwidCount: number;
  callCount: number;
}

/** The calls: index of the code, HWID, answer. */
export type SlotWorkerReport = [number, string, string][];

const FACTS = { os: 'ios', osVersion: '1', deviceName: 'd', appVersion: '1', userAgent: 'u' };
const AT_ONCE = 50;

async function work(order: SlotWorkerOrder): Promise<SlotWorkerReport> {
  const { dataDir, domainHash, codes } = order;
  const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1024 });
  const core = {
    store,
    signals: new Signals(),
    limits: WIDE_LIMITS,
    gateways: () => [],
    rides: () => NO_RIDES,
    leastMs: noLeap,
    pushKey: () => null,
    actor: () => ACT.actor,
  };
  const random = new Random(order.seed);
  const report: SlotWorkerReport = [];
  let left = order.callCount;
  const knock = async () => {
    while (left-- > 0) {
      const which = random.int(0, codes.length - 1);
      const hwid = `hwid-${random.int(1, order.hwidCount)}`;
      const installCode = codes[which] ?? '';
      const link = await admitDevice(core, { installCode, domainHash, hwid }, FACTS, Date.now());
      report.push([which, hwid, isRefused(link) ? (link.reason ?? link.says) : 'ok']);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, knock));
  await store.close();
  return report;
}

if (import.meta.main) {
  console.log(JSON.stringify(await work(JSON.parse(process.argv[2] ?? '') as SlotWorkerOrder)));
}
