/** Webhooks; webhook-delivery.ts has what became of the events that they were told of. */

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
import { value } from './statement.ts';
import { deliveryMethods } from './webhook-delivery.ts';

/** Dispatches that are tried at once when a webhook is enabled. */
const RETRY_COUNT = 1_000;
/** Rows of a webhook that a step deletes, or looks at to delete them. */
const REMOVE_STEP = 500;

const UNPROVEN = sql.raw(String(UNPROVEN_COUNT));

const OF_OWNER = sql`provider_id IS ${value('providerId')}`;

/** Webhooks whose old secrets a step deletes. */
const FORGET_COUNT = 200;

function rowStatements({ db }: Context) {
  return {
    count: db.prepare<{ count: number }>(
      sql`SELECT count(*) AS count FROM webhook WHERE ${OF_OWNER}`,
    ),
    add: db.prepare(sql`
        INSERT INTO webhook (provider_id, kind, address, events, scheme, secret, locale,
          created_at_ms)
        VALUES (${value('providerId')}, ${value('kind')}, ${value('address')}, ${value('events')},
          ${value('scheme')}, ${value('secret')}, ${value('locale')}, ${value('createdAtMs')})`),
    addDestination: db.prepare(sql`
        INSERT INTO destination (kind, origin, webhook_id, failure_count)
        VALUES (${value('kind')}, '', ${value('id')}, ${UNPROVEN})`),
    list: db.prepare<WebhookRow>(
      sql`SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE ${OF_OWNER} ORDER BY id`,
    ),
    find: db.prepare<WebhookRow>(
      sql`SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE id = ${value('id')}`,
    ),
    oldSecret: db.prepare<{ id: number }>(sql`
        SELECT id FROM webhook WHERE previous_until_ms <= ${value('nowMs')} LIMIT 1`),
    forgetOldSecrets: db.prepare(sql`
        UPDATE webhook SET previous_secret = NULL, previous_until_ms = NULL WHERE id IN (
          SELECT id FROM webhook WHERE previous_until_ms <= ${value('nowMs')}
          LIMIT ${FORGET_COUNT})`),
    change: db.prepare(sql`
        UPDATE webhook SET kind = ${value('kind')}, address = ${value('address')},
          events = ${value('events')}, scheme = ${value('scheme')}, secret = ${value('secret')},
          previous_secret = ${value('previousSecret')},
          previous_until_ms = ${value('previousUntilMs')}, locale = ${value('locale')},
          disabled_at_ms = ${value('disabledAtMs')}, disabled_why = ${value('disabledWhy')}
        WHERE id = ${value('id')}`),
    changeKind: db.prepare(sql`
        UPDATE destination SET kind = ${value('kind')} WHERE webhook_id = ${value('id')}`),
    /** Whoever holds it goes on holding it. */
    recover: db.prepare(sql`
        UPDATE destination SET failure_count = ${UNPROVEN}, failing_since_ms = NULL,
          retry_at_ms = 0, stopped_at_ms = NULL, problem = NULL
        WHERE webhook_id = ${value('id')}`),
    /** Few have been tried: while attempts fail, one is made at a time. */
    retry: db.prepare(sql`
        UPDATE outbox SET next_at_ms = 0, attempt_count = 0 WHERE id IN (
          SELECT o.id FROM destination d CROSS JOIN outbox o ON o.destination_id = d.id
          WHERE d.webhook_id = ${value('id')} AND o.next_at_ms > 0
          ORDER BY o.next_at_ms LIMIT ${RETRY_COUNT})`),
    /** What was put off, and would be tried if the destination was. */
    putOff: db.prepare<{ id: number }>(sql`
        SELECT d.id AS id FROM webhook w CROSS JOIN destination d ON d.webhook_id = w.id
        WHERE w.id = ${value('id')} AND w.disabled_at_ms IS NULL
          AND (d.retry_at_ms > 0 AND d.waiting_count > 0 OR EXISTS (
            SELECT 1 FROM outbox o WHERE o.destination_id = d.id AND o.next_at_ms > 0))`),
    hasten: db.prepare(sql`
        UPDATE outbox SET next_at_ms = 0 WHERE id IN (
          SELECT o.id FROM destination d CROSS JOIN outbox o ON o.destination_id = d.id
          WHERE d.webhook_id = ${value('id')} AND o.next_at_ms > 0
          ORDER BY o.next_at_ms LIMIT ${RETRY_COUNT})`),
    queued: db.prepare<{ id: number; eventId: number; kind: EventKind }>(sql`
        SELECT o.id AS id, o.event_id AS "eventId", e.kind AS kind
        FROM destination d CROSS JOIN outbox o ON o.destination_id = d.id
          CROSS JOIN event e ON e.id = o.event_id
        WHERE d.webhook_id = ${value('id')} AND o.event_id > ${value('afterEventId')}
        ORDER BY o.event_id LIMIT ${REMOVE_STEP}`),
    drop: db.prepare(sql`DELETE FROM outbox WHERE id = ${value('id')}`),
    remove: db.prepare(sql`DELETE FROM webhook WHERE id = ${value('id')}`),
    dropWaiting: db.prepare(sql`
        DELETE FROM outbox WHERE id IN (
          SELECT o.id FROM destination d CROSS JOIN outbox o ON o.destination_id = d.id
          WHERE d.webhook_id = ${value('id')} LIMIT ${REMOVE_STEP})`),
    dropEnded: db.prepare(sql`
        DELETE FROM webhook_delivery WHERE webhook_id = ${value('id')} AND event_id IN (
          SELECT event_id FROM webhook_delivery WHERE webhook_id = ${value('id')}
          LIMIT ${REMOVE_STEP})`),
  };
}

export function webhookStore(context: Context): WebhookStore {
  const { writer, audit, events, outbox } = context;
  const on = rowStatements(context);

  function find(id: number, providerId: number | null): Webhook | null {
    const row = on.find.get({ id });
    return row !== null && row.providerId === providerId ? webhookIn(row) : null;
  }

  function update(before: Webhook, change: WebhookChange, act: Act): Webhook {
    const { id, providerId } = before;
    const { rotation } = change;
    const after = changedWebhook(before, change);
    on.change.run({ ...rowOf(after) });
    on.changeKind.run({ id, kind: after.target.kind });
    if (after.disabled === null && isAnother(before, after)) {
      on.recover.run({ id });
      on.retry.run({ id });
      outbox.raise();
    }
    events.forgetWebhooks();
    const owner = providerId ?? undefined;
    audit.note(act, deeds.updateWebhook(before, after), owner);
    if (rotation) audit.note(act, deeds.rotateWebhook(id, rotation.previousUntilMs), owner);
    return after;
  }

  return {
    ...deliveryMethods(context),

    addWebhook: (draft, countMax, act) =>
      writer.run(() => {
        const { providerId } = draft;
        if ((on.count.get({ providerId })?.count ?? 0) >= countMax) return 'webhook_limit_reached';
        const row = rowOf({ ...draft, id: 0, previous: null, disabled: null });
        const id = on.add.insert({ ...row });
        on.addDestination.run({ id, kind: row.kind });
        events.forgetWebhooks();
        audit.note(act, deeds.addWebhook({ ...draft, id }), providerId ?? undefined);
        return { id };
      }),

    listWebhooks: async (providerId) => on.list.all({ providerId }).map(webhookIn),

    findWebhook: async (id, providerId) => {
      const row = on.find.get({ id });
      const isMeant = row !== null && (providerId === undefined || row.providerId === providerId);
      return isMeant ? webhookIn(row) : null;
    },

    updateWebhook: (id, providerId, change, act) =>
      writer.run(() => {
        const known = find(id, providerId);
        return known === null ? 'webhook_not_found' : update(known, change, act);
      }),

    resumeWebhook: async (id) => {
      if (on.putOff.get({ id }) === null) return false;
      return writer.run(() => {
        if (on.putOff.get({ id }) === null) return false;
        on.recover.run({ id });
        on.hasten.run({ id });
        outbox.raise();
        return true;
      });
    },

    dropUnwanted: async (id, wanted, afterEventId) => {
      const page = on.queued.all({ id, afterEventId });
      const unwanted = page.filter(({ kind }) => !wanted.includes(kind));
      if (unwanted.length > 0) {
        await writer.run(() => {
          for (const row of unwanted) on.drop.run({ id: row.id });
        });
      }
      return page.length === REMOVE_STEP ? (page.at(-1)?.eventId ?? null) : null;
    },

    forgetOldSecrets: async (nowMs) => {
      if (on.oldSecret.get({ nowMs }) === null) return false;
      return writer.run(() => on.forgetOldSecrets.run({ nowMs }) > 0);
    },

    removeWebhook: async (id, providerId, act) => {
      const disabled = { atMs: act.atMs, why: 'it is being removed' };
      const isThere = await writer.run(() => {
        const known = find(id, providerId);
        if (known === null) return false;
        // From now on nothing is put into its queue, which goes in steps.
        on.change.run({ ...rowOf({ ...known, disabled }) });
        events.forgetWebhooks();
        return true;
      });
      if (!isThere) return 'webhook_not_found';
      for (const step of [on.dropWaiting, on.dropEnded]) {
        while ((await writer.run(() => step.run({ id }))) > 0) await nextTurn();
      }
      return writer.run(() => {
        if (on.remove.run({ id }) === 0) return 'webhook_not_found';
        // Somebody may have enabled it meanwhile.
        events.forgetWebhooks();
        audit.note(act, deeds.removeWebhook(id), providerId ?? undefined);
        return 'ok';
      });
    },
  };
}
