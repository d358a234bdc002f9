/** Devices that registered for messages: their tokens, inboxes and acknowledgements. */

import { sql } from 'drizzle-orm';
import type { Message } from '../../core/messaging.ts';
import type { Store } from '../../core/store.ts';
import { type Context, value } from './context.ts';
import { deviceKeeper } from './device.ts';
import { raw } from './raw.ts';
import { prepare } from './statement.ts';
import { linked } from './targets.ts';

type MessagingStore = Pick<
  Store,
  'findRegistration' | 'registerDevice' | 'findDeviceByToken' | 'listInbox' | 'acknowledge'
>;

interface Known {
  id: number;
  tokenHash: Uint8Array | null;
  unprovenFromMs: number | null;
  isTied: number;
}

function statements({ db }: Context) {
  return {
    find: prepare(
      db,
      raw<Known>(sql`
        SELECT id, token_hash AS "tokenHash", unproven_from_ms AS "unprovenFromMs",
          EXISTS (SELECT 1 FROM install_device WHERE device_id = device.id)
          OR EXISTS (SELECT 1 FROM device_domain b CROSS JOIN domain m ON m.id = b.domain_id
                     WHERE b.device_id = device.id AND m.status = 10) AS "isTied"
        FROM device WHERE hwid = ${value('hwid')}`),
    ),
    isOnLink: prepare(
      db,
      raw(sql`
        SELECT 1 FROM install i CROSS JOIN install_device s
        WHERE i.install_code = ${value('installCode')} AND i.status = 10
          AND s.install_id = i.id AND s.device_id = ${value('deviceId')}
          AND EXISTS (SELECT 1 FROM domain m WHERE m.provider_id = i.provider_id
            AND m.domain_hash = ${value('domainHash')} AND m.status = 10)`),
    ),
    isOnBinding: prepare(
      db,
      raw(sql`
        SELECT 1 FROM provider p CROSS JOIN domain m CROSS JOIN device_domain b
        WHERE p.code = ${value('providerCode')} AND m.provider_id = p.id
          AND m.domain_hash = ${value('domainHash')} AND m.status = 10
          AND b.domain_id = m.id AND b.device_id = ${value('deviceId')}`),
    ),
    register: prepare(
      db,
      raw(sql`
        UPDATE device SET token_hash = ${value('tokenHash')}, locale = ${value('locale')},
          push = ${value('push')}, unproven_from_ms = ${value('unprovenFromMs')}
        WHERE id = ${value('id')} AND token_hash IS ${value('replacesTokenHash')}`),
    ),
    findByToken: prepare(
      db,
      raw<{ id: number; hwid: string }>(sql`
        SELECT id, hwid FROM device WHERE token_hash = ${value('tokenHash')}`),
    ),
    /** A device that is not the provider's any more reads nothing of what is the provider's. */
    inbox: prepare(
      db,
      raw<Omit<Message, 'payload'> & { payload: string }>(sql`
        SELECT x.id AS id, x.notification_type AS "notificationType",
          x.created_at_ms AS "createdAtMs", x.expires_at_ms AS "expiresAtMs", x.payload AS payload
        FROM recipient r CROSS JOIN distribution x ON x.id = r.distribution_id
          CROSS JOIN device d ON d.id = r.device_id
        WHERE r.device_id = ${value('deviceId')} AND r.is_waiting = 1
          AND x.status <> 140 AND x.expires_at_ms > ${value('nowMs')}
          AND x.created_at_ms >= coalesce(d.unproven_from_ms, 0)
          AND (r.is_unbound = 1
            OR d.unproven_from_ms IS NULL AND ${linked('r.device_id', 'x.provider_id')})
        ORDER BY r.id LIMIT ${value('countMax')}`),
    ),
    /** Set once, never unset: an acknowledgement that comes twice or late changes nothing. */
    acknowledge: prepare(
      db,
      raw(sql`
        UPDATE recipient SET is_waiting = 0,
          received_at_ms = coalesce(received_at_ms, ${value('nowMs')}),
          opened_at_ms = iif(${value('state')} = 'opened',
            coalesce(opened_at_ms, ${value('nowMs')}), opened_at_ms),
          executed_at_ms = iif(${value('state')} = 'executed' AND refused_at_ms IS NULL,
            coalesce(executed_at_ms, ${value('nowMs')}), executed_at_ms),
          refused_at_ms = iif(${value('state')} = 'failed' AND executed_at_ms IS NULL,
            coalesce(refused_at_ms, ${value('nowMs')}), refused_at_ms),
          detail = iif(${value('state')} = 'failed' AND executed_at_ms IS NULL
            AND refused_at_ms IS NULL, ${value('detail')}, detail)
        WHERE distribution_id = ${value('id')} AND device_id = ${value('deviceId')}
          AND sent_at_ms IS NOT NULL`),
    ),
  };
}

export function messagingStore(context: Context): MessagingStore {
  const { writer } = context;
  const on = statements(context);
  const keepDevice = deviceKeeper(context);
  return {
    findRegistration: async ({ hwid, installCode, domainHash, providerCode }) => {
      const found = on.find.get({ hwid });
      if (found === null) {
        const isUnknown = { isLinked: false, isOnClaimedLink: false, isOnClaimedBinding: false };
        return { tokenHash: null, unprovenFromMs: null, ...isUnknown };
      }
      const { id: deviceId, tokenHash, unprovenFromMs } = found;
      return {
        tokenHash,
        unprovenFromMs,
        isLinked: found.isTied === 1,
        isOnClaimedLink: on.isOnLink.get({ installCode, domainHash, deviceId }) !== null,
        isOnClaimedBinding: on.isOnBinding.get({ providerCode, domainHash, deviceId }) !== null,
      };
    },

    registerDevice: ({ hwid, facts, push, ...wanted }) =>
      writer.run(() => {
        const id = keepDevice(hwid, facts, wanted.nowMs);
        const address = push === null ? null : JSON.stringify(push);
        const isDone = on.register.run({ id, push: address, ...wanted }) > 0;
        return isDone ? { deviceId: id } : 'registration_refused';
      }),

    findDeviceByToken: async (tokenHash) => on.findByToken.get({ tokenHash }),

    listInbox: async (deviceId, nowMs, countMax) =>
      on.inbox
        .all({ deviceId, nowMs, countMax })
        .map(({ payload, ...message }) => ({ ...message, payload: JSON.parse(payload) })),

    acknowledge: (deviceId, items, nowMs) =>
      writer.run(() => {
        for (const item of items) on.acknowledge.run({ deviceId, nowMs, ...item });
      }),
  };
}
