/**
 * The processes that work on the file. A process whose workers hold leases has a number, with which
 * their names begin, and that number's lock file, which the system unlocks however the process
 * ends. Then the next process with the number, or a running one, releases its leases at once. Nodes
 * are not listed.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeStore } from '../../core/port/node.ts';
import { takeLock } from '../../disk/lock.ts';
import { sql } from '../statement-text.ts';
import { IN_LANE } from '../status.ts';
import type { Context } from './context.ts';

/** Most processes with a number; the leases of further ones end by their time. */
const NUMBER_MAX = 64;

const fileOf = (dataDir: string, number: number) => join(dataDir, `gatepost-${number}.lock`);

interface OwnNumber {
  number: number;
  unlock: () => void;
}

export class Processes {
  readonly #release: (owners: string) => Promise<void>;
  /** Null: no number was free, or no file can be made. */
  #own: OwnNumber | null = null;
  #ready: Promise<void> | null = null;
  /** Numbers of dead processes whose leases are released. */
  readonly #released = new Set<number>();

  constructor(
    { db, writer }: Context,
    private readonly dataDir: string,
  ) {
    const distributions = db.prepare(sql`
        UPDATE distribution SET lease_owner = NULL
        WHERE ${IN_LANE} AND lease_owner GLOB :owners`);
    const destinations = db.prepare(sql`
        UPDATE destination SET lease_owner = NULL WHERE lease_owner GLOB :owners`);
    const jobs = db.prepare(sql`
        UPDATE job SET lease_until_ms = 0
        WHERE state = 'running' AND lease GLOB :owners`);
    this.#release = (owners) =>
      writer.run(() => {
        distributions.run({ owners });
        destinations.run({ owners });
        jobs.run({ owners });
      });
  }

  /** Names a worker, after it released the leases of an earlier process with its number. */
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

  /** Releases the leases of dead processes. Returns true if there was one. */
  async releaseDead(): Promise<boolean> {
    let isOne = false;
    for (let number = 1; number <= NUMBER_MAX; number++) {
      const file = fileOf(this.dataDir, number);
      if (!existsSync(file)) break;
      if (number === this.#own?.number) continue;
      const unlock = takeLock(file, 'exclusive', 0);
      if (unlock === null) {
        this.#released.delete(number);
        continue;
      }
      try {
        if (this.#released.has(number)) continue;
        await this.#release(`${prefixOf(number)}*`);
        this.#released.add(number);
        isOne = true;
      } finally {
        unlock();
      }
    }
    return isOne;
  }

  close(): void {
    this.#own?.unlock();
    this.#own = null;
  }

  async #begin(): Promise<void> {
    this.#own ??= this.#take();
    if (this.#own !== null) await this.#release(`${prefixOf(this.#own.number)}*`);
  }

  #take(): OwnNumber | null {
    for (let number = 1; number <= NUMBER_MAX; number++) {
      try {
        const unlock = takeLock(fileOf(this.dataDir, number), 'exclusive', 0);
        if (unlock !== null) return { number, unlock };
      } catch {
        // A disk on which no file can be made takes no lease either.
        return null;
      }
    }
    return null;
  }
}

/** Returns the first part of the names of a process's workers. */
const prefixOf = (number: number) => `p${number}-`;

export function nodeStore(processes: Processes): NodeStore {
  return {
    nameWorker: () => processes.nameWorker(),
    noteNode: async () => undefined,
    removeNode: async () => undefined,
    listNodes: async () => null,
  };
}
