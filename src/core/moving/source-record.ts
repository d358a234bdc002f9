/** Records of the provider API, read back: the specification's formats, or why one does not fit. */

import { readWireTime } from '../calendar.ts';
import { tidyFacts } from '../device.ts';
import {
  ONE_LINE_LENGTH_MAX,
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
import type { ImportedDomain, ImportedInstall, ImportedSlot } from '../port/moving.ts';
import { tidyFact } from '../text.ts';

/** A record, or why it is none. `isMended`: a text in it was made fit to be kept. */
export type Read<T> = { record: T; isMended: boolean } | Misfit;

/** A link as the list has it, without its HWIDs. */
export interface SourceInstall extends Omit<ImportedInstall, 'slots'> {
  sourceId: number;
  installCount: number;
}

/**
 * Above this, an id is not kept: those that the store gives later are higher, and clients may hold
 * ids in 32 bits.
 */
const KEPT_ID_MAX = 1_000_000_000;

export function readInstallRecord(row: unknown, offsetMinutes: number): Read<SourceInstall> {
  if (!isRecord(row)) return malformed('list-install has a record that is not an object');
  const id = readInteger(row['id']);
  if (id === null || id < 1) return malformed('list-install has a record without an id');
  const wrong = (field: string) => malformed(`link with id ${id}: ${field} is not as specified`);
  const installCode = readInstallCode(row['install_code']);
  if (isRefused(installCode)) return wrong('install_code');
  const installLimit = readInstallLimit(row['install_limit']);
  if (isRefused(installLimit)) return wrong('install_limit');
  const installCount = readInteger(row['install_count']);
  if (installCount === null) return wrong('install_count');
  const status = readInstallStatus(row['status']);
  if (isRefused(status)) return wrong('status');
  const createdAtMs = readTime(row['created_at'], offsetMinutes);
  if (createdAtMs === null) return wrong('created_at');
  const listed = row['note'];
  if (!isAbsent(listed) && typeof listed !== 'string') return wrong('note');
  const note = isAbsent(listed) ? null : oneLine(listed) || null;
  return {
    record: {
      id: keptId(id),
      sourceId: id,
      installCode,
      installLimit,
      installCount,
      status,
      note,
      createdAtMs,
    },
    isMended: !isAbsent(listed) && note !== listed,
  };
}

export function readDomainRecord(row: unknown, offsetMinutes: number): Read<ImportedDomain> {
  if (!isRecord(row)) return malformed('list-domain has a record that is not an object');
  const id = readInteger(row['id']);
  if (id === null || id < 1) return malformed('list-domain has a record without an id');
  const wrong = (field: string) => malformed(`domain with id ${id}: ${field} is not as specified`);
  const domainHash = readDomainHash(row['domain_hash']);
  if (isRefused(domainHash)) return wrong('domain_hash');
  const status = readDomainStatus(row['status']);
  if (isRefused(status)) return wrong('status');
  const createdAtMs = readTime(row['created_at'], offsetMinutes);
  if (createdAtMs === null) return wrong('created_at');
  const listed = row['domain_name'];
  if (!isAbsent(listed) && typeof listed !== 'string') return wrong('domain_name');
  const domainName = (isAbsent(listed) ? '' : oneLine(listed)) || domainHash.slice(0, 10);
  return {
    record: { id: keptId(id), domainHash, domainName, status, createdAtMs },
    isMended: !isAbsent(listed) && domainName !== listed,
  };
}

export function readSlotRecord(row: unknown, offsetMinutes: number): Read<ImportedSlot> {
  if (!isRecord(row)) return malformed('list-hwid has a record that is not an object');
  const { date, device_name: listed } = row;
  const hwid = readHwid(row['hwid']);
  if (isRefused(hwid)) {
    return malformed('list-hwid has a HWID that is not 1 to 128 visible characters without comma');
  }
  const registeredAtMs = readTime(date, offsetMinutes);
  if (registeredAtMs === null) return malformed(`HWID ${hwid}: date is not as specified`);
  if (!isAbsent(listed) && typeof listed !== 'string') {
    return malformed(`HWID ${hwid}: device_name is not as specified`);
  }
  // The API tells a device's name and nothing else of it.
  const name = isAbsent(listed) ? '' : listed.toWellFormed();
  const unknown = { os: '', osVersion: '', appVersion: '', userAgent: '' };
  const facts = tidyFacts({ ...unknown, deviceName: name });
  return {
    record: {
      hwid,
      registeredAtMs,
      ...facts,
      firstSeenAtMs: registeredAtMs,
      lastSeenAtMs: registeredAtMs,
    },
    isMended: facts.deviceName !== (listed ?? ''),
  };
}

function readTime(value: unknown, offsetMinutes: number): number | null {
  const epochMs = typeof value === 'string' ? readWireTime(value, offsetMinutes) : null;
  return epochMs === null || epochMs < 0 ? null : epochMs;
}

/** The id, if it may be kept. */
export function keptId(id: number): number | null {
  return id <= KEPT_ID_MAX ? id : null;
}

function oneLine(text: string): string {
  const line = readOneLine(text);
  return isRefused(line) ? tidyFact(text.toWellFormed(), ONE_LINE_LENGTH_MAX) : line;
}
