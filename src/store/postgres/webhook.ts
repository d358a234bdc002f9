/**
 * Webhooks; webhook-delivery.ts has what became of the events that they were told of. Whoever
 * changes one locks its provider first, then its destination: with that it has the queue.
 */

import { sql } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { UNPROVEN_COUNT } from '../../core/outbox/circuit.ts';
import type { Act } from '../../core/port/audit.ts';
import type { EventKind } from '../../core/port/event.ts';
import type { Webhook, WebhookChange, WebhookStore } from '../../core/port/webhook.ts';
import { nextTurn } from '../../core/turn.ts';
import {
  changedWebhook,
  isAnother,
  rowOf,
  WEBHOOK_COLUMNS,
  type WebhookRow,
  webhookIn,
} from '../webhook-row.ts';
import type { Context } from './context.ts';
import { lockProvider } from './lookups.ts';
import { ofOwner } from './owner.ts';
import { lockChain } from './sealer.ts';
import { prepare, value } from './statement.ts';
import { deliveryMethods, lockQueue } from './webhook-delivery.ts';
import type { Write } from './write.ts';

/** Dispatches that are tried at once when a webhook is enabled. */
const RETRY_COUNT = 1_000;
/** Rows of a webhook that a step deletes, or looks at to delete them. */
const REMOVE_STEP = 500;
/** Webhooks whose old secrets a step deletes. */
const FORGET_COUNT = 200;

const UNPROVEN = sql.raw(String(UNPROVEN_COUNT));

const rows = {
  count: ofOwner<{ count: number }>(
    (isOwners) => sql`SELECT count(*) AS count FROM webhook WHERE ${isOwners}`,
  ),
  add: prepare(sql`
      INSERT INTO webhook (provider_id, kind, address, events, scheme, secret, locale,
        created_at_ms)
      VALUES (${value('providerId')}, ${value('kind')}, ${value('address')}, ${value('events')},
        ${value('scheme')}, ${value('secret')}, ${value('locale')}, ${value('createdAtMs')})
      RETURNING id`),
  addDestination: prepare(sql`
      INSERT INTO destination (kind, origin, webhook_id, failure_count)
      VALUES (${value('kind')}, '', ${value('id')}, ${UNPROVEN})`),
  list: ofOwner<WebhookRow>(
    (isOwners) => sql`SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE ${isOwners} ORDER BY id`,
  ),
  find: prepare<WebhookRow>(sql`
      SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE id = ${value('id')}`),
  lock: ofOwner<WebhookRow>(
    (isOwners) => sql`
      SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE id = ${value('id')} AND ${isOwners}
      FOR NO KEY UPDATE`,
  ),
  change: prepare(sql`
      UPDATE webhook SET kind = ${value('kind')}, address = ${value('address')},
        events = ${value('events')}, scheme = ${value('scheme')}, secret = ${value('secret')},
        previous_secret = ${value('previousSecret')},
        previous_until_ms = ${value('previousUntilMs')}, locale = ${value('locale')},
        disabled_at_ms = ${value('disabledAtMs')}, disabled_why = ${value('disabledWhy')}
      WHERE id = ${value('id')}`),
  changeKind: prepare(sql`
      UPDATE destination SET kind = ${value('kind')} WHERE webhook_id = ${value('id')}`),
  remove: prepare(sql`DELETE FROM webhook WHERE id = ${value('id')}`),
};

const secrets = {
  old: prepare<{ id: number }>(sql`
      SELECT id FROM webhook WHERE previous_until_ms <= ${value('nowMs')} LIMIT 1`),
  forgetOld: prepare(sql`
      WITH old AS (
        SELECT id FROM webhook WHERE previous_until_ms <= ${value('nowMs')}
        ORDER BY id LIMIT ${FORGET_COUNT} FOR NO KEY UPDATE SKIP LOCKED)
      UPDATE webhook w SET previous_secret = NULL, previous_until_ms = NULL
      FROM old WHERE w.id = old.id`),
};

const queue = {
  /** Whoever holds it goes on holding it. */
  recover: prepare(sql`
      UPDATE destination SET failure_count = ${UNPROVEN}, failing_since_ms = NULL,
        retry_at_ms = 0, stopped_at_ms = NULL, problem = NULL
      WHERE webhook_id = ${value('id')}`),
  /** Few have been tried: while attempts fail, one is made at a time. */
  retry: prepare(sql`
      WITH tried AS MATERIALIZED (
        SELECT o.id AS id FROM destination d JOIN outbox o ON o.destination_id = d.id
        WHERE d.webhook_id = ${value('id')} AND o.next_at_ms > 0
        ORDER BY o.next_at_ms LIMIT ${RETRY_COUNT})
      UPDATE outbox o SET next_at_ms = 0, attempt_count = 0 FROM tried WHERE o.id = tried.id`),
  /** What was put off, and would be tried if the destination was. */
  putOff: prepare<{ id: number }>(sql`
      SELECT d.id AS id FROM webhook w JOIN destination d ON d.webhook_id = w.id
      WHERE w.id = ${value('id')} AND w.disabled_at_ms IS NULL
        AND (d.retry_at_ms > 0 AND d.waiting_count > 0 OR EXISTS (
          SELECT 1 FROM outbox o WHERE o.destination_id = d.id AND o.next_at_ms > 0))`),
  hasten: prepare(sql`
      WITH tried AS MATERIALIZED (
        SELECT o.id AS id FROM destination d JOIN outbox o ON o.destination_id = d.id
        WHERE d.webhook_id = ${value('id')} AND o.next_at_ms > 0
        ORDER BY o.next_at_ms LIMIT ${RETRY_COUNT})
      UPDATE outbox o SET next_at_ms = 0 FROM tried WHERE o.id = tried.id`),
  page: prepare<{ id: number; eventId: number; kind: EventKind }>(sql`
      SELECT o.id AS id, o.event_id AS "eventId", e.kind AS kind
      FROM destination d JOIN outbox o ON o.destination_id = d.id JOIN event e ON e.id = o.event_id
      WHERE d.webhook_id = ${value('id')} AND o.event_id > ${value('afterEventId')}
      ORDER BY o.event_id LIMIT ${REMOVE_STEP}`),
  drop: prepare(sql`DELETE FROM outbox WHERE id = ANY(${value('ids')}::bigint[])`),
  dropWaiting: prepare(sql`
      WITH gone AS MATERIALIZED (
        SELECT o.id AS id FROM destination d JOIN outbox o ON o.destination_id = d.id
        WHERE d.webhook_id = ${value('id')} LIMIT ${REMOVE_STEP})
      DELETE FROM outbox o USING gone WHERE o.id = gone.id`),
  dropEnded: prepare(sql`
      WITH gone AS MATERIALIZED (
        SELECT event_id FROM webhook_delivery WHERE webhook_id = ${value('id')}
        LIMIT ${REMOVE_STEP})
      DELETE FROM webhook_delivery r USING gone
      WHERE r.webhook_id = ${value('id')} AND r.event_id = gone.event_id`),
};

/** Lets nobody else add webhooks of the owner. The operator has no row: the log stands for it. */
async function lockOwner(w: Write, providerId: number | null): Promise<void> {
  if (providerId === null) await lockChain(w);
  else await lockProvider.run(w, { providerId });
}

/** A webhook of the owner as it is, and stays until the write ends. */
async function lockWebhook(
  w: Write,
  id: number,
  providerId: number | null,
): Promise<Webhook | null> {
  if (providerId !== null) await lockProvider.run(w, { providerId });
  await lockQueue.run(w, { webhookId: id });
  const row = await rows.lock(providerId).get(w, { id, providerId });
  return row && webhookIn(row);
}

async function update(
  w: Write,
  before: Webhook,
  change: WebhookChange,
  act: Act,
): Promise<Webhook> {
  const { id, providerId } = before;
  const { rotation } = change;
  const after = changedWebhook(before, change);
  await rows.change.run(w, { ...rowOf(after) });
  await rows.changeKind.run(w, { id, kind: after.target.kind });
  if (after.disabled === null && isAnother(before, after)) {
    await queue.recover.run(w, { id });
    await queue.retry.run(w, { id });
    w.raiseOutbox();
  }
  const owner = providerId ?? undefined;
  w.audit.note(act, deeds.updateWebhook(before, after), owner);
  if (rotation) w.audit.note(act, deeds.rotateWebhook(id, rotation.previousUntilMs), owner);
  return after;
}

export function webhookStore(context: Context): WebhookStore {
  const { db, write } = context;

  return {
    ...deliveryMethods(context),

    addWebhook: (draft, countMax, act) =>
      write(async (w) => {
        const { providerId } = draft;
        await lockOwner(w, providerId);
        const count = (await rows.count(providerId).get(w, { providerId }))?.count ?? 0;
        if (count >= countMax) return 'webhook_limit_reached';
        const row = rowOf({ ...draft, id: 0, previous: null, disabled: null });
        const id = await rows.add.insert(w, { ...row });
        await rows.addDestination.run(w, { id, kind: row.kind });
        w.audit.note(act, deeds.addWebhook({ ...draft, id }), providerId ?? undefined);
        return { id };
      }),

    listWebhooks: async (providerId) =>
      (await rows.list(providerId).all(db, { providerId })).map(webhookIn),

    findWebhook: async (id, providerId) => {
      const row = await rows.find.get(db, { id });
      const isMeant = row !== null && (providerId === undefined || row.providerId === providerId);
      return isMeant ? webhookIn(row) : null;
    },

    updateWebhook: (id, providerId, change, act) =>
      write(async (w) => {
        const known = await lockWebhook(w, id, providerId);
        return known === null ? 'webhook_not_found' : update(w, known, change, act);
      }),

    resumeWebhook: async (id) => {
      if ((await queue.putOff.get(db, { id })) === null) return false;
      return write(async (w) => {
        await lockQueue.run(w, { webhookId: id });
        if ((await queue.putOff.get(w, { id })) === null) return false;
        await queue.recover.run(w, { id });
        await queue.hasten.run(w, { id });
        w.raiseOutbox();
        return true;
      });
    },

    dropUnwanted: async (id, wanted, afterEventId) => {
      const page = await queue.page.all(db, { id, afterEventId });
      const unwanted = page.filter(({ kind }) => !wanted.includes(kind));
      if (unwanted.length > 0) {
        await write(async (w) => {
          await lockQueue.run(w, { webhookId: id });
          await queue.drop.run(w, { ids: unwanted.map((row) => row.id) });
        });
      }
      return page.length === REMOVE_STEP ? (page.at(-1)?.eventId ?? null) : null;
    },

    forgetOldSecrets: async (nowMs) => {
      if ((await secrets.old.get(db, { nowMs })) === null) return false;
      return (await secrets.forgetOld.run(db.writing, { nowMs })) > 0;
    },

    removeWebhook: async (id, providerId, act) => {
      const disabled = { atMs: act.atMs, why: 'it is being removed' };
      const isThere = await write(async (w) => {
        const known = await lockWebhook(w, id, providerId);
        if (known === null) return false;
        // From now on nothing is put into its queue, which goes in steps.
        await rows.change.run(w, { ...rowOf({ ...known, disabled }) });
        return true;
      });
      if (!isThere) return 'webhook_not_found';
      const drop = (step: typeof queue.dropWaiting) =>
        write(async (w) => {
          await lockQueue.run(w, { webhookId: id });
          return step.run(w, { id });
        });
      for (const step of [queue.dropWaiting, queue.dropEnded]) {
        while ((await drop(step)) > 0) await nextTurn();
      }
      return write(async (w) => {
        if ((await lockWebhook(w, id, providerId)) === null) return 'webhook_not_found';
        await rows.remove.run(w, { id });
        w.audit.note(act, deeds.removeWebhook(id), providerId ?? undefined);
        return 'ok';
      });
    },
  };
}
