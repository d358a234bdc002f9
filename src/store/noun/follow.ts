/** Panels that are followed: claims, their users as the last pass saw them, and ends of passes. */

import * as deeds from '../../core/audit/upstream-deeds.ts';
import type { Follow, FollowStore } from '../../core/port/follow.ts';
import type { Backend, Statements, Step } from '../backend.ts';
import { assignments, columns, insertInto, type RowsOf, sql, values } from '../statement-text.ts';
import { mapped } from './rows.ts';

/** Users that a step deletes. */
const FORGET_COUNT = 1_000;

const COLUMNS = columns(
  'follow',
  `id, host, source, view, claimedAtMs, nextAtMs, passedAtMs, tookMs, userCount, addedCount,
    changedCount, goneCount, missingCount, problem, reason, failedAtMs, failingSinceMs,
    failureCount, heldMissingCount, heldKnownCount, heldView, isAccepted`,
);

type FollowRow = RowsOf<[typeof COLUMNS]> & { hashKey: string };

function followIn(row: FollowRow): Follow {
  const { id, host, source, hashKey, view, claimedAtMs, nextAtMs, ...more } = row;
  const { userCount, addedCount, changedCount, goneCount, missingCount } = more;
  const counts = { userCount, addedCount, changedCount, goneCount, missingCount };
  const { problem, heldMissingCount } = more;
  return {
    id,
    host,
    source,
    hashKey,
    view,
    claimedAtMs,
    nextAtMs,
    pass:
      more.passedAtMs === null
        ? null
        : { ...counts, atMs: more.passedAtMs, tookMs: more.tookMs ?? 0 },
    failure:
      problem === null
        ? null
        : {
            problem,
            reason: more.reason ?? '',
            atMs: more.failedAtMs ?? 0,
            sinceMs: more.failingSinceMs ?? 0,
            count: more.failureCount,
          },
    held:
      heldMissingCount === null
        ? null
        : {
            missingCount: heldMissingCount,
            knownCount: more.heldKnownCount ?? 0,
            view: more.heldView ?? '',
          },
    isAccepted: more.isAccepted === 1,
  };
}

/** Prepares the statement that lists the panels. */
export const followRows = ({ prepare, hex }: Pick<Statements, 'prepare' | 'hex'>) =>
  mapped(
    prepare(sql`
        SELECT ${COLUMNS}, ${values<{ hashKey: string }>({ hashKey: hex('hash_key') })}
        FROM follow ORDER BY host`),
    followIn,
  );

function userStatements({ prepare, hex, bytes }: Statements) {
  const user = sql`
    SELECT ${values<{ userHash: string; keyHash: string }>({
      userHash: hex('u.user_hash'),
      keyHash: hex('u.key_hash'),
    })},
      ${columns({ u: 'followed_user' }, 'u.state, u.panelLimit, u.endsAtMs, u.note, u.missedCount')}
    FROM followed_user u`;
  const isIt = sql`follow_id = :id AND user_hash = ${bytes('userHash')}`;
  const hashes = { userHash: bytes('userHash'), keyHash: bytes('keyHash') };
  const change = 'state, panelLimit, endsAtMs, note, missedCount';
  return {
    list: prepare(sql`
        ${user} WHERE follow_id = :id AND user_hash > ${bytes('afterUser')}
        ORDER BY user_hash LIMIT :countMax`),
    find: prepare(sql`
        ${user} JOIN follow f ON f.id = u.follow_id
        WHERE u.key_hash = ${bytes('keyHash')} AND f.host = :host
        ORDER BY u.missed_count, u.user_hash LIMIT 1`),
    put: prepare(sql`
        ${insertInto('followed_user', `followId = :id, ${change}`, hashes)}
        ON CONFLICT (follow_id, user_hash) DO UPDATE
        SET ${assignments('followed_user', change, { keyHash: hashes.keyHash })}`),
    drop: prepare(sql`DELETE FROM followed_user WHERE ${isIt}`),
    empty: prepare(sql`
        DELETE FROM followed_user WHERE follow_id = :id AND user_hash IN (
          SELECT user_hash FROM followed_user WHERE follow_id = :id LIMIT ${FORGET_COUNT})`),
  };
}

function statements(backend: Backend) {
  const { prepare, bytes, hex, locked } = backend;
  const one = sql`
    SELECT ${COLUMNS}, ${values<{ hashKey: string }>({ hashKey: hex('hash_key') })} FROM follow`;
  const isFree = sql`(lease IS NULL OR lease = :owner OR lease_until_ms <= :nowMs
    OR lease_until_ms > :leaseUntilMs)`;
  const isHeld = sql`id = :id AND lease = :owner`;
  return {
    ...userStatements(backend),
    listAll: followRows(backend),
    lockHost: mapped(prepare(sql`${one} WHERE host = :host ${locked}`), followIn),
    lockHeld: mapped(prepare(sql`${one} WHERE ${isHeld} ${locked}`), followIn),
    due: prepare(sql`
        SELECT ${columns('follow', 'id')} FROM follow
        WHERE host = :host AND next_at_ms <= :nowMs AND ${isFree}`),
    known: prepare(sql`SELECT ${columns('follow', 'id')} FROM follow WHERE host = :host`),
    add: prepare(sql`
        ${insertInto('follow', 'host, source, claimedAtMs = :nowMs, nextAtMs = 0', {
          hashKey: bytes('hashKey'),
        })} ON CONFLICT (host) DO NOTHING`),
    claim: prepare(sql`
        UPDATE follow SET lease = :owner, lease_until_ms = :leaseUntilMs, claimed_at_ms = :nowMs
        WHERE host = :host AND next_at_ms <= :nowMs AND ${isFree}`),
    hold: prepare(sql`
        UPDATE follow SET lease_until_ms = :leaseUntilMs WHERE ${isHeld}`),
    turnTo: prepare(sql`
        UPDATE follow SET source = :source, view = NULL, passed_at_ms = NULL, took_ms = NULL,
          problem = NULL, reason = NULL, held_missing_count = NULL, held_known_count = NULL,
          held_view = NULL, is_accepted = 0
        WHERE ${isHeld}`),
    pass: prepare(sql`
        UPDATE follow SET ${assignments(
          'follow',
          `view, tookMs, userCount, addedCount, changedCount, goneCount, missingCount, nextAtMs,
            passedAtMs = :nowMs, problem = NULL, reason = NULL, failureCount = 0,
            heldMissingCount = NULL, heldKnownCount = NULL, heldView = NULL, isAccepted = 0,
            lease = NULL, leaseUntilMs = 0`,
        )} WHERE ${isHeld}`),
    fail: prepare(sql`
        UPDATE follow SET failing_since_ms = CASE WHEN problem IS NULL
            THEN :nowMs ELSE failing_since_ms END,
          ${assignments(
            'follow',
            `problem, reason, nextAtMs, failedAtMs = :nowMs, failureCount = failure_count + 1,
              lease = NULL, leaseUntilMs = 0`,
          )} WHERE ${isHeld}`),
    wait: prepare(sql`
        UPDATE follow SET ${assignments(
          'follow',
          `heldMissingCount = :missingCount, heldKnownCount = :knownCount, heldView = :view,
            isAccepted = 0`,
        )} WHERE ${isHeld}`),
    accept: prepare(sql`UPDATE follow SET is_accepted = 1, next_at_ms = 0 WHERE host = :host`),
    old: prepare(sql`
        SELECT ${columns('follow', 'id')} FROM follow WHERE claimed_at_ms < :beforeMs LIMIT 1`),
    remove: prepare(sql`
        DELETE FROM follow WHERE id = :id AND claimed_at_ms < :beforeMs`),
  };
}

export function followNoun(backend: Backend): FollowStore {
  const on = statements(backend);

  function* change(
    id: number,
    { put, drop }: Parameters<FollowStore['stepFollow']>[1],
  ): Step<void> {
    yield* backend.together([
      ...put.map((user) => () => on.put.run({ ...user, id })),
      ...drop.map((userHash) => () => on.drop.run({ id, userHash })),
    ]);
  }

  return {
    listFollows: () => backend.read(() => on.listAll.all()),

    claimFollow: async (host, fresh, claim) => {
      // A read first: at most looks nothing is due.
      const isDue = await backend.read(function* () {
        if ((yield* on.known.get({ host })) === null) return true;
        return (yield* on.due.get({ host, ...claim })) !== null;
      });
      if (!isDue) return null;
      return backend.write(function* () {
        yield* on.add.run({ host, ...fresh, nowMs: claim.nowMs });
        const known = yield* on.lockHost.get({ host });
        return (yield* on.claim.run({ host, ...claim })) === 0 ? null : known;
      });
    },

    emptyFollow: (hold, source) =>
      backend.write(function* () {
        if ((yield* on.hold.run({ ...hold })) === 0) return 'lost';
        if ((yield* on.empty.run({ id: hold.id })) >= FORGET_COUNT) return true;
        yield* on.turnTo.run({ ...hold, source });
        return false;
      }),

    listFollowed: (id, page) => backend.read(() => on.list.all({ id, ...page })),

    findFollowed: (host, keyHash) => backend.read(() => on.find.get({ host, keyHash })),

    stepFollow: (hold, step) =>
      backend.write(function* () {
        if ((yield* on.hold.run({ ...hold })) === 0) return false;
        yield* change(hold.id, step);
        return true;
      }),

    endFollow: (hold, end) =>
      backend.write(function* () {
        if ('counts' in end) {
          const { counts, ...more } = end;
          yield* on.pass.run({ ...hold, ...counts, ...more });
          return;
        }
        const { held, ...more } = end;
        if (held !== undefined) yield* on.wait.run({ ...hold, ...held });
        yield* on.fail.run({ ...hold, ...more });
      }),

    acceptFollow: (host, act) =>
      backend.write(function* (notes) {
        const known = yield* on.lockHost.get({ host });
        if (known === null) return 'follow_not_found';
        if (known.held === null) return 'follow_not_held';
        if (known.isAccepted) return 'ok';
        yield* on.accept.run({ host });
        notes.audit(act, deeds.acceptFollow(host, known.held));
        return 'ok';
      }),

    forgetFollows: async (beforeMs) => {
      const old = await backend.read(() => on.old.get({ beforeMs }));
      if (old === null) return false;
      return backend.write(function* () {
        if ((yield* on.empty.run({ id: old.id })) < FORGET_COUNT) {
          yield* on.remove.run({ id: old.id, beforeMs });
        }
        return true;
      });
    },
  };
}
