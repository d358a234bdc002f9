/** The door of a link: all that is asked about a device there, in one look. */

import { type SQL, sql } from 'drizzle-orm';
import type { DeviceAtProvider } from '../../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type {
  AdmittedLink,
  Door,
  FullLink,
  NoLink,
  OldestSlot,
  OwnPolicy,
  SlotKey,
} from '../../core/port/slot.ts';
import { freesSlots, policyOf } from '../../core/slot.ts';
import type { Context } from './context.ts';
import { AT_PROVIDER_COLUMNS, type RowAtProvider, SEEN_AS_ONE, SLOT_SEEN } from './lookups.ts';
import { once, value } from './statement.ts';

interface DoorRow extends Omit<RowAtProvider, 'lastSeenAtMs'>, Omit<AdmittedLink, 'providerCode'> {
  /** Status of the provider's binding of the hash; null: there is none. */
  domainStatus: number | null;
  /** Null: the device holds no slot on the link, and what is said of it is null too. */
  slotSeenAtMs: number | null;
}

/** A door as the core knows it, with the row of the slot that may be freed. */
export interface DoorHere extends Door {
  full: (FullLink & { oldest: OldestSlot & { slotId: number } }) | null;
}

interface PolicyRow {
  inactiveDays: number | null;
  whenFull: OwnPolicy['whenFull'];
  coolDownHours: number | null;
  providerInactiveDays: number | null;
  providerWhenFull: OwnPolicy['whenFull'];
  providerCoolDownHours: number | null;
  replacedAtMs: number | null;
}

/** Time at which the slot of `p` on the link `i` was seen. */
const SEEN_ON_LINK = sql`
  iif(${SEEN_AS_ONE}, p.last_seen_at_ms,
    (SELECT ${SLOT_SEEN} FROM install_device s
     WHERE s.install_id = i.id AND s.device_id = p.device_id))`;

const BY_KEY = sql`
  i.subscription_key_hash = unhex(${once('subscriptionKeyHash')})
    AND (${once('providerCode')} IS NULL OR i.provider_id =
      (SELECT o.id FROM provider o WHERE o.code = ${once('providerCode')}))`;

function statements({ db }: Context) {
  const look = (which: SQL) =>
    db.prepare<DoorRow>(sql`
        SELECT i.id AS "installId", i.provider_id AS "providerId", i.status AS status,
          i.install_limit AS "installLimit", i.device_count AS "deviceCount",
          (SELECT b.status FROM domain b
           WHERE b.provider_id = i.provider_id AND b.domain_hash = ${once('domainHash')})
            AS "domainStatus", ${SEEN_ON_LINK} AS "slotSeenAtMs", ${AT_PROVIDER_COLUMNS}
        FROM install i
          LEFT JOIN device_provider p ON p.provider_id = i.provider_id AND p.device_id = (
            SELECT s.device_id FROM install_device s WHERE s.install_id = i.id
              AND s.device_id = (SELECT d.id FROM device d WHERE d.hwid = ${once('hwid')}))
        WHERE ${which}`);
  return {
    byCode: look(sql`i.install_code = ${once('installCode')}`),
    /** Links with the key: of two neither is meant. */
    byKey: look(sql`${BY_KEY} LIMIT 2`),
    /** Alone, so that nothing has to be sorted where nearly all are found. */
    byKeyBound: look(sql`${BY_KEY} AND "domainStatus" = ${DOMAIN_ACTIVE} LIMIT 2`),
    code: db.prepare<{ code: string }>(
      sql`SELECT code FROM provider WHERE id = ${value('providerId')}`,
    ),
    policy: db.prepare<PolicyRow>(sql`
        SELECT i.inactive_days AS "inactiveDays", i.when_full AS "whenFull",
          i.cool_down_hours AS "coolDownHours", o.inactive_days AS "providerInactiveDays",
          o.when_full AS "providerWhenFull", o.cool_down_hours AS "providerCoolDownHours",
          i.replaced_at_ms AS "replacedAtMs"
        FROM install i CROSS JOIN provider o ON o.id = i.provider_id
        WHERE i.id = ${once('installId')}`),
    oldest: db.prepare<OldestSlot & { slotId: number }>(sql`
        SELECT s.id AS "slotId", d.hwid AS hwid, s.registered_at_ms AS "registeredAtMs",
          ${SLOT_SEEN} AS "lastSeenAtMs"
        FROM install_device s CROSS JOIN device d ON d.id = s.device_id
          CROSS JOIN device_provider p
            ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE s.install_id = ${once('installId')}
        ORDER BY "lastSeenAtMs", s.registered_at_ms, s.id LIMIT 1`),
  };
}

/** Returns the function that finds the door at which a device stands. */
export function doorOf(context: Context) {
  const on = statements(context);
  /** A provider keeps its code, and no other gets its id. */
  const codes = new Map<number, string>();

  function codeOf(providerId: number): string {
    const known = codes.get(providerId);
    if (known !== undefined) return known;
    const code = on.code.get({ providerId })?.code ?? '';
    codes.set(providerId, code);
    return code;
  }

  function rowOf(key: SlotKey): DoorRow | 'key_ambiguous' | null {
    if ('installCode' in key) {
      const { domainHash, hwid, installCode, providerCode = null } = key;
      const found = on.byCode.get({ domainHash, hwid, installCode });
      if (found === null || providerCode === null) return found;
      return codeOf(found.providerId) === providerCode ? found : null;
    }
    const bound = on.byKeyBound.all({ ...key });
    const [found = null, other] = bound.length > 0 ? bound : on.byKey.all({ ...key });
    return other === undefined ? found : 'key_ambiguous';
  }

  function fullLink(installId: number): DoorHere['full'] {
    const row = on.policy.get({ installId });
    if (row === null) return null;
    const policy = policyOf(row, {
      inactiveDays: row.providerInactiveDays,
      whenFull: row.providerWhenFull,
      coolDownHours: row.providerCoolDownHours,
    });
    const oldest = freesSlots(policy) ? on.oldest.get({ installId }) : null;
    return oldest && { policy, replacedAtMs: row.replacedAtMs, oldest };
  }

  return (key: SlotKey): DoorHere | NoLink => {
    const row = rowOf(key);
    if (row === null) return 'link_not_found';
    if (row === 'key_ambiguous') return row;
    const { installId, providerId, status, installLimit, deviceCount } = row;
    const providerCode = codeOf(providerId);
    const link = { installId, providerId, providerCode, status, installLimit, deviceCount };
    const device = deviceIn(row);
    const isFull = device === null && deviceCount >= installLimit;
    return { link, isBound: isBound(row), device, full: isFull ? fullLink(installId) : null };
  };
}

const isBound = (row: DoorRow | undefined) => row?.domainStatus === DOMAIN_ACTIVE;

function deviceIn(row: DoorRow): DeviceAtProvider | null {
  const { slotSeenAtMs, os, osVersion, deviceName, appVersion, userAgent } = row;
  if (slotSeenAtMs === null) return null;
  const isRegistered = row.isRegistered === 1;
  const lastSeenAtMs = slotSeenAtMs;
  return { os, osVersion, deviceName, appVersion, userAgent, lastSeenAtMs, isRegistered };
}
