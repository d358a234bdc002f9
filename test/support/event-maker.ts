/**
 * A process of its own that makes all that events tell of, through the store itself, until somebody
 * kills it: among writes that are refused, and writes that throw and have the others beside them
 * done again.
 */

import { NO_TERMS } from '../../src/core/slot.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { ACT } from './actor.ts';
import { Random } from './random.ts';

export interface EventMakerOrder {
  dataDir: string;
  seed: number;
  providerId: number;
  domainHash: string;
}

const FACTS = { os: 'ios', osVersion: '1', deviceName: 'd', appVersion: '1', userAgent: 'u' };
const AT_ONCE = 20;

async function work({ dataDir, seed, providerId, domainHash }: EventMakerOrder): Promise<void> {
  const store = await openSqliteStore({ dataDir, create: false, commitBatchMax: 1024 });
  const random = new Random(seed);
  /** Links of this process, and how often the note of each was changed. */
  const links: { id: number; installCode: string; changes: number }[] = [];
  const codeOf = (n: number) => `Link${String(seed).padStart(4, '0')}${String(n).padStart(6, '0')}`;

  async function add(): Promise<void> {
    const installCode = codeOf(random.int(0, 5_000));
    const rest = { ...NO_TERMS, createdAtMs: ACT.atMs, installCountMax: 100_000 };
    // Of a provider that is not there: a fault.
    const of = random.chance(0.2) ? providerId + 1_000 : providerId;
    const draft = { providerId: of, installCode, installLimit: 2, note: 'changed 0', ...rest };
    const added = await store.addLink(draft, ACT);
    if (typeof added !== 'string') links.push({ id: added.id, installCode, changes: 0 });
  }

  async function change(): Promise<void> {
    const link = random.pick(links);
    if (random.chance(0.7)) link.changes += 1;
    await store.updateLink(providerId, link.id, { note: `changed ${link.changes}` }, ACT);
  }

  async function knock(): Promise<void> {
    const { installCode } = random.pick(links);
    const hwid = `device-${random.int(0, 30)}`;
    if (random.chance(0.3)) {
      await store.freeSlot(providerId, { installCode, installId: null }, hwid, ACT);
    } else {
      await store.takeSlot({ installCode, domainHash, hwid }, FACTS, ACT.atMs);
    }
  }

  for (let round = 0; ; round++) {
    const steps = Array.from({ length: AT_ONCE }, () => {
      if (links.length === 0 || random.chance(0.3)) return add();
      return random.chance(0.4) ? change() : knock();
    });
    await Promise.allSettled(steps);
    if (round === 3) console.log('at work');
  }
}

if (import.meta.main) await work(JSON.parse(process.argv[2] ?? '') as EventMakerOrder);
