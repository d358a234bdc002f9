/** Reads the page of users and its link, and frees a slot for its user. */

import { freeFromMs } from '../../core/my.ts';
import { INSTALL_ACTIVE } from '../../core/port/link.ts';
import type { MyLink, MyStore } from '../../core/port/my.ts';
import type { Buttons } from '../../core/port/ride.ts';
import { NO_POLICY, policyOf } from '../../core/slot.ts';
import { usedButtons } from '../../core/unconfirmed.ts';
import type { Backend } from '../backend.ts';
import { columns, ofTable, type RowsOf, sql, values } from '../statement-text.ts';
import { ACTIVE_BINDING } from '../status.ts';
import { cutSteps } from './cut-off-steps.ts';
import { linkChangeSteps } from './link.ts';

const BUTTONS = ['supportUrl', 'webPageUrl', 'formerButtons', 'buttonsAtMs'] as const;

/** Columns of links `i` and of their providers `o`. */
const LINK = sql`${columns(
  { i: 'install', o: 'provider' },
  `i.id AS installId, i.installCode, i.installLimit, i.deviceCount, i.freedAtMs,
  o.id AS providerId, o.code AS providerCode, o.keyHash, o.myName, o.myColor, o.myTraffic,
  o.myCutOff, o.subscriptionFigures, o.timeZone, o.confirmedAtMs`,
)}, ${columns({ i: 'install', o: 'provider' }, [
  ...ofTable('i', BUTTONS, 'link'),
  ...ofTable('o', BUTTONS, 'provider'),
])},
  ${values<{ coolDownHours: number | null }>({
    coolDownHours: sql`coalesce(i.cool_down_hours, o.cool_down_hours)`,
  })}`;
type Row = RowsOf<[typeof LINK]>;

/** Returns the addresses of the page: those that a person set, or that waited for a day. */
function buttonsOf(row: Row, nowMs: number): Buttons {
  const { confirmedAtMs } = row;
  const own = usedButtons(
    {
      supportUrl: row.linkSupportUrl,
      webPageUrl: row.linkWebPageUrl,
      formerButtons: row.linkFormerButtons,
      buttonsAtMs: row.linkButtonsAtMs,
    },
    confirmedAtMs,
    nowMs,
  );
  const above = usedButtons(
    {
      supportUrl: row.providerSupportUrl,
      webPageUrl: row.providerWebPageUrl,
      formerButtons: row.providerFormerButtons,
      buttonsAtMs: row.providerButtonsAtMs,
    },
    confirmedAtMs,
    nowMs,
  );
  return {
    supportUrl: own.supportUrl ?? above.supportUrl,
    webPageUrl: own.webPageUrl ?? above.webPageUrl,
  };
}

const linkOf = (row: Row, nowMs: number): MyLink => ({
  installId: row.installId,
  installCode: row.installCode,
  installLimit: row.installLimit,
  deviceCount: row.deviceCount,
  freedAtMs: row.freedAtMs,
  providerId: row.providerId,
  providerCode: row.providerCode,
  keyHash: row.keyHash,
  myName: row.myName,
  myColor: row.myColor,
  myTraffic: row.myTraffic,
  subscriptionFigures: row.subscriptionFigures,
  timeZone: row.timeZone,
  myCutOff: row.myCutOff,
  ...buttonsOf(row, nowMs),
  coolDownHours: policyOf(NO_POLICY, { ...NO_POLICY, coolDownHours: row.coolDownHours })
    .coolDownHours,
});

export function myNoun(backend: Backend): MyStore {
  const { prepare, bytes, join, once } = backend;
  const link = sql`SELECT ${LINK} FROM install i ${join} provider o ON o.id = i.provider_id`;
  const isOpen = sql`i.status = ${INSTALL_ACTIVE} AND o.my = 1 AND o.suspended_at_ms IS NULL
    AND (o.active_until_ms IS NULL OR o.active_until_ms > :nowMs)
    AND (CAST(${once('providerCode')} AS text) IS NULL OR o.code = ${once('providerCode')})`;
  const on = {
    byId: prepare(sql`${link} WHERE i.id = ${once('installId')} AND ${isOpen}`),
    byCode: prepare(sql`${link} WHERE i.install_code = ${once('installCode')} AND ${isOpen}`),
    /** Finds up to two links with the key whose providers have bound the host. */
    byKey: prepare(sql`
        ${link} WHERE i.subscription_key_hash = ${bytes('subscriptionKeyHash')}
          AND ${isOpen} AND EXISTS (SELECT 1 FROM domain b
            WHERE b.provider_id = i.provider_id AND b.domain_hash = ${once('domainHash')}
              AND b.status = ${ACTIVE_BINDING}) LIMIT 2`),
    lock: prepare(sql`
        ${link} WHERE i.id = :installId AND i.status = ${INSTALL_ACTIVE} AND o.my = 1`),
    slot: prepare(sql`
        SELECT ${columns({ s: 'install_device' }, 's.id')}
        FROM install_device s ${join} device d ON d.id = s.device_id
        WHERE s.install_id = :installId AND d.hwid = :hwid
          AND s.registered_at_ms = :registeredAtMs`),
    freed: prepare(sql`
        UPDATE install SET freed_at_ms = :nowMs WHERE id = :installId`),
  };
  const { free } = linkChangeSteps(backend);
  const { ask } = cutSteps(backend);

  return {
    findMy: (name, nowMs) =>
      backend.read(function* () {
        const { domainHash, providerCode = null } = name;
        if ('installId' in name) {
          const row = yield* on.byId.get({ installId: name.installId, providerCode, nowMs });
          return row && linkOf(row, backend.leastMs(nowMs));
        }
        if ('installCode' in name) {
          const row = yield* on.byCode.get({ installCode: name.installCode, providerCode, nowMs });
          return row && linkOf(row, backend.leastMs(nowMs));
        }
        const { subscriptionKeyHash } = name;
        const values = { subscriptionKeyHash, providerCode, domainHash, nowMs };
        const [row, other] = yield* on.byKey.all(values);
        return row === undefined || other !== undefined ? null : linkOf(row, nowMs);
      }),

    freeOwnSlot: ({ installId, providerId, hwid, registeredAtMs }, act, cut = null) =>
      backend.write(function* (notes) {
        // In separate statements: later ones see the commits of others.
        yield* backend.lockProvider(providerId);
        yield* backend.lockRows({ install: [installId] });
        const row = yield* on.lock.get({ installId });
        if (row === null) return 'slot_gone';
        if ((yield* on.slot.get({ installId, hwid, registeredAtMs })) === null) return 'slot_gone';
        if (backend.leastMs(act.atMs) < freeFromMs(linkOf(row, act.atMs))) return 'cooling_down';
        if (cut !== null) {
          if (row.myCutOff === 0) return 'slot_gone';
          const asked = yield* ask(notes, providerId, cut, act);
          if (asked === 'cut_too_soon') return 'cooling_down';
          if (asked === 'install_code_error') return 'slot_gone';
        } else {
          const selector = { installCode: null, installId };
          yield* free(notes, { providerId, selector, hwid }, act);
        }
        yield* on.freed.run({ installId, nowMs: act.atMs });
        return 'ok';
      }),
  };
}
