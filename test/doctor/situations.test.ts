/**
 * What `gatepost doctor` says of situations that are really made, and with which exit code: each
 * cause is one finding, and none is fine while the service cannot serve.
 *
 * A new row: its situation, what `says` beside the usual (test/support/situation.ts), and `make`.
 */

import { Database } from 'bun:sqlite';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LEFT_ID } from '../../src/store/sqlite/file/migrate.ts';
import { addProviders, NOW_MS } from '../support/backup.ts';
import { selfSigned } from '../support/certificate.ts';
import { writeOldDatabase } from '../support/old-database.ts';
import {
  type Asked,
  type Scene,
  type Situation,
  standIn,
  testSituations,
} from '../support/situation.ts';
import { MAY_MOUNT, mountSmallDisk } from '../support/small-disk.ts';

/** A container publishes its address by its host. */
const OPEN = ['/.dockerenv', '/run/.containerenv'].some((path) => existsSync(path))
  ? []
  : ['warning address_without_tls'];
const IS_ROOT = process.getuid?.() === 0;
const file = ({ dataDir }: Scene) => join(dataDir, 'gatepost.db');

function inFile(scene: Scene, ...statements: string[]): void {
  const db = new Database(file(scene));
  for (const statement of statements) db.run(statement);
  db.close();
}

/** A configuration file outside of the data directory. */
function configured({ folder }: Scene, text: string): Asked {
  const path = join(folder, 'own.toml');
  writeFileSync(path, text, { mode: 0o600 });
  return { args: ['--config', path] };
}

const SITUATIONS: readonly Situation[] = [
  { situation: 'nothing is wrong', says: [], make: () => undefined },
  {
    situation: 'no server runs',
    says: ['PROBLEM server_not_running'],
    words: /^no server runs on \/.*\/data$/,
    todo: /^start it with '.*'; if it ends at once, .* has the reason$/,
    make: () => ({ standIn: false }),
  },
  {
    situation: 'another program has the port',
    says: ['PROBLEM server_not_running', 'PROBLEM port_in_use'],
    make: ({ ends }) => {
      const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } });
      ends.push(() => other.stop(true));
      return { standIn: false, env: { GATEPOST_PORT: String(other.port) } };
    },
  },
  {
    situation: 'the address is one of another machine',
    says: [
      'PROBLEM server_not_running',
      ...OPEN,
      'PROBLEM port_not_usable',
      'warning strangers_answered',
    ],
    make: () => ({ standIn: false, env: { GATEPOST_HOST: '203.0.113.7', GATEPOST_PORT: '8080' } }),
  },
  {
    situation: 'the address is open to the network without TLS',
    says: [...OPEN, 'warning strangers_answered'],
    make: () => ({ env: { GATEPOST_HOST: '0.0.0.0' } }),
  },
  {
    situation: 'the configuration cannot be read',
    says: ['PROBLEM configuration_invalid'],
    words: /it is a directory$/,
    make: ({ folder }) => ({ args: ['--config', folder] }),
  },
  {
    situation: 'the configuration has a mistake',
    says: ['PROBLEM configuration_invalid'],
    words: /own\.toml:2: invalid TOML/,
    make: (scene) => configured(scene, '[server]\nport = nine\n'),
  },
  {
    situation: 'a setting is not known',
    says: ['PROBLEM configuration_invalid'],
    words: /there is no setting server\.prot; the nearest is server\.port$/,
    make: (scene) => configured(scene, '[server]\nprot = 1\n'),
  },
  {
    situation: 'the server runs with a file that cannot be read here',
    says: ['PROBLEM configuration_unreadable_here'],
    make: (scene) => {
      const { args: [, path = ''] = [] } = configured(scene, '');
      standIn(scene, { GATEPOST_CONFIG: path });
      rmSync(path);
      return { standIn: false, env: { GATEPOST_CONFIG: '' } };
    },
  },
  {
    situation: 'the server has its database from a variable that is not set here',
    says: ['PROBLEM database_of_server_unseen'],
    make: (scene) => {
      standIn(scene, { GATEPOST_DATABASE_URL: 'postgres://a@127.0.0.1/a' });
      return { standIn: false };
    },
  },
  {
    situation: 'the server has another setting from a variable that is not set here',
    says: ['warning environment_of_server_unseen'],
    make: (scene) => {
      standIn(scene, { GATEPOST_RIDE_HOSTS: 'a.example.com' });
      return { standIn: false };
    },
  },
  {
    situation: 'there is no data directory',
    says: ['PROBLEM data_directory_missing'],
    make: ({ dataDir }) => {
      rmSync(dataDir, { recursive: true });
      return { standIn: false };
    },
  },
  {
    situation: 'the data directory is a file',
    says: ['PROBLEM data_directory_is_a_file'],
    make: ({ dataDir }) => {
      rmSync(dataDir, { recursive: true });
      writeFileSync(dataDir, '');
      return { standIn: false };
    },
  },
  {
    situation: 'others may read the data directory',
    says: ['PROBLEM data_directory_mode'],
    todo: /^run 'chmod 700 /,
    make: ({ dataDir }) => chmodSync(dataDir, 0o755),
  },
  {
    situation: 'root has left a file in the data directory of the service',
    says: ['warning doctor_runs_as_other_user', 'PROBLEM data_file_of_other_user'],
    isPossible: IS_ROOT,
    make: (scene) => {
      standIn(scene);
      for (const name of ['', 'gatepost-settings.lock', 'gatepost.settings']) {
        chownSync(join(scene.dataDir, name), 12_345, 12_345);
      }
      return { standIn: false };
    },
  },
  {
    situation: 'the disk is full',
    says: ['PROBLEM disk_full'],
    isPossible: MAY_MOUNT,
    make: (scene) => onSmallDisk(scene, (disk) => disk.fill()),
  },
  {
    situation: 'the disk is mounted read-only',
    says: ['PROBLEM server_not_running', 'PROBLEM disk_read_only', 'PROBLEM disk_full'],
    isPossible: MAY_MOUNT,
    make: async (scene) => {
      await onSmallDisk(scene, (disk) => {
        for (const end of scene.ends.splice(2)) end();
        disk.makeReadOnly();
      });
      return { standIn: false };
    },
  },
  {
    situation: 'there is no database yet',
    says: ['PROBLEM server_not_running', 'warning database_missing'],
    make: (scene) => {
      rmSync(file(scene));
      return { standIn: false };
    },
  },
  {
    situation: 'the database is damaged',
    says: ['PROBLEM database_damaged'],
    todo: /gatepost restore/,
    make: (scene) => truncateSync(file(scene), 9_000),
  },
  {
    situation: 'the database is damaged, and there is a backup',
    says: ['PROBLEM database_damaged'],
    todo: /the newest is \/.*\/backups\/gatepost-20261121T033000Z\.backup$/,
    make: (scene) => {
      const folder = join(scene.dataDir, 'backups');
      mkdirSync(folder, { mode: 0o700 });
      writeFileSync(join(folder, 'gatepost-20261121T033000Z.backup'), '', { mode: 0o600 });
      writeFileSync(file(scene), 'x'.repeat(9_000));
    },
  },
  {
    situation: 'the file is a database of another program',
    says: ['PROBLEM database_unreadable'],
    make: (scene) => {
      rmSync(file(scene));
      inFile(scene, 'CREATE TABLE other (n)');
      chmodSync(file(scene), 0o600);
    },
  },
  {
    situation: 'a newer version migrated the database',
    says: ['PROBLEM schema_newer'],
    words: /has schema 999, this program knows up to \d+$/,
    todo: 'gatepost 7.1.0 made it: use that version or a newer one',
    make: (scene) =>
      inFile(scene, 'PRAGMA user_version = 999', "UPDATE appliance SET program = '7.1.0'"),
  },
  {
    situation: 'an older version left the database',
    says: ['warning schema_older'],
    make: (scene) => {
      rmSync(file(scene));
      writeOldDatabase(file(scene), 'test/store/data-of-0-10-0.sql');
      return { nowMs: Date.UTC(2027, 0, 1) };
    },
  },
  {
    situation: 'the data moved to PostgreSQL',
    says: ['PROBLEM database_moved'],
    words: /moved to PostgreSQL \(database shop at db\.example\.com:5432\)$/,
    todo: /^set database\.url, or bring them back/,
    make: (scene) =>
      inFile(
        scene,
        `PRAGMA application_id = ${LEFT_ID}`,
        "UPDATE appliance SET moved_to = 'PostgreSQL (database shop at db.example.com:5432)'",
      ),
  },
  {
    situation: 'the database has a trigger of another program',
    says: ['PROBLEM database_foreign_part'],
    make: (scene) =>
      inFile(scene, 'CREATE TRIGGER own AFTER INSERT ON provider BEGIN DELETE FROM domain; END'),
  },
  {
    situation: "the operator's webhook is disabled",
    says: ['PROBLEM webhook_disabled'],
    make: (scene) =>
      inFile(
        scene,
        `INSERT INTO webhook (kind, address, events, scheme, secret, locale, created_at_ms,
           disabled_at_ms, disabled_why)
         VALUES ('webhook', 'https://ops.example.com/', '', 'v1', '', 'en', 1, 1, 'it is gone')`,
      ),
  },
  {
    situation: 'the clock is behind what was recorded',
    says: ['PROBLEM clock_behind_records'],
    make: (scene) => inFile(scene, `UPDATE provider SET created_at_ms = ${NOW_MS + 3_600_000}`),
  },
  {
    situation: 'the clock is at its beginning',
    says: ['PROBLEM clock_behind'],
    make: () => ({ nowMs: 86_400_000 }),
  },
  {
    situation: 'the certificate has ended',
    says: ['PROBLEM certificate_invalid'],
    make: (scene) => certified(scene, { fromMs: NOW_MS - 40 * 86_400_000, days: 30 }),
  },
  {
    situation: 'the certificate ends soon',
    says: ['warning certificate_ends_soon'],
    make: (scene) => certified(scene, { fromMs: NOW_MS - 88 * 86_400_000, days: 90 }),
  },
  {
    situation: 'the file of the certificate is missing',
    says: ['PROBLEM certificate_invalid'],
    make: ({ folder }) => ({
      env: { GATEPOST_TLS_CERTIFICATE: join(folder, 'no'), GATEPOST_TLS_KEY: join(folder, 'no') },
    }),
  },
  {
    situation: 'the passphrase of backups is missing',
    says: ['PROBLEM backup_passphrase_missing'],
    make: ({ folder }) => ({ env: { GATEPOST_BACKUP_PASSPHRASE_FILE: join(folder, 'no') } }),
  },
];

/** Moves the data to a small disk, does something to it, and asks for the data there. */
async function onSmallDisk(scene: Scene, harm: (disk: SmallDisk) => void): Promise<Asked> {
  const disk = mountSmallDisk(8);
  if (disk === null) throw new Error('the disk could not be mounted');
  scene.ends.push(() => disk.unmount());
  scene.dataDir = join(disk.folder, 'data');
  await addProviders(scene.dataDir, 1);
  standIn(scene);
  harm(disk);
  return { standIn: false };
}

type SmallDisk = NonNullable<ReturnType<typeof mountSmallDisk>>;

async function certified(
  { folder }: Scene,
  draft: { fromMs: number; days: number },
): Promise<Asked> {
  const { cert, key } = await selfSigned('one', draft);
  const paths = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(paths.cert, cert);
  writeFileSync(paths.key, key, { mode: 0o600 });
  return { env: { GATEPOST_TLS_CERTIFICATE: paths.cert, GATEPOST_TLS_KEY: paths.key } };
}

testSituations(SITUATIONS);
