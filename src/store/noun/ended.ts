/**
 * Ends of slots of which devices are notified. A token with another place keeps the end until an
 * answer has carried it; a token without one is deleted, and its hash kept with the reason.
 */

import {
  type EndedStore,
  type EndWord,
  endedText,
  withoutDisabled,
} from '../../core/port/ended.ts';
import type { Backend, Notes, Statements, Step } from '../backend.ts';
import { columns, ONE, sql } from '../statement-text.ts';
import { shared } from './shared.ts';

/** The most characters of ends that a token keeps: a dozen. */
const ENDED_LENGTH_MAX = 400;
/** Tokens that a step deletes. */
const FORGET_STEP = 1_000;

/** The token that held a place. */
interface Holder {
  deviceId: number;
  providerId: number;
  tokenId: number;
}

interface End {
  why: EndWord;
  nowMs: number;
}

function statements({ prepare, among, join }: Statements) {
  /** The first slot of its device at the provider: another link may have any HWID later. */
  const isFirst = sql`NOT EXISTS (
    SELECT 1 FROM install_device l
    WHERE l.device_id = s.device_id AND l.provider_id = s.provider_id AND l.id < s.id)`;
  /**
   * The place of a slot `s`: its link claimed it; no link did, and it is the first slot there; or
   * it is the last slot there.
   */
  const placesOf = sql`
    SELECT ${columns({ p: 'device_provider' }, 'p.deviceId, p.providerId, p.tokenId!')}
    FROM install_device s ${join} device_provider p
      ON p.device_id = s.device_id AND p.provider_id = s.provider_id
    WHERE p.token_id IS NOT NULL AND (p.claim_install_id = s.install_id
      OR p.claim_install_id IS NULL AND ${isFirst} OR p.slot_count = 1)`;
  const isToken = sql`id = :tokenId`;
  return {
    ofSlot: prepare(sql`${placesOf} AND s.id = :slotId`),
    ofLink: prepare(sql`${placesOf} AND s.install_id = :installId ORDER BY p.token_id`),
    /**
     * A place lives by a slot, by a browser, or by the binding that claimed it, also a disabled
     * one: it may be enabled again, and slots of others with the HWID come and go.
     */
    alive: prepare(sql`
        SELECT ${ONE} FROM device_provider p WHERE p.token_id = :tokenId
          AND (p.slot_count > 0 OR p.browser_install_id IS NOT NULL
            OR p.is_by_link = 0 AND EXISTS (
              SELECT 1 FROM device_domain b
              WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id)) LIMIT 1`),
    addEnd: prepare(sql`
        UPDATE device_token SET ended = CASE WHEN length(ended) < ${ENDED_LENGTH_MAX}
          THEN ended || ',' ELSE '' END || :notice
        WHERE id ${among('tokenIds')}`),
    /** The tokens that have ends. */
    withEnds: prepare(sql`
        SELECT ${columns('device_token', 'id, ended!')} FROM device_token
        WHERE id ${among('tokenIds')} AND ended IS NOT NULL`),
    setEnds: prepare(sql`UPDATE device_token SET ended = :ended WHERE ${isToken}`),
    /** Keeps the claims of the token: who knows the HWID alone is not to come first. */
    keepClaims: prepare(sql`
        UPDATE device_provider SET claim_ended_at_ms = :nowMs WHERE token_id = :tokenId`),
    /** A link that is gone claims nothing. */
    dropClaim: prepare(sql`
        UPDATE device_provider SET claim_install_id = NULL, claim_ended_at_ms = NULL, is_by_link = 0
        WHERE device_id = :deviceId AND provider_id = :providerId AND token_id = :tokenId`),
    record: prepare(sql`
        INSERT INTO ended_token (token_hash, why, ended_at_ms, provider_id)
        SELECT token_hash, :why, :nowMs, :providerId FROM device_token WHERE ${isToken}`),
    end: prepare(sql`DELETE FROM device_token WHERE ${isToken}`),
    /** Records tokens whose only places a link has claimed. */
    recordClaimed: prepare(sql`
        INSERT INTO ended_token (token_hash, why, ended_at_ms, provider_id)
        SELECT t.token_hash, :why, :nowMs, p.provider_id
        FROM device_provider p ${join} device_token t ON t.id = p.token_id
        WHERE p.device_id ${among('deviceIds')} AND p.provider_id = :providerId
          AND p.claim_install_id = :installId AND t.stands_alone = 0 AND NOT EXISTS (
            SELECT 1 FROM device_provider o
            WHERE o.token_id = t.id AND o.provider_id <> p.provider_id)`),
  };
}

export const endedSteps = shared((backend: Statements) => {
  const on = statements(backend);

  /** Notifies a token, or ends it if it has no place that lives. The device is locked. */
  function* notify(
    notes: Notes,
    { deviceId, providerId, tokenId }: Holder,
    { why, nowMs }: End,
  ): Step<void> {
    if ((yield* on.alive.get({ tokenId })) !== null) {
      yield* on.addEnd.run({ tokenIds: [tokenId], notice: endedText({ why, atMs: nowMs }) });
    } else {
      yield* on.record.run({ tokenId, providerId, why, nowMs });
      yield* on.keepClaims.run({ tokenId, nowMs });
      if (why !== 'slot_freed') yield* on.dropClaim.run({ deviceId, providerId, tokenId });
      yield* on.end.run({ tokenId });
    }
    notes.notifyEnd([deviceId]);
  }

  return {
    notify,

    /**
     * Records the ends of tokens that the claims of a link are about to take away, although their
     * devices have a slot on another link there.
     */
    recordClaimed: (
      ids: { deviceIds: readonly number[]; providerId: number; installId: number },
      { why, nowMs }: End,
    ): Step<number> => on.recordClaimed.run({ ...ids, why, nowMs }),

    /** Finds the token to notify of the end of a slot, before the slot is deleted. */
    ofSlot: (slotId: number): Step<Holder | null> => on.ofSlot.get({ slotId }),

    /** Notifies the devices of a link that was disabled; withdraws that when it is enabled. */
    *turned(
      notes: Notes,
      { installId, isDisabled }: { installId: number; isDisabled: boolean },
      nowMs: number,
    ): Step<void> {
      const holders = yield* on.ofLink.all({ installId });
      if (holders.length === 0) return;
      const tokenIds = holders.map(({ tokenId }) => tokenId);
      yield* backend.lockRows({ device_token: tokenIds });
      if (!isDisabled) {
        for (const { id: tokenId, ended } of yield* on.withEnds.all({ tokenIds })) {
          const left = withoutDisabled(ended, installId);
          if (left !== ended) yield* on.setEnds.run({ tokenId, ended: left });
        }
        return;
      }
      const notice = endedText({ why: 'link_disabled', atMs: nowMs }, installId);
      yield* on.addEnd.run({ tokenIds, notice });
      notes.notifyEnd(holders.map(({ deviceId }) => deviceId));
    },
  };
});

export function endedNoun(backend: Backend): EndedStore {
  const { prepare } = backend;
  const old = sql`FROM ended_token WHERE ended_at_ms < :endedBeforeMs`;
  const find = prepare(sql`
      SELECT ${columns('ended_token', 'why, endedAtMs AS atMs')} FROM ended_token
      WHERE token_hash = :tokenHash`);
  const notified = prepare(sql`
      UPDATE device_token SET ended = NULL WHERE id = :tokenId AND ended = :ended`);
  const isOld = prepare(sql`SELECT ${ONE} ${old} LIMIT 1`);
  const forget = prepare(sql`
      DELETE FROM ended_token WHERE token_hash IN (
        SELECT x.token_hash FROM (
          SELECT token_hash ${old} ORDER BY ended_at_ms LIMIT ${FORGET_STEP}) x)`);
  return {
    findEndedToken: async (tokenHash) => backend.read(() => find.get({ tokenHash })),

    noteNotified: async (tokenId, ended) =>
      void (await backend.change(() => notified.run({ tokenId, ended }))),

    forgetEndedTokens: async (endedBeforeMs) => {
      if ((await backend.read(() => isOld.get({ endedBeforeMs }))) === null) return false;
      return (await backend.change(() => forget.run({ endedBeforeMs }))) > 0;
    },
  };
}
