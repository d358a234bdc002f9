import { databaseUrl, maskedDatabaseUrl } from '../database-url.ts';
import { integer, nodeName, text, yesOrNo } from '../readers.ts';
import { setting } from '../setting.ts';

export const databaseSettings = {
  databaseUrl: setting({
    key: 'database.url',
    env: 'GATEPOST_DATABASE_URL',
    default: '',
    read: databaseUrl,
    about: [
      'The PostgreSQL database, as `postgres://USER@HOST/DATABASE`: several nodes may share it.',
      'A socket is written `postgres://USER@/DATABASE?host=/DIRECTORY`.',
      'Empty: the database is a file in the data directory.',
    ],
    mask: maskedDatabaseUrl,
  }),
  databasePasswordFile: setting({
    key: 'database.password_file',
    env: 'GATEPOST_DATABASE_PASSWORD_FILE',
    default: '',
    read: text,
    about: [
      'A file whose first line is the password of that user.',
      'It is read anew for new connections, so that a password may be changed in flight.',
    ],
  }),
  databaseCaFile: setting({
    key: 'database.ca_file',
    env: 'GATEPOST_DATABASE_CA_FILE',
    default: '',
    read: text,
    about: [
      'A PEM file with the authorities that may vouch for the PostgreSQL server.',
      'Empty: the public ones.',
      "Beyond this machine TLS is spoken, and the server's name is checked.",
    ],
  }),
  databaseInsecure: setting({
    key: 'database.insecure',
    env: 'GATEPOST_DATABASE_INSECURE',
    default: 'false',
    types: ['boolean'],
    read: yesOrNo,
    about: [
      'Whether PostgreSQL on another machine is spoken to without TLS:',
      'for a network in which nobody listens in or answers in its place.',
    ],
  }),
  databaseConnections: setting({
    key: 'database.connections',
    env: 'GATEPOST_DATABASE_CONNECTIONS',
    // Statements share them: 4 to 8 are the fastest, more cost the server.
    default: '6',
    ...integer(2, 50),
    about: ['How many connections a node has to PostgreSQL, besides one that listens.'],
  }),
  databaseStatementSeconds: setting({
    key: 'database.statement_seconds',
    env: 'GATEPOST_DATABASE_STATEMENT_SECONDS',
    // A failover takes longer: calls fail meanwhile, and do not hang.
    default: '10',
    ...integer(1, 600),
    about: ['After how many seconds a call gives up waiting for PostgreSQL.'],
  }),
  databasePooler: setting({
    key: 'database.pooler',
    env: 'GATEPOST_DATABASE_POOLER',
    default: 'false',
    types: ['boolean'],
    read: yesOrNo,
    about: [
      'Whether a pooler in transaction mode, such as PgBouncer, is in front of PostgreSQL:',
      'then nothing is prepared, and nodes hear of each other once a second.',
    ],
  }),
  databaseNode: setting({
    key: 'database.node',
    env: 'GATEPOST_DATABASE_NODE',
    default: '',
    read: nodeName,
    about: [
      'The name of this node among those of one PostgreSQL database.',
      "Empty: the machine's name.",
    ],
  }),
  commitBatchMax: setting({
    key: 'database.commit_batch_max',
    env: 'GATEPOST_COMMIT_BATCH_MAX',
    // A batch holds up the event loop: 1024 writes take some 20 ms.
    default: '1024',
    ...integer(1, 100_000),
    about: [
      'The most writes that share one commit to disk; 1 gives each its own.',
      'PostgreSQL has no need of it.',
    ],
  }),
  ledgerDays: setting({
    key: 'database.ledger_days',
    env: 'GATEPOST_LEDGER_DAYS',
    default: '90',
    ...integer(1, 36_500),
    about: [
      'For how many days after its end the ledger of a notification or command is kept,',
      'and what it says.',
    ],
    isLive: true,
  }),
  distributionDays: setting({
    key: 'database.distribution_days',
    env: 'GATEPOST_DISTRIBUTION_DAYS',
    default: '365',
    ...integer(1, 36_500),
    about: [
      'For how many days after its end a notification or command is listed;',
      'for no fewer than its ledger is kept.',
    ],
    isLive: true,
  }),
  deviceDays: setting({
    key: 'database.device_days',
    env: 'GATEPOST_DEVICE_DAYS',
    default: '180',
    ...integer(1, 36_500),
    about: [
      'For how many days a device is remembered that is on no link and tied to no binding,',
      'from when it was last seen.',
    ],
    isLive: true,
  }),
  strangersMax: setting({
    key: 'database.strangers_max',
    env: 'GATEPOST_STRANGERS_MAX',
    // Some 300 bytes each, 8 KiB at most; anybody can make them.
    default: '500000',
    ...integer(1000, 1_000_000_000),
    about: [
      'How many devices are remembered that are on no link and tied to no binding;',
      'those without a token go first, and of these those not seen for longest.',
    ],
    isLive: true,
  }),
} as const;
