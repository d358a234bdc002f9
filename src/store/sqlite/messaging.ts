/** Devices that registered for messages: their tokens, inboxes and acknowledgements. */

import { sql } from 'drizzle-orm';
import { BLOCKED } from '../../core/distribution.ts';
import type { ClaimedTie } from '../../core/message-store.ts';
import type { Message } from '../../core/messaging.ts';
import type { Store } from '../../core/store.ts';
import { type Context, value } from './context.ts';
import { deviceKeeper } from './device.ts';
import { raw } from './raw.ts';
import { prepare } from './statement.ts';
import { ACTIVE_BINDING, ACTIVE_LINK, literal } from './status.ts';
import { linked } from './targets.ts';

type MessagingStore = Pick<
  Store,
  'findRegistration' | 'registerDevice' | 'findDeviceByToken' | 'listInbox' | 'acknowledge'
>;

/** How many messages are read at a time: each may be large, and few are needed of such. */
const INBOX_STEP = 10;

interface Known {
  id: number;
  tokenHash: Uint8Array | null;
  isTied: number;
  hasProofs: number;
}

interface Tie {
  providerId: number;
  sinceMs: number | null;
  speaks: number;
  isElder: number;
  isByLink: number | null;
}

/** The first slot of the device on a link that is active, among the links that `which` names. */
const firstSlot = (which: string) =>
  sql`(SELECT min(o.id) FROM install_device o CROSS JOIN install j ON j.id = o.install_id
       WHERE o.device_id = ${value('deviceId')} AND j.status = ${ACTIVE_LINK} ${sql.raw(which)})`;

/** Null: the device's token is not proven for the provider. */
const provenBy = (providerId: string) =>
  sql`(SELECT is_by_link FROM device_proof f WHERE f.device_id = ${value('deviceId')}
    AND f.provider_id = ${sql.raw(providerId)}) AS "isByLink"`;

/**
 * May the holder of device `d`'s token see recipient `r` of distribution `x`? What was sent before
 * it proved anything is not its own.
 */
const MAY_SEE = sql.raw(`(
  r.is_unbound = 1 AND x.created_at_ms >= d.unproven_from_ms
  OR EXISTS (SELECT 1 FROM device_proof f WHERE f.device_id = d.id
    AND f.provider_id = x.provider_id AND f.from_ms <= r.queued_at_ms))`);

function registrationStatements({ db }: Context) {
  return {
    find: prepare(
      db,
      raw<Known>(sql`
        SELECT id, token_hash AS "tokenHash",
          EXISTS (SELECT 1 FROM install_device WHERE device_id = device.id)
          OR EXISTS (SELECT 1 FROM device_domain b CROSS JOIN domain m ON m.id = b.domain_id
                     WHERE b.device_id = device.id AND m.status = ${ACTIVE_BINDING}) AS "isTied",
          EXISTS (SELECT 1 FROM device_proof WHERE device_id = device.id) AS "hasProofs"
        FROM device WHERE hwid = ${value('hwid')}`),
    ),
    /** A slot that is not there yet (null) speaks if there is no other. */
    claimedLink: prepare(
      db,
      raw<Tie>(sql`
        SELECT i.provider_id AS "providerId", s.registered_at_ms AS "sinceMs",
          s.id IS ${firstSlot('AND j.provider_id = i.provider_id')} AS speaks,
          s.id IS ${firstSlot('')} AND EXISTS (SELECT 1 FROM device d
            WHERE d.id = s.device_id AND d.unproven_from_ms >= s.registered_at_ms) AS "isElder",
          ${provenBy('i.provider_id')}
        FROM install i LEFT JOIN install_device s
          ON s.install_id = i.id AND s.device_id = ${value('deviceId')}
        WHERE i.install_code = ${value('installCode')} AND i.status = ${ACTIVE_LINK}
          AND EXISTS (SELECT 1 FROM domain m WHERE m.provider_id = i.provider_id
            AND m.domain_hash = ${value('domainHash')} AND m.status = ${ACTIVE_BINDING})`),
    ),
    claimedBinding: prepare(
      db,
      raw<Tie>(sql`
        SELECT p.id AS "providerId", b.linked_at_ms AS "sinceMs", 0 AS "isElder",
          ${firstSlot('AND j.provider_id = p.id')} IS NULL AS speaks, ${provenBy('p.id')}
        FROM provider p CROSS JOIN domain m ON m.provider_id = p.id
        LEFT JOIN device_domain b ON b.domain_id = m.id AND b.device_id = ${value('deviceId')}
        WHERE p.code = ${value('providerCode')}
          AND m.domain_hash = ${value('domainHash')} AND m.status = ${ACTIVE_BINDING}`),
    ),
    register: prepare(
      db,
      raw(sql`
        UPDATE device SET token_hash = ${value('tokenHash')}, locale = ${value('locale')},
          push = ${value('push')},
          unproven_from_ms = iif(${value('isContinued')}, unproven_from_ms, ${value('nowMs')})
        WHERE id = ${value('id')} AND token_hash IS ${value('replacesTokenHash')}`),
    ),
    dropProofs: prepare(db, raw(sql`DELETE FROM device_proof WHERE device_id = ${value('id')}`)),
    /** Once shown, stays shown: what was open before does not close. */
    addProof: prepare(
      db,
      raw(sql`
        INSERT INTO device_proof (device_id, provider_id, is_by_link, from_ms)
        VALUES (${value('id')}, ${value('providerId')}, ${value('by')} = 'link', ${value('fromMs')})
        ON CONFLICT DO UPDATE SET is_by_link = max(is_by_link, excluded.is_by_link),
          from_ms = min(from_ms, excluded.from_ms)`),
    ),
  };
}

/**
 * A value that SQLite cannot see while it plans. With those that it sees, in LIMIT too, it plans a
 * join anew at each run, which took 37 of 40 us here.
 */
const once = (name: string) => sql`(SELECT ${value(name)})`;

function inboxStatements({ db }: Context) {
  return {
    findByToken: prepare(
      db,
      raw<{ id: number; hwid: string }>(sql`
        SELECT id, hwid FROM device WHERE token_hash = ${value('tokenHash')}`),
    ),
    /** A device that is not the provider's any more reads nothing of what is the provider's. */
    list: prepare(
      db,
      raw<Omit<Message, 'payload'> & { payload: string; place: number }>(sql`
        SELECT r.id AS place, x.id AS id, x.notification_type AS "notificationType",
          x.created_at_ms AS "createdAtMs", x.expires_at_ms AS "expiresAtMs", x.payload AS payload
        FROM recipient r CROSS JOIN distribution x ON x.id = r.distribution_id
          CROSS JOIN device d ON d.id = r.device_id
        WHERE r.device_id = ${once('deviceId')} AND d.token_hash = ${once('tokenHash')}
          AND r.is_waiting = 1 AND r.id > ${once('afterPlace')}
          AND x.status <> ${literal(BLOCKED)} AND x.expires_at_ms > ${once('nowMs')}
          AND ${MAY_SEE} AND (r.is_unbound = 1 OR ${linked('r.device_id', 'x.provider_id')})
        ORDER BY r.id LIMIT ${sql.raw(String(INBOX_STEP))}`),
    ),
    /** Set once, never unset: an acknowledgement that comes twice or late changes nothing. */
    acknowledge: prepare(
      db,
      raw(sql`
        UPDATE recipient AS r SET is_waiting = 0,
          received_at_ms = coalesce(received_at_ms, ${value('nowMs')}),
          opened_at_ms = iif(${value('state')} = 'opened',
            coalesce(opened_at_ms, ${value('nowMs')}), opened_at_ms),
          executed_at_ms = iif(${value('state')} = 'executed' AND refused_at_ms IS NULL,
            coalesce(executed_at_ms, ${value('nowMs')}), executed_at_ms),
          refused_at_ms = iif(${value('state')} = 'failed' AND executed_at_ms IS NULL,
            coalesce(refused_at_ms, ${value('nowMs')}), refused_at_ms),
          detail = iif(${value('state')} = 'failed' AND executed_at_ms IS NULL
            AND refused_at_ms IS NULL, ${value('detail')}, detail)
        WHERE distribution_id = ${once('id')} AND device_id = ${once('deviceId')}
          AND sent_at_ms IS NOT NULL
          AND EXISTS (SELECT 1 FROM device d CROSS JOIN distribution x
            WHERE d.id = r.device_id AND d.token_hash = ${once('tokenHash')}
              AND x.id = r.distribution_id AND ${MAY_SEE})`),
    ),
  };
}

function tieOf(row: Tie | null): ClaimedTie | null {
  if (row === null) return null;
  const { providerId, sinceMs, speaks, isElder, isByLink } = row;
  const proven = isByLink === null ? null : isByLink === 1 ? 'link' : 'binding';
  return { providerId, sinceMs, speaks: speaks === 1, isElder: isElder === 1, proven };
}

function isSameToken(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}

export function messagingStore(context: Context): MessagingStore {
  const { writer } = context;
  const on = registrationStatements(context);
  const inbox = inboxStatements(context);
  const keepDevice = deviceKeeper(context);
  return {
    findRegistration: async ({ hwid, installCode, domainHash, providerCode }) => {
      const found = on.find.get({ hwid });
      // No device has the id 0.
      const deviceId = found?.id ?? 0;
      return {
        tokenHash: found?.tokenHash ?? null,
        isLinked: found?.isTied === 1,
        hasProofs: found?.hasProofs === 1,
        link: tieOf(on.claimedLink.get({ installCode, domainHash, deviceId })),
        binding: tieOf(on.claimedBinding.get({ providerCode, domainHash, deviceId })),
      };
    },

    registerDevice: ({ hwid, facts, push, proof, isContinued, ...wanted }) =>
      writer.run(() => {
        // Asked before anything is kept: a refusal leaves no trace.
        const current = on.find.get({ hwid })?.tokenHash ?? null;
        if (!isSameToken(current, wanted.replacesTokenHash)) return 'registration_refused';
        const id = keepDevice(hwid, facts, wanted.nowMs);
        const row = { push: push && JSON.stringify(push), isContinued: isContinued ? 1 : 0 };
        on.register.run({ id, ...row, ...wanted });
        if (!isContinued) on.dropProofs.run({ id });
        if (proof !== null) on.addProof.run({ id, ...proof });
        return { deviceId: id };
      }),

    findDeviceByToken: async (tokenHash) => inbox.findByToken.get({ tokenHash }),

    listInbox: async ({ id: deviceId, tokenHash }, nowMs, { countMax, bytesMax }) => {
      const messages: Message[] = [];
      let bytes = 0;
      for (let afterPlace = 0; ; ) {
        const step = inbox.list.all({ deviceId, tokenHash, nowMs, afterPlace });
        for (const { payload, place, ...message } of step) {
          messages.push({ ...message, payload: JSON.parse(payload) });
          bytes += Buffer.byteLength(payload);
          afterPlace = place;
          if (messages.length === countMax || bytes >= bytesMax) {
            return { messages, isCut: true };
          }
        }
        if (step.length < INBOX_STEP) return { messages, isCut: false };
      }
    },

    acknowledge: ({ id: deviceId, tokenHash }, items, nowMs) =>
      writer.run(() => {
        for (const item of items) {
          inbox.acknowledge.run({ deviceId, tokenHash, nowMs, ...item });
        }
      }),
  };
}
