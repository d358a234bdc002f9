/** Records devices that show their tokens, and deletes devices that were not seen for long. */

import type { KeepingStore, StrangerCursor } from '../../core/port/keeping.ts';
import type { Backend, Step } from '../backend.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { columns, sql, values } from '../statement-text.ts';
import { dropSteps } from './forgetting.ts';
import { isFirstOfDay } from './known-device.ts';

type DeviceKeeping = Pick<KeepingStore, 'noteSeen' | 'forgetVisits' | 'forgetStrangers'>;

/** Visits that a step deletes. */
const VISIT_COUNT = 100;
/** Strangers that a step reads. */
const STRANGER_COUNT = 100;
/** Devices that a step deletes, and rows of them. */
const DEVICE_COUNT = 25;
const ROW_COUNT = 1_000;

interface Stranger {
  id: number;
  lastSeenAtMs: number;
  isRegistered: number;
}

function seenStatements({ prepare }: Backend) {
  const atToken = sql`WHERE token_id = :tokenId`;
  return {
    seen: prepare(sql`
        UPDATE device SET last_seen_at_ms = :nowMs WHERE id = :deviceId`),
    providers: prepare(sql`
        SELECT ${columns('device_provider', 'providerId, lastSeenAtMs')}
        FROM device_provider ${atToken}`),
    checkIn: prepare(sql`
        UPDATE device_provider SET checked_in_at_ms = :nowMs, last_seen_at_ms = :nowMs ${atToken}`),
    tokenSeen: prepare(sql`
        UPDATE device_token SET last_seen_at_ms = :nowMs WHERE id = :tokenId`),
  };
}

function strangerStatements({ prepare, among, deletableUnlessBusy, strangersBeyond }: Backend) {
  const isIdle = sql`p.slot_count = 0 AND p.tie_count = 0 AND p.last_seen_at_ms < :seenBeforeMs`;
  const deviceSeen = sql`(SELECT d.last_seen_at_ms FROM device d WHERE d.id = p.device_id)`;
  return {
    idleVisits: prepare(sql`
        SELECT ${columns({ p: 'device_provider' }, 'p.deviceId')}
        FROM device_provider p WHERE ${isIdle}
        ORDER BY p.last_seen_at_ms, p.device_id, p.provider_id LIMIT ${VISIT_COUNT}`),
    /** A device that shows its token counts as seen, but at no provider. */
    moveVisits: prepare(sql`
        UPDATE device_provider AS p SET last_seen_at_ms = ${deviceSeen}
        WHERE p.device_id ${among('ids')} AND ${isIdle} AND p.token_id IS NOT NULL
          AND ${deviceSeen} >= :seenBeforeMs`),
    forgetVisits: prepare(sql`
        DELETE FROM device_provider AS p WHERE p.device_id ${among('ids')} AND ${isIdle}`),
    surplus: prepare(
      sql`SELECT ${values<{ count: number }>({ count: strangersBeyond('countMax') })}`,
    ),
    strangers: prepare(sql`
        SELECT ${columns('device', 'id, lastSeenAtMs')},
          ${values<{ isRegistered: Stranger['isRegistered'] }>({
            isRegistered: sql`CAST(EXISTS (
              SELECT 1 FROM device_token t WHERE t.device_id = device.id) AS integer)`,
          })}
        FROM device WHERE holder_count = 0 AND last_seen_at_ms >= :lastSeenAtMs
          AND (last_seen_at_ms > :lastSeenAtMs OR id > :id)
        ORDER BY last_seen_at_ms, id LIMIT ${STRANGER_COUNT}`),
    lockStrangers: prepare(sql`
        SELECT ${columns('device', 'id, lastSeenAtMs')} FROM device
        WHERE id ${among('ids')} AND holder_count = 0 ORDER BY hwid ${deletableUnlessBusy}`),
    forget: prepare(sql`
        DELETE FROM device WHERE id = :id AND holder_count = 0`),
  };
}

/** Position among the strangers, those not seen for longest first. */
interface StrangerPosition {
  lastSeenAtMs: number;
  id: number;
  /** True in the first round: strangers with a token are then kept out of a surplus. */
  sparesRegistered: boolean;
  /** Number of strangers above the limit; null: not counted yet. */
  surplus: number | null;
}

const FIRST_STRANGER: StrangerPosition = {
  lastSeenAtMs: 0,
  id: 0,
  sparesRegistered: true,
  surplus: null,
};

/** Returns the strangers that a step deletes, and the position after it; null: the end. */
function toForget(
  found: readonly Stranger[],
  seenBeforeMs: number,
  surplus: number,
  from: StrangerPosition,
) {
  const { sparesRegistered } = from;
  const isIdle = (seenAtMs: number) => seenAtMs < seenBeforeMs;
  const gone: Stranger[] = [];
  const [first] = found;
  if (surplus <= 0 && !(first && isIdle(first.lastSeenAtMs))) return { gone, next: null };
  const after = (at: Pick<StrangerPosition, 'lastSeenAtMs' | 'id'>, spares = sparesRegistered) => ({
    lastSeenAtMs: at.lastSeenAtMs,
    id: at.id,
    sparesRegistered: spares,
    surplus: Math.max(0, surplus - gone.length),
  });
  let at: Pick<StrangerPosition, 'lastSeenAtMs' | 'id'> = from;
  for (const stranger of found) {
    if (gone.length === DEVICE_COUNT) return { gone, next: after(at) };
    const isSpared = sparesRegistered && stranger.isRegistered === 1;
    const isTooMany = gone.length < surplus && !isSpared;
    if (isIdle(stranger.lastSeenAtMs) || isTooMany) gone.push(stranger);
    at = stranger;
  }
  if (found.length === STRANGER_COUNT) return { gone, next: after(at) };
  return { gone, next: sparesRegistered ? after(FIRST_STRANGER, false) : null };
}

export function strangerNoun(backend: Backend): DeviceKeeping {
  const on = { ...seenStatements(backend), ...strangerStatements(backend) };
  const drop = dropSteps(backend);

  /** Deletes strangers that were not seen meanwhile. Returns false if they still have rows. */
  function* forget(gone: readonly Stranger[]): Step<boolean> {
    const seenAtMs = new Map(gone.map(({ id, lastSeenAtMs }) => [id, lastSeenAtMs]));
    const locked = yield* on.lockStrangers.all({ ids: [...seenAtMs.keys()] });
    const ids = locked
      .filter(({ id, lastSeenAtMs }) => seenAtMs.get(id) === lastSeenAtMs)
      .map(({ id }) => id);
    let left = ROW_COUNT - (yield* drop.recipients(ids, ROW_COUNT));
    if (left === 0) return false;
    for (const id of ids) {
      left -= yield* drop.histories(id, left);
      if (left === 0) return false;
      yield* on.forget.run({ id });
    }
    return true;
  }

  return {
    noteSeen: (deviceId, tokenId, nowMs) =>
      backend.write(function* (notes) {
        yield* on.seen.run({ deviceId, nowMs });
        for (const { providerId, lastSeenAtMs } of yield* on.providers.all({ tokenId })) {
          if (isFirstOfDay(lastSeenAtMs, nowMs)) notes.figure(providerId, 'seen', nowMs);
        }
        yield* on.checkIn.run({ tokenId, nowMs });
        yield* on.tokenSeen.run({ tokenId, nowMs });
      }),

    forgetVisits: async (seenBeforeMs) => {
      const found = await backend.read(() => on.idleVisits.all({ seenBeforeMs }));
      if (found.length === 0) return false;
      const ids = [...new Set(found.map(({ deviceId }) => deviceId))];
      await backend.write(function* () {
        yield* backend.lockRows({ device: ids });
        yield* on.moveVisits.run({ ids, seenBeforeMs });
        yield* on.forgetVisits.run({ ids, seenBeforeMs });
      });
      return true;
    },

    forgetStrangers: async ({ seenBeforeMs, countMax }, cursor) => {
      const from = positionOf(cursor, FIRST_STRANGER);
      const { lastSeenAtMs, id } = from;
      const counted = from.surplus ?? (await backend.read(() => on.surplus.get({ countMax })));
      const surplus = typeof counted === 'number' ? counted : (counted?.count ?? 0);
      const found = await backend.read(() => on.strangers.all({ lastSeenAtMs, id }));
      const { gone, next } = toForget(found, seenBeforeMs, surplus, from);
      const isAll = gone.length === 0 || (await backend.write(() => forget(gone)));
      const then = isAll ? next : { ...from, surplus };
      return then && cursorAt<StrangerCursor>(then);
    },
  };
}
