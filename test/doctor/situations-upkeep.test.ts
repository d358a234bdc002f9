/** Situations of backups, their copies and the version: rows as in situations.test.ts. */

import { Database } from 'bun:sqlite';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../src/base/version.ts';
import { NOW_MS } from '../support/backup.ts';
import { type Asked, type Scene, type Situation, testSituations } from '../support/situation.ts';

const DAY_MS = 86_400_000;
const AT = { GATEPOST_BACKUP_AT: '03:30' };

/** Writes a row as the server does; columns that are not given are those of a task that is well. */
function note({ dataDir }: Scene, row: Record<string, string | number | null>): void {
  const whole = {
    task: 'backup',
    schedule: '30 3 * * *',
    scheduled_at_ms: NOW_MS - 9 * DAY_MS,
    is_failing: 0,
    failure_count: 0,
    ...row,
  };
  const db = new Database(join(dataDir, 'gatepost.db'));
  const names = Object.keys(whole);
  db.run(
    `INSERT INTO upkeep (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(whole),
  );
  db.close();
}

const failed = (scene: Scene, more: Record<string, string | number> = {}) =>
  note(scene, {
    failed_at_ms: NOW_MS - DAY_MS,
    failing_since_ms: NOW_MS - 3 * DAY_MS,
    is_failing: 1,
    failure_count: 3,
    reason: 'no space left',
    code: 'disk_full',
    ...more,
  });

/** A backup of this night, on disk and in the database. */
function backedUp(scene: Scene): void {
  const folder = join(scene.dataDir, 'backups');
  mkdirSync(folder, { mode: 0o700 });
  const file = join(folder, 'gatepost-20261121T033000Z.backup');
  writeFileSync(file, '', { mode: 0o600 });
  note(scene, { succeeded_at_ms: NOW_MS, result: file, took_ms: 5 });
}

function copies({ folder }: Scene, more: string): Asked {
  const path = join(folder, 'own.toml');
  writeFileSync(path, `[backup]\nat = "03:30"\nafter = ["true"]\n${more}\n`, { mode: 0o600 });
  return { args: ['--config', path] };
}

const SITUATIONS: readonly Situation[] = [
  {
    situation: 'backups are scheduled, and the first is due',
    says: [],
    make: (scene) => {
      note(scene, { scheduled_at_ms: NOW_MS - 1 });
      return { env: AT };
    },
  },
  {
    situation: 'the last backup failed',
    says: ['PROBLEM backup_failed'],
    words:
      /^the backup of 2026-11-20T03:30:00.000Z failed \(failure 3 in a row\): no space left; none/,
    todo: /^free space or set backup\.directory to another disk/,
    make: (scene) => {
      failed(scene);
      return { env: AT };
    },
  },
  {
    situation: 'the unit of the service forbids the folder of backups',
    says: ['PROBLEM backup_failed'],
    todo: /^it is writable here, so the unit .*ReadWritePaths=-\/.*systemctl restart gatepost$/,
    make: (scene) => {
      failed(scene, { code: 'disk_read_only', reason: 'the disk is read-only for this process' });
      return { env: AT };
    },
  },
  {
    situation: 'a backup was missed',
    says: ['PROBLEM backup_overdue'],
    make: (scene) => {
      note(scene, { scheduled_at_ms: NOW_MS - DAY_MS - 1 });
      return { env: AT };
    },
  },
  {
    situation: 'the backups are on the disk of the database, and nowhere else',
    says: ['warning backups_on_same_disk'],
    make: (scene) => {
      backedUp(scene);
      return { env: AT };
    },
  },
  {
    situation: 'backups are copied elsewhere',
    says: [],
    make: (scene) => {
      backedUp(scene);
      const copied = { succeeded_at_ms: NOW_MS + 9, result: 'x' };
      note(scene, { task: 'copy', schedule: 'backup.after', ...copied });
      return copies(scene, 'passphrase = "secret"');
    },
  },
  {
    situation: 'a backup goes elsewhere in clear',
    says: ['warning copies_in_clear'],
    make: (scene) => {
      backedUp(scene);
      return copies(scene, 'after_clear = true');
    },
  },
  {
    situation: 'the last copy of a backup failed',
    says: ['PROBLEM copy_failed'],
    words: /exited with 7; none was ever made$/,
    make: (scene) => {
      backedUp(scene);
      failed(scene, { task: 'copy', schedule: 'backup.after', reason: 'it exited with 7' });
      return copies(scene, 'passphrase = "secret"');
    },
  },
  {
    situation: 'a newer version is there',
    says: ['warning version_newer'],
    words: new RegExp(`^99\\.0\\.0 is available; this is ${VERSION.replaceAll('.', '\\.')}$`),
    make: (scene) => {
      const found = { succeeded_at_ms: NOW_MS, result: '99.0.0' };
      note(scene, { task: 'release', schedule: 'daily', ...found });
      return { env: { GATEPOST_UPDATE_URL: 'https://releases.example.com/gatepost' } };
    },
  },
];

testSituations(SITUATIONS);
