/** Nodes: processes that serve this database. Each updates its row from time to time. */

import type { NodeRecord, NodeStore } from '../../core/port/node.ts';
import { sql } from '../statement-text.ts';
import type { DatabaseClock } from './database-clock.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { prepare } from './statement.ts';
import type { Context } from './write.ts';

/** Silence after which a new node with the same name and address replaces a node, ms. */
const SUCCEEDED_MS = 15_000;
/** Silence after which a node is deleted, ms. */
const FORGOTTEN_MS = 3_600_000;

const FACTS = sql.raw('name, address, version, schema, started_at_ms, seen_at_ms, clock_offset_ms');
const VALUES = sql`:name, :address, :version, ${SCHEMA_VERSION},
  :startedAtMs, :nowMs, :clockOffsetMs`;
const IS_FORGOTTEN = sql`seen_at_ms < :nowMs::bigint - ${FORGOTTEN_MS}`;

const on = {
  note: prepare(sql`
      WITH gone AS (DELETE FROM node WHERE ${IS_FORGOTTEN} AND id <> :id)
      UPDATE node SET (${FACTS}) = (${VALUES}) WHERE id = :id`),
  add: prepare(sql`
      WITH gone AS (
        DELETE FROM node WHERE ${IS_FORGOTTEN}
          OR (name = :name AND address = :address
            AND seen_at_ms < :nowMs::bigint - ${SUCCEEDED_MS}))
      INSERT INTO node (${FACTS}) VALUES (${VALUES}) RETURNING id`),
  remove: prepare(sql`
        DELETE FROM node WHERE id = :id`),
  list: prepare<Omit<NodeRecord, 'silentMs'>>(sql`
      SELECT id, name, address, version, schema, started_at_ms AS "startedAtMs",
        seen_at_ms AS "seenAtMs", clock_offset_ms AS "clockOffsetMs"
      FROM node ORDER BY name, started_at_ms, id`),
};

/** This process as a row of the database. */
export interface Self {
  /** Null: it does not serve. */
  nodeId: number | null;
  clock: DatabaseClock;
}

export function nodeStore({ db, sealer, storeNowMs }: Context, self: Self): NodeStore {
  return {
    nameWorker: async () => `${process.pid}-${crypto.randomUUID()}`,

    noteNode: async (facts) => {
      await self.clock.measure();
      const row = { ...facts, nowMs: storeNowMs(), clockOffsetMs: self.clock.offsetMs };
      const id = self.nodeId ?? 0;
      const isThere = id !== 0 && (await on.note.run(db.writing, { ...row, id })) > 0;
      // Other nodes delete a node that could not write for long.
      if (!isThere) self.nodeId = await on.add.insert(db.writing, row);
      // For entries of a node that ended before it sealed them.
      sealer.raise();
    },

    removeNode: async () => {
      const id = self.nodeId;
      self.nodeId = null;
      if (id !== null) await on.remove.run(db.writing, { id });
    },

    listNodes: async () => {
      const nowMs = storeNowMs();
      const nodes = await on.list.all(db);
      return nodes.map((node) => ({ ...node, silentMs: Math.max(0, nowMs - node.seenAtMs) }));
    },
  };
}
