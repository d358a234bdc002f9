/**
 * Look-ups by a key that nearly each call begins with: those of a turn share a statement. By
 * bench/sets.ts one of 32 costs, in us of processor time with PostgreSQL's, and alone: a provider
 * 14 and 63, a link 30 and 72, a door 36 and 127, a token 21 and 72.
 */

import type { SQL } from 'drizzle-orm';
import { DOMAIN_ACTIVE } from '../../../core/port/domain.ts';
import type { Link } from '../../../core/port/link.ts';
import type { SlotKey } from '../../../core/port/slot.ts';
import type { Store } from '../../../core/port/store.ts';
import { type DoorRow, doorSteps, PROVIDER_CODE, selectDoor } from '../../noun/door.ts';
import { INSTALL_COLUMNS } from '../../noun/link.ts';
import { allSeen } from '../../noun/look-ups.ts';
import { PROVIDER_COLUMNS } from '../../noun/provider.ts';
import { columns, sql } from '../../statement-text.ts';
import { DIALECT, runOn, STATEMENTS } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';

/** Look-ups of one statement, and of one that looks up tokens. */
const LOOK_UPS_MAX = 64;
const TOKENS_MAX = 200;

type LookUps = Pick<Store, 'findProvider' | 'listLinksOf' | 'findSlot' | 'findDeviceByToken'>;

const KEYS = tableOf('k', {
  name: 'text',
  providerCode: 'text',
  domainHash: 'text',
  hwid: 'text',
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

interface Shown {
  id: number | null;
  hwid: string;
  tokenId: number;
  lastSeenAtMs: number;
  providerId: number | null;
  hasStream: number;
  ended: string | null;
}

const on = {
  providers: prepare(sql`
      SELECT ${PROVIDER_COLUMNS} FROM provider WHERE code = ANY(:codes::text[])`),
  installs: prepare(sql`
      SELECT ${INSTALL_COLUMNS}, ${columns('install', 'providerId')} FROM install
      WHERE id = ANY(:ids::bigint[])`),
  tokens: prepare<Shown>(sql`
      SELECT d.id AS id, d.hwid AS hwid, t.id AS "tokenId", t.has_stream AS "hasStream",
        t.ended AS ended,
        least(d.last_seen_at_ms, t.last_seen_at_ms, (SELECT min(${allSeen(DIALECT)})
          FROM device_provider p WHERE p.token_id = t.id)) AS "lastSeenAtMs",
        (SELECT min(p.provider_id) FROM device_provider p WHERE p.token_id = t.id) AS "providerId"
      FROM unnest(:tokenHashes::bytea[]) WITH ORDINALITY AS k (token_hash, n)
        LEFT JOIN LATERAL (
          SELECT * FROM device_token WHERE token_hash = k.token_hash LIMIT 1) t ON true
        LEFT JOIN LATERAL (SELECT * FROM device WHERE id = t.device_id LIMIT 1) d ON true
      ORDER BY k.n`),
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

/** Makes a group whose items are the keys of rows; null: there is no row. */
function groupOf<Key extends string | number, Row>(
  { db }: Context,
  all: (keys: readonly Key[]) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
) {
  return new TurnGroup<Key, Row | null>(db, {
    itemsMax: LOOK_UPS_MAX,
    run: async (keys) => {
      const rows = new Map((await all([...new Set(keys)])).map((row) => [keyOf(row), row]));
      return keys.map((key) => rows.get(key) ?? null);
    },
  });
}

export function lookUps(context: Context, noun: Pick<Store, 'listLinksOf' | 'findSlot'>): LookUps {
  const { db } = context;
  const run = (keys: readonly SlotKey[]) => findDoors(db, keys);
  const doorsByCode = new TurnGroup(db, { itemsMax: LOOK_UPS_MAX, run });
  const doorsByKey = new TurnGroup(db, { itemsMax: LOOK_UPS_MAX, run });
  const providers = groupOf(
    context,
    (codes: readonly string[]) => on.providers.all(db, { codes }),
    ({ code }) => code,
  );
  const installs = groupOf(
    context,
    (ids: readonly number[]) => on.installs.all(db, { ids }),
    ({ id }) => id,
  );
  const tokens = new TurnGroup(db, {
    itemsMax: TOKENS_MAX,
    run: (tokenHashes: readonly Uint8Array[]) => on.tokens.all(db, { tokenHashes }),
  });

  async function findLink(ownerId: number, id: number): Promise<Link[]> {
    const found = await installs.ask(id);
    if (found === null) return [];
    const { providerId, ...link } = found;
    return providerId === ownerId ? [link] : [];
  }

  return {
    findProvider: (code) => providers.ask(code),
    listLinksOf: (providerId, page) => {
      const { id, beforeId } = page;
      if (id === null) return noun.listLinksOf(providerId, page);
      return beforeId === null || id < beforeId ? findLink(providerId, id) : [];
    },
    findSlot: (key) =>
      key.sight === undefined
        ? ('installCode' in key ? doorsByCode : doorsByKey).ask(key)
        : noun.findSlot(key),
    findDeviceByToken: async (tokenHash) => {
      const { id, ...rest } = await tokens.ask(tokenHash);
      return id === null ? null : { id, ...rest };
    },
  };
}
