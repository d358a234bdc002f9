/**
 * Inboxes of a turn in one statement, which finds messages; each is read once for all lists. By
 * bench/sets.ts one of 32 costs 68 us of processor time, PostgreSQL's included; alone 1,260 us.
 */

import type { SQL } from 'drizzle-orm';
import { BLOCKED } from '../../../core/message/status.ts';
import type { Message, TokenHolder } from '../../../core/port/inbox.ts';
import type { Store } from '../../../core/port/store.ts';
import { linkedRow } from '../../noun/targets.ts';
import { sql } from '../../statement-text.ts';
import { literal } from '../../status.ts';
import { DIALECT } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';

/** Lists of one statement. */
const LISTS_MAX = 100;
/** Bytes of payloads that one statement reads. */
const FETCH_BYTES = 1024 ** 2;

interface List {
  holder: TokenHolder;
  nowMs: number;
  limits: { countMax: number; bytesMax: number };
}

interface Waiting {
  n: number;
  distributionId: number;
  bytes: number;
}

type MessageRow = Omit<Message, 'payload'> & { payload: string };

/** Rows at a place of token `t` for call `k`, without blocked or expired messages. */
const waitingIn = (place: SQL) => sql`
  SELECT r.id, r.distribution_id, x.bytes FROM (
    SELECT r.id, r.distribution_id FROM recipient r
    WHERE r.device_id = k.device_id AND r.is_waiting = 1 AND ${place}
    ORDER BY r.id OFFSET 0) r
    CROSS JOIN LATERAL (
      SELECT octet_length(payload) AS bytes FROM distribution
      WHERE id = r.distribution_id AND status <> ${literal(BLOCKED)}
        AND expires_at_ms > k.now_ms LIMIT 1) x
  ORDER BY r.id LIMIT k.count_max`;

const LISTS = tableOf('k', {
  deviceId: 'bigint',
  tokenHash: 'bytea',
  nowMs: 'bigint',
  countMax: 'bigint',
});

const on = {
  /** A device that is no longer linked to the provider reads none of its messages. */
  waiting: prepare<Waiting>(sql`
      SELECT k.n::integer AS n, w.distribution_id::float8 AS "distributionId", w.bytes AS bytes
      FROM ${LISTS.from}
        CROSS JOIN LATERAL (SELECT * FROM device_token
          WHERE token_hash = k.token_hash AND device_id = k.device_id LIMIT 1) t
        CROSS JOIN LATERAL (
          SELECT * FROM (
            SELECT f.* FROM (
              SELECT * FROM device_provider WHERE token_id = t.id OFFSET 0) p CROSS JOIN LATERAL (
              ${waitingIn(sql`r.inbox = p.provider_id AND r.id > p.after_recipient_id`)}) AS f
            WHERE ${linkedRow(DIALECT)}
            UNION ALL
            SELECT f.* FROM (
              ${waitingIn(sql`r.inbox < 0 AND r.id > t.nobody_after_recipient_id
                AND r.distribution_id > t.nobody_after_distribution_id`)}) AS f) AS all_of_it
          ORDER BY id LIMIT k.count_max) AS w
      ORDER BY k.n, w.id`),
  /** Leaves out those that were blocked or pruned meanwhile. */
  messages: prepare<MessageRow>(sql`
      SELECT id::float8 AS id, provider_id::float8 AS "providerId",
        octet_length(payload) AS bytes, notification_type AS "notificationType",
        created_at_ms::float8 AS "createdAtMs", expires_at_ms::float8 AS "expiresAtMs", payload
      FROM distribution
      WHERE id = ANY (:ids::bigint[]) AND status <> ${literal(BLOCKED)}
        AND pruned_at_ms IS NULL`),
};

export function inboxesInGroups({ db }: Context): Pick<Store, 'listInbox'> {
  /** Finds the ids of each list's messages, and whether there are more. */
  async function find(asked: readonly List[]) {
    const lists = asked.map(({ holder: { id: deviceId, tokenHash }, nowMs, limits }) => {
      return { deviceId, tokenHash, nowMs, countMax: limits.countMax };
    });
    const rows = await on.waiting.all(db, LISTS.of(lists));
    const found = asked.map(() => ({ ids: [] as number[], bytes: 0, isCut: false }));
    const bytesOf = new Map<number, number>();
    for (const { n, distributionId, bytes } of rows) {
      const [inbox, limits] = [found[n - 1], asked[n - 1]?.limits];
      if (inbox === undefined || limits === undefined || inbox.isCut) continue;
      inbox.ids.push(distributionId);
      inbox.bytes += bytes;
      inbox.isCut = inbox.ids.length === limits.countMax || inbox.bytes >= limits.bytesMax;
      bytesOf.set(distributionId, bytes);
    }
    return { found, bytesOf };
  }

  /** Reads the messages with these ids and lengths, bytes. */
  async function fetchMessages(bytesOf: ReadonlyMap<number, number>) {
    const messages = new Map<number, Message>();
    let ids: number[] = [];
    let bytes = 0;
    const fetchSome = async () => {
      for (const { payload, ...message } of await on.messages.all(db, { ids })) {
        messages.set(message.id, { ...message, payload: JSON.parse(payload) });
      }
      [ids, bytes] = [[], 0];
    };
    for (const [id, size] of bytesOf) {
      ids.push(id);
      bytes += size;
      if (bytes >= FETCH_BYTES) await fetchSome();
    }
    if (ids.length > 0) await fetchSome();
    return messages;
  }

  const inboxes = new TurnGroup<List, { messages: Message[]; isCut: boolean }>(db, {
    itemsMax: LISTS_MAX,
    run: async (asked) => {
      const { found, bytesOf } = await find(asked);
      const messages = await fetchMessages(bytesOf);
      return found.map(({ ids, isCut }) => ({
        messages: ids.flatMap((id) => messages.get(id) ?? []),
        isCut,
      }));
    },
  });

  return {
    listInbox: (holder, nowMs, limits) => inboxes.ask({ holder, nowMs, limits }),
  };
}
