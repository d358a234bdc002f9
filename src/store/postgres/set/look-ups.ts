/** Look-ups by key, with which nearly every call begins: those of a turn share a statement. */

import { type SQL, sql } from 'drizzle-orm';
import { DOMAIN_ACTIVE } from '../../../core/port/domain.ts';
import type { Install } from '../../../core/port/install.ts';
import type { Provider } from '../../../core/port/provider.ts';
import type { SlotKey } from '../../../core/port/slot.ts';
import type { Store } from '../../../core/port/store.ts';
import { type DoorRow, doorSteps, PROVIDER_CODE, selectDoor } from '../../noun/door.ts';
import { INSTALL_COLUMNS } from '../../noun/install.ts';
import { PROVIDER_COLUMNS } from '../../noun/provider.ts';

import type { Context } from '../context.ts';
import { DIALECT, runOn, STATEMENTS } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, tableOf } from '../statement.ts';

/** Look-ups of one statement. */
const LOOK_UPS_MAX = 64;

type LookUps = Pick<Store, 'findProvider' | 'listInstalls' | 'findSlot'>;

const KEYS = tableOf('k', {
  ...{ name: 'text', providerCode: 'text', domainHash: 'text', hwid: 'text' },
});

/** Finds the doors of up to two links for each key; bound links of a key come first. */
const doors = (links: SQL) =>
  prepare<DoorRow & { n: number }>(sql`
      SELECT k.n AS n, x.* FROM ${KEYS.from}
      CROSS JOIN LATERAL (
        SELECT * FROM (
          ${selectDoor(DIALECT, { hwid: sql`k.hwid`, hash: sql`k.domain_hash`, more: PROVIDER_CODE })}
          WHERE ${links}) y
        WHERE k.provider_code IS NULL OR k.provider_code = y."providerCode"
        ORDER BY y."domainStatus" = ${DOMAIN_ACTIVE} DESC NULLS LAST LIMIT 2) x`);

const on = {
  providers: prepare<Provider>(sql`
      SELECT ${PROVIDER_COLUMNS} FROM provider WHERE code = ANY(:codes::text[])`),
  installs: prepare<Install & { providerId: number }>(sql`
      SELECT ${INSTALL_COLUMNS}, provider_id AS "providerId" FROM install
      WHERE id = ANY(:ids::bigint[])`),
  doorsByCode: doors(sql`i.install_code = k.name`),
  doorsByKey: doors(sql`i.subscription_key_hash = decode(k.name, 'hex')`),
};

const { doorOf } = doorSteps(STATEMENTS);

/** Finds doors by links that all calls name in the same way. */
async function findDoors(runner: Runner, keys: readonly SlotKey[]) {
  const isByCode = keys.some((key) => 'installCode' in key);
  const named = keys.map(({ providerCode = null, domainHash, hwid, ...link }) => {
    const name = 'installCode' in link ? link.installCode : link.subscriptionKeyHash;
    return { name, providerCode, domainHash, hwid };
  });
  const rows = await (isByCode ? on.doorsByCode : on.doorsByKey).all(runner, KEYS.of(named));
  const byKey = Map.groupBy(rows, ({ n }) => n - 1);
  return Promise.all(
    keys.map((key, n) => {
      const [first, ...others] = byKey.get(n) ?? [];
      if (first === undefined) return 'link_not_found' as const;
      const isBound = ({ domainStatus }: DoorRow) => domainStatus === DOMAIN_ACTIVE;
      // If one link is bound, the key names that one.
      const rivals = others.filter((other) => isBound(other) === isBound(first));
      return runOn(runner, doorOf([first, ...rivals], key));
    }),
  );
}

/** Makes a group whose statement finds its items by different keys. */
function groupOf<Key, Found>(
  { db }: Context,
  run: (keys: readonly Key[]) => Promise<readonly Found[]>,
): TurnGroup<Key, Found> {
  return new TurnGroup(db, { itemsMax: LOOK_UPS_MAX, run });
}

export function lookUps(context: Context, noun: Pick<Store, 'listInstalls'>): LookUps {
  const { db } = context;
  const providers = groupOf(context, async (codes: readonly string[]) => {
    const found = await on.providers.all(db, { codes: [...new Set(codes)] });
    const byCode = new Map(found.map((provider) => [provider.code, provider]));
    return codes.map((code) => byCode.get(code) ?? null);
  });
  const installs = groupOf(context, async (ids: readonly number[]) => {
    const found = await on.installs.all(db, { ids: [...new Set(ids)] });
    const byId = new Map(found.map((link) => [link.id, link]));
    return ids.map((id) => byId.get(id) ?? null);
  });
  const doorsByCode = groupOf(context, (keys: readonly SlotKey[]) => findDoors(db, keys));
  const doorsByKey = groupOf(context, (keys: readonly SlotKey[]) => findDoors(db, keys));

  async function findInstall(ownerId: number, id: number): Promise<Install[]> {
    const found = await installs.ask(id);
    if (found === null) return [];
    const { providerId, ...link } = found;
    return providerId === ownerId ? [link] : [];
  }

  return {
    findProvider: (code) => providers.ask(code),
    listInstalls: (providerId, page) => {
      const { id, beforeId } = page;
      if (id === null) return noun.listInstalls(providerId, page);
      return beforeId === null || id < beforeId ? findInstall(providerId, id) : [];
    },
    findSlot: (key) => ('installCode' in key ? doorsByCode : doorsByKey).ask(key),
  };
}
