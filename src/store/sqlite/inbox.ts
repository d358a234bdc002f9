/**
 * Inboxes: what waits in the places of a token, and what devices say of it. A message lies in one
 * place, its recipient's row, which is in an inbox of the device: a provider's, or (below 0) of
 * what that provider sent to it as unbound. A look reads the inboxes of the token's places, each
 * from a mark on that is an id, merged by id, and costs what it returns; a token that died or a
 * link that was lost holds with the next look, on open streams too. Blocked messages leave by
 * housekeeping, and hide nothing until then.
 */

import { sql } from 'drizzle-orm';
import { BLOCKED } from '../../core/message/status.ts';
import type { AckItem, AckState, Message, TokenHolder } from '../../core/port/inbox.ts';
import type { Store } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { pushSteps } from '../noun/push-steps.ts';
import { linkedRow } from '../noun/targets.ts';
import { literal } from '../status.ts';
import type { Context } from './context.ts';
import { DIALECT, runNow, sqliteStatements } from './dialect.ts';
import { once, value } from './statement.ts';

type InboxStore = Pick<Store, 'listInbox' | 'acknowledge'>;

/** Rows of a place that are read at a time. */
const PLACE_STEP = 20;
/** Rows that may not be read after which everything else that is ready may run. */
const HIDDEN_STEP = 500;

interface Token {
  id: number;
  nobodyAfterDistributionId: number | null;
  nobodyAfterRecipientId: number | null;
}

interface Row {
  place: number;
  distributionId: number;
  isHidden: number;
}

/** One of a token's places, while it is read. */
interface Place {
  inbox: number;
  afterId: number;
  rows: Row[];
  isRead: boolean;
}

function lookStatements({ db }: Context) {
  return {
    token: db.prepare<Token>(sql`
        SELECT id, nobody_after_distribution_id AS "nobodyAfterDistributionId",
          nobody_after_recipient_id AS "nobodyAfterRecipientId"
        FROM device_token
        WHERE token_hash = ${value('tokenHash')} AND device_id = ${value('deviceId')}`),
    /** A device that is not the provider's any more reads nothing of what is the provider's. */
    places: db.prepare<{ inbox: number; afterId: number }>(sql`
        SELECT p.provider_id AS inbox, p.after_recipient_id AS "afterId" FROM device_provider p
        WHERE p.token_id = ${once('tokenId')} AND ${linkedRow(DIALECT)}`),
    /** The next one of the providers that addressed the device as unbound. */
    nextSender: db.prepare<{ inbox: number | null }>(sql`
        SELECT max(inbox) AS inbox FROM recipient
        WHERE device_id = ${value('deviceId')} AND is_waiting = 1 AND inbox < ${value('below')}`),
    rows: db.prepare<Row>(sql`
        SELECT r.id AS place, x.id AS "distributionId",
          x.status = ${literal(BLOCKED)} OR x.expires_at_ms <= ${once('nowMs')}
            OR r.inbox < 0 AND x.id <= ${once('afterDistributionId')} AS "isHidden"
        FROM recipient r CROSS JOIN distribution x ON x.id = r.distribution_id
        WHERE r.device_id = ${once('deviceId')} AND r.is_waiting = 1
          AND r.inbox = ${once('inbox')} AND r.id > ${once('afterId')}
        ORDER BY r.id LIMIT ${PLACE_STEP}`),
    message: db.prepare<Omit<Message, 'payload'> & { payload: string }>(sql`
        SELECT id, provider_id AS "providerId", octet_length(payload) AS bytes,
          notification_type AS "notificationType",
          created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs", payload
        FROM distribution WHERE id = ${value('id')}`),
  };
}

/** Condition: ledger row `r` is in a place of the token, and `state` says something new of it. */
const CHANGES = sql`
  r.distribution_id = ${once('id')} AND r.device_id = ${once('deviceId')}
  AND r.sent_at_ms IS NOT NULL
  AND (r.received_at_ms IS NULL OR r.is_waiting = 1
    OR ${value('state')} = 'opened' AND r.opened_at_ms IS NULL
    OR ${value('state')} IN ('executed', 'failed')
      AND r.executed_at_ms IS NULL AND r.refused_at_ms IS NULL)
  AND EXISTS (SELECT 1 FROM device_token t
    WHERE t.token_hash = ${once('tokenHash')} AND t.device_id = r.device_id
      AND iif(r.inbox < 0, t.nobody_after_distribution_id < r.distribution_id,
        EXISTS (SELECT 1 FROM device_provider p
          WHERE p.device_id = r.device_id AND p.provider_id = r.inbox AND p.token_id = t.id
            AND p.after_recipient_id < r.id)))`;

/** The provider of a message, and 1 for each state that would be new of it. */
type Change = Record<AckState, number> & { providerId: number; isAtGateway: number };

function acknowledgeStatements({ db }: Context) {
  return {
    changes: db.prepare<Change>(sql`
        SELECT abs(r.inbox) AS "providerId", r.received_at_ms IS NULL AS received,
          r.opened_at_ms IS NULL AS opened,
          r.executed_at_ms IS NULL AND r.refused_at_ms IS NULL AS executed,
          r.executed_at_ms IS NULL AND r.refused_at_ms IS NULL AS failed,
          r.push_state IS 1 AS "isAtGateway"
        FROM recipient r WHERE ${CHANGES}`),
    /** Set once, never unset: an acknowledgement that comes twice or late changes nothing. */
    acknowledge: db.prepare(sql`
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
        WHERE distribution_id = ${value('id')} AND device_id = ${value('deviceId')}`),
  };
}

export function inboxStore(context: Context): InboxStore {
  const { writer, figures } = context;
  const on = { ...lookStatements(context), ...acknowledgeStatements(context) };
  const pushes = pushSteps(sqliteStatements(context.db));

  /** Places of a token; providers that address the device as unbound have one each. */
  function placesOf(token: Token, deviceId: number): Place[] {
    const found = on.places.all({ tokenId: token.id });
    if (token.nobodyAfterRecipientId !== null) {
      for (let below = 0; ; ) {
        const inbox = on.nextSender.get({ deviceId, below })?.inbox ?? null;
        if (inbox === null) break;
        found.push({ inbox, afterId: token.nobodyAfterRecipientId });
        below = inbox;
      }
    }
    return found.map((place) => ({ ...place, rows: [], isRead: false }));
  }

  /** Who has fetched a message needs no push any more, however long its gateway is stopped. */
  function noPushNeeded(distributionId: number, deviceId: number, nowMs: number): void {
    runNow(pushes.reach(context.notes, deviceId, [distributionId], nowMs));
  }

  /** Notes what a device says of a message. False: it is nothing new. */
  function change({ id: deviceId, tokenHash }: TokenHolder, item: AckItem, nowMs: number): boolean {
    const key = { ...item, deviceId, tokenHash, nowMs };
    const news = on.changes.get(key);
    if (news === null) return false;
    on.acknowledge.run(key);
    if (news.isAtGateway === 1) noPushNeeded(item.id, deviceId, nowMs);
    figures.note(news.providerId, 'received', nowMs, news.received);
    if (item.state !== 'received')
      figures.note(news.providerId, item.state, nowMs, news[item.state]);
    return true;
  }

  return {
    listInbox: async ({ id: deviceId, tokenHash }, nowMs, { countMax, bytesMax }) => {
      const messages: Message[] = [];
      const token = on.token.get({ deviceId, tokenHash });
      if (token === null) return { messages, isCut: false };
      const afterDistributionId = token.nobodyAfterDistributionId ?? 0;
      const refill = (place: Place) => {
        const { inbox, afterId } = place;
        place.rows = on.rows.all({ deviceId, inbox, afterId, nowMs, afterDistributionId });
        place.isRead = place.rows.length < PLACE_STEP;
        place.afterId = place.rows.at(-1)?.place ?? afterId;
      };
      const places = placesOf(token, deviceId);
      let bytes = 0;
      for (let hiddenCount = 0; ; ) {
        const row = takeOldest(places, refill);
        if (row === undefined) return { messages, isCut: false };
        if (row.isHidden === 1) {
          hiddenCount += 1;
          if (hiddenCount % HIDDEN_STEP === 0) await nextTurn();
          continue;
        }
        const found = on.message.get({ id: row.distributionId });
        if (found === null) continue;
        const { payload, ...message } = found;
        messages.push({ ...message, payload: JSON.parse(payload) });
        bytes += message.bytes;
        if (messages.length === countMax || bytes >= bytesMax) return { messages, isCut: true };
      }
    },

    acknowledge: async (holder, items, nowMs) => {
      const { id: deviceId, tokenHash } = holder;
      // Looking costs no write: whoever repeats itself leaves the disk alone.
      const news = items.filter(
        (item) => on.changes.get({ ...item, deviceId, tokenHash }) !== null,
      );
      if (news.length === 0) return [];
      return writer.run(() => news.filter((item) => change(holder, item, nowMs)));
    },
  };
}

/** The row that was addressed first, of all that are left in the places. */
function takeOldest(places: readonly Place[], refill: (place: Place) => void): Row | undefined {
  let oldest: Place | undefined;
  for (const place of places) {
    if (place.rows.length === 0 && !place.isRead) refill(place);
    const [row] = place.rows;
    if (row === undefined) continue;
    if (oldest === undefined || row.place < (oldest.rows[0]?.place ?? 0)) oldest = place;
  }
  return oldest?.rows.shift();
}
