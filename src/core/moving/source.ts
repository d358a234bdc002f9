/**
 * Another server of this API, as an import sees it. It is a foreign one: whatever it answers is
 * looked at record by record before it is used.
 */

import { INSTALL_LIMIT } from '../formats.ts';
import { isRecord, readInteger } from '../json-input.ts';
import { isRefused } from '../outcome.ts';
import type { ImportedDomain, ImportedSlot } from '../port/moving.ts';
import {
  type Read,
  readDomainRecord,
  readInstallRecord,
  readSlotRecord,
  type SourceInstall,
} from './source-record.ts';
import type { Tally } from './tally.ts';

/** Asks the other server for a list: its `data`, or the text with which it refuses. */
export type AskSource = (
  path: string,
  query: Readonly<Record<string, string | number>>,
) => Promise<unknown[] | { refusal: string }>;

/** The source cannot be used as it is; the message is for the operator. */
export class SourceUnusable extends Error {
  override readonly name = 'SourceUnusable';
}

export interface SourceOptions {
  /** The zone of the other server's times, minutes east of UTC. */
  offsetMinutes: number;
  /** The caller has heard enough: what has been listed so far is returned. */
  isStopped(): boolean;
}

/** The most records that a list of the contract returns. */
const LIST_COUNT_MAX = 5000;
/** More bindings than any provider has: a foreign list must end somewhere. */
const DOMAINS_MAX = 100_000;
/** States of a distribution that is not over (specification, "States and transitions"). */
const UNFINISHED = new Set([5, 6, 10, 20, 30, 40]);

/** The lists of the other server, read into records of ours. */
export class Source {
  constructor(
    readonly ask: AskSource,
    readonly tally: Tally,
    readonly options: SourceOptions,
  ) {}

  async domains(): Promise<ImportedDomain[]> {
    const { offsetMinutes } = this.options;
    const read = (row: unknown) => readDomainRecord(row, offsetMinutes);
    const { records, endsAtId } = await this.#all('/api/list-domain', read, DOMAINS_MAX);
    this.tally.domainsEndAtId = endsAtId;
    return this.#usable(records);
  }

  async installs(countMax: number): Promise<SourceInstall[]> {
    const { offsetMinutes } = this.options;
    const read = (row: unknown) => readInstallRecord(row, offsetMinutes);
    const { records, endsAtId } = await this.#all('/api/list-install', read, countMax);
    this.tally.linksEndAtId = endsAtId;
    return this.#usable(records);
  }

  /** The link with an id; none if it is not the provider's. */
  async install(id: number): Promise<SourceInstall[]> {
    const rows = await this.ask('/api/list-install', { id });
    if (!Array.isArray(rows)) return [];
    const { offsetMinutes } = this.options;
    const records = rows.map((row) => readInstallRecord(row, offsetMinutes));
    return this.#usable(records)
      .filter((install) => install.sourceId === id)
      .slice(0, 1);
  }

  /** The HWIDs of a link, earliest first; or the source has no such link any more, or no answer. */
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
    // No link has room for more, whatever the source says.
    const fitting = slots.slice(0, INSTALL_LIMIT.maximum);
    if (fitting.length < slots.length) {
      this.tally.slots.withoutRoom += slots.length - fitting.length;
      this.tally.problem(`link ${installCode}: the source lists ${slots.length} HWIDs for it`);
    }
    return fitting;
  }

  async distributionsWaiting(): Promise<number | null> {
    const rows = await this.ask('/remote/list', {});
    if (!Array.isArray(rows)) return null;
    return rows.filter((row) => isRecord(row) && UNFINISHED.has(Number(row['status']))).length;
  }

  /**
   * A whole list, oldest first. `before_id` continues a full page further back; a server that does
   * not know it answers with the same page again, and then the list ends there. Each call brings a
   * full page of lower ids or is the last, so that no list of theirs is without end.
   */
  async #all<T>(
    path: string,
    read: (row: unknown) => Read<T>,
    countMax: number,
  ): Promise<{ records: Read<T>[]; endsAtId: number | null }> {
    const records: Read<T>[] = [];
    for (let beforeId: number | null = null; ; ) {
      const rows = await this.ask(path, beforeId === null ? {} : { before_id: beforeId });
      const ids = Array.isArray(rows) ? rows.flatMap(idOf) : [];
      if (beforeId !== null && (!Array.isArray(rows) || isAnyFrom(ids, beforeId))) {
        const isCut = records.length >= LIST_COUNT_MAX;
        return { records: records.reverse(), endsAtId: isCut ? beforeId : null };
      }
      if (!Array.isArray(rows)) {
        throw new SourceUnusable(`the source refuses ${path}: ${rows.refusal}`);
      }
      for (const row of rows) records.push(read(row));
      if (records.length > countMax) {
        throw new SourceUnusable(
          `the source lists more than ${countMax} records (${path}), the most that are taken here; for links, provider set --max-links raises it`,
        );
      }
      if (rows.length < LIST_COUNT_MAX || ids.length === 0 || this.options.isStopped()) {
        return { records: records.reverse(), endsAtId: null };
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
