/** Writes recipients into the ledger, a step at a time; recipient-serving.ts serves them. */

import { segmentAt } from '../../core/message/segment.ts';
import { LOAD, LOAD_FROM } from '../../core/message/status.ts';
import { COMMAND, type Lease } from '../../core/port/distribution.ts';
import type { RideRules } from '../../core/port/ride.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { searchValues } from './device-match.ts';
import { HELD, held } from './lane.ts';
import { recipientServing, selectWork, type Work } from './recipient-serving.ts';
import { StepSize } from './recipient-steps.ts';
import { rideSteps } from './ride-steps.ts';
import { shared } from './shared.ts';
import { inRange, inSegment, linked, targetRanges } from './targets.ts';

type RecipientNoun = Pick<Store, 'loadRecipients' | 'sendRecipients'>;

/** Statuses in which recipients are written. */
const LOADING = [LOAD, LOAD_FROM];
/** Cursor of a distribution by HWID after its recipients are written. */
const NAMED_LOADED = 1;

/** A step of loading: the position of the next one, its recipients, and the failed among them. */
interface Loaded {
  source: number;
  cursorId: number;
  os: string | null;
  added: number;
  failed: number;
  /** Devices of a segment, to which the message rides from now on. */
  riders: readonly number[];
}

function loadStatements(backend: Backend) {
  const { prepare, among, join } = backend;
  const isHeld = sql`${HELD} AND status ${among('statuses')}`;
  return {
    find: prepare(selectWork(backend)),
    loadRange: prepare(sql`
        INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms)
        SELECT CAST(:id AS bigint), p.device_id, 1, p.provider_id, 0, CAST(:nowMs AS bigint)
        FROM ${inRange(backend)} ORDER BY p.device_id ON CONFLICT DO NOTHING`),
    /** A named device that is no longer linked fails, unless unbound devices are allowed. */
    loadHwid: prepare(sql`
        INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms,
          failed_at_ms, detail)
        SELECT CAST(:id AS bigint), d.id, CASE WHEN d.is_served THEN 1 ELSE 3 END,
          CASE WHEN d.linked OR NOT d.is_served THEN d.provider ELSE -d.provider END, 0,
          CAST(:nowMs AS bigint), CASE WHEN d.is_served THEN NULL ELSE CAST(:nowMs AS bigint) END,
          CASE WHEN d.is_served THEN NULL ELSE 'not linked to the provider any more' END
        FROM (SELECT e.*, e.linked OR CAST(:reachesUnbound AS integer) = 1 AS is_served
              FROM (SELECT y.id AS id, o.id AS provider, ${linked(backend, 'y.id', 'o.id')} AS linked
                    FROM device y ${join} provider o ON o.id = :providerId
                    WHERE y.hwid = :hwid AND (:isCommand = 0
                      OR NOT EXISTS (SELECT 1 FROM device_provider b
                        WHERE b.device_id = y.id AND b.browser_install_id IS NOT NULL))) e) d
        WHERE true ON CONFLICT DO NOTHING`),
    /** Returns the devices that it added. */
    loadSegment: prepare(sql`
        INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms)
        SELECT CAST(:id AS bigint), p.device_id, 1, p.provider_id, 0, CAST(:nowMs AS bigint)
        FROM ${inSegment(backend)} ORDER BY p.device_id ON CONFLICT DO NOTHING
        RETURNING ${columns('recipient', 'deviceId')}`),
    failedOf: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })}
        FROM recipient WHERE distribution_id = :id AND state = 3`),
    /** Saves with each step of loading where the next one continues, unless another worker did. */
    loaded: prepare(sql`
        UPDATE distribution SET cursor_source = :source, cursor_id = :cursorId, cursor_os = :os,
          recipient_count = recipient_count + :added, failed_count = failed_count + :failed,
          lease_until_ms = :untilMs
        WHERE ${isHeld} AND cursor_source = :fromSource AND cursor_id = :fromId
          AND cursor_os IS NOT DISTINCT FROM CAST(:fromOs AS text)`),
    ledgerOf: prepare(sql`
        SELECT ${columns('provider', 'ledgerCount AS count')}
        FROM provider WHERE id = :providerId`),
  };
}

/** Returns the step that writes the next recipients; null: the lease was lost. */
export const recipientLoading = shared((backend: Backend) => {
  const on = loadStatements(backend);
  const ranges = targetRanges(backend);
  const rides = rideSteps(backend);

  /** All at once, because a filter finds only so many. Deleted devices are only counted. */
  function* loadNamed(work: Work, id: number, nowMs: number): Step<Loaded> {
    const { providerId, reachesUnbound, source } = work;
    const isCommand = work.type === COMMAND ? 1 : 0;
    const hwids = work.targetHwid.split(',');
    const all = { id, providerId, reachesUnbound, isCommand, nowMs };
    const added = yield* backend.together(
      hwids.map((hwid) => () => on.loadHwid.run({ ...all, hwid })),
    );
    const found = added.reduce((sum, count) => sum + count, 0);
    const failed = ((yield* on.failedOf.get({ id }))?.count ?? 0) + hwids.length - found;
    return { source, cursorId: NAMED_LOADED, os: null, added: hwids.length, failed, riders: [] };
  }

  /** The search is made as of the time at which delivery began, in each step. */
  function* loadSegment(
    work: Work & { segment: string },
    { id, nowMs }: Lease,
  ): Step<Loaded | null> {
    const { providerId, source, cursorId } = work;
    const found = yield* ranges.nextOfAny(providerId, { os: work.os ?? '', id: cursorId });
    if (found === null) return null;
    const search = segmentAt(work.segment, work.beganAtMs ?? nowMs);
    const of = { ...searchValues(backend, search), isCommand: work.type === COMMAND ? 1 : 0 };
    const added = yield* on.loadSegment.all({ id, providerId, nowMs, ...of, ...found.range });
    const riders = added.map(({ deviceId }) => deviceId);
    const { os, id: toId } = found.next;
    return { source, cursorId: toId, os, added: added.length, failed: 0, riders };
  }

  /** Returns null if all are written. */
  function* loadNext(work: Work, lease: Lease, countMax: number): Step<Loaded | null> {
    const { id, nowMs } = lease;
    const { providerId, targetOs, source, cursorId, segment } = work;
    if (segment !== null) return yield* loadSegment({ ...work, segment }, lease);
    // Counted once, even if the worker dies before it has moved the distribution.
    if (targetOs === null) return cursorId === 0 ? yield* loadNamed(work, id, nowMs) : null;
    const systems = targetOs.split(',');
    const found = yield* ranges.next(providerId, systems, { source, id: cursorId }, countMax);
    if (found === null) return null;
    const isCommand = work.type === COMMAND ? 1 : 0;
    const added = yield* on.loadRange.run({ id, providerId, nowMs, isCommand, ...found.range });
    const next = { source: found.next.source, cursorId: found.next.id, os: null };
    return { ...next, added, failed: 0, riders: [] };
  }

  function* noteLedger(notes: Notes, providerId: number, limit: number, nowMs: number) {
    if (!(yield* notes.isWanted(providerId, 'quota.reached'))) return;
    const used = (yield* on.ledgerOf.get({ providerId }))?.count ?? 0;
    notes.quota(providerId, 'ledger_rows', { used, limit }, nowMs);
  }

  /** Locks the provider, which counts the rows, only at the end, because writing takes a while. */
  return function* load(
    notes: Notes,
    lease: Lease,
    ledgerRowsMax: number,
    countBehind: (cursorId: number) => number,
    rules?: RideRules,
  ): Step<{ isDone: boolean } | null> {
    const { id, owner, nowMs } = lease;
    const mine = { id, owner, statuses: LOADING };
    const work = yield* on.find.get(mine);
    if (work === null) return null;
    const loaded = yield* loadNext(work, lease, countBehind(work.cursorId));
    if (loaded === null) return { isDone: true };
    const { providerId, source: fromSource, cursorId: fromId, os: fromOs } = work;
    const { untilMs } = held(backend, lease);
    const { riders, ...step } = loaded;
    const save = () => on.loaded.run({ ...mine, ...step, fromSource, fromId, fromOs, untilMs });
    const [, saved] = yield* backend.together([
      () => backend.lockProvider(providerId),
      function* () {
        if (riders.length > 0) yield* rides.beginFor(id, riders, rules);
        return yield* save();
      },
    ]);
    if (saved === 0) return notes.refuse(null);
    notes.figure(providerId, 'recipients', nowMs, loaded.added);
    notes.figure(providerId, 'failed', nowMs, loaded.failed);
    yield* noteLedger(notes, providerId, ledgerRowsMax, nowMs);
    return { isDone: work.targetOs === null && work.segment === null };
  };
});

export function recipientNoun(backend: Backend): RecipientNoun {
  const size = new StepSize(backend);
  const countBehind = (cursorId: number) => size.countBehind(cursorId);
  const load = recipientLoading(backend);
  const send = recipientServing(backend);
  return {
    loadRecipients: (lease, ledgerRowsMax, rides) =>
      size.timed(() =>
        backend.write((notes) => load(notes, lease, ledgerRowsMax, countBehind, rides)),
      ),
    sendRecipients: (lease, waitingMax, gateways) =>
      size.timed(() =>
        backend.write((notes) => send(notes, lease, { waitingMax, gateways }, countBehind)),
      ),
  };
}
