/**
 * Webhooks. A write that changes a webhook first locks its provider, then its destination and
 * queue.
 */

import * as deeds from '../../core/audit/deeds.ts';
import { UNPROVEN_COUNT } from '../../core/outbox/circuit.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Webhook, WebhookChange, WebhookStore } from '../../core/port/webhook.ts';
import { nextTurn } from '../../core/turn.ts';
import { figuresAfter } from '../../core/webhook-figures.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, insertInto, sql, values } from '../statement-text.ts';
import {
  changedWebhook,
  INSERTED_FIELDS,
  isAnother,
  isMoved,
  rowOf,
  UPDATED_FIELDS,
  WEBHOOK_COLUMNS,
  webhookIn,
} from '../webhook-row.ts';
import { disabledWebhooks, WHY_REMOVED } from './disabled-webhook.ts';
import { IS_OWNERS, lockOwner, ofOwner } from './owner.ts';
import { deliveryMethods, queueLock } from './webhook-delivery.ts';

/** Dispatches that are tried at once when a webhook is enabled. */
const RETRY_COUNT = 1_000;
/** Rows of a webhook that a step deletes, or reads in order to delete. */
const REMOVE_STEP = 500;
/** Webhooks whose old secrets a step deletes. */
const FORGET_COUNT = 200;

const UNPROVEN = sql.raw(String(UNPROVEN_COUNT));

function rowStatements(backend: Backend) {
  const { prepare } = backend;
  const own = ofOwner(backend);
  return {
    count: own`SELECT ${values<{ count: number }>({ count: sql`count(*)` })}
    FROM webhook WHERE ${IS_OWNERS}`,
    add: prepare(sql`
      ${insertInto('webhook', INSERTED_FIELDS)} ${backend.returningId}`),
    addDestination: prepare(sql`
      ${insertInto('destination', "kind, origin = '', webhookId = :id", {
        failureCount: UNPROVEN,
      })}`),
    list: own`SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE ${IS_OWNERS} ORDER BY id`,
    find: prepare(sql`
      SELECT ${WEBHOOK_COLUMNS}, ${values<{ providerCode: string | null }>({
        providerCode: sql`(SELECT code FROM provider p WHERE p.id = webhook.provider_id)`,
      })}
      FROM webhook WHERE id = :id`),
    lock: own`
      SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE id = :id AND ${IS_OWNERS} ${backend.locked}`,
    change: prepare(sql`
      UPDATE webhook SET ${assignments('webhook', UPDATED_FIELDS)} WHERE id = :id`),
    changeKind: prepare(sql`
        UPDATE destination SET kind = :kind WHERE webhook_id = :id`),
    remove: prepare(sql`
        DELETE FROM webhook WHERE id = :id`),
  };
}

function secretStatements({ prepare, lockedUnlessBusy }: Backend) {
  return {
    old: prepare(sql`
      SELECT ${columns('webhook', 'id')} FROM webhook WHERE previous_until_ms <= :nowMs LIMIT 1`),
    forgetOld: prepare(sql`
      WITH old AS (
        SELECT id FROM webhook WHERE previous_until_ms <= :nowMs
        ORDER BY id LIMIT ${FORGET_COUNT} ${lockedUnlessBusy})
      UPDATE webhook SET previous_secret = NULL, previous_until_ms = NULL
      WHERE id IN (SELECT id FROM old)`),
  };
}

function queueStatements({ prepare, among, join }: Backend) {
  const tried = sql`SELECT o.id AS id FROM destination d ${join} outbox o ON o.destination_id = d.id
    WHERE d.webhook_id = :id AND o.next_at_ms > 0 ORDER BY o.next_at_ms LIMIT ${RETRY_COUNT}`;
  return {
    /** A worker with a lease keeps it. */
    recover: prepare(sql`
      UPDATE destination SET failure_count = ${UNPROVEN}, failing_since_ms = NULL, retry_at_ms = 0,
        stopped_at_ms = NULL, problem = NULL
      WHERE webhook_id = :id`),
    /** Few have been tried: while attempts fail, there is one at a time. */
    retry: prepare(sql`
      WITH tried AS MATERIALIZED (${tried})
      UPDATE outbox SET next_at_ms = 0, attempt_count = 0 WHERE id IN (SELECT id FROM tried)`),
    /** Delayed dispatches, which would be tried if the destination was. */
    putOff: prepare(sql`
      SELECT ${columns({ d: 'destination' }, 'd.id')}
      FROM webhook w ${join} destination d ON d.webhook_id = w.id
      WHERE w.id = :id AND w.disabled_at_ms IS NULL
        AND (d.retry_at_ms > 0 AND d.waiting_count > 0 OR EXISTS (
          SELECT 1 FROM outbox o WHERE o.destination_id = d.id AND o.next_at_ms > 0))`),
    hasten: prepare(sql`
      WITH tried AS MATERIALIZED (${tried})
      UPDATE outbox SET next_at_ms = 0 WHERE id IN (SELECT id FROM tried)`),
    page: prepare(sql`
      SELECT ${columns({ o: 'outbox', e: 'event' }, 'o.id, o.eventId, e.kind')}
      FROM destination d ${join} outbox o ON o.destination_id = d.id
        ${join} event e ON e.id = o.event_id
      WHERE d.webhook_id = :id AND o.event_id > :afterEventId
      ORDER BY o.event_id LIMIT ${REMOVE_STEP}`),
    drop: prepare(sql`
        DELETE FROM outbox WHERE id ${among('ids')}`),
    dropWaiting: prepare(sql`
      WITH gone AS MATERIALIZED (
        SELECT o.id AS id FROM destination d ${join} outbox o ON o.destination_id = d.id
        WHERE d.webhook_id = :id LIMIT ${REMOVE_STEP})
      DELETE FROM outbox WHERE id IN (SELECT id FROM gone)`),
    dropEnded: prepare(sql`
      WITH gone AS MATERIALIZED (
        SELECT event_id FROM webhook_delivery WHERE webhook_id = :id LIMIT ${REMOVE_STEP})
      DELETE FROM webhook_delivery
      WHERE webhook_id = :id AND event_id IN (SELECT event_id FROM gone)`),
  };
}

export function webhookNoun(backend: Backend): WebhookStore {
  const rows = rowStatements(backend);
  const secrets = secretStatements(backend);
  const queue = queueStatements(backend);
  const lockQueue = queueLock(backend);
  const readDisabled = disabledWebhooks(backend);

  /** Returns a webhook of the owner, locked with its queue. */
  function* lockWebhook(id: number, providerId: number | null): Step<Webhook | null> {
    if (providerId !== null) yield* backend.lockProvider(providerId);
    yield* lockQueue.get({ webhookId: id });
    const row = yield* rows.lock(providerId).get({ id, providerId });
    return row && webhookIn(row);
  }

  function* update(notes: Notes, before: Webhook, change: WebhookChange, act: Act): Step<Webhook> {
    const { id, providerId } = before;
    const { rotation } = change;
    const changed = changedWebhook(before, change);
    const figures = figuresAfter(before, changed, isMoved(before, changed), act.actor);
    const after = { ...changed, figures };
    yield* rows.change.run({ ...rowOf(after) });
    yield* rows.changeKind.run({ id, kind: after.target.kind });
    if (after.disabled === null && isAnother(before, after)) {
      yield* queue.recover.run({ id });
      yield* queue.retry.run({ id });
      notes.outbox();
    }
    notes.forgetWebhooks();
    notes.audit(act, deeds.updateWebhook(before, after), providerId);
    if (rotation) notes.audit(act, deeds.rotateWebhook(id, rotation.previousUntilMs), providerId);
    return after;
  }

  /** Empties in steps the queue of a webhook that takes no more events. */
  async function empty(id: number): Promise<void> {
    for (const step of [queue.dropWaiting, queue.dropEnded]) {
      const drop = () =>
        backend.write(function* () {
          yield* lockQueue.get({ webhookId: id });
          return yield* step.run({ id });
        });
      while ((await drop()) > 0) await nextTurn();
    }
  }

  return {
    ...deliveryMethods(backend),

    addWebhook: (draft, countMax, act) =>
      backend.write(function* (notes) {
        const { providerId } = draft;
        yield* lockOwner(backend, providerId);
        const count = (yield* rows.count(providerId).get({ providerId }))?.count ?? 0;
        if (count >= countMax) return 'webhook_limit_reached';
        const row = rowOf({ ...draft, id: 0, previous: null, disabled: null });
        const id = yield* rows.add.insert({ ...row });
        yield* rows.addDestination.run({ id, kind: row.kind });
        notes.forgetWebhooks();
        notes.audit(act, deeds.addWebhook({ ...draft, id }), providerId);
        return { id };
      }),

    listWebhooks: async (providerId) =>
      (await backend.read(() => rows.list(providerId).all({ providerId }))).map(webhookIn),

    readDisabledWebhooks: async (countMax) => backend.read(() => readDisabled(countMax)),

    findWebhook: async (id, providerId) => {
      const row = await backend.read(() => rows.find.get({ id }));
      const isOwners = row !== null && (providerId === undefined || row.providerId === providerId);
      return isOwners ? webhookIn(row) : null;
    },

    updateWebhook: (id, providerId, change, act) =>
      backend.write(function* (notes) {
        const known = yield* lockWebhook(id, providerId);
        return known === null ? 'webhook_not_found' : yield* update(notes, known, change, act);
      }),

    resumeWebhook: async (id) => {
      if ((await backend.read(() => queue.putOff.get({ id }))) === null) return false;
      return backend.write(function* (notes) {
        yield* lockQueue.get({ webhookId: id });
        if ((yield* queue.putOff.get({ id })) === null) return false;
        yield* queue.recover.run({ id });
        yield* queue.hasten.run({ id });
        notes.outbox();
        return true;
      });
    },

    dropUnwanted: async (id, wanted, afterEventId) => {
      const page = await backend.read(() => queue.page.all({ id, afterEventId }));
      const kinds: readonly string[] = wanted;
      const ids = page.filter(({ kind }) => !kinds.includes(kind)).map((row) => row.id);
      if (ids.length > 0) {
        await backend.write(function* () {
          yield* lockQueue.get({ webhookId: id });
          yield* queue.drop.run({ ids });
        });
      }
      return page.length === REMOVE_STEP ? (page.at(-1)?.eventId ?? null) : null;
    },

    forgetOldSecrets: async (nowMs) => {
      if ((await backend.read(() => secrets.old.get({ nowMs }))) === null) return false;
      return (await backend.change(() => secrets.forgetOld.run({ nowMs }))) > 0;
    },

    removeWebhook: async (id, providerId, act) => {
      const disabled = { atMs: act.atMs, why: WHY_REMOVED };
      const isThere = await backend.write(function* (notes) {
        const known = yield* lockWebhook(id, providerId);
        if (known === null) return false;
        // From now on nothing is added to its queue, which is emptied in steps.
        yield* rows.change.run({ ...rowOf({ ...known, disabled }) });
        notes.forgetWebhooks();
        return true;
      });
      if (!isThere) return 'webhook_not_found';
      await empty(id);
      return backend.write(function* (notes) {
        if ((yield* lockWebhook(id, providerId)) === null) return 'webhook_not_found';
        yield* rows.remove.run({ id });
        // It may have been enabled meanwhile.
        notes.forgetWebhooks();
        notes.audit(act, deeds.removeWebhook(id), providerId);
        return 'ok';
      });
    },
  };
}
