/**
 * Sends that come together wait once for the row of their provider, and for one commit. By
 * bench/sets.ts one of 32 costs 571 us of processor time, PostgreSQL's included; alone 1,738 us.
 */

import { CREATED } from '../../../core/message/status.ts';
import type { Store } from '../../../core/port/store.ts';
import { type Acceptance, acceptance, type Offer } from '../../noun/acceptance.ts';
import { SENT_FIELDS, SENT_TYPES, type SendRow } from '../../noun/distribution-row.ts';
import { columnNames, columns, sql } from '../../statement-text.ts';
import { literal } from '../../status.ts';
import { postgresBackend } from '../backend.ts';
import { runOn, waitFor } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';

/** Sends of one commit, and commits at a time, each for another party. */
const COUNT_MAX = 32;
const UNDER_WAY_MAX = 4;

const SENDS = tableOf('x', SENT_TYPES);
const SENT = columnNames(SENT_FIELDS);

const add = prepare(sql`
    INSERT INTO distribution (status, ${SENT}) SELECT ${literal(CREATED)}, ${SENT}
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
