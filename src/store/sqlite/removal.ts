/** Removal of a provider, in steps that are small however much it owns. */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { providerRemoved } from '../../core/event/happenings.ts';
import type { Store } from '../../core/port/store.ts';
import type { Connection } from './connection.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

/** Rows that a step deletes; with a recipient may go the push that waits for it. */
const REMOVE_STEP = 1_000;
/** Parents that it looks at: most have few rows. */
const PARENT_STEP = 100;

/**
 * Statements in the order in which they can run, each until it deletes nothing; cascades would take
 * all at once. Rows go before their parents, a run of parents at a time, so that no step looks at
 * those that are empty already.
 */
function removalSteps(db: Connection) {
  const ofProvider = sql`provider_id = ${value('providerId')}`;
  const parents = (parent: string) =>
    sql`SELECT id FROM ${sql.raw(parent)} WHERE ${ofProvider} ORDER BY id LIMIT ${PARENT_STEP}`;
  const run = (table: string, parent: string) => {
    const rows = db.prepare(sql`
        DELETE FROM ${sql.raw(table)} WHERE rowid IN (
          SELECT t.rowid FROM (${parents(parent)}) o
          CROSS JOIN ${sql.raw(table)} t ON t.${sql.raw(parent)}_id = o.id LIMIT ${REMOVE_STEP})`);
    const own = db.prepare(sql`DELETE FROM ${sql.raw(parent)} WHERE id IN (${parents(parent)})`);
    return (of: { providerId: number }) => rows.run(of) || own.run(of);
  };
  const devices = db.prepare(sql`
      DELETE FROM device_provider WHERE (device_id, provider_id) IN (
        SELECT device_id, provider_id FROM device_provider WHERE ${ofProvider}
        LIMIT ${REMOVE_STEP})`);
  const ends = db.prepare(sql`
      DELETE FROM slot_end WHERE id IN (
        SELECT id FROM slot_end WHERE ${ofProvider} ORDER BY id LIMIT ${REMOVE_STEP})`);
  const waiting = db.prepare(sql`
      DELETE FROM outbox WHERE id IN (
        SELECT o.id FROM webhook w CROSS JOIN destination d ON d.webhook_id = w.id
          CROSS JOIN outbox o ON o.destination_id = d.id
        WHERE w.${ofProvider} LIMIT ${REMOVE_STEP})`);
  const told = db.prepare(sql`
      DELETE FROM webhook_delivery WHERE (webhook_id, event_id) IN (
        SELECT r.webhook_id, r.event_id FROM webhook w
          CROSS JOIN webhook_delivery r ON r.webhook_id = w.id
        WHERE w.${ofProvider} LIMIT ${REMOVE_STEP})`);
  const events = db.prepare(sql`
      DELETE FROM event WHERE id IN (
        SELECT id FROM event WHERE ${ofProvider} ORDER BY id LIMIT ${REMOVE_STEP})`);
  return [
    ...[waiting, told, events].map((step) => (of: { providerId: number }) => step.run(of)),
    run('recipient', 'distribution'),
    run('device_domain', 'domain'),
    (of: { providerId: number }) => ends.run(of),
    run('install_device', 'install'),
    (of: { providerId: number }) => devices.run(of),
  ];
}

export function removalStore(context: Context): Pick<Store, 'closeProvider' | 'removeProvider'> {
  const { db, writer, audit, events, clock } = context;
  const find = db.prepare<{ id: number; code: string; installCount: number }>(sql`
      SELECT id, code, install_count AS "installCount" FROM provider
      WHERE code = ${value('code')}`);
  const close = db.prepare(sql`
      UPDATE provider SET key_hash = randomblob(32), previous_key_hash = NULL, active_until_ms = 0
      WHERE id = ${value('id')}`);
  /** Nobody is told any more of what is deleted. */
  const silence = db.prepare(sql`
      UPDATE webhook SET disabled_at_ms = ${value('atMs')},
        disabled_why = 'its provider is being removed'
      WHERE provider_id = ${value('id')} AND disabled_at_ms IS NULL`);
  const codeOf = db.prepare<{ code: string }>(sql`
      SELECT code FROM provider WHERE id = ${value('id')}`);
  const steps = removalSteps(db);
  const remove = db.prepare(sql`DELETE FROM provider WHERE id = ${value('id')}`);

  return {
    closeProvider: (code, act) =>
      writer.run(() => {
        const found = find.get({ code });
        if (found === null) return 'provider_not_found';
        close.run({ id: found.id });
        silence.run({ id: found.id, atMs: act.atMs });
        events.forgetWebhooks();
        audit.note(act, deeds.removeProvider(found));
        return { id: found.id };
      }),

    removeProvider: (id) =>
      writer.run(() => {
        if (steps.some((step) => step({ providerId: id }) > 0)) return 'more';
        const found = codeOf.get({ id });
        if (found === null) return 'provider_not_found';
        remove.run({ id });
        events.note(null, clock.nowMs(), () => providerRemoved(found.code));
        return 'ok';
      }),
  };
}
