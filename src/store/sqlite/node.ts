/**
 * The processes that work on the file. No nodes are listed, as it is a file of this machine; but
 * each process whose workers hold leases has a number, by which their names begin, and holds the
 * lock file of it. The system drops that lock however a process ends: so what a dead one held is
 * known, and released at once, by the process that takes its number next or by one that lives on.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { NodeStore } from '../../core/port/node.ts';
import { takeLock } from '../../disk/lock.ts';
import { IN_LANE } from '../status.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

/** Processes that are told apart; what a further one leaves is free once its leases have ended. */
const NUMBER_MAX = 64;

const fileOf = (dataDir: string, number: number) => join(dataDir, `gatepost-${number}.lock`);

interface OwnNumber {
  number: number;
  letGo: () => void;
}

export class Processes {
  readonly #dataDir: string;
  readonly #release: (owners: string) => Promise<void>;
  /** The number of this process; null: none was free, or the disk takes no file. */
  #own: OwnNumber | null = null;
  #ready: Promise<void> | null = null;
  /** Numbers whose process is dead, and what it held is released. */
  readonly #released = new Set<number>();

  constructor({ db, writer }: Context, dataDir: string) {
    this.#dataDir = dataDir;
    const distributions = db.prepare(sql`
        UPDATE distribution SET lease_owner = NULL
        WHERE ${IN_LANE} AND lease_owner GLOB ${value('owners')}`);
    const destinations = db.prepare(sql`
        UPDATE destination SET lease_owner = NULL WHERE lease_owner GLOB ${value('owners')}`);
    this.#release = (owners) =>
      writer.run(() => {
        distributions.run({ owners });
        destinations.run({ owners });
      });
  }

  /** Names a worker. What an earlier process held under the same number is released by then. */
  async nameWorker(): Promise<string> {
    this.#ready ??= this.#begin();
    try {
      await this.#ready;
    } catch (fault) {
      this.#ready = null;
      throw fault;
    }
    return `${prefixOf(this.#own?.number ?? 0)}${crypto.randomUUID()}`;
  }

  /** Releases what processes held that died; says whether there was one. */
  async releaseDead(): Promise<boolean> {
    let isOne = false;
    for (let number = 1; number <= NUMBER_MAX; number++) {
      const file = fileOf(this.#dataDir, number);
      if (!existsSync(file)) break;
      if (number === this.#own?.number) continue;
      const letGo = takeLock(file, 'exclusive', 0);
      if (letGo === null) {
        this.#released.delete(number);
        continue;
      }
      try {
        if (this.#released.has(number)) continue;
        await this.#release(`${prefixOf(number)}*`);
        this.#released.add(number);
        isOne = true;
      } finally {
        letGo();
      }
    }
    return isOne;
  }

  close(): void {
    this.#own?.letGo();
    this.#own = null;
  }

  async #begin(): Promise<void> {
    this.#own ??= this.#take();
    if (this.#own !== null) await this.#release(`${prefixOf(this.#own.number)}*`);
  }

  #take(): OwnNumber | null {
    for (let number = 1; number <= NUMBER_MAX; number++) {
      try {
        const letGo = takeLock(fileOf(this.#dataDir, number), 'exclusive', 0);
        if (letGo !== null) return { number, letGo };
      } catch {
        // A disk that takes no file takes no lease either.
        return null;
      }
    }
    return null;
  }
}

/** The beginning of the names of a process's workers. */
const prefixOf = (number: number) => `p${number}-`;

export function nodeStore(processes: Processes): NodeStore {
  return {
    nameWorker: () => processes.nameWorker(),
    noteNode: async () => undefined,
    removeNode: async () => undefined,
    listNodes: async () => null,
  };
}
