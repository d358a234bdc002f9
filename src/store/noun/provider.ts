/** Providers. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Provider, ProviderStore } from '../../core/port/provider.ts';
import type { OwnRideTerms } from '../../core/port/ride.ts';
import { NO_POLICY, NO_RIDE_TERMS } from '../../core/slot.ts';
import type { Backend } from '../backend.ts';
import { PAGE_COLUMNS, SET_PAGE } from './my.ts';
import { NEW_POLICY, POLICY_COLUMNS, POLICY_VALUES, SET_POLICY } from './policy.ts';
import { BUTTON_VALUES, NEW_BUTTONS, RIDE_COLUMNS, ridesChanged, SET_RIDE } from './ride-terms.ts';

export const PROVIDER_COLUMNS = sql.raw(`
  id, code, name, plan, active_until_ms AS "activeUntilMs", suspended_at_ms AS "suspendedAtMs",
  install_count_max AS "installCountMax", install_count AS "installCount",
  created_at_ms AS "createdAtMs", key_hash AS "keyHash", previous_key_hash AS "previousKeyHash",
  previous_key_until_ms AS "previousKeyUntilMs", ${POLICY_COLUMNS},
  ${RIDE_COLUMNS}, ${PAGE_COLUMNS}`);

function statements(backend: Backend) {
  const ofCode = sql`code = :code`;
  return {
    find: backend.prepare<Provider>(sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE ${ofCode}`),
    lock: backend.prepare<Provider>(sql`
        SELECT ${PROVIDER_COLUMNS} FROM provider WHERE ${ofCode} ${backend.locked}`),
    list: backend.prepare<Provider>(sql`SELECT ${PROVIDER_COLUMNS} FROM provider ORDER BY id`),
    page: backend.prepare<Provider>(sql`
        SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id > :afterId
        ORDER BY id LIMIT :countMax`),
    add: backend.prepare(sql`
        INSERT INTO provider (code, name, plan, key_hash, active_until_ms, install_count_max,
          created_at_ms, ${NEW_POLICY}, ride, ride_desktop, buttons, ${NEW_BUTTONS})
        VALUES (:code, :name, :plan, :keyHash,
          :activeUntilMs, :installCountMax, :createdAtMs,
          ${POLICY_VALUES}, :ride, :rideDesktop, :buttons,
          ${BUTTON_VALUES})
        ON CONFLICT DO NOTHING`),
    change: backend.prepare(sql`
        UPDATE provider
        SET name = :name, plan = :plan,
          active_until_ms = :activeUntilMs,
          install_count_max = :installCountMax,
          suspended_at_ms = :suspendedAtMs, ${SET_POLICY},
          ${SET_RIDE}, ${SET_PAGE}
        WHERE ${ofCode}`),
    ridesChanged: ridesChanged(backend),
    rotate: backend.prepare(sql`
        UPDATE provider
        SET previous_key_hash = key_hash, previous_key_until_ms = :previousKeyUntilMs,
          key_hash = :keyHash
        WHERE ${ofCode}`),
  };
}

/** Fields that change the messages that ride. */
const RIDE_FIELDS = [
  ...(Object.keys(NO_RIDE_TERMS) as (keyof OwnRideTerms)[]),
  ...(['activeUntilMs', 'suspendedAtMs', 'my'] as const),
];

type ProviderNoun = Omit<ProviderStore, 'closeProvider' | 'removeProvider'>;

export function providerNoun(backend: Backend): ProviderNoun {
  const on = statements(backend);

  return {
    findProvider: (code) => backend.read(() => on.find.get({ code })),
    listProviders: async () => backend.read(() => on.list.all()),
    pageProviders: async (afterId, countMax) =>
      backend.read(() => on.page.all({ afterId, countMax })),
    addProvider: (draft, act) =>
      backend.write(function* (notes) {
        const row = { ...NO_POLICY, ...NO_RIDE_TERMS, ...draft };
        if ((yield* on.add.run(row)) === 0) return 'provider_code_exists';
        // Of its buttons; most providers have none.
        const { code, plan, supportUrl, webPageUrl } = row;
        const added = (supportUrl ?? webPageUrl) === null ? null : yield* on.find.get({ code });
        if (added !== null) yield* on.ridesChanged.run({ providerId: added.id });
        notes.audit(act, deeds.addProvider(draft));
        notes.event(null, act.atMs, () => happenings.providerAdded(code, plan));
        return 'ok';
      }),
    updateProvider: (code, wanted, act) =>
      backend.write(function* (notes) {
        const known = yield* on.lock.get({ code });
        if (known === null) return 'provider_not_found';
        const after = { ...known, ...wanted };
        yield* on.change.run({ ...after });
        if (RIDE_FIELDS.some((name) => known[name] !== after[name])) {
          yield* on.ridesChanged.run({ providerId: known.id });
        }
        for (const deed of deeds.updateProvider(known, after)) {
          notes.audit(act, deed);
          notes.event(null, act.atMs, () => happenings.providerChanged(after, deed));
        }
        return 'ok';
      }),
    rotateKey: (code, keyHash, previousKeyUntilMs, act) =>
      backend.write(function* (notes) {
        const known = yield* on.lock.get({ code });
        if (known === null) return 'provider_not_found';
        const after = { code, keyHash, previousKeyUntilMs };
        yield* on.rotate.run(after);
        const { atMs } = act;
        notes.audit(act, deeds.rotateKey(known, after));
        notes.event(known.id, atMs, () => happenings.keyRotated(previousKeyUntilMs));
        notes.event(null, atMs, () => happenings.providerKeyRotated(code, previousKeyUntilMs));
        return 'ok';
      }),
  };
}
