/** Removal of a provider in small steps, however many records it has. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import { providerRemoved } from '../../core/event/happenings.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { endedSteps } from './ended.ts';
import { ridesChanged } from './terms.ts';

/** Rows that a step deletes; a recipient's waiting push is deleted with it. */
const REMOVE_STEP = 1_000;
/** Parents that a step reads: most have few rows. */
const PARENT_STEP = 100;
/** Tokens that a step notifies. */
const NOTIFIED_STEP = 50;

type Left = Exclude<Awaited<ReturnType<Store['removeProvider']>>, 'ok' | 'provider_not_found'>;

/** Deletes some rows of a provider, which is locked. Returns 0 if there were none. */
type Deletion = (values: { providerId: number; ids: readonly number[] }) => Step<number>;

const OF_PROVIDER = sql`provider_id = :providerId`;

/** Makes the statements that delete rows of a provider, in an order that breaks no reference. */
function deletionsOf(backend: Backend): Deletion[] {
  const { prepare, among, join } = backend;

  /** Deletes the rows whose `key` is among those of a SELECT. */
  function deleting(table: string, key: string, found: SQL): Deletion {
    const rows = prepare(sql`
        DELETE FROM ${sql.raw(table)} WHERE (${sql.raw(key)}) IN (${found} LIMIT ${REMOVE_STEP})`);
    return (values) => rows.run({ ...values });
  }

  /** Deletes rows that devices count. Locks each device first, as every such write does. */
  function deletingOfDevices(table: string, key: SQL, where: SQL): Deletion {
    const some = prepare(sql`
        SELECT ${values<{ id: number; deviceId: number }>({ id: key, deviceId: sql`device_id` })}
        FROM ${sql.raw(table)}
        WHERE ${where} LIMIT ${REMOVE_STEP}`);
    const rows = prepare(sql`
        DELETE FROM ${sql.raw(table)} WHERE ${key} ${among('rowIds')} AND ${where}`);
    return function* (values) {
      const found = yield* some.all({ ...values });
      if (found.length === 0) return 0;
      yield* backend.lockRows({ device: found.map(({ deviceId }) => deviceId) });
      return yield* rows.run({ ...values, rowIds: found.map(({ id }) => id) });
    };
  }

  /**
   * Deletes rows of some parents, which it locks, then those parents, so that none is read again.
   */
  function emptying(parent: 'distribution' | 'domain' | 'install', rows: Deletion): Deletion {
    const some = prepare(sql`
        SELECT ${columns(parent, 'id')}
        FROM ${sql.raw(parent)} WHERE ${OF_PROVIDER} ORDER BY id LIMIT ${PARENT_STEP}`);
    const lock = backend.lockOnly(sql`
        SELECT id FROM ${sql.raw(parent)} WHERE id ${among('ids')} ORDER BY id FOR UPDATE`);
    const own = prepare(sql`
        DELETE FROM ${sql.raw(parent)} WHERE id ${among('ids')}`);
    return function* ({ providerId }) {
      const ids = (yield* some.all({ providerId })).map(({ id }) => id);
      if (ids.length === 0) return 0;
      yield* lock.run({ ids });
      return (yield* rows({ providerId, ids })) || (yield* own.run({ ids }));
    };
  }

  const id = sql.raw('id');
  return [
    deleting(
      'outbox',
      'id',
      sql`SELECT o.id FROM webhook w ${join} destination d ON d.webhook_id = w.id
            ${join} outbox o ON o.destination_id = d.id
          WHERE w.${OF_PROVIDER}`,
    ),
    deleting(
      'webhook_delivery',
      'webhook_id, event_id',
      sql`SELECT r.webhook_id, r.event_id
          FROM webhook w ${join} webhook_delivery r ON r.webhook_id = w.id WHERE w.${OF_PROVIDER}`,
    ),
    deleting(
      'idempotent_call',
      'provider_id, idempotency_key',
      sql`SELECT provider_id, idempotency_key FROM idempotent_call WHERE ${OF_PROVIDER}`,
    ),
    deleting('event', 'id', sql`SELECT id FROM event WHERE ${OF_PROVIDER} ORDER BY id`),
    emptying(
      'distribution',
      deleting(
        'recipient',
        'id',
        sql`SELECT id FROM recipient WHERE distribution_id ${among('ids')}`,
      ),
    ),
    emptying(
      'domain',
      deletingOfDevices('device_domain', backend.arrival, sql`domain_id ${among('ids')}`),
    ),
    deleting(
      'install_tombstone',
      'id',
      sql`SELECT id FROM install_tombstone WHERE ${OF_PROVIDER} ORDER BY id`,
    ),
    deleting('slot_end', 'id', sql`SELECT id FROM slot_end WHERE ${OF_PROVIDER} ORDER BY id`),
    emptying('install', deletingOfDevices('install_device', id, sql`install_id ${among('ids')}`)),
  ];
}

/** Deletes the places at a provider, and notifies the devices whose tokens hold some of them. */
function placesEnding(backend: Backend) {
  const { among, prepare } = backend;
  const { notify } = endedSteps(backend);
  const some = prepare(sql`
      SELECT ${columns('device_provider', 'deviceId, tokenId')} FROM device_provider
      WHERE ${OF_PROVIDER} LIMIT ${REMOVE_STEP}`);
  const remove = prepare(sql`
      DELETE FROM device_provider WHERE device_id ${among('deviceIds')} AND ${OF_PROVIDER}`);

  return function* (notes: Notes, providerId: number, nowMs: number): Step<'none' | Left> {
    const found = yield* some.all({ providerId });
    if (found.length === 0) return 'none';
    yield* backend.lockRows({ device: found.map(({ deviceId }) => deviceId) });
    const deviceIds: number[] = [];
    let notifiedCount = 0;
    for (const { deviceId, tokenId } of found) {
      if (tokenId !== null) {
        if (notifiedCount === NOTIFIED_STEP) break;
        notifiedCount += 1;
        yield* notify(notes, { deviceId, providerId, tokenId }, { why: 'link_ended', nowMs });
      }
      deviceIds.push(deviceId);
    }
    yield* remove.run({ deviceIds, providerId });
    return notifiedCount === NOTIFIED_STEP ? 'notified' : 'more';
  };
}

export function removalNoun(backend: Backend): Pick<Store, 'closeProvider' | 'removeProvider'> {
  const { prepare } = backend;
  const find = prepare(sql`
      SELECT ${columns('provider', 'id, code, installCount')} FROM provider
      WHERE code = :code ${backend.locked}`);
  const close = prepare(sql`
      UPDATE provider SET key_hash = :keyHash, previous_key_hash = NULL, active_until_ms = 0
      WHERE id = :id`);
  /** The webhooks of a provider in removal get no events. */
  const disableWebhooks = prepare(sql`
      UPDATE webhook SET disabled_at_ms = :atMs, disabled_why = 'its provider is being removed'
      WHERE provider_id = :id AND disabled_at_ms IS NULL`);
  const ridesEnd = ridesChanged(backend);
  const codeOf = prepare(sql`SELECT ${columns('provider', 'code')} FROM provider WHERE id = :id`);
  const remove = prepare(sql`
        DELETE FROM provider WHERE id = :id`);
  const deletions = deletionsOf(backend);
  const endPlaces = placesEnding(backend);

  return {
    closeProvider: (code, act) =>
      backend.write(function* (notes) {
        const found = yield* find.get({ code });
        if (found === null) return 'provider_not_found';
        const { id } = found;
        // A hash that no key has.
        yield* close.run({ id, keyHash: crypto.getRandomValues(new Uint8Array(32)) });
        yield* ridesEnd.run({ providerId: id });
        yield* disableWebhooks.run({ id, atMs: act.atMs });
        notes.forgetWebhooks();
        notes.audit(act, deeds.removeProvider(found));
        return { id };
      }),

    removeProvider: (id) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(id);
        const found = yield* codeOf.get({ id });
        if (found === null) return 'provider_not_found';
        for (const deletion of deletions) {
          if ((yield* deletion({ providerId: id, ids: [] })) > 0) return 'more';
        }
        const atMs = backend.storeNowMs();
        const left = yield* endPlaces(notes, id, atMs);
        if (left !== 'none') return left;
        yield* remove.run({ id });
        notes.event(null, atMs, () => providerRemoved(found.code));
        return 'ok';
      }),
  };
}
