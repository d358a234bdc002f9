/** Another server of this API as the source of an import. Each record of its answers is checked. */

import { counted } from '../counted.ts';
import { INSTALL_LIMIT } from '../formats.ts';
import { isRecord, readInteger } from '../json-input.ts';
import { isRefused } from '../outcome.ts';
import type { ImportedDomain, ImportedSlot } from '../port/moving.ts';
import {
  type Read,
  readDomainRecord,
  readLinkRecord,
  readSlotRecord,
  type SourceLink,
} from './source-record.ts';
import type { Tally } from './tally.ts';

/** Asks the source for a list. Returns its `data`, or the text of its refusal. */
export type AskSource = (
  path: string,
  query: Readonly<Record<string, string | number>>,
) => Promise<unknown[] | { refusal: string }>;

/** The fault of a source that cannot be imported; its message is for the operator. */
export class SourceUnusable extends Error {
  override readonly name = 'SourceUnusable';
}

export interface SourceOptions {
  /** The zone of its times: minutes east of UTC. */
  offsetMinutes: number;
  /** Returns true to end a list early. */
  isStopped(): boolean;
}

/** Most records of a list in the specification. */
const LIST_COUNT_MAX = 5000;
/** The most bindings to read, so that reading ends. */
const DOMAINS_MAX = 100_000;
/** Statuses of unfinished distributions (specification, "States and transitions"). */
const UNFINISHED = new Set([5, 6, 10, 20, 30, 40]);

/** Reads the lists of a source. */
export class Source {
  constructor(
    readonly ask: AskSource,
    readonly tally: Tally,
    readonly options: SourceOptions,
  ) {}

  /** Reads all bindings, oldest first. */
  domains(): Promise<ImportedDomain[]> {
    return this.#all('/api/list-domain', readDomainRecord, DOMAINS_MAX, 'domainsEndAtId');
  }

  /** Reads all links, oldest first. */
  installs(countMax: number): Promise<SourceLink[]> {
    return this.#all('/api/list-install', readLinkRecord, countMax, 'linksEndAtId');
  }

  /** Reads the link with an id; none if the provider has no such link. */
  async install(id: number): Promise<SourceLink[]> {
    const rows = await this.ask('/api/list-install', { id });
    if (!Array.isArray(rows)) return [];
    const { offsetMinutes } = this.options;
    const records = rows.map((row) => readLinkRecord(row, offsetMinutes));
    return this.#usable(records)
      .filter((install) => install.sourceId === id)
      .slice(0, 1);
  }

  /**
   * Reads the HWIDs of a link, earliest first. `vanished`: the source has no such link any more.
   */
  async slots(installCode: string): Promise<ImportedSlot[] | 'vanished' | 'refused'> {
    const rows = await this.ask('/api/list-hwid', { install_code: installCode });
    if (!Array.isArray(rows)) {
      if (rows.refusal === 'Install code error') return 'vanished';
      this.tally.problem(`link ${installCode}: the source refuses its HWIDs: ${rows.refusal}`);
      return 'refused';
    }
    const { offsetMinutes } = this.options;
    const records = rows.reverse().map((row) => readSlotRecord(row, offsetMinutes));
    const slots = this.#usable(records);
    // No link can have more slots.
    const fitting = slots.slice(0, INSTALL_LIMIT.maximum);
    if (fitting.length < slots.length) {
      this.tally.slots.withoutRoom += slots.length - fitting.length;
      this.tally.problem(
        `link ${installCode}: the source lists ${counted(slots.length, 'HWID')} for it`,
      );
    }
    return fitting;
  }

  /** Counts the unfinished distributions; null: the source refuses the list. */
  async distributionsWaiting(): Promise<number | null> {
    const rows = await this.ask('/remote/list', {});
    if (!Array.isArray(rows)) return null;
    return rows.filter((row) => isRecord(row) && UNFINISHED.has(Number(row['status']))).length;
  }

  /**
   * Reads a whole list, oldest first, page by page with `before_id`. A source that ignores
   * `before_id` sends one page: `endAtId` of the tally becomes its lowest id. Each page but the
   * last is full and has lower ids, so reading ends.
   */
  async #all<T>(
    path: string,
    read: (row: unknown, offsetMinutes: number) => Read<T>,
    countMax: number,
    endAtId: 'domainsEndAtId' | 'linksEndAtId',
  ): Promise<T[]> {
    const records: Read<T>[] = [];
    for (let beforeId: number | null = null; ; ) {
      const rows = await this.ask(path, beforeId === null ? {} : { before_id: beforeId });
      const ids = Array.isArray(rows) ? rows.flatMap(idOf) : [];
      if (beforeId !== null && (!Array.isArray(rows) || isAnyFrom(ids, beforeId))) {
        if (records.length >= LIST_COUNT_MAX) this.tally[endAtId] = beforeId;
        return this.#usable(records.reverse());
      }
      if (!Array.isArray(rows)) {
        throw new SourceUnusable(`the source refuses ${path}: ${rows.refusal}`);
      }
      for (const row of rows) records.push(read(row, this.options.offsetMinutes));
      if (records.length > countMax) {
        throw new SourceUnusable(
          `the source lists more than ${counted(countMax, 'record')} (${path}), the most that are taken here; for links, provider set --max-links raises it`,
        );
      }
      if (rows.length < LIST_COUNT_MAX || ids.length === 0 || this.options.isStopped()) {
        return this.#usable(records.reverse());
      }
      beforeId = ids.reduce((lowest, id) => Math.min(lowest, id));
    }
  }

  #usable<T>(records: readonly Read<T>[]): T[] {
    return records.flatMap((read) => {
      if (isRefused(read)) {
        this.tally.unusable += 1;
        this.tally.problem(read.detail);
        return [];
      }
      if (read.isMended) this.tally.mended += 1;
      return [read.record];
    });
  }
}

function idOf(row: unknown): number[] {
  const id = isRecord(row) ? readInteger(row['id']) : null;
  return id === null ? [] : [id];
}

function isAnyFrom(ids: readonly number[], bound: number): boolean {
  return ids.some((id) => id >= bound);
}
