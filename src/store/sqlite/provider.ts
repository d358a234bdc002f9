import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { Store } from '../../core/port/store.ts';
import { NO_POLICY } from '../../core/slot.ts';
import { AnswerCache } from './answer-cache.ts';
import type { Context } from './context.ts';
import { POLICY_COLUMNS, SET_POLICY } from './lookups.ts';
import { value } from './statement.ts';

type ProviderStore = Pick<
  Store,
  'addProvider' | 'findProvider' | 'listProviders' | 'updateProvider' | 'rotateKey'
>;

export const PROVIDER_COLUMNS = sql.raw(`
  id, code, name, plan, active_until_ms AS "activeUntilMs", suspended_at_ms AS "suspendedAtMs",
  install_count_max AS "installCountMax", install_count AS "installCount",
  created_at_ms AS "createdAtMs", key_hash AS "keyHash", previous_key_hash AS "previousKeyHash",
  previous_key_until_ms AS "previousKeyUntilMs", ${POLICY_COLUMNS}`);

function statements({ db }: Context) {
  const ofCode = sql`code = ${value('code')}`;
  return {
    find: db.prepare<Provider>(sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE ${ofCode}`),
    list: db.prepare<Provider>(sql`SELECT ${PROVIDER_COLUMNS} FROM provider ORDER BY id`),
    add: db.prepare(sql`
        INSERT INTO provider (code, name, plan, key_hash, active_until_ms, install_count_max,
          created_at_ms, inactive_days, when_full, cool_down_hours)
        VALUES (${value('code')}, ${value('name')}, ${value('plan')}, ${value('keyHash')},
          ${value('activeUntilMs')}, ${value('installCountMax')}, ${value('createdAtMs')},
          ${value('inactiveDays')}, ${value('whenFull')}, ${value('coolDownHours')})
        ON CONFLICT DO NOTHING`),
    change: db.prepare(sql`
        UPDATE provider
        SET name = ${value('name')}, plan = ${value('plan')},
          active_until_ms = ${value('activeUntilMs')},
          install_count_max = ${value('installCountMax')},
          suspended_at_ms = ${value('suspendedAtMs')}, ${SET_POLICY}
        WHERE ${ofCode}`),
    rotate: db.prepare(sql`
        UPDATE provider
        SET previous_key_hash = key_hash, previous_key_until_ms = ${value('previousKeyUntilMs')},
          key_hash = ${value('keyHash')}
        WHERE ${ofCode}`),
  };
}

export function providerStore(context: Context): ProviderStore {
  const { db, writer, audit, events } = context;
  const on = statements(context);
  const providers = new AnswerCache(db, (code) => on.find.get({ code }));

  return {
    findProvider: (code) => providers.get(code),
    listProviders: async () => on.list.all(),
    addProvider: (draft, act) =>
      writer.run(() => {
        if (on.add.run({ ...NO_POLICY, ...draft }) === 0) return 'provider_code_exists';
        audit.note(act, deeds.addProvider(draft));
        const { code, plan } = draft;
        events.note(null, act.atMs, () => happenings.providerAdded(code, plan));
        return 'ok';
      }),
    updateProvider: (code, wanted, act) =>
      writer.run(() => {
        const known = on.find.get({ code });
        if (known === null) return 'provider_not_found';
        const after = { ...known, ...wanted };
        on.change.run({ ...after });
        for (const deed of deeds.updateProvider(known, after)) {
          audit.note(act, deed);
          events.note(null, act.atMs, () => happenings.providerChanged(after, deed));
        }
        return 'ok';
      }),
    rotateKey: (code, keyHash, previousKeyUntilMs, act) =>
      writer.run(() => {
        const known = on.find.get({ code });
        if (known === null) return 'provider_not_found';
        const after = { code, keyHash, previousKeyUntilMs };
        on.rotate.run(after);
        audit.note(act, deeds.rotateKey(known, after));
        events.note(known.id, act.atMs, () => happenings.keyRotated(previousKeyUntilMs));
        events.note(null, act.atMs, () => happenings.providerKeyRotated(code, previousKeyUntilMs));
        return 'ok';
      }),
  };
}
