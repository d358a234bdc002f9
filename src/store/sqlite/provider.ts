import { asc, eq, sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { Kept } from './kept.ts';
import { provider } from './schema.ts';
import { named, prepare, value } from './statement.ts';

type ProviderStore = Pick<
  Store,
  'addProvider' | 'findProvider' | 'listProviders' | 'updateProvider' | 'rotateKey'
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

export function providerStore({ db, query, writer, audit }: Context): ProviderStore {
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
        previous_key_until_ms: sql`${value('previousKeyUntilMs')}`,
        key_hash: sql`${value('keyHash')}`,
      })
      .where(eq(provider.code, value('code'))),
  );
  const kept = new Kept(db, (code) => find.get({ code }) as Provider | null);

  return {
    findProvider: (code) => kept.get(code),
    listProviders: async () => list.all() as Provider[],
    addProvider: (draft, act) =>
      writer.run(() => {
        if (add.run({ ...draft }) === 0) return 'provider_code_exists';
        audit.note(act, deeds.addProvider(draft));
        return 'ok';
      }),
    updateProvider: (code, wanted, act) =>
      writer.run(() => {
        const known = find.get({ code }) as Provider | null;
        if (known === null) return 'provider_not_found';
        const after = { ...known, ...wanted };
        const { name, plan, activeUntilMs, installCountMax, suspendedAtMs } = after;
        change.run({ code, name, plan, activeUntilMs, installCountMax, suspendedAtMs });
        for (const deed of deeds.updateProvider(known, after)) audit.note(act, deed);
        return 'ok';
      }),
    rotateKey: (code, keyHash, previousKeyUntilMs, act) =>
      writer.run(() => {
        const known = find.get({ code }) as Provider | null;
        if (known === null) return 'provider_not_found';
        const after = { code, keyHash, previousKeyUntilMs };
        rotate.run(after);
        audit.note(act, deeds.rotateKey(known, after));
        return 'ok';
      }),
  };
}
