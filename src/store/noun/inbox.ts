/**
 * Inboxes: messages that wait at the places of a token. A message is one recipient's row in an
 * inbox of the device: either the inbox of a provider, or (below 0) the inbox of messages that the
 * provider sent to it as an unbound device. A list merges the inboxes of the token's places by id,
 * each from a mark, and its cost grows with its result. Blocked messages are hidden until
 * housekeeping removes them.
 */

import { BLOCKED } from '../../core/message/status.ts';
import type { Message, TokenHolder } from '../../core/port/inbox.ts';
import type { Store } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import type { Backend, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { literal } from '../status.ts';
import { linkedRow } from './targets.ts';

/** Rows of a place that are read at a time. */
const PLACE_STEP = 20;
/** Hidden rows after which other calls may run. */
const HIDDEN_STEP = 500;

interface Token {
  id: number;
  unattachedAfterDistributionId: number | null;
  unattachedAfterRecipientId: number | null;
}

interface Row {
  recipientId: number;
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

function statements(backend: Backend) {
  const { prepare, once, join } = backend;
  return {
    token: prepare(sql`
        SELECT ${columns(
          'device_token',
          `id, nobodyAfterDistributionId AS unattachedAfterDistributionId,
              nobodyAfterRecipientId AS unattachedAfterRecipientId`,
        )}
        FROM device_token WHERE token_hash = :tokenHash AND device_id = :deviceId`),
    /** A device that is no longer linked to the provider reads none of its messages. */
    places: prepare(sql`
        SELECT ${columns(
          { p: 'device_provider' },
          'p.providerId AS inbox, p.afterRecipientId AS afterId',
        )}
        FROM device_provider p
        WHERE p.token_id = ${once('tokenId')} AND ${linkedRow(backend)}`),
    /** Finds the next provider that sent to the device as an unbound device. */
    nextSender: prepare(sql`
        SELECT ${values<{ inbox: number | null }>({ inbox: sql`max(inbox)` })} FROM recipient
        WHERE device_id = :deviceId AND is_waiting = 1 AND inbox < :below`),
    rows: prepare(sql`
        SELECT ${values<{ recipientId: Row['recipientId'] }>({ recipientId: sql`r.id` })},
          ${columns({ x: 'distribution' }, 'x.id AS distributionId')}, ${values<{
            isHidden: Row['isHidden'];
          }>({
            isHidden: sql`CAST(x.status = ${literal(BLOCKED)} OR x.expires_at_ms <= ${once('nowMs')}
            OR r.inbox < 0 AND x.id <= ${once('afterDistributionId')} AS integer)`,
          })} FROM recipient r ${join} distribution x ON x.id = r.distribution_id
        WHERE r.device_id = ${once('deviceId')} AND r.is_waiting = 1
          AND r.inbox = ${once('inbox')} AND r.id > ${once('afterId')}
        ORDER BY r.id LIMIT ${PLACE_STEP}`),
    message: prepare(sql`
        SELECT ${columns('distribution', 'id, providerId')},
          ${values<{ bytes: (Omit<Message, 'payload'> & { payload: string })['bytes'] }>({
            bytes: sql`octet_length(payload)`,
          })},
          ${columns('distribution', 'notificationType, createdAtMs, expiresAtMs, payload')}
        FROM distribution WHERE id = :id AND pruned_at_ms IS NULL`),
  };
}

export function inboxNoun(backend: Backend): Pick<Store, 'listInbox'> {
  const on = statements(backend);

  /** Finds the places of a token; each provider that sends to the device as unbound is one. */
  function* placesOf(token: Token, deviceId: number): Step<Place[]> {
    const found = yield* on.places.all({ tokenId: token.id });
    const afterId = token.unattachedAfterRecipientId;
    if (afterId !== null) {
      for (let below = 0; ; ) {
        const inbox = (yield* on.nextSender.get({ deviceId, below }))?.inbox ?? null;
        if (inbox === null) break;
        found.push({ inbox, afterId });
        below = inbox;
      }
    }
    return found.map((place) => ({ ...place, rows: [], isRead: false }));
  }

  /** Takes the oldest unread row of the places. */
  function* takeOldest(
    places: readonly Place[],
    key: { deviceId: number; nowMs: number; afterDistributionId: number },
  ): Step<Row | undefined> {
    let oldest: Place | undefined;
    for (const place of places) {
      if (place.rows.length === 0 && !place.isRead) {
        const { inbox, afterId } = place;
        place.rows = yield* on.rows.all({ ...key, inbox, afterId });
        place.isRead = place.rows.length < PLACE_STEP;
        place.afterId = place.rows.at(-1)?.recipientId ?? afterId;
      }
      const [row] = place.rows;
      if (row === undefined) continue;
      if (oldest === undefined || row.recipientId < (oldest.rows[0]?.recipientId ?? 0)) {
        oldest = place;
      }
    }
    return oldest?.rows.shift();
  }

  async function listInbox(
    { id: deviceId, tokenHash }: TokenHolder,
    nowMs: number,
    { countMax, bytesMax }: { countMax: number; bytesMax: number },
  ): Promise<{ messages: Message[]; isCut: boolean }> {
    const messages: Message[] = [];
    let bytes = 0;
    let places: Place[] | null = null;
    let afterDistributionId = 0;

    /** Reads on. Returns whether messages are left, or null after many hidden rows. */
    function* read(): Step<boolean | null> {
      if (places === null) {
        const token = yield* on.token.get({ deviceId, tokenHash });
        if (token === null) return false;
        places = yield* placesOf(token, deviceId);
        afterDistributionId = token.unattachedAfterDistributionId ?? 0;
      }
      for (let hiddenCount = 0; hiddenCount < HIDDEN_STEP; ) {
        const row = yield* takeOldest(places, { deviceId, nowMs, afterDistributionId });
        if (row === undefined) return false;
        const found = row.isHidden === 1 ? null : yield* on.message.get({ id: row.distributionId });
        if (found === null) {
          hiddenCount += 1;
          continue;
        }
        const { payload, ...message } = found;
        messages.push({ ...message, payload: JSON.parse(payload) });
        bytes += message.bytes;
        if (messages.length === countMax || bytes >= bytesMax) return true;
      }
      return null;
    }

    for (;;) {
      const isCut = await backend.read(read);
      if (isCut !== null) return { messages, isCut };
      await nextTurn();
    }
  }

  return { listInbox };
}
