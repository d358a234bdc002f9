/** Acknowledgements of messages by devices. */

import { sql } from 'drizzle-orm';
import type { AckItem, AckState, TokenHolder } from '../../core/port/inbox.ts';
import type { Store } from '../../core/port/store.ts';
import { type Backend, type Notes, type Step, value } from '../backend.ts';
import { pushSteps } from './push-steps.ts';

/** The provider of a message, and 1 for each state that would be new of it. */
type Change = Record<AckState, number> & { providerId: number; isAtGateway: number };

function statements({ prepare, once, among, locked, lockOnly }: Backend) {
  const state = value('state');
  const isUndecided = sql.raw('r.executed_at_ms IS NULL AND r.refused_at_ms IS NULL');
  return {
    lockRows: lockOnly(sql`
        SELECT id FROM recipient
        WHERE device_id = ${value('deviceId')} AND distribution_id ${among('ids')}
        ORDER BY id ${locked}`),
    /** The record that an item changes, if the message is at a place of the token. */
    change: prepare<Change>(sql`
        SELECT abs(r.inbox) AS "providerId",
          CAST(r.received_at_ms IS NULL AS integer) AS received,
          CAST(r.opened_at_ms IS NULL AS integer) AS opened,
          CAST(${isUndecided} AS integer) AS executed, CAST(${isUndecided} AS integer) AS failed,
          CAST(r.push_state IS NOT DISTINCT FROM 1 AS integer) AS "isAtGateway"
        FROM recipient r
        WHERE r.distribution_id = ${once('id')} AND r.device_id = ${once('deviceId')}
          AND r.sent_at_ms IS NOT NULL
          AND (r.received_at_ms IS NULL OR r.is_waiting = 1
            OR ${state} = 'opened' AND r.opened_at_ms IS NULL
            OR ${state} IN ('executed', 'failed') AND ${isUndecided})
          AND EXISTS (SELECT 1 FROM device_token t
            WHERE t.token_hash = ${once('tokenHash')} AND t.device_id = r.device_id
              AND CASE WHEN r.inbox < 0 THEN t.nobody_after_distribution_id < r.distribution_id
                ELSE EXISTS (SELECT 1 FROM device_provider p
                  WHERE p.device_id = r.device_id AND p.provider_id = r.inbox
                    AND p.token_id = t.id AND p.after_recipient_id < r.id) END)`),
    /** Each time is set once: a repeated or late acknowledgement changes none. */
    acknowledge: prepare(sql`
        UPDATE recipient AS r SET is_waiting = 0,
          received_at_ms = coalesce(r.received_at_ms, ${value('nowMs')}),
          opened_at_ms = CASE WHEN ${state} = 'opened'
            THEN coalesce(r.opened_at_ms, ${value('nowMs')}) ELSE r.opened_at_ms END,
          executed_at_ms = CASE WHEN ${state} = 'executed' AND r.refused_at_ms IS NULL
            THEN coalesce(r.executed_at_ms, ${value('nowMs')}) ELSE r.executed_at_ms END,
          refused_at_ms = CASE WHEN ${state} = 'failed' AND r.executed_at_ms IS NULL
            THEN coalesce(r.refused_at_ms, ${value('nowMs')}) ELSE r.refused_at_ms END,
          detail = CASE WHEN ${state} = 'failed' AND ${isUndecided}
            THEN ${value('detail')} ELSE r.detail END
        WHERE r.distribution_id = ${value('id')} AND r.device_id = ${value('deviceId')}`),
  };
}

export function acknowledgementNoun(backend: Backend): Pick<Store, 'acknowledge'> {
  const on = statements(backend);
  const pushes = pushSteps(backend);

  const findChange = ({ id: deviceId, tokenHash }: TokenHolder, { id, state }: AckItem) =>
    on.change.get({ id, state, deviceId, tokenHash });

  /** Records an item. Returns false if it changes no record. */
  function* record(notes: Notes, holder: TokenHolder, item: AckItem, nowMs: number): Step<boolean> {
    const change = yield* findChange(holder, item);
    if (change === null) return false;
    const { providerId } = change;
    yield* on.acknowledge.run({ ...item, deviceId: holder.id, nowMs });
    // A fetched message needs no push, however long its gateway is stopped.
    if (change.isAtGateway === 1) yield* pushes.reach(notes, holder.id, [item.id], nowMs);
    notes.figure(providerId, 'received', nowMs, change.received);
    if (item.state !== 'received') notes.figure(providerId, item.state, nowMs, change[item.state]);
    return true;
  }

  return {
    acknowledge: async (holder, items, nowMs) => {
      // A repeated acknowledgement is found by reads alone.
      const changing = await backend.read(function* () {
        const found: AckItem[] = [];
        for (const item of items) if ((yield* findChange(holder, item)) !== null) found.push(item);
        return found;
      });
      if (changing.length === 0) return [];
      const ids = changing.map(({ id }) => id);
      return backend.write(function* (notes) {
        yield* pushes.lock(ids);
        yield* on.lockRows.run({ deviceId: holder.id, ids });
        const recorded: AckItem[] = [];
        for (const item of changing) {
          if (yield* record(notes, holder, item, nowMs)) recorded.push(item);
        }
        return recorded;
      });
    },
  };
}
