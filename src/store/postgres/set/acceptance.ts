/**
 * Sends that come together wait once for the row of their provider, and for one commit. By
 * bench/sets.ts one of 32 costs 571 us of processor time, PostgreSQL's included; alone 1,738 us.
 */

import { CREATED } from '../../../core/message/status.ts';
import type { Store } from '../../../core/port/store.ts';
import { type Acceptance, acceptance, type Offer, type SendRow } from '../../noun/acceptance.ts';
import { columns, sql } from '../../statement-text.ts';
import { literal } from '../../status.ts';
import { postgresBackend } from '../backend.ts';
import { runOn, waitFor } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';

/** Sends of one commit, and commits at a time, each for another party. */
const COUNT_MAX = 32;
const UNDER_WAY_MAX = 4;

const SENDS = tableOf('x', {
  providerId: 'bigint',
  notificationType: 'integer',
  targetOs: 'text',
  targetHwid: 'text',
  payload: 'text',
  createdAtMs: 'bigint',
  dueAtMs: 'bigint',
  expiresAtMs: 'bigint',
  reachesUnbound: 'integer',
  unboundCount: 'bigint',
  replacesId: 'bigint',
});

const add = prepare(sql`
    INSERT INTO distribution (provider_id, notification_type, status, target_os, target_hwid,
      payload, created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count,
      replaces_id)
    SELECT provider_id, notification_type, ${literal(CREATED)}, target_os, target_hwid, payload,
      created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count, replaces_id
    FROM ${SENDS.from} ORDER BY x.n RETURNING ${columns('distribution', 'id')}`);

const addAll = async (on: Runner, rows: readonly SendRow[]) =>
  (await add.all(on, SENDS.of(rows))).map(({ id }) => id);

type Own = Pick<Store, 'addDistribution'>;

export function acceptanceInGroups(context: Context, noun: Own): Own {
  const { accept } = acceptance(postgresBackend(context), (rows) =>
    waitFor((on) => addAll(on, rows)),
  );
  const group = new TurnGroup<Offer, Acceptance>(context.db, {
    run: (offers) => context.write((w) => runOn(w, accept(w.notes, offers))),
    itemsMax: COUNT_MAX,
    inFlightMax: UNDER_WAY_MAX,
    isWrite: true,
    isOfOneParty: true,
  });
  return {
    addDistribution: (draft, guards, act) =>
      guards.keyed ? noun.addDistribution(draft, guards, act) : group.ask({ draft, guards, act }),
  };
}
