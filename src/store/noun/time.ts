/** The steady time of each machine, and the cut of records that were made in the future. */

import type { SQL } from 'drizzle-orm';
import * as deeds from '../../core/audit/deeds.ts';
import type { FutureCursor, KeptTime, Leap, TimeStore } from '../../core/port/time.ts';
import type { Backend } from '../backend.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { columns, sql, values } from '../statement-text.ts';
import { FUTURE_CUTS, type FutureCut } from './future-cuts.ts';

/** Machines that are remembered: names of nodes may change with each start. */
const MACHINES_MAX = 100;
/** Records that a step looks through. */
const CUT_COUNT = 1_000;

type Row = Omit<KeptTime, 'leap' | 'spentMs'> & { leap: string | null; spent: string };

const timeIn = ({ leap, spent, ...row }: Row): KeptTime => ({
  ...row,
  leap: leap === null ? null : (JSON.parse(leap) as Leap),
  spentMs: JSON.parse(spent) as KeptTime['spentMs'],
});

/** Prepares the statement that lists the times of machines. */
export const keptTimes = ({ prepare }: Pick<Backend, 'prepare'>) =>
  prepare(sql`
      SELECT ${columns('steady_time', 'name, atMs, ranMs, leap, spent')}
      FROM steady_time ORDER BY at_ms DESC, name`);

export const timesIn = (rows: readonly Row[]): KeptTime[] => rows.map(timeIn);

/** The place of a cut: the number of the column, and the last key of its table that was read. */
interface CutPosition {
  column: number;
  key: number;
}

const FIRST_CUT: CutPosition = { column: 0, key: -1 };

/** Prepares the cut of a column, and of those that move with it, within some keys. */
function cutStatements({ prepare }: Backend, cut: FutureCut) {
  const [table, at] = [sql.raw(cut.table), sql.raw(cut.column)];
  const key = cut.key === null ? null : sql.raw(cut.key ?? 'id');
  const latest = sql`CAST(:latestMs AS bigint)`;
  const shifts: SQL[] = (cut.shifted ?? []).map(
    (column) => sql`${sql.raw(column)} = ${sql.raw(column)} - (${at} - ${latest})`,
  );
  const within = key === null ? sql`:toKey > :key` : sql`${key} > :key AND ${key} <= :toKey`;
  const isLater = sql`${at} > ${latest} AND ${within} AND (${sql.raw(cut.only ?? '1 = 1')})`;
  return {
    aheadMs: cut.aheadMs ?? 0,
    /** Null: the whole table is one step. */
    to:
      key === null
        ? null
        : prepare(sql`
            SELECT ${values<{ key: number | null }>({
              key: sql`max(k)`,
            })} FROM (SELECT ${key} AS k FROM ${table}
              WHERE ${key} > :key ORDER BY ${key} LIMIT ${CUT_COUNT}) s`),
    find: prepare(
      sql`SELECT ${values<{ one: number }>({ one: sql`1` })}
      FROM ${table} WHERE ${isLater} LIMIT 1`,
    ),
    run: prepare(sql`
        UPDATE ${table} SET ${sql.join([...shifts, sql`${at} = ${latest}`], sql`, `)}
        WHERE ${isLater}`),
  };
}

export function timeNoun(backend: Backend): TimeStore {
  const { prepare } = backend;
  const list = keptTimes(backend);
  const on = {
    find: prepare(sql`
        SELECT ${columns('steady_time', 'leap')}
        FROM steady_time WHERE name = :name ${backend.locked}`),
    save: prepare(sql`
        INSERT INTO steady_time (name, at_ms, ran_ms, leap, spent)
        VALUES (:name, :atMs, :ranMs, :leap, :spent)
        ON CONFLICT (name) DO UPDATE SET at_ms = excluded.at_ms, ran_ms = excluded.ran_ms,
          leap = excluded.leap, spent = excluded.spent`),
    forget: prepare(sql`
        DELETE FROM steady_time WHERE name IN (
          SELECT name FROM steady_time ORDER BY at_ms DESC, name
          LIMIT ${MACHINES_MAX} OFFSET ${MACHINES_MAX})`),
    leapt: prepare(sql`
        SELECT ${columns('steady_time', 'name, atMs, ranMs, leap, spent')}
        FROM steady_time WHERE leap IS NOT NULL ORDER BY name ${backend.locked}`),
    trust: prepare(sql`
        UPDATE steady_time SET leap = NULL, at_ms = :atMs WHERE name = :name`),
  };
  const cuts = FUTURE_CUTS.map((cut) => cutStatements(backend, cut));
  const leapJson = (leap: Leap | null) => leap && JSON.stringify(leap);

  return {
    listTimes: async () => timesIn(await backend.read(() => list.all())),
    saveTime: ({ leap, spentMs, ...time }, before) =>
      backend.write(function* () {
        const known = yield* on.find.get({ name: time.name });
        if ((known?.leap ?? null) !== leapJson(before)) return false;
        yield* on.save.run({ ...time, leap: leapJson(leap), spent: JSON.stringify(spentMs) });
        if (known === null) yield* on.forget.run();
        return true;
      }),
    trustClocks: (act) =>
      backend.write(function* (notes) {
        const leapt = timesIn(yield* on.leapt.all());
        // A server that stands still begins by the time of that clock.
        for (const { atMs, leap, name } of leapt) {
          yield* on.trust.run({ name, atMs: atMs + (leap?.leadMs ?? 0) });
        }
        if (leapt.length > 0) notes.audit(act, deeds.trustClocks(leapt.length));
        return leapt.length;
      }),
    cutFuture: async (nowMs, after) => {
      const { column, key } = positionOf(after, FIRST_CUT);
      const cut = cuts[column];
      if (cut === undefined) return null;
      const next = cursorAt<FutureCursor>({ column: column + 1, key: FIRST_CUT.key });
      const { aheadMs, find, run, to } = cut;
      const found = to && (await backend.read(() => to.get({ key })));
      const toKey = to === null ? 0 : (found?.key ?? null);
      if (toKey === null) return next;
      const values = { key, toKey, latestMs: nowMs + aheadMs };
      if ((await backend.read(() => find.get(values))) !== null) {
        await backend.write(() => run.run(values));
      }
      return to === null ? next : cursorAt<FutureCursor>({ column, key: toKey });
    },
  };
}
