import { databaseUrl, maskedDatabaseUrl } from '../database-url.ts';
import { boolean, integer, nodeName, text } from '../readers.ts';
import { live, setting } from '../setting.ts';

export const databaseSettings = {
  databaseUrl: {
    ...setting('database.url', '', databaseUrl, [
      'The PostgreSQL database, as `postgres://USER@HOST/DATABASE`: several nodes may share it.',
      'With a socket: `postgres://USER@/DATABASE?host=/DIRECTORY`.',
      'Empty: the database is a file in the data directory.',
    ]),
    mask: maskedDatabaseUrl,
  },
  databasePasswordFile: setting('database.password_file', '', text, [
    'A file whose first line is the password of that user.',
    'Each new connection reads it, so the password can change without a restart.',
  ]),
  databaseCaFile: setting('database.ca_file', '', text, [
    'A PEM file with the authorities that may sign the certificate of the PostgreSQL server.',
    'Empty: the public ones.',
    'Connections to another machine use TLS and check the name of the server.',
  ]),
  databaseInsecure: setting('database.insecure', 'false', boolean, [
    'Whether connections to PostgreSQL on another machine may go without TLS: only for a network',
    'in which no third party can read or answer them.',
  ]),
  // Statements share them: 4 to 8 are the fastest, more load the server.
  databaseConnections: setting('database.connections', '6', integer(2, 50), [
    'Connections of a node to PostgreSQL, besides one that listens for notifications.',
  ]),
  // Shorter than a failover: calls fail meanwhile instead of hanging.
  databaseStatementSeconds: setting('database.statement_seconds', '10', integer(1, 600), [
    'Seconds after which a call stops waiting for PostgreSQL.',
  ]),
  databasePooler: setting('database.pooler', 'false', boolean, [
    'Whether PostgreSQL is behind a pooler in transaction mode, such as PgBouncer: then statements',
    'are not prepared, and nodes poll each other once a second.',
  ]),
  databaseNode: setting('database.node', '', nodeName, [
    'The name of this node among those of one PostgreSQL database.',
    "Empty: the machine's name.",
  ]),
  // A batch blocks the event loop: 1024 writes take some 20 ms.
  commitBatchMax: setting('database.commit_batch_max', '1024', integer(1, 100_000), [
    'The most writes that share one commit to disk; 1: each has its own.',
    'Without effect on PostgreSQL.',
  ]),
  ledgerDays: live('database.ledger_days', '90', integer(1, 36_500), [
    'Days after its end for which the contents and the ledger of a notification or command are',
    'kept.',
  ]),
  distributionDays: live('database.distribution_days', '365', integer(1, 36_500), [
    'Days after its end for which a notification or command is listed; at least as long as its',
    'ledger is kept.',
  ]),
  deviceDays: live('database.device_days', '180', integer(1, 36_500), [
    'Days after it was last seen for which a device without link and binding is remembered.',
  ]),
  // Some 300 bytes each, 8 KiB at most; any caller can add one.
  strangersMax: live('database.strangers_max', '500000', integer(1000, 1_000_000_000), [
    'The most devices without link and binding that are remembered. Those without a token are',
    'deleted first, the longest unseen before others.',
  ]),
} as const;
