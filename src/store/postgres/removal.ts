/** Removal of a provider, in steps that are small however much it owns. */

import { type SQL, sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { providerRemoved } from '../../core/event/happenings.ts';
import type { Store } from '../../core/port/store.ts';
import type { Context } from './context.ts';
import { lockProvider } from './lookups.ts';
import { prepare, type Runner, value } from './statement.ts';

/** Rows that a step deletes; with a recipient may go the push that waits for it. */
const REMOVE_STEP = 1_000;
/** Parents that it looks at: most have few rows. */
const PARENT_STEP = 100;

/** Deletes some rows of a provider, which is locked; says how many. */
type Step = (on: Runner, of: { providerId: number }) => Promise<number>;

const OF_PROVIDER = sql`provider_id = ${value('providerId')}`;

/** The step that deletes the rows whose `key` is among those that `found` finds. */
function deleting(table: string, key: string, found: SQL): Step {
  const statement = prepare(sql`
      DELETE FROM ${sql.raw(table)} WHERE (${sql.raw(key)}) IN (${found} LIMIT ${REMOVE_STEP})`);
  return (on, of) => statement.run(on, of);
}

/**
 * The same for rows that devices count. Each device is locked before them, as by everybody who
 * writes what is a device's.
 */
function deletingOfDevices(table: string, key: string, where: SQL): Step {
  const found = sql`
      SELECT ${sql.raw(key)}, device_id AS owner_id FROM ${sql.raw(table)} WHERE ${where}
      ORDER BY ${sql.raw(key)} LIMIT ${REMOVE_STEP}`;
  const lock = prepare(sql`
      SELECT id FROM device WHERE id = ANY(ARRAY(SELECT x.owner_id FROM (${found}) x))
      ORDER BY hwid FOR NO KEY UPDATE`);
  const rows = deleting(table, key, sql`SELECT ${sql.raw(key)} FROM (${found}) x`);
  return async (on, of) => {
    await lock.run(on, of);
    return rows(on, of);
  };
}

const someOf = (parent: string) => sql`
    ARRAY(SELECT id FROM ${sql.raw(parent)} WHERE ${OF_PROVIDER} ORDER BY id LIMIT ${PARENT_STEP})`;
const under = (parent: string) => sql`${sql.raw(parent)}_id = ANY(${someOf(parent)})`;

/**
 * The step that runs `rows` under a run of parents, and deletes those once it finds none: no step
 * looks at what is empty already. They are locked first, so that nobody adds a row meanwhile.
 */
function emptying(parent: string, rows: Step): Step {
  const lock = prepare(sql`
      SELECT id FROM ${sql.raw(parent)} WHERE id = ANY(${someOf(parent)})
      ORDER BY id FOR UPDATE`);
  const own = prepare(sql`DELETE FROM ${sql.raw(parent)} WHERE id = ANY(${someOf(parent)})`);
  return async (on, of) => {
    await lock.run(on, of);
    const count = await rows(on, of);
    return count > 0 ? count : own.run(on, of);
  };
}

/**
 * In the order in which they can run, each until it deletes nothing; cascades would take all at
 * once. Rows go before their parents.
 */
const STEPS: readonly Step[] = [
  deleting(
    'outbox',
    'id',
    sql`
      SELECT o.id FROM webhook w JOIN destination d ON d.webhook_id = w.id
        JOIN outbox o ON o.destination_id = d.id
      WHERE w.${OF_PROVIDER}`,
  ),
  deleting(
    'webhook_delivery',
    'webhook_id, event_id',
    sql`
      SELECT r.webhook_id, r.event_id FROM webhook w JOIN webhook_delivery r ON r.webhook_id = w.id
      WHERE w.${OF_PROVIDER}`,
  ),
  deleting('event', 'id', sql`SELECT id FROM event WHERE ${OF_PROVIDER} ORDER BY id`),
  // Triggers take along the pushes that wait for them.
  emptying(
    'distribution',
    deleting('recipient', 'id', sql`SELECT id FROM recipient WHERE ${under('distribution')}`),
  ),
  emptying('domain', deletingOfDevices('device_domain', 'domain_id, device_id', under('domain'))),
  deleting('slot_end', 'id', sql`SELECT id FROM slot_end WHERE ${OF_PROVIDER} ORDER BY id`),
  emptying('install', deletingOfDevices('install_device', 'id', under('install'))),
  deletingOfDevices('device_provider', 'provider_id, device_id', OF_PROVIDER),
];

const on = {
  find: prepare<{ id: number; code: string; installCount: number }>(sql`
      SELECT id, code, install_count AS "installCount" FROM provider
      WHERE code = ${value('code')} FOR NO KEY UPDATE`),
  close: prepare(sql`
      UPDATE provider
      SET key_hash = ${value('keyHash')}, previous_key_hash = NULL, active_until_ms = 0
      WHERE id = ${value('id')}`),
  /** Nobody is told any more of what is deleted. */
  silence: prepare(sql`
      UPDATE webhook SET disabled_at_ms = ${value('atMs')},
        disabled_why = 'its provider is being removed'
      WHERE provider_id = ${value('id')} AND disabled_at_ms IS NULL`),
  remove: prepare(sql`DELETE FROM provider WHERE id = ${value('id')}`),
};

export function removalStore({
  write,
  clock,
}: Context): Pick<Store, 'closeProvider' | 'removeProvider'> {
  return {
    closeProvider: (code, act) =>
      write(async (w) => {
        const found = await on.find.get(w, { code });
        if (found === null) return 'provider_not_found';
        const { id } = found;
        // The hash of no key that anybody has.
        await on.close.run(w, { id, keyHash: crypto.getRandomValues(new Uint8Array(32)) });
        await on.silence.run(w, { id, atMs: act.atMs });
        w.events.forgetWebhooks();
        w.audit.note(act, deeds.removeProvider(found));
        return { id };
      }),

    removeProvider: (id) =>
      write(async (w) => {
        const providerId = id;
        const found = await lockProvider.get(w, { providerId });
        if (found === null) return 'provider_not_found';
        for (const step of STEPS) {
          if ((await step(w, { providerId })) > 0) return 'more';
        }
        await on.remove.run(w, { id });
        w.events.note(null, clock.nowMs(), () => providerRemoved(found.code));
        return 'ok';
      }),
  };
}
