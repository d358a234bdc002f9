/** Records of the provider API, read back: the specification's formats, or why one does not fit. */

import { readWireTime } from '../calendar.ts';
import { tidyFacts } from '../device.ts';
import { DOMAIN_HASH, HWID, INSTALL_CODE, INSTALL_LIMIT_MAX } from '../formats.ts';
import { isAbsent, isRecord, isText, readInteger } from '../json-input.ts';
import { type Misfit, malformed } from '../outcome.ts';
import { DOMAIN_ACTIVE, DOMAIN_DISABLED } from '../port/domain.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED } from '../port/install.ts';
import type { ImportedDomain, ImportedInstall, ImportedSlot } from '../port/moving.ts';
import { NOTE, tidyFact } from '../text.ts';

/** A record, or why it is none. `isMended`: a text had to be made fit to be kept. */
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

const TEXT_LENGTH_MAX = 255;

/** The status of links and bindings; both use the same two numbers. */
const STATUSES = new Set([INSTALL_DISABLED, INSTALL_ACTIVE, DOMAIN_DISABLED, DOMAIN_ACTIVE]);

export function readInstallRecord(row: unknown, offsetMinutes: number): Read<SourceInstall> {
  if (!isRecord(row)) return malformed('list-install has a record that is not an object');
  const id = readInteger(row['id']);
  if (id === null || id < 1) return malformed('list-install has a record without an id');
  const wrong = (field: string) => malformed(`link with id ${id}: ${field} is not as specified`);
  const installCode = row['install_code'];
  if (typeof installCode !== 'string' || !INSTALL_CODE.test(installCode)) {
    return wrong('install_code');
  }
  const installLimit = readInteger(row['install_limit']);
  if (installLimit === null || installLimit < 1 || installLimit > INSTALL_LIMIT_MAX) {
    return wrong('install_limit');
  }
  const installCount = readInteger(row['install_count']);
  if (installCount === null) return wrong('install_count');
  const status = readInteger(row['status']);
  if (status === null || !STATUSES.has(status)) return wrong('status');
  const createdAtMs = readTime(row['created_at'], offsetMinutes);
  if (createdAtMs === null) return wrong('created_at');
  const said = row['note'];
  if (!isAbsent(said) && typeof said !== 'string') return wrong('note');
  const note = isAbsent(said) ? null : oneLine(said) || null;
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
    isMended: !isAbsent(said) && note !== said,
  };
}

export function readDomainRecord(row: unknown, offsetMinutes: number): Read<ImportedDomain> {
  if (!isRecord(row)) return malformed('list-domain has a record that is not an object');
  const id = readInteger(row['id']);
  if (id === null || id < 1) return malformed('list-domain has a record without an id');
  const wrong = (field: string) => malformed(`domain with id ${id}: ${field} is not as specified`);
  const domainHash = row['domain_hash'];
  if (typeof domainHash !== 'string' || !DOMAIN_HASH.test(domainHash)) return wrong('domain_hash');
  const status = readInteger(row['status']);
  if (status === null || !STATUSES.has(status)) return wrong('status');
  const createdAtMs = readTime(row['created_at'], offsetMinutes);
  if (createdAtMs === null) return wrong('created_at');
  const said = row['domain_name'];
  if (!isAbsent(said) && typeof said !== 'string') return wrong('domain_name');
  const domainName = (isAbsent(said) ? '' : oneLine(said)) || domainHash.slice(0, 10);
  return {
    record: { id: keptId(id), domainHash, domainName, status, createdAtMs },
    isMended: !isAbsent(said) && domainName !== said,
  };
}

export function readSlotRecord(row: unknown, offsetMinutes: number): Read<ImportedSlot> {
  if (!isRecord(row)) return malformed('list-hwid has a record that is not an object');
  const { hwid, date, device_name: said } = row;
  if (typeof hwid !== 'string' || !HWID.test(hwid)) {
    return malformed('list-hwid has a HWID that is not 1 to 128 visible characters without comma');
  }
  const registeredAtMs = readTime(date, offsetMinutes);
  if (registeredAtMs === null) return malformed(`HWID ${hwid}: date is not as specified`);
  if (!isAbsent(said) && typeof said !== 'string') {
    return malformed(`HWID ${hwid}: device_name is not as specified`);
  }
  // The API tells a device's name and nothing else of it.
  const name = isAbsent(said) ? '' : said.toWellFormed();
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
    isMended: facts.deviceName !== (said ?? ''),
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
  if (isText(text) && NOTE.test(text)) return text;
  return tidyFact(text.toWellFormed(), TEXT_LENGTH_MAX);
}
