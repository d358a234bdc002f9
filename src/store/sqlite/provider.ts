import { asc, eq, sql } from 'drizzle-orm';
import { type Changes, changesOf, type Facts } from '../../core/audit/entry.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Provider, ProviderChange } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import { keyFingerprint } from '../../core/secret.ts';
import { nextTurn } from '../../core/turn.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Context } from './context.ts';
import { raw } from './raw.ts';
import { removalSteps } from './removal.ts';
import { provider } from './schema.ts';
import { named, prepare, value } from './statement.ts';

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

const isoTime = (epochMs: number | null) =>
  epochMs === null ? null : new Date(epochMs).toISOString();

/** What the audit log tells of a provider. */
function factsOf({
  plan,
  activeUntilMs,
  installCountMax,
}: Pick<Provider, 'plan' | 'activeUntilMs' | 'installCountMax'>): Facts {
  return { plan, active_until: isoTime(activeUntilMs), max_links: installCountMax };
}

/** Notes what becomes of `known` by `change`: a suspension, and whatever else is another. */
function noteChange(audit: AuditTrail, act: Act, known: Provider, change: ProviderChange): void {
  const provider = known.code;
  const wanted = { ...known, ...change };
  const suspension: Changes | null = changesOf(
    { suspended_at: isoTime(known.suspendedAtMs) },
    { suspended_at: isoTime(wanted.suspendedAtMs) },
  );
  if (suspension !== null) {
    const action = wanted.suspendedAtMs === null ? 'provider.resume' : 'provider.suspend';
    audit.note(act, { action, provider, object: {}, change: suspension });
  }
  const rest: Changes = {
    ...changesOf(factsOf(known), factsOf(wanted)),
    ...(wanted.name !== known.name && { name: 'changed' as const }),
  };
  if (Object.keys(rest).length > 0) {
    audit.note(act, { action: 'provider.set', provider, object: {}, change: rest });
  }
}

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
        previous_key_until_ms: sql`${value('previousUntilMs')}`,
        key_hash: sql`${value('keyHash')}`,
      })
      .where(eq(provider.code, value('code'))),
  );
  const remove = prepare(db, query.delete(provider).where(eq(provider.code, value('code'))));
  /** From here on nobody can use the provider: no key is good, no subscription active. */
  const close = prepare(
    db,
    raw(sql`
      UPDATE provider SET key_hash = randomblob(32), previous_key_hash = NULL, active_until_ms = 0
      WHERE id = ${value('providerId')}`),
  );
  const removal = removalSteps(db);

  return {
    findProvider: async (code) => find.get({ code }) as Provider | null,
    listProviders: async () => list.all() as Provider[],
    addProvider: (draft, act) =>
      writer.run(() => {
        if (add.run({ ...draft }) === 0) return 'provider_code_exists';
        const { code, keyHash } = draft;
        const object = { key: keyFingerprint(keyHash), ...factsOf(draft) };
        audit.note(act, { action: 'provider.add', provider: code, object });
        return 'ok';
      }),
    updateProvider: (code, wanted, act) =>
      writer.run(() => {
        const known = find.get({ code }) as Provider | null;
        if (known === null) return 'provider_not_found';
        const { name, plan, activeUntilMs, installCountMax, suspendedAtMs } = {
          ...known,
          ...wanted,
        };
        change.run({ code, name, plan, activeUntilMs, installCountMax, suspendedAtMs });
        noteChange(audit, act, known, wanted);
        return 'ok';
      }),
    rotateKey: (code, keyHash, previousUntilMs, act) =>
      writer.run(() => {
        const known = find.get({ code }) as Provider | null;
        if (known === null) return 'provider_not_found';
        rotate.run({ code, keyHash, previousUntilMs });
        const object = { old_key_until: isoTime(previousUntilMs) };
        const key = [keyFingerprint(known.keyHash), keyFingerprint(keyHash)] as const;
        audit.note(act, { action: 'provider.rotate-key', provider: code, object, change: { key } });
        return 'ok';
      }),
    removeProvider: async (code, act) => {
      const found = find.get({ code });
      if (found === null) return 'provider_not_found';
      const of = { providerId: found.id };
      await writer.run(() => {
        if (close.run(of) === 0) return;
        const object = { links: found.installCount };
        audit.note(act, { action: 'provider.remove', provider: code, object });
      });
      for (const step of removal) {
        while ((await writer.run(() => step(of))) > 0) await nextTurn();
      }
      return writer.run(() => (remove.run({ code }) > 0 ? 'ok' : 'provider_not_found'));
    },
  };
}
