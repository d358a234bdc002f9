import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import { NO_POLICY } from '../../core/slot.ts';
import type { Context } from './context.ts';
import { TurnGroup } from './group.ts';
import { POLICY_COLUMNS, SET_POLICY } from './lookups.ts';
import { prepare, value } from './statement.ts';

type ProviderStore = Pick<
  Store,
  'addProvider' | 'findProvider' | 'listProviders' | 'updateProvider' | 'rotateKey'
>;

export const PROVIDER_COLUMNS = sql.raw(`
  id, code, name, plan, active_until_ms AS "activeUntilMs", suspended_at_ms AS "suspendedAtMs",
  install_count_max AS "installCountMax", install_count AS "installCount",
  created_at_ms AS "createdAtMs", key_hash AS "keyHash", previous_key_hash AS "previousKeyHash",
  previous_key_until_ms AS "previousKeyUntilMs", ${POLICY_COLUMNS}`);

const OF_CODE = sql`code = ${value('code')}`;
const on = {
  find: prepare<Provider>(sql`
      SELECT ${PROVIDER_COLUMNS} FROM provider WHERE code = ANY(${value('codes')}::text[])`),
  lock: prepare<Provider>(sql`
      SELECT ${PROVIDER_COLUMNS} FROM provider WHERE ${OF_CODE} FOR NO KEY UPDATE`),
  list: prepare<Provider>(sql`SELECT ${PROVIDER_COLUMNS} FROM provider ORDER BY id`),
  add: prepare(sql`
      INSERT INTO provider (code, name, plan, key_hash, active_until_ms, install_count_max,
        created_at_ms, inactive_days, when_full, cool_down_hours)
      VALUES (${value('code')}, ${value('name')}, ${value('plan')}, ${value('keyHash')},
        ${value('activeUntilMs')}, ${value('installCountMax')}, ${value('createdAtMs')},
        ${value('inactiveDays')}, ${value('whenFull')}, ${value('coolDownHours')})
      ON CONFLICT DO NOTHING`),
  change: prepare(sql`
      UPDATE provider
      SET name = ${value('name')}, plan = ${value('plan')},
        active_until_ms = ${value('activeUntilMs')},
        install_count_max = ${value('installCountMax')},
        suspended_at_ms = ${value('suspendedAtMs')}, ${SET_POLICY}
      WHERE ${OF_CODE}`),
  rotate: prepare(sql`
      UPDATE provider
      SET previous_key_hash = key_hash, previous_key_until_ms = ${value('previousKeyUntilMs')},
        key_hash = ${value('keyHash')}
      WHERE ${OF_CODE}`),
};

/** Nearly each call begins with its provider: those of a turn are looked up together. */
function findTogether({ db }: Context): TurnGroup<string, Provider | null> {
  return new TurnGroup(db, {
    run: async (codes) => {
      const found = await on.find.all(db, { codes: [...new Set(codes)] });
      const byCode = new Map(found.map((provider) => [provider.code, provider]));
      return codes.map((code) => byCode.get(code) ?? null);
    },
    itemsMax: 64,
  });
}

export function providerStore(context: Context): ProviderStore {
  const { db, write } = context;
  const found = findTogether(context);

  return {
    findProvider: (code) => found.ask(code),
    listProviders: () => on.list.all(db),
    addProvider: (draft, act) =>
      write(async (w) => {
        const isAdded = (await on.add.run(w, { ...NO_POLICY, ...draft })) > 0;
        if (!isAdded) return 'provider_code_exists';
        w.audit.note(act, deeds.addProvider(draft));
        const { code, plan } = draft;
        w.events.note(null, act.atMs, () => happenings.providerAdded(code, plan));
        return 'ok';
      }),
    updateProvider: (code, wanted, act) =>
      write(async (w) => {
        const known = await on.lock.get(w, { code });
        if (known === null) return 'provider_not_found';
        const after = { ...known, ...wanted };
        await on.change.run(w, { ...after });
        for (const deed of deeds.updateProvider(known, after)) {
          w.audit.note(act, deed);
          w.events.note(null, act.atMs, () => happenings.providerChanged(after, deed));
        }
        return 'ok';
      }),
    rotateKey: (code, keyHash, previousKeyUntilMs, act) =>
      write(async (w) => {
        const known = await on.lock.get(w, { code });
        if (known === null) return 'provider_not_found';
        const after = { code, keyHash, previousKeyUntilMs };
        await on.rotate.run(w, after);
        w.audit.note(act, deeds.rotateKey(known, after));
        w.events.note(known.id, act.atMs, () => happenings.keyRotated(previousKeyUntilMs));
        w.events.note(null, act.atMs, () =>
          happenings.providerKeyRotated(code, previousKeyUntilMs),
        );
        return 'ok';
      }),
  };
}
