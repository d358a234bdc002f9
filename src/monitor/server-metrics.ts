/** Metrics of PostgreSQL; without samples on SQLite. */

import { type ServerFacts, STATEMENT_KINDS } from '../core/port/health.ts';
import { counted, type MetricRow, one, row, type Snapshot, spread } from './metric-row.ts';

/** Makes a sample of a value that the server reports. */
const fact =
  (read: (facts: ServerFacts) => number) =>
  ({ server }: Snapshot) =>
    one(server && read(server));

export const SERVER: MetricRow[] = [
  row({
    name: 'gatepost_database_up',
    type: 'gauge',
    help: 'Whether PostgreSQL answers and accepts writes: 1 or 0.',
    read: ({ isDatabaseUp }) => one(isDatabaseUp === null ? null : Number(isDatabaseUp)),
  }),
  row({
    name: 'gatepost_database_connections',
    type: 'gauge',
    help: 'Connections to the database, those of other nodes and programs included.',
    read: fact(({ connectionCount }) => connectionCount),
  }),
  row({
    name: 'gatepost_database_connections_max',
    type: 'gauge',
    help: 'Most connections that the PostgreSQL server accepts.',
    read: fact(({ connectionCountMax }) => connectionCountMax),
  }),
  row({
    name: 'gatepost_database_statement_seconds',
    type: 'histogram',
    labels: ['kind'],
    help: 'Time of a statement to PostgreSQL, or of a transaction as a whole.',
    read: ({ isDatabaseUp, tallies: { statements } }, name) =>
      isDatabaseUp === null
        ? []
        : STATEMENT_KINDS.flatMap((kind) => spread(name, statements[kind].seconds, { kind })),
  }),
  row({
    name: 'gatepost_database_group_rows',
    type: 'histogram',
    labels: ['kind'],
    help: 'Calls that shared one statement.',
    read: ({ isDatabaseUp, tallies: { statements } }, name) =>
      isDatabaseUp === null
        ? []
        : (['read', 'write'] as const).flatMap((kind) =>
            spread(name, statements[kind].rows, { kind }),
          ),
  }),
  row({
    name: 'gatepost_database_retries_total',
    type: 'counter',
    labels: ['sqlstate'],
    help: 'Retried statements and transactions, by SQLSTATE; `connection`: it was lost.',
    read: ({ isDatabaseUp, tallies }) =>
      isDatabaseUp === null ? [] : counted('sqlstate', tallies.retries),
  }),
  row({
    name: 'gatepost_database_clock_offset_seconds',
    type: 'gauge',
    help: "Time by which the database's clock is ahead of this machine's.",
    read: fact(({ clockOffsetMs }) => clockOffsetMs / 1000),
  }),
  row({
    name: 'gatepost_notifications_total',
    type: 'counter',
    help: 'Signals received from other nodes through PostgreSQL.',
    read: ({ isDatabaseUp, tallies }) => one(isDatabaseUp === null ? null : tallies.signalCount),
  }),
  row({
    name: 'gatepost_audit_pending',
    type: 'gauge',
    help: 'Audit entries that are saved but not yet in the chain; counted up to 10,000.',
    read: fact(({ auditPendingCount }) => auditPendingCount),
  }),
  row({
    name: 'gatepost_nodes',
    type: 'gauge',
    help: 'Nodes that served the database within the last 15 s.',
    read: fact(({ nodeCount }) => nodeCount),
  }),
];
