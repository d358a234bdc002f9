/** Glances at many inboxes at once: one statement finds the waiting messages, one reads them. */

import { BLOCKED } from '../../core/message/status.ts';
import type { Glance, Message } from '../../core/port/inbox.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { literal } from '../status.ts';
import { linkedRow } from './targets.ts';

/** Most messages of one inbox that a glance finds. */
const GLANCE_COUNT_MAX = 8;
/**
 * Most bytes of payload of one message in a glance, because many inboxes may have as many messages.
 */
const GLANCE_BYTES_MAX = 8 * 1024;

const HOLDER = { deviceId: 'bigint', tokenId: 'bigint', tokenHash: 'text' } as const;

interface Row {
  /** Null: the token is not valid. */
  tokenId: number | null;
  /** Ends of which it has not been notified; null: none. */
  ended: string | null;
  /** The rows that wait for the device, each as `id distributionId isHere`; null: none. */
  waiting: string | null;
}

/** `payload` is null if it is too long for a glance. */
type Found = Omit<Message, 'payload'> & { payload: string | null };

/** Reads the rows that wait, oldest first. */
function readRows(waiting: string | null) {
  if (waiting === null) return [];
  const rows = waiting.split(',').map((row) => row.split(' ').map(Number));
  if (rows.length > 1) rows.sort(([a = 0], [b = 0]) => a - b);
  return rows.map(([, id = 0, isHere]) => ({ id, isHere: isHere === 1 }));
}

export function glanceNoun(backend: Backend): Pick<Store, 'glanceInboxes' | 'findWaiting'> {
  const { prepare, rows, hex, among } = backend;
  /** True if a place of the token `t` has the row `r`. */
  const isHere = sql`CASE WHEN r.inbox < 0
    THEN t.nobody_after_recipient_id < r.id AND t.nobody_after_distribution_id < r.distribution_id
    ELSE EXISTS (SELECT 1 FROM device_provider p
      WHERE p.device_id = r.device_id AND p.provider_id = r.inbox AND p.token_id = t.id
        AND p.after_recipient_id < r.id AND ${linkedRow(backend)}) END`;
  const on = {
    /** One row more than a glance returns shows that there are more. */
    waiting: prepare(sql`
        SELECT ${columns({ t: 'device_token?' }, 't.id AS tokenId, t.ended')}, ${values<{
          waiting: Row['waiting'];
        }>({
          waiting: sql`(
          SELECT string_agg(CAST(w.id AS text) || ' ' || CAST(w.distribution_id AS text)
            || ' ' || CAST(w.is_here AS text), ',')
          FROM (
            SELECT r.id, r.distribution_id, coalesce(CAST(${isHere} AS integer), 0) AS is_here
            FROM recipient r WHERE r.device_id = t.device_id AND r.is_waiting = 1
            LIMIT ${GLANCE_COUNT_MAX + 1}) w)`,
        })} FROM ${rows('holders', HOLDER)} k LEFT JOIN device_token t
          ON t.id = k."tokenId" AND t.device_id = k."deviceId"
            AND ${hex('t.token_hash')} = k."tokenHash"
        ORDER BY k.n`),
    messages: prepare(sql`
        SELECT ${columns('distribution', 'id, providerId')},
          ${values<{ bytes: Found['bytes'] }>({ bytes: sql`octet_length(payload)` })},
          ${columns('distribution', 'notificationType, createdAtMs, expiresAtMs')}, ${values<{
            payload: Found['payload'];
          }>({
            payload: sql`CASE WHEN octet_length(payload) <= ${GLANCE_BYTES_MAX} THEN payload END`,
          })}
        FROM distribution WHERE id ${among('ids')} AND status <> ${literal(BLOCKED)}
          AND expires_at_ms > :nowMs AND pruned_at_ms IS NULL`),
    one: prepare(sql`
        SELECT ${columns({ x: 'distribution' }, 'x.id, x.providerId')},
          ${values<{ bytes: Found['bytes'] }>({ bytes: sql`octet_length(x.payload)` })},
          ${columns(
            { x: 'distribution' },
            'x.notificationType, x.createdAtMs, x.expiresAtMs, x.payload',
          )}
        FROM device_token t ${backend.join} recipient r
            ON r.device_id = t.device_id AND r.distribution_id = :id AND r.is_waiting = 1
          ${backend.join} distribution x ON x.id = r.distribution_id
        WHERE t.token_hash = :tokenHash AND t.device_id = :deviceId AND ${isHere}
          AND x.status <> ${literal(BLOCKED)} AND x.expires_at_ms > :nowMs
          AND x.pruned_at_ms IS NULL`),
  };
  return {
    findWaiting: async ({ id: deviceId, tokenHash }, id, nowMs) =>
      backend.read(function* () {
        const found = yield* on.one.get({ deviceId, tokenHash, id, nowMs });
        return found && { ...found, payload: JSON.parse(found.payload) };
      }),

    glanceInboxes: async (holders, nowMs) =>
      backend.read(function* () {
        const keys = holders.map(({ id, tokenId, tokenHash }) => {
          return { deviceId: id, tokenId, tokenHash: tokenHash.toHex() };
        });
        const inboxes = (yield* on.waiting.all({ holders: JSON.stringify(keys) })).map((row) => {
          const { tokenId, ended } = row;
          const says = tokenId === null ? 'revoked' : ended === null ? null : 'ended';
          return { says, rows: readRows(row.waiting) } as const;
        });
        const ids = new Set<number>();
        for (const { rows } of inboxes) for (const { id, isHere } of rows) if (isHere) ids.add(id);
        const messages = new Map<number, Message | 'more'>();
        const found = ids.size > 0 ? yield* on.messages.all({ ids: [...ids], nowMs }) : [];
        for (const { payload, ...message } of found) {
          const isShort = payload !== null;
          messages.set(message.id, isShort ? { ...message, payload: JSON.parse(payload) } : 'more');
        }
        return inboxes.map(({ says, rows }): Glance => {
          if (says !== null) return says;
          if (rows.length > GLANCE_COUNT_MAX) return 'more';
          const here: Message[] = [];
          for (const { id, isHere } of rows) {
            const message = isHere ? messages.get(id) : undefined;
            if (message === 'more') return 'more';
            if (message !== undefined) here.push(message);
          }
          return here;
        });
      }),
  };
}
