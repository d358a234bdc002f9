import { asc, eq, sql } from 'drizzle-orm';
import type { Provider } from '../../core/provider.ts';
import type { Store } from '../../core/store.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Connection } from './connection.ts';
import { type Context, value } from './context.ts';
import { raw } from './raw.ts';
import { provider } from './schema.ts';
import { named, prepare } from './statement.ts';

type ProviderStore = Pick<
  Store,
  | 'addProvider'
  | 'findProvider'
  | 'listProviders'
  | 'updateProvider'
  | 'rotateKey'
  | 'removeProvider'
>;

export const PROVIDER_COLUMNS = named({
  id: provider.id,
  code: provider.code,
  name: provider.name,
  plan: provider.plan,
  activeUntilMs: provider.active_until_ms,
  suspendedAtMs: provider.suspended_at_ms,
  installCountMax: provider.install_count_max,
  installCount: provider.install_count,
  createdAtMs: provider.created_at_ms,
  keyHash: provider.key_hash,
  previousKeyHash: provider.previous_key_hash,
  previousKeyUntilMs: provider.previous_key_until_ms,
});

/** How many rows a step of a removal deletes: it must not hold up the writes of others. */
const REMOVE_STEP = 2_000;

/** What belongs to a provider, in the order in which it can go; cascades would take all at once. */
function removalStatements(db: Connection) {
  const ofProvider = sql`provider_id = ${value('providerId')}`;
  const through = (table: string, parent: string) =>
    sql`DELETE FROM ${sql.raw(table)} WHERE rowid IN (
      SELECT t.rowid FROM ${sql.raw(parent)} o
      CROSS JOIN ${sql.raw(table)} t ON t.${sql.raw(parent)}_id = o.id
      WHERE o.${ofProvider} LIMIT ${REMOVE_STEP})`;
  const own = (table: string) =>
    sql`DELETE FROM ${sql.raw(table)} WHERE rowid IN (
      SELECT rowid FROM ${sql.raw(table)} WHERE ${ofProvider} LIMIT ${REMOVE_STEP})`;
  const steps = [
    through('recipient', 'distribution'),
    own('distribution'),
    through('device_domain', 'domain'),
    own('domain'),
    own('device_proof'),
    own('device_provider'),
    through('install_device', 'install'),
    own('install'),
  ];
  return {
    /** From here on nobody can use the provider: no key is good, no subscription active. */
    close: prepare(
      db,
      raw(sql`
        UPDATE provider SET key_hash = randomblob(32), previous_key_hash = NULL, active_until_ms = 0
        WHERE id = ${value('providerId')}`),
    ),
    steps: steps.map((step) => prepare(db, raw(step))),
  };
}

export function providerStore({ db, query, writer }: Context): ProviderStore {
  const find = prepare(
    db,
    query
      .select(PROVIDER_COLUMNS)
      .from(provider)
      .where(eq(provider.code, value('code'))),
  );
  const list = prepare(db, query.select(PROVIDER_COLUMNS).from(provider).orderBy(asc(provider.id)));
  const add = prepare(
    db,
    query
      .insert(provider)
      .values({
        code: value('code'),
        name: value('name'),
        plan: value('plan'),
        key_hash: value('keyHash'),
        active_until_ms: value('activeUntilMs'),
        install_count_max: value('installCountMax'),
        created_at_ms: value('createdAtMs'),
      })
      .onConflictDoNothing(),
  );
  const change = prepare(
    db,
    query
      .update(provider)
      .set({
        name: sql`${value('name')}`,
        plan: sql`${value('plan')}`,
        active_until_ms: sql`${value('activeUntilMs')}`,
        install_count_max: sql`${value('installCountMax')}`,
        suspended_at_ms: sql`${value('suspendedAtMs')}`,
      })
      .where(eq(provider.code, value('code'))),
  );
  const rotate = prepare(
    db,
    query
      .update(provider)
      .set({
        previous_key_hash: sql`${provider.key_hash}`,
        previous_key_until_ms: sql`${value('previousUntilMs')}`,
        key_hash: sql`${value('keyHash')}`,
      })
      .where(eq(provider.code, value('code'))),
  );
  const remove = prepare(db, query.delete(provider).where(eq(provider.code, value('code'))));
  const removal = removalStatements(db);

  return {
    findProvider: async (code) => find.get({ code }) as Provider | null,
    listProviders: async () => list.all() as Provider[],
    addProvider: (draft) =>
      writer.run(() => (add.run({ ...draft }) > 0 ? 'ok' : 'provider_code_exists')),
    updateProvider: (code, wanted) =>
      writer.run(() => {
        const known = find.get({ code });
        if (known === null) return 'provider_not_found';
        const { name, plan, activeUntilMs, installCountMax, suspendedAtMs } = {
          ...known,
          ...wanted,
        };
        change.run({ code, name, plan, activeUntilMs, installCountMax, suspendedAtMs });
        return 'ok';
      }),
    rotateKey: (code, keyHash, previousUntilMs) =>
      writer.run(() =>
        rotate.run({ code, keyHash, previousUntilMs }) > 0 ? 'ok' : 'provider_not_found',
      ),
    removeProvider: async (code) => {
      const found = find.get({ code });
      if (found === null) return 'provider_not_found';
      const of = { providerId: found.id };
      await writer.run(() => removal.close.run(of));
      for (const statement of removal.steps) {
        while ((await writer.run(() => statement.run(of))) > 0) await nextTurn();
      }
      return writer.run(() => (remove.run({ code }) > 0 ? 'ok' : 'provider_not_found'));
    },
  };
}
