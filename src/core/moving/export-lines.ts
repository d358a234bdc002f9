/**
 * A provider as JSON Lines: a first line about the provider, a line for each binding and each link
 * with its HWIDs, and a last line that counts them, so that a file that was cut off is noticed.
 * Times are UTC epoch milliseconds: exactly what is stored.
 */

import { TIME_MAX_MS } from '../calendar.ts';
import { tidyFacts } from '../device.ts';
import {
  COOL_DOWN_HOURS,
  INACTIVE_DAYS,
  type Reader,
  readDomainHash,
  readDomainStatus,
  readHwid,
  readInstallCode,
  readInstallLimit,
  readInstallStatus,
  readNote,
  readOneLine,
  readPlan,
  readProviderCode,
  WHEN_FULL,
  whole,
} from '../formats.ts';
import { isRecord, isText, type JsonBounds, readJsonObject } from '../json-input.ts';
import { isRefused, type Misfit } from '../outcome.ts';
import type { DeviceFacts } from '../port/device.ts';
import type { InstallTerms } from '../port/install.ts';
import type {
  ExportRecord,
  ImportedDomain,
  ImportedInstall,
  ImportedSlot,
} from '../port/moving.ts';
import type { Provider } from '../port/provider.ts';
import type { OwnPolicy } from '../port/slot.ts';
import { FieldFault, type Fields, fit, MISFIT, readFields, within } from './fields.ts';
import type { Newcomer } from './import.ts';
import { keptId } from './source-record.ts';

/** A link with 100 HWIDs of which everything is known takes some 200 KB. */
export const LINE_BOUNDS: JsonBounds = { bytesMax: 1024 ** 2, valuesMax: 2_000 };

/** A reader refuses files of a higher number. */
const EXPORT_VERSION = 1;

export interface ExportCounts {
  installs: number;
  slots: number;
  domains: number;
}

export type ExportLine =
  | { kind: 'provider'; provider: Newcomer }
  | { kind: 'domain'; domain: ImportedDomain }
  | { kind: 'install'; install: ImportedInstall }
  | { kind: 'end'; counts: ExportCounts };

/** One line, without its line feed. */
export function writeRecord(record: ExportRecord): string {
  if (record.kind === 'provider') return JSON.stringify(providerFields(record.provider));
  if (record.kind === 'install') {
    const { slots, terms, ...facts } = record.install;
    const fields = { ...wireFields(facts), ...wireFields(terms ?? {}) };
    return JSON.stringify({ install: { ...fields, hwids: slots.map(wireFields) } });
  }
  return JSON.stringify({ domain: wireFields(record.domain) });
}

export function writeEnd({ installs, slots, domains }: ExportCounts): string {
  return JSON.stringify({ end: { installs, hwids: slots, domains } });
}

function providerFields(provider: Provider): Fields {
  return {
    gatepost_export: EXPORT_VERSION,
    provider: {
      code: provider.code,
      name: provider.name,
      plan: provider.plan,
      key_sha256: Buffer.from(provider.keyHash).toString('hex'),
      active_until_ms: provider.activeUntilMs,
      suspended_at_ms: provider.suspendedAtMs,
      install_count_max: provider.installCountMax,
      created_at_ms: provider.createdAtMs,
      inactive_days: provider.inactiveDays,
      when_full: provider.whenFull,
      cool_down_hours: provider.coolDownHours,
    },
  };
}

/** `installCode` as `install_code`. */
function wireFields(record: object): Fields {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Reads a line back. One that does not fit is refused: a file is taken whole or not at all. */
export function readLine(text: string): ExportLine | Misfit<'over_bounds' | 'malformed'> {
  const line = readJsonObject(text, LINE_BOUNDS, 'it');
  if (isRefused(line)) return line;
  return readFields(() => {
    if ('gatepost_export' in line) return { kind: 'provider', provider: readProvider(line) };
    if ('domain' in line) return { kind: 'domain', domain: readDomain(within(line, 'domain')) };
    if ('install' in line)
      return { kind: 'install', install: readInstall(within(line, 'install')) };
    if ('end' in line) return { kind: 'end', counts: readCounts(within(line, 'end')) };
    throw new FieldFault('neither provider, domain, install nor end');
  });
}

/** Numbers that are no digits in a text. */
const numeric =
  (read: Reader<number>): Reader<number> =>
  (value) =>
    typeof value === 'number' ? read(value) : MISFIT;
const time = numeric(whole(0, TIME_MAX_MS).read);
const count = numeric(whole(0, Number.MAX_SAFE_INTEGER).read);
const ordinal = numeric(whole(1, Number.MAX_SAFE_INTEGER).read);
const id: Reader<number | null> = (value) => {
  const number = ordinal(value);
  return isRefused(number) ? number : keptId(number);
};
const orNull =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value) =>
    value === null ? null : read(value);
/** A field that files of older versions do not have. */
const orAbsent =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value) =>
    value === undefined || value === null ? null : read(value);
const anyText: Reader<string> = (value) => (isText(value) ? value : MISFIT);

function readProvider(line: Fields): Newcomer {
  const version = fit(line, 'gatepost_export', ordinal);
  if (version > EXPORT_VERSION) {
    throw new FieldFault(
      `the file has format ${version}, this program knows up to ${EXPORT_VERSION}`,
    );
  }
  const fields = within(line, 'provider');
  const keyHash = fit(fields, 'key_sha256', readDomainHash);
  return {
    code: fit(fields, 'code', readProviderCode),
    name: fit(fields, 'name', readOneLine),
    plan: fit(fields, 'plan', readPlan),
    keyHash: Buffer.from(keyHash, 'hex'),
    activeUntilMs: fit(fields, 'active_until_ms', orNull(time)),
    suspendedAtMs: fit(fields, 'suspended_at_ms', orNull(time)),
    installCountMax: fit(fields, 'install_count_max', orNull(count)),
    createdAtMs: fit(fields, 'created_at_ms', time),
    ...readPolicy(fields),
  };
}

function readPolicy(fields: Fields): OwnPolicy {
  return {
    inactiveDays: fit(fields, 'inactive_days', orAbsent(numeric(INACTIVE_DAYS.read))),
    whenFull: fit(fields, 'when_full', orAbsent(WHEN_FULL.read)),
    coolDownHours: fit(fields, 'cool_down_hours', orAbsent(numeric(COOL_DOWN_HOURS.read))),
  };
}

function readReplaced(fields: Fields): { replacedAtMs?: number } {
  const replacedAtMs = fit(fields, 'replaced_at_ms', orAbsent(time));
  return replacedAtMs === null ? {} : { replacedAtMs };
}

/** The terms of a link; files of older versions have none. */
function readTerms(fields: Fields): { terms?: InstallTerms } {
  if (fields['subscription_key_hash'] === undefined) return {};
  const subscriptionKeyHash = fit(fields, 'subscription_key_hash', orNull(readDomainHash));
  return { terms: { subscriptionKeyHash, ...readPolicy(fields) } };
}

function readDomain(fields: Fields): ImportedDomain {
  return {
    id: fit(fields, 'id', orNull(id)),
    domainHash: fit(fields, 'domain_hash', readDomainHash),
    domainName: fit(fields, 'domain_name', readOneLine),
    status: fit(fields, 'status', numeric(readDomainStatus)),
    createdAtMs: fit(fields, 'created_at_ms', time),
  };
}

function readInstall(fields: Fields): ImportedInstall {
  const hwids = fields['hwids'];
  if (!Array.isArray(hwids)) throw new FieldFault('hwids is not a list');
  const installLimit = fit(fields, 'install_limit', numeric(readInstallLimit));
  if (hwids.length > installLimit) throw new FieldFault('hwids has more than install_limit');
  return {
    id: fit(fields, 'id', orNull(id)),
    installCode: fit(fields, 'install_code', readInstallCode),
    installLimit,
    status: fit(fields, 'status', numeric(readInstallStatus)),
    note: fit(fields, 'note', orNull(readNote)),
    createdAtMs: fit(fields, 'created_at_ms', time),
    ...readTerms(fields),
    ...readReplaced(fields),
    slots: hwids.map(readSlot),
  };
}

function readSlot(fields: unknown): ImportedSlot {
  if (!isRecord(fields)) throw new FieldFault('one of the hwids is not an object');
  const lastSeenAtMs = fit(fields, 'last_seen_at_ms', time);
  return {
    hwid: fit(fields, 'hwid', readHwid),
    registeredAtMs: fit(fields, 'registered_at_ms', time),
    ...readFacts(fields),
    firstSeenAtMs: fit(fields, 'first_seen_at_ms', time),
    lastSeenAtMs,
    slotSeenAtMs: fit(fields, 'slot_seen_at_ms', orAbsent(time)) ?? lastSeenAtMs,
  };
}

function readFacts(fields: Fields): DeviceFacts {
  return tidyFacts({
    os: fit(fields, 'os', anyText),
    osVersion: fit(fields, 'os_version', anyText),
    deviceName: fit(fields, 'device_name', anyText),
    appVersion: fit(fields, 'app_version', anyText),
    userAgent: fit(fields, 'user_agent', anyText),
  });
}

function readCounts(fields: Fields): ExportCounts {
  return {
    installs: fit(fields, 'installs', count),
    slots: fit(fields, 'hwids', count),
    domains: fit(fields, 'domains', count),
  };
}
