/** The doctor: each illness is named, with what to do; a healthy appliance has no problem. */

import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../src/base/finding.ts';
import { loadConfig } from '../../src/config/load.ts';
import { checkDirectory } from '../../src/doctor/directory.ts';
import { examine } from '../../src/doctor/examine.ts';
import { checkDescriptors, compareDescriptors } from '../../src/doctor/open-files.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';
import { freshFolder } from '../support/app.ts';
import { addProviders, fingerprint, NOW_MS } from '../support/backup.ts';
import { MAY_MOUNT, mountSmallDisk } from '../support/small-disk.ts';

let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = freshFolder();
  dataDir = join(folder, 'data');
  await addProviders(dataDir, 1);
});
afterEach(() => {
  chmodSync(dataDir, 0o700);
  rmSync(folder, { recursive: true, force: true });
});

const uid = process.getuid?.() ?? 0;

function look(env: Record<string, string> = {}, nowMs = NOW_MS): Promise<Finding[]> {
  const settings = {
    GATEPOST_DATA: dataDir,
    GATEPOST_CONFIG: 'none',
    GATEPOST_PORT: '0',
    GATEPOST_STREAMS_MAX: '100',
    ...env,
  };
  return examine({ loaded: loadConfig({}, settings), kind: SQLITE, nowMs, uid });
}

/** The findings of one level, as `check: what`, but for that no server runs here. */
function said(findings: Finding[], level: Finding['level']): string[] {
  return findings
    .filter((f) => f.level === level && f.name !== 'server_not_running')
    .map(({ check, what }) => `${check}: ${what}`);
}

const problems = async (env?: Record<string, string>, nowMs?: number) =>
  said(await look(env, nowMs), 'problem');

test('a trigger that is not ours', async () => {
  const db = new Database(join(dataDir, 'gatepost.db'));
  db.run('CREATE TRIGGER own AFTER INSERT ON provider BEGIN DELETE FROM domain; END');
  db.close();
  expect(await problems()).toEqual([
    `database: it has trigger "own", which is not Gatepost's: no backup is made of it`,
  ]);
});

test('a healthy appliance has no problem, and is left as it was', async () => {
  const before = fingerprint(dataDir);
  const findings = await look();
  expect(said(findings, 'problem')).toEqual([]);
  expect(said(findings, 'warning')).toEqual(['backups: no backups are scheduled']);
  expect(findings.filter(({ level, todo }) => level !== 'ok' && !todo)).toEqual([]);
  expect(fingerprint(dataDir)).toEqual(before);
});

describe('the data directory', () => {
  test('that is not there, or is a file', async () => {
    expect(await problems({ GATEPOST_DATA: join(folder, 'none') })).toEqual([
      `data directory: ${join(folder, 'none')} does not exist`,
    ]);
    writeFileSync(join(folder, 'file'), '');
    expect((await problems({ GATEPOST_DATA: join(folder, 'file') }))[0]).toContain(
      'is not a directory',
    );
  });

  test('that others may read', async () => {
    chmodSync(dataDir, 0o755);
    expect(await problems()).toEqual([
      `data directory: the data directory ${dataDir} has mode 0755, open to all users`,
    ]);
  });

  test('that is open, empty and one\u2019s own is closed by the start, and no problem', async () => {
    const fresh = join(folder, 'fresh');
    mkdirSync(fresh);
    chmodSync(fresh, 0o755);
    const findings = await look({ GATEPOST_DATA: fresh });
    expect(said(findings, 'problem')).toEqual([]);
    expect(said(findings, 'warning')).toContain(
      `data directory: ${fresh} is empty, and open to other users`,
    );
  });

  test.skipIf(uid !== 0)('with a file that root has left in it', async () => {
    chownSync(dataDir, 12_345, 12_345);
    const file = join(dataDir, 'gatepost.db');
    expect(await problems()).toContain(
      `data directory: ${file} and 1 more file belong to user 0, the directory to user 12345`,
    );
  });

  test.skipIf(!MAY_MOUNT)('on a disk that is full, and on one that is read-only', async () => {
    const disk = mountSmallDisk(8);
    if (disk === null) throw new Error('the disk could not be mounted');
    try {
      const data = join(disk.folder, 'data');
      await addProviders(data, 1);
      disk.fill();
      expect(await problems({ GATEPOST_DATA: data })).toEqual(
        expect.arrayContaining([
          `data directory: the disk of ${data} is full: nothing can be saved`,
        ]),
      );
      disk.clear();
      Bun.spawnSync(['mount', '-o', 'remount,ro', disk.folder]);
      expect(await problems({ GATEPOST_DATA: data })).toContain(
        `data directory: ${data} is on a disk that is mounted read-only`,
      );
    } finally {
      disk.unmount();
    }
  });
});

describe('the database', () => {
  const file = () => join(dataDir, 'gatepost.db');

  test('that is damaged', async () => {
    truncateSync(file(), 9_000);
    expect((await problems()).filter((text) => text.startsWith('database:'))).toHaveLength(1);
  });

  test('of a newer program, and of another one', async () => {
    const db = new Database(file());
    db.run('PRAGMA user_version = 999');
    db.close();
    expect((await problems())[0]).toContain('has schema 999');
    writeFileSync(file(), 'somebody wrote this');
    expect((await problems())[0]).toContain('not a SQLite database');
  });

  test("has a webhook of the operator's that is disabled, not by hand", async () => {
    const db = new Database(file());
    for (const why of ['its owner disabled it', 'the receiver answered 410']) {
      db.run(
        `INSERT INTO webhook (kind, address, events, scheme, secret, locale, created_at_ms,
           disabled_at_ms, disabled_why)
         VALUES ('webhook', 'https://ops.example.com/', '', 'v1', '', 'en', 1, 1, ?)`,
        [why],
      );
    }
    db.close();
    const problems = said(await look(), 'problem').filter((text) => text.includes('webhook'));
    expect(problems).toEqual([
      "database: the operator's webhook 2 is disabled: the receiver answered 410",
    ]);
  });

  test('that is missing is told, and no problem before the first start', async () => {
    rmSync(file());
    expect(said(await look(), 'warning')).toContain(`database: there is no database in ${dataDir}`);
  });
});

describe('the clock', () => {
  test('that is slow, or was fast', async () => {
    const db = new Database(join(dataDir, 'gatepost.db'));
    db.run('UPDATE provider SET created_at_ms = ?', [NOW_MS + 3_600_000]);
    db.close();
    expect(await problems()).toEqual([
      'clock: the clock shows 2026-11-21T03:30:00.000Z, but a record has the time 2026-11-21T04:30:00.000Z: the clock is slow, or was fast',
    ]);
    expect(await problems({}, NOW_MS + 3_600_000)).toEqual([]);
  });

  test('that has leapt, until the leap has ended', async () => {
    const db = new Database(join(dataDir, 'gatepost.db'));
    const leap = { leadMs: 5 * 86_400_000, sinceRanMs: 3_600_000, slackMs: 0 };
    const time = (leapt: typeof leap | null, spent: Record<string, number>) =>
      db.run(
        `INSERT OR REPLACE INTO steady_time (name, at_ms, ran_ms, leap, spent)
         VALUES ('one', 0, 7300000, ?, ?)`,
        [leapt && JSON.stringify(leapt), JSON.stringify(spent)],
      );
    const what = 'clock leap: the clock of one leapt: it is 5 days ahead';
    time(leap, {});
    expect(await problems()).toEqual([
      `${what}; nothing is deleted by it, and in 23 h the clock is taken for right`,
    ]);
    time(leap, { 0: 48 * 3_600_000 });
    expect(await problems()).toEqual([
      `${what}; deletion goes on by the earlier clock: leaps suspended it for 48 h of the last 30 days`,
    ]);
    time(null, { 0: 48 * 3_600_000 });
    expect(await problems()).toEqual([]);
    db.close();
  });

  test('that is at its beginning, as on a machine without a battery', async () => {
    expect((await problems({}, 86_400_000))[0]).toContain('before this program was written');
    expect((await problems({}, Date.UTC(2150, 0, 1)))[0]).toContain('2150');
  });
});

test('too few file descriptors for the streams', () => {
  expect(compareDescriptors('it', '1024', 700)[0]?.level).toBe('ok');
  expect(compareDescriptors('it', '1024', 20_000)[0]).toMatchObject({
    level: 'warning',
    what: 'it may open 1024 files, limits.streams_max would need 20256',
  });
  for (const without of ['unlimited', 'infinity']) {
    expect(compareDescriptors('it', without, 20_000)[0]?.level).toBe('ok');
  }
  expect(compareDescriptors('it', undefined, 20_000)).toEqual([]);
});

test('the file descriptors of the installed unit, whose drop-ins change it by their names', () => {
  const put = (path: string, limit: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), `[Service]\nLimitNOFILE=${limit}\n`);
  };
  const what = () => checkDescriptors(null, 1_000, folder)[0]?.what;
  expect(what()).toMatch(/^a process started from here may open /);
  put('usr/lib/systemd/system/gatepost.service', '1024');
  expect(what()).toMatch(/started by .*\/usr\/lib\/.* may open 1024 files/);
  put('etc/systemd/system/gatepost.service.d/20-files.conf', '4096');
  put('usr/lib/systemd/system/gatepost.service.d/10-files.conf', '2048');
  put('etc/systemd/system/gatepost.service.d/30-files.conf.old', '1');
  expect(what()).toMatch(/started by .*\/usr\/lib\/.* may open 4096 files/);
  put('usr/lib/systemd/system/gatepost.service.d/20-files.conf', '1');
  expect(what()).toContain('may open 4096 files');
  put('etc/systemd/system/gatepost.service', '8192');
  expect(what()).toMatch(/started by .*\/etc\/.* may open 4096 files/);
});

test('an address of another machine', async () => {
  expect((await problems({ GATEPOST_HOST: '203.0.113.7', GATEPOST_PORT: '8080' }))[0]).toContain(
    'address: 203.0.113.7:8080 cannot be listened on',
  );
});

test('a passphrase that everybody may read, or that is not there', async () => {
  const file = join(folder, 'passphrase');
  const env = { GATEPOST_BACKUP_PASSPHRASE_FILE: file };
  expect(await problems(env)).toContain(`configuration: ${file} does not exist`);
  writeFileSync(file, 'secret', { mode: 0o644 });
  chmodSync(file, 0o644);
  expect((await problems(env))[0]).toContain(`${file} holds secrets and has mode 0644`);
});

test('another user than that of the service is told to run it as that one', () => {
  const told = (asked: number) =>
    checkDirectory(dataDir, asked).filter(({ what }) => what.includes('the doctor runs as user'));
  expect(told(uid)).toEqual([]);
  expect(told(uid + 1)).toMatchObject([
    {
      level: 'warning',
      todo: `run it as the user of the service: sudo -u '#${uid}' gatepost doctor`,
    },
  ]);
});
