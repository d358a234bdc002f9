/** Sends that come together wait once for the row of their provider, and for one commit. */

import { sql } from 'drizzle-orm';
import { CREATED } from '../../../core/message/status.ts';
import type { Store } from '../../../core/port/store.ts';
import { type Acceptance, acceptance, type Offer, type SendRow } from '../../noun/acceptance.ts';
import { literal } from '../../status.ts';
import { postgresBackend } from '../backend.ts';
import type { Context } from '../context.ts';
import { runOn, waitFor } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, value } from '../statement.ts';

/** Sends of one commit, and commits at a time, each of another party. */
const COUNT_MAX = 32;
const UNDER_WAY_MAX = 4;

const add = prepare<{ id: number }>(sql`
    INSERT INTO distribution (provider_id, notification_type, status, target_os, target_hwid,
      payload, created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count)
    SELECT provider_id, notification_type, ${literal(CREATED)}, target_os, target_hwid, payload,
      created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count
    FROM unnest(${value('providerIds')}::bigint[], ${value('types')}::integer[],
        ${value('systems')}::text[], ${value('hwids')}::text[], ${value('payloads')}::text[],
        ${value('createdAtMs')}::bigint[], ${value('dueAtMs')}::bigint[],
        ${value('expiresAtMs')}::bigint[], ${value('reachesUnbound')}::integer[],
        ${value('unboundCounts')}::bigint[])
      WITH ORDINALITY AS x(provider_id, notification_type, target_os, target_hwid, payload,
        created_at_ms, due_at_ms, expires_at_ms, reaches_unbound, unbound_count, n)
    ORDER BY x.n RETURNING id`);

async function addAll(on: Runner, rows: readonly SendRow[]): Promise<number[]> {
  const added = await add.all(on, {
    providerIds: rows.map(({ providerId }) => providerId),
    types: rows.map(({ notificationType }) => notificationType),
    systems: rows.map(({ targetOs }) => targetOs),
    hwids: rows.map(({ targetHwid }) => targetHwid),
    payloads: rows.map(({ payload }) => payload),
    createdAtMs: rows.map(({ createdAtMs }) => createdAtMs),
    dueAtMs: rows.map(({ dueAtMs }) => dueAtMs),
    expiresAtMs: rows.map(({ expiresAtMs }) => expiresAtMs),
    reachesUnbound: rows.map(({ reachesUnbound }) => reachesUnbound),
    unboundCounts: rows.map(({ unboundCount }) => unboundCount),
  });
  return added.map(({ id }) => id);
}

export function acceptanceInGroups(context: Context): Pick<Store, 'addDistribution'> {
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
  return { addDistribution: (draft, guards, act) => group.ask({ draft, guards, act }) };
}
