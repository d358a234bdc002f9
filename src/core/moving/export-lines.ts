/**
 * The export of a provider as JSON Lines: a line for the provider, one for each binding and each
 * link with its HWIDs, and a last line with their counts, which detects truncated files. Times are
 * UTC epoch milliseconds.
 */

import { BARS_MAX } from '../bar.ts';
import { TIME_MAX_MS } from '../calendar.ts';
import { tidyFacts } from '../device.ts';
import { FACT_FIELDS } from '../device-facts.ts';
import { BINDING_FIELDS } from '../domain-fields.ts';
import { each, type Field, type Fields, fieldsOf, inSnakeCase, only } from '../field.ts';
import {
  type Reader,
  readDomainHash,
  readHwid,
  readInstallCode,
  readOneLine,
  readProviderCode,
  whole,
} from '../formats.ts';
import { isRecord, isText, type JsonBounds, readJsonObject } from '../json-input.ts';
import { isRefused, type Misfit } from '../outcome.ts';
import type { Bar } from '../port/bar.ts';
import type { OwnBinding } from '../port/domain.ts';
import type { LinkTerms, LinkTermsAndKey, OwnLink } from '../port/link.ts';
import type { ExportRecord, ImportedDomain, ImportedLink, ImportedSlot } from '../port/moving.ts';
import type { Provider, ProviderTerms } from '../port/provider.ts';
import type { OwnReminder, ReminderTexts } from '../port/reminder.ts';
import { REMINDER_FIELDS, REMINDERS_MAX } from '../reminder-fields.ts';
import { DEVICES_MAX } from '../slot.ts';
import { LINK_FIELDS, LINK_TERMS, PROVIDER_FIELDS } from '../terms.ts';
import {
  FieldFault,
  fit,
  type Fields as Given,
  MISFIT,
  readFields,
  recordReader,
  within,
} from './fields.ts';
import type { Newcomer } from './import.ts';
import { keptId } from './source-record.ts';

/** Bounds of a line: a link with 100 HWIDs and all facts takes some 200 KB. */
export const LINE_BOUNDS: JsonBounds = { bytesMax: 1024 ** 2, valuesMax: 2_000 };

/** Format of the file; readers refuse higher numbers. */
const EXPORT_VERSION = 1;

export interface ExportCounts {
  installs: number;
  slots: number;
  domains: number;
}

export type ExportLine =
  | { kind: 'provider'; provider: Newcomer }
  | { kind: 'domain'; domain: ImportedDomain }
  | { kind: 'install'; install: ImportedLink }
  | { kind: 'end'; counts: ExportCounts };

/** Formats a record as a line without its line feed. */
export function writeRecord(record: ExportRecord): string {
  if (record.kind === 'provider') {
    const { reminders = [] } = record;
    const own = reminders.length > 0 && { reminders: reminders.map(inSnakeCase) };
    const provider = { ...providerFields(record.provider), ...own };
    return JSON.stringify({ gatepost_export: EXPORT_VERSION, provider });
  }
  if (record.kind === 'install') {
    const { slots, terms, bars = [], ...facts } = record.install;
    const fields = { ...inSnakeCase(facts), ...inSnakeCase(terms ?? {}) };
    const barred = bars.length > 0 && { bars: bars.map(inSnakeCase) };
    return JSON.stringify({ install: { ...fields, hwids: slots.map(inSnakeCase), ...barred } });
  }
  return JSON.stringify({ domain: inSnakeCase(record.domain) });
}

/** Formats the last line. */
export function writeEnd({ installs, slots, domains }: ExportCounts): string {
  return JSON.stringify({ end: { installs, hwids: slots, domains } });
}

function providerFields(provider: Provider): Given {
  const { code, keyHash, createdAtMs } = provider;
  const keySha256 = Buffer.from(keyHash).toString('hex');
  const terms = only<ProviderTerms, keyof ProviderTerms>(provider, fieldsOf(PROVIDER_FIELDS));
  return inSnakeCase({ code, keySha256, createdAtMs, ...terms });
}

/** Reads a line. Refuses `over_bounds` and `malformed`; one refused line rejects the whole file. */
export function readLine(text: string): ExportLine | Misfit<'over_bounds' | 'malformed'> {
  const line = readJsonObject(text, LINE_BOUNDS, 'it');
  if (isRefused(line)) return line;
  return readFields(() => {
    if ('gatepost_export' in line) return { kind: 'provider', provider: readProvider(line) };
    if ('domain' in line) return { kind: 'domain', domain: readDomain(within(line, 'domain')) };
    if ('install' in line) return { kind: 'install', install: readLink(within(line, 'install')) };
    if ('end' in line) return { kind: 'end', counts: readCounts(within(line, 'end')) };
    throw new FieldFault('neither provider, domain, install nor end');
  });
}

/** Restricts a reader to numbers, without digits in texts. */
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
/** Accepts a missing field too, as in files of older versions. */
const orAbsent =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value) =>
    value === undefined || value === null ? null : read(value);
const anyText: Reader<string> = (value) => (isText(value) ? value : MISFIT);

/** Reads a field of a table; a missing one has the usual value, as in files of older versions. */
const readerOf =
  <T>({ format, usual }: Field<T>): Reader<T> =>
  (value) => {
    if (usual !== undefined && (value === undefined || value === null)) return usual;
    const read = format.read(value);
    // No digits in texts.
    return typeof read === 'number' && typeof value !== 'number' ? MISFIT : (read as T);
  };

const readersOf = <Own>(table: Fields<Own>) =>
  each<string, unknown>(fieldsOf(table), (field) => readerOf(table[field as keyof Own])) as {
    [F in keyof Own]-?: Reader<Own[F]>;
  };

const readProviderFields = recordReader<Omit<Newcomer, 'keyHash' | 'reminders'>>({
  code: readProviderCode,
  ...readersOf<ProviderTerms>(PROVIDER_FIELDS),
  name: readOneLine,
  createdAtMs: time,
});

function readProvider(line: Given): Newcomer {
  const version = fit(line, 'gatepost_export', ordinal);
  if (version > EXPORT_VERSION) {
    throw new FieldFault(
      `the file has format ${version}, this program knows up to ${EXPORT_VERSION}`,
    );
  }
  const fields = within(line, 'provider');
  const keyHash = Buffer.from(fit(fields, 'key_sha256', readDomainHash), 'hex');
  const reminders = fields['reminders'] ?? [];
  if (!Array.isArray(reminders) || reminders.length > REMINDERS_MAX) {
    throw new FieldFault('reminders is no such list');
  }
  return {
    keyHash,
    ...readProviderFields(fields),
    ...(reminders.length > 0 && { reminders: reminders.map(readReminder) }),
  };
}

const readReminderFields = recordReader<Omit<OwnReminder, 'texts'>>(
  readersOf<Omit<OwnReminder, 'texts'>>(REMINDER_FIELDS),
);

/** Reads a reminder; core/reminder.ts reads its texts when it is added. */
function readReminder(fields: unknown): OwnReminder {
  if (!isRecord(fields)) throw new FieldFault('one of the reminders is not an object');
  return { ...readReminderFields(fields), texts: within(fields, 'texts') as ReminderTexts };
}

const readDomain = recordReader<ImportedDomain>({
  id: orNull(id),
  domainHash: readDomainHash,
  ...readersOf<OwnBinding>(BINDING_FIELDS),
  createdAtMs: time,
});

const { installLimit, status, note } = LINK_FIELDS;
const readLinkLine = recordReader<
  Pick<ImportedLink, 'id' | 'installCode' | 'createdAtMs'> & Omit<OwnLink, keyof LinkTermsAndKey>
>({
  id: orNull(id),
  installCode: readInstallCode,
  ...readersOf<Omit<OwnLink, keyof LinkTermsAndKey>>({ installLimit, status, note }),
  createdAtMs: time,
});

const readTerms = recordReader<LinkTermsAndKey>({
  subscriptionKeyHash: orNull(readDomainHash),
  ...readersOf<LinkTerms>(LINK_TERMS),
});

function readLink(fields: Given): ImportedLink {
  const hwids = fields['hwids'];
  if (!Array.isArray(hwids)) throw new FieldFault('hwids is not a list');
  const link = readLinkLine(fields);
  const overMax = fit(fields, 'over_max', orAbsent(numeric(whole(0, DEVICES_MAX).read)));
  const limitWanted = fit(fields, 'limit_wanted', orAbsent(numeric(installLimit.format.read)));
  if (limitWanted !== null && limitWanted >= link.installLimit) {
    throw new FieldFault('limit_wanted is not below install_limit');
  }
  if (hwids.length > Math.max(link.installLimit, overMax ?? 0)) {
    throw new FieldFault('hwids has more than install_limit');
  }
  const replacedAtMs = fit(fields, 'replaced_at_ms', orAbsent(time));
  const bars = fields['bars'] ?? [];
  if (!Array.isArray(bars) || bars.length > BARS_MAX) throw new FieldFault('bars is no such list');
  return {
    ...link,
    // Files of older versions have no terms.
    ...(fields['subscription_key_hash'] !== undefined && { terms: readTerms(fields) }),
    ...(replacedAtMs !== null && { replacedAtMs }),
    ...(overMax !== null && { overMax }),
    ...(limitWanted !== null && { limitWanted }),
    ...(bars.length > 0 && { bars: bars.map(readBar) }),
    slots: hwids.map(readSlot),
  };
}

const readBarFields = recordReader<Bar>({
  hwidHash: readDomainHash,
  madeAtMs: time,
  untilMs: time,
});

function readBar(fields: unknown): Bar {
  if (!isRecord(fields)) throw new FieldFault('one of the bars is not an object');
  return readBarFields(fields);
}

const readSlotFields = recordReader<Omit<ImportedSlot, 'isNamed' | 'slotSeenAtMs'>>({
  hwid: readHwid,
  registeredAtMs: time,
  ...each(FACT_FIELDS, () => anyText),
  firstSeenAtMs: time,
  lastSeenAtMs: time,
});

function readSlot(fields: unknown): ImportedSlot {
  if (!isRecord(fields)) throw new FieldFault('one of the hwids is not an object');
  const slot = readSlotFields(fields);
  const slotSeenAtMs = fit(fields, 'slot_seen_at_ms', orAbsent(time)) ?? slot.lastSeenAtMs;
  const isNamed = fit(
    fields,
    'is_named',
    orAbsent((value) => (value === true ? true : MISFIT)),
  );
  return { ...slot, ...tidyFacts(slot), slotSeenAtMs, ...(isNamed && { isNamed }) };
}

const readEnd = recordReader<{ installs: number; hwids: number; domains: number }>({
  installs: count,
  hwids: count,
  domains: count,
});

function readCounts(fields: Given): ExportCounts {
  const { hwids: slots, ...counts } = readEnd(fields);
  return { ...counts, slots };
}
