/** Rows of cut-offs and bars, as statements. */

import { BARS_MAX } from '../../core/bar.ts';
import { CUTS_OF_LINK_MAX, CUTS_WAITING_MAX, USERS_TIMES } from '../../core/cut-off.ts';
import type { Cut } from '../../core/port/cut-off.ts';
import type { Backend, Statements, Step } from '../backend.ts';
import type { CutSurvey } from '../kind.ts';
import { assignments, columns, insertInto, sql, values } from '../statement-text.ts';
import { booleans, mapped } from './rows.ts';
import { shared } from './shared.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 500;

const ofProvider = sql`provider_id = :providerId`;
const ofLink = sql`install_id = :installId`;

/** The columns of a cut-off `c`. */
const cutColumns = ({ hex, join }: Statements) => sql`
  ${columns(
    { c: 'cut_off' },
    `c.id, c.providerId, c.installId, c.host, c.state, c.why, c.isByUser, c.askedAtMs, c.endedAtMs,
      c.nextAtMs, c.attemptCount, c.seen, c.deviceCount, c.fetchUntilMs`,
  )}, ${values<{ keyHash: string | null; hwidHash: string | null; waitingCount: number }>({
    keyHash: hex('c.subscription_key_hash'),
    hwidHash: hex('c.hwid_hash'),
    waitingCount: sql`CASE WHEN c.fetch_until_ms IS NULL THEN 0 ELSE (
      SELECT count(*) FROM cut_wait w ${join} install_device s
        ON s.install_id = w.install_id AND s.device_id = w.device_id
      WHERE w.install_id = c.install_id) END`,
  })}`;

/** Statements about proofs of keys. */
function proofs({ prepare, bytes }: Statements) {
  return {
    proof: prepare(sql`
        SELECT ${columns({ i: 'install' }, 'i.id AS installId')},
          ${values<{ host: string | null }>({ host: sql`p.host` })}
        FROM install i LEFT JOIN key_proof p ON p.install_id = i.id AND p.host = :prover
          AND p.subscription_key_hash = i.subscription_key_hash
        WHERE i.subscription_key_hash = ${bytes('keyHash')} AND i.${ofProvider}`),
    addProof: prepare(sql`
        ${insertInto('key_proof', 'installId, host = :prover, provedAtMs = :nowMs', {
          subscriptionKeyHash: bytes('keyHash'),
        })}
        ON CONFLICT (install_id, host) DO UPDATE SET
          subscription_key_hash = excluded.subscription_key_hash,
          proved_at_ms = excluded.proved_at_ms`),
    /** Drops what the panels before proved that were behind the same host. */
    dropProofs: prepare(sql`
        DELETE FROM key_proof WHERE ${ofLink} AND host <> :prover
          AND substr(host, 1, CAST(:length AS int)) = :start`),
    provedBy: prepare(sql`
        SELECT ${columns('key_proof', 'host')} FROM key_proof
        WHERE ${ofLink} AND subscription_key_hash = ${bytes('keyHash')}
        ORDER BY proved_at_ms DESC, host`),
  };
}

/** Statements about bars, devices that must fetch, and users that are followed. */
function besides(backend: Statements) {
  const { prepare, bytes, hex, join } = backend;
  const bar = sql`
    SELECT ${values<{ hwidHash: string }>({ hwidHash: hex('hwid_hash') })},
      ${columns('slot_bar', 'madeAtMs, untilMs')} FROM slot_bar`;
  const ofPhone = sql`FROM device d ${join} slot_phone f
    ON f.own_device_id = d.id AND f.install_id = :installId WHERE d.hwid = :hwid`;
  const isHeld = sql`EXISTS (SELECT 1 FROM install_device s
    WHERE s.install_id = w.install_id AND s.device_id = w.device_id)`;
  return {
    bars: prepare(sql`
        ${bar} WHERE ${ofLink} AND until_ms > :nowMs ORDER BY made_at_ms DESC, hwid_hash`),
    barOf: prepare(sql`${bar} WHERE ${ofLink} AND hwid_hash = ${bytes('hwidHash')}`),
    addBar: prepare(sql`
        ${insertInto('slot_bar', 'installId, madeAtMs = :nowMs, untilMs', {
          hwidHash: bytes('hwidHash'),
        })} ON CONFLICT (install_id, hwid_hash) DO UPDATE SET until_ms = excluded.until_ms`),
    /** Keeps the traits of the further phone whose HWID is barred, for as long as the bar. */
    barPhone: prepare(sql`
        UPDATE slot_bar SET (family, app, model_hash) = (
          SELECT f.family, f.app, f.model_hash ${ofPhone} ORDER BY f.number LIMIT 1)
        WHERE ${ofLink} AND hwid_hash = ${bytes('hwidHash')} AND EXISTS (SELECT 1 ${ofPhone})`),
    trimBars: prepare(sql`
        DELETE FROM slot_bar WHERE ${ofLink} AND hwid_hash IN (
          SELECT x.hwid_hash FROM (
            SELECT hwid_hash FROM slot_bar WHERE ${ofLink}
            ORDER BY made_at_ms DESC, hwid_hash LIMIT ${BARS_MAX} OFFSET ${BARS_MAX}) x)`),
    dropBar: prepare(sql`
        DELETE FROM slot_bar WHERE ${ofLink} AND hwid_hash = ${bytes('hwidHash')}`),
    dropOldBar: prepare(sql`
        DELETE FROM slot_bar WHERE ${ofLink} AND hwid_hash = ${bytes('hwidHash')}
          AND until_ms <= :nowMs`),
    moveBars: prepare(sql`
        INSERT INTO slot_bar (install_id, hwid_hash, made_at_ms, until_ms, family, app, model_hash)
        SELECT CAST(:toId AS bigint), hwid_hash, made_at_ms, until_ms, family, app, model_hash
        FROM slot_bar
        WHERE install_id = :fromId
        ON CONFLICT (install_id, hwid_hash) DO NOTHING`),
    markBars: prepare(sql`
        UPDATE install SET has_bars = CASE WHEN EXISTS (
          SELECT 1 FROM slot_bar b WHERE b.install_id = install.id) THEN 1 ELSE 0 END
        WHERE id = :installId`),
    addWaits: prepare(sql`
        INSERT INTO cut_wait (install_id, device_id, until_ms)
        SELECT install_id, device_id, CAST(:waitUntilMs AS bigint) FROM install_device
        WHERE ${ofLink}
        ON CONFLICT (install_id, device_id) DO UPDATE SET until_ms = excluded.until_ms`),
    fetched: prepare(sql`
        DELETE FROM cut_wait WHERE ${ofLink} AND until_ms <= :untilMs
          AND device_id = (SELECT id FROM device WHERE hwid = :hwid)`),
    /** A link awaits fetches while a cut-off waits, or devices have not fetched since. */
    markAwaits: prepare(sql`
        UPDATE install SET awaits_fetch = CASE WHEN EXISTS (
            SELECT 1 FROM cut_off c WHERE c.install_id = install.id AND c.state = 'waiting')
          OR EXISTS (SELECT 1 FROM cut_wait w WHERE w.install_id = install.id AND ${isHeld})
          THEN 1 ELSE 0 END
        WHERE id = :installId`),
    followedBy: prepare(sql`
        SELECT ${columns({ f: 'follow' }, 'f.host, f.source')}
        FROM followed_user u ${join} follow f ON f.id = u.follow_id
        WHERE u.key_hash = ${bytes('keyHash')} AND u.missed_count = 0`),
    oldBars: prepare(sql`
        SELECT ${columns('slot_bar', 'installId')}, ${values<{ hwidHash: string }>({
          hwidHash: hex('hwid_hash'),
        })} FROM slot_bar WHERE until_ms <= :nowMs ORDER BY until_ms LIMIT ${FORGET_COUNT}`),
    oldWaits: prepare(sql`
        SELECT DISTINCT ${columns('cut_wait', 'installId')} FROM cut_wait
        WHERE until_ms <= :nowMs LIMIT ${FORGET_COUNT}`),
    dropWaits: prepare(sql`DELETE FROM cut_wait WHERE ${ofLink} AND until_ms <= :nowMs`),
    barsOfHwid: prepare(sql`
        SELECT ${columns('slot_bar', 'installId')} FROM slot_bar
        WHERE hwid_hash = ${bytes('hwidHash')} ORDER BY install_id LIMIT ${FORGET_COUNT}`),
    forgetHwid: prepare(sql`
        UPDATE cut_off SET hwid_hash = NULL WHERE id IN (
          SELECT x.id FROM (SELECT id FROM cut_off WHERE hwid_hash = ${bytes('hwidHash')}
            LIMIT ${FORGET_COUNT}) x)`),
  };
}

/** Statements about the state of upstreams. */
const ofHosts = ({ prepare }: Pick<Statements, 'prepare'>) => ({
  stops: mapped(
    prepare(sql`
        SELECT ${columns('cut_stop', 'host, fields, stoppedAtMs')} FROM cut_stop ORDER BY host`),
    ({ fields, ...row }) => ({ ...row, fields: fields.split(',') }),
  ),
  waitingByHost: prepare(sql`
        SELECT ${columns({ c: 'cut_off' }, 'c.host')},
          ${values<{ count: number; askedAtMs: number }>({
            count: sql`count(*)`,
            askedAtMs: sql`min(c.asked_at_ms)`,
          })}
        FROM cut_off c WHERE c.state = 'waiting' GROUP BY c.host ORDER BY c.host`),
});

/** Reads the state of upstreams for the doctor. */
export function* readCuts(statements: Pick<Statements, 'prepare'>): Step<CutSurvey> {
  const on = ofHosts(statements);
  return { stops: yield* on.stops.all(), waiting: yield* on.waitingByHost.all() };
}

/** Statements that stop upstreams, and let them go on. */
function stops({ prepare }: Statements) {
  return {
    addStop: prepare(sql`
        ${insertInto('cut_stop', 'host, fields, stoppedAtMs = :nowMs')}
        ON CONFLICT (host) DO UPDATE SET fields = excluded.fields,
          stopped_at_ms = excluded.stopped_at_ms`),
    dropStop: prepare(sql`DELETE FROM cut_stop WHERE host = :host`),
  };
}

/** Statements about cut-offs. */
function cutOffStatements(backend: Backend) {
  const { prepare, bytes, hex, join, locked, returningId } = backend;
  const cut = sql`SELECT ${cutColumns(backend)} FROM cut_off c`;
  const cuts = (isIt: ReturnType<typeof sql>) =>
    mapped(prepare(sql`${cut} WHERE ${isIt}`), booleans('isByUser')) as Pick<
      ReturnType<typeof mapped<unknown, Cut>>,
      'all' | 'get'
    >;
  const isWaiting = sql.raw(`c.state = 'waiting'`);
  const isFree = sql`(c.lease IS NULL OR c.lease = :owner OR c.lease_until_ms <= :nowMs
    OR c.lease_until_ms > :leaseUntilMs)`;
  // Users have more, of their own.
  const isInTime = sql`(c.begun_at_ms IS NOT NULL OR (
    SELECT count(*) FROM cut_off h WHERE h.provider_id = c.provider_id
      AND h.is_by_user = c.is_by_user AND h.begun_at_ms > :hourAgoMs)
    < CAST(:perHourMax AS bigint) * CASE WHEN c.is_by_user = 1 THEN ${USERS_TIMES} ELSE 1 END)`;
  const isDue = sql`${isWaiting} AND c.host = :host AND c.next_at_ms <= :nowMs
    AND c.asked_at_ms > :askedAfterMs AND ${isFree} AND ${isInTime}
    AND NOT EXISTS (SELECT 1 FROM cut_stop x WHERE x.host = c.host)`;
  return {
    ...besides(backend),
    ...proofs(backend),
    ...ofHosts(backend),
    ...stops(backend),
    link: prepare(sql`
        SELECT ${columns(
          { i: 'install' },
          'i.id AS installId, i.status, i.deviceCount, i.panelUser, i.panelFacts',
        )}, ${values<{ keyHash: string | null; providerCode: string }>({
          keyHash: hex('i.subscription_key_hash'),
          providerCode: sql`o.code`,
        })}
        FROM install i ${join} provider o ON o.id = i.provider_id
        WHERE i.id = :installId AND i.${ofProvider}`),
    idByCode: prepare(sql`
        SELECT ${columns('install', 'id')} FROM install
        WHERE install_code = :installCode AND ${ofProvider}`),
    /** All HWIDs of a link, with the named ones. */
    hwids: prepare(sql`
        SELECT ${columns({ d: 'device' }, 'd.hwid')}
        FROM install_device s ${join} device d ON d.id = s.device_id WHERE s.${ofLink}
        UNION ALL SELECT hwid FROM named_hwid WHERE ${ofLink}`),
    find: cuts(sql`c.id = :id`),
    last: cuts(sql`c.${ofLink} ORDER BY c.id DESC LIMIT 1`),
    waiting: cuts(sql`c.${ofLink} AND ${isWaiting} ORDER BY c.id DESC LIMIT 1`),
    lastByUser: prepare(sql`
        SELECT ${columns('cut_off', 'askedAtMs')} FROM cut_off
        WHERE ${ofLink} AND is_by_user = 1 ORDER BY id DESC LIMIT 1`),
    listAll: cuts(sql`
        c.id < :beforeId AND (:isWaiting = 0 OR ${isWaiting}) ORDER BY c.id DESC LIMIT :countMax`),
    listOfProvider: cuts(sql`
        c.${ofProvider} AND c.id < :beforeId AND (:isWaiting = 0 OR ${isWaiting})
        ORDER BY c.id DESC LIMIT :countMax`),
    listOfLink: cuts(sql`
        c.${ofProvider} AND c.${ofLink} AND c.id < :beforeId
        AND (:isWaiting = 0 OR ${isWaiting}) ORDER BY c.id DESC LIMIT :countMax`),
    waitingCount: prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM (
          SELECT 1 FROM cut_off c
          WHERE c.${ofProvider} AND ${isWaiting} AND c.is_by_user = :isByUser
          LIMIT ${CUTS_WAITING_MAX}) x`),
    add: prepare(sql`
        ${insertInto(
          'cut_off',
          `providerId, installId, host, state, why, isByUser, askedAtMs = :nowMs,
            nextAtMs = :nowMs, endedAtMs, deviceCount`,
          { subscriptionKeyHash: bytes('keyHash'), hwidHash: bytes('hwidHash') },
        )} ${returningId}`),
    trim: prepare(sql`
        DELETE FROM cut_off WHERE ${ofLink} AND state <> 'waiting' AND id <= (
          SELECT id FROM cut_off WHERE ${ofLink}
          ORDER BY id DESC LIMIT 1 OFFSET ${CUTS_OF_LINK_MAX})`),
    due: prepare(sql`
        SELECT ${columns({ c: 'cut_off' }, 'c.id, c.providerId')} FROM cut_off c
        WHERE ${isDue} ORDER BY c.next_at_ms, c.id LIMIT 1`),
    claim: prepare(sql`
        UPDATE cut_off AS c SET lease = :owner, lease_until_ms = :leaseUntilMs,
          begun_at_ms = coalesce(begun_at_ms, :nowMs), attempt_count = attempt_count + 1
        WHERE c.id = :id AND ${isDue}`),
    lockHeld: prepare(sql`
        SELECT ${columns({ c: 'cut_off' }, 'c.id, c.providerId, c.installId, c.host')}
        FROM cut_off c WHERE c.id = :id AND ${isWaiting} AND c.lease = :owner`),
    isLeased: prepare(sql`
        SELECT ${values<{ one: number }>({ one: sql`1` })} FROM cut_off
        WHERE id = :id AND lease IS NOT NULL AND lease_until_ms > :nowMs`),
    retry: prepare(sql`
        UPDATE cut_off SET ${assignments(
          'cut_off',
          'why, seen, nextAtMs, lease = NULL, leaseUntilMs = 0',
        )} WHERE id = :id`),
    end: prepare(sql`
        UPDATE cut_off SET ${assignments(
          'cut_off',
          `state, why, endedAtMs = :nowMs, fetchUntilMs, deviceCount, seen = NULL, lease = NULL,
            leaseUntilMs = 0`,
        )} WHERE id = :id`),
    old: prepare(sql`
        SELECT ${columns({ c: 'cut_off' }, 'c.id, c.providerId, c.installId, c.why')}
        FROM cut_off c
        WHERE ${isWaiting} AND c.asked_at_ms <= :askedBeforeMs
          AND (c.lease IS NULL OR c.lease_until_ms <= :nowMs)
        ORDER BY c.id LIMIT 1`),
    lock: prepare(sql`
        SELECT ${columns('install', 'id, deviceCount')} FROM install
        WHERE id = :installId ${locked}`),
    forget: prepare(sql`
        DELETE FROM cut_off WHERE id IN (
          SELECT x.id FROM (SELECT id FROM cut_off
            WHERE ended_at_ms IS NOT NULL AND ended_at_ms < :endedBeforeMs
            ORDER BY id LIMIT ${FORGET_COUNT}) x)`),
  };
}

export const cutStatements = shared((backend: Backend) => cutOffStatements(backend));
