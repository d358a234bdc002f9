/** Reads records of the provider API of another server. */

import { readWireTime } from '../calendar.ts';
import { tidyFacts } from '../device.ts';
import { NO_FACTS } from '../device-facts.ts';
import {
  HWID,
  ONE_LINE_LENGTH_MAX,
  type Reader,
  readDomainHash,
  readDomainStatus,
  readHwid,
  readInstallCode,
  readInstallLimit,
  readInstallStatus,
  readOneLine,
} from '../formats.ts';
import { isAbsent, isRecord, readInteger } from '../json-input.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';
import type { ImportedDomain, ImportedLink, ImportedSlot } from '../port/moving.ts';
import { tidyFact } from '../text.ts';
import { type Fields, fit, MISFIT, readFields } from './fields.ts';

/** A record or its misfit. `isMended`: a text in it was corrected. */
export type Read<T> = { record: T; isMended: boolean } | Misfit;

/** A link of a list, without its HWIDs. */
export interface SourceLink extends Omit<ImportedLink, 'slots'> {
  sourceId: number;
  installCount: number;
}

/**
 * The largest id that an import keeps: new ids are larger, and clients may store them in 32 bits.
 */
const KEPT_ID_MAX = 1_000_000_000;

/** Reads a record of `list-install`. */
export function readLinkRecord(row: unknown, offsetMinutes: number): Read<SourceLink> {
  return readRecord(row, 'list-install', 'link', (fields, sourceId) => {
    const record = {
      id: keptId(sourceId),
      sourceId,
      installCode: fit(fields, 'install_code', readInstallCode),
      installLimit: fit(fields, 'install_limit', readInstallLimit),
      installCount: fit(fields, 'install_count', (value) => readInteger(value) ?? MISFIT),
      status: fit(fields, 'status', readInstallStatus),
      createdAtMs: fit(fields, 'created_at', timeReader(offsetMinutes)),
    };
    const { line, isMended } = readLine(fields, 'note');
    return { record: { ...record, note: line || null }, isMended };
  });
}

/** Reads a record of `list-domain`. */
export function readDomainRecord(row: unknown, offsetMinutes: number): Read<ImportedDomain> {
  return readRecord(row, 'list-domain', 'domain', (fields, id) => {
    const domainHash = fit(fields, 'domain_hash', readDomainHash);
    const record = {
      id: keptId(id),
      domainHash,
      status: fit(fields, 'status', readDomainStatus),
      createdAtMs: fit(fields, 'created_at', timeReader(offsetMinutes)),
    };
    const { line, isMended } = readLine(fields, 'domain_name');
    return { record: { ...record, domainName: line || domainHash.slice(0, 10) }, isMended };
  });
}

/** Reads a record of `list-hwid`; its only fact of a device is the name. */
export function readSlotRecord(row: unknown, offsetMinutes: number): Read<ImportedSlot> {
  if (!isRecord(row)) return malformed('list-hwid has a record that is not an object');
  const hwid = readHwid(row['hwid']);
  if (isRefused(hwid)) return malformed(`list-hwid has a HWID that is not ${HWID.rule}`);
  return readFields(() => {
    const atMs = fit(row, 'date', timeReader(offsetMinutes));
    const name = fit(row, 'device_name', readOptionalText);
    const facts = tidyFacts({ ...NO_FACTS, deviceName: name.toWellFormed() });
    const times = { registeredAtMs: atMs, firstSeenAtMs: atMs, lastSeenAtMs: atMs };
    return { record: { hwid, ...facts, ...times }, isMended: facts.deviceName !== name };
  }, `HWID ${hwid}: `);
}

function readRecord<T>(
  row: unknown,
  list: string,
  noun: string,
  read: (fields: Fields, id: number) => T,
): T | Misfit {
  if (!isRecord(row)) return malformed(`${list} has a record that is not an object`);
  const id = readInteger(row['id']);
  if (id === null || id < 1) return malformed(`${list} has a record without an id`);
  return readFields(() => read(row, id), `${noun} with id ${id}: `);
}

const timeReader =
  (offsetMinutes: number): Reader<number> =>
  (value) => {
    const epochMs = typeof value === 'string' ? readWireTime(value, offsetMinutes) : null;
    return epochMs === null || epochMs < 0 ? MISFIT : epochMs;
  };

const readOptionalText: Reader<string> = (value) => {
  if (isAbsent(value)) return '';
  return typeof value === 'string' ? value : MISFIT;
};

/** Reads a text as one line. */
function readLine(fields: Fields, name: string): { line: string; isMended: boolean } {
  const text = fit(fields, name, readOptionalText);
  const asIs = readOneLine(text);
  const line = isRefused(asIs) ? tidyFact(text.toWellFormed(), ONE_LINE_LENGTH_MAX) : asIs;
  return { line, isMended: line !== text };
}

/** Returns the id, or null if it is too large to be kept. */
export function keptId(id: number): number | null {
  return id <= KEPT_ID_MAX ? id : null;
}
