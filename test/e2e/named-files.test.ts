/** Files that root names on the command line of a command that becomes the owner of the data. */

import { Database } from 'bun:sqlite';
import { describe, expect } from 'bun:test';
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { HOME, SERVICE, STRANGER, testPackaged, withProvider } from '../support/as-packaged.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

describe('files that the command line names', () => {
  testPackaged('are read as root, and named as root named them', () => {
    const place = withProvider();
    place.put(`${HOME}/links.csv`, 'key,limit\nabc,2\n');
    expect(place.run(['link', 'import', 'links.csv'])).toMatchObject({
      code: 0,
      stdout: '1 link of 1 added, 0 skipped\n',
    });
    place.put(`${HOME}/links.csv`, 'kex,limit\nabc,2\n');
    expect(place.run(['link', 'import', 'links.csv']).stderr).toStartWith(
      "gatepost: links.csv: the first row names 'kex'",
    );
    expect(place.run(['link', 'import', 'none.csv']).stderr).toStartWith(
      'gatepost: cannot read none.csv: ENOENT',
    );
  });

  testPackaged('stay secrets', () => {
    const place = withProvider();
    const words = ['backup', 'a.backup', '--passphrase-file', 'pass'];
    place.put(`${HOME}/pass`, 'open sesame, please\n', 0o644);
    expect(place.run(words).stderr).toBe(
      "gatepost: the file pass holds secrets and has mode 0644, open to all users: run 'chmod 600 pass'\n",
    );
    expect(existsSync(place.at(`${HOME}/a.backup`))).toBe(false);
    place.put(`${HOME}/pass`, 'open sesame, please\n');
    expect(place.run(words)).toMatchObject({ code: 0, stderr: '' });
    const verify = ['restore', '--verify', 'a.backup', '--passphrase-file', 'pass'];
    expect(place.run(verify).stdout).toStartWith('a.backup is good\n');
    const tmp = readdirSync(place.at('/tmp'));
    expect(tmp).toEqual([]);
  });

  testPackaged('are made where root wants them: root owns them in a folder of root', () => {
    const place = withProvider();
    const { at, run } = place;
    const backup = run(['backup', 'b.backup', '--json']);
    expect(JSON.parse(backup.stdout)).toMatchObject({ file: `${HOME}/b.backup`, encrypted: false });
    expect(lstatSync(at(`${HOME}/b.backup`))).toMatchObject({ uid: 0, gid: 0 });
    expect(lstatSync(at(`${HOME}/b.backup`)).mode & 0o777).toBe(0o600);
    expect(run(['backup', 'b.backup'])).toMatchObject({
      code: 1,
      stderr: `gatepost: ${HOME}/b.backup exists: choose another name\n`,
    });
    expect(run(['backup', 'b.backup', '--force']).code).toBe(0);
    place.put(`${HOME}/other`, 'no backup');
    expect(run(['backup', './other', '--force']).stderr).toContain(
      `${HOME}/other is not a Gatepost backup`,
    );
    expect(readFileSync(at(`${HOME}/other`), 'utf8')).toBe('no backup');
    expect(run(['backup', 'no/b.backup']).stderr).toBe(
      `gatepost: the directory ${HOME}/no does not exist\n`,
    );
    expect(run(['export', 'MYSHOP01', 'e.jsonl']).stdout).toContain(`in ${HOME}/e.jsonl`);
    expect(run(['audit', 'export', 'audit.jsonl']).code).toBe(0);
    expect(run(['export', 'NOSHOP01', 'none.jsonl']).code).toBe(1);
    const left = readdirSync(at('/root')).sort();
    expect(left).toEqual(['audit.jsonl', 'b.backup', 'e.jsonl', 'other']);
    expect(run(['restore', '--verify', 'b.backup']).code).toBe(0);
  });

  testPackaged('are made by the owner of the data where it may', () => {
    const place = withProvider();
    mkdirSync(place.at('/var/lib/backups'));
    chownSync(place.at('/var/lib/backups'), SERVICE, SERVICE);
    expect(place.run(['backup', '/var/lib/backups/b.backup']).code).toBe(0);
    expect(lstatSync(place.at('/var/lib/backups/b.backup')).uid).toBe(SERVICE);
    // A folder of another user gets a file of that user.
    mkdirSync(place.at(`${HOME}/alice`));
    chownSync(place.at(`${HOME}/alice`), STRANGER, STRANGER);
    expect(place.run(['backup', 'alice/b.backup']).code).toBe(0);
    expect(lstatSync(place.at(`${HOME}/alice/b.backup`)).uid).toBe(STRANGER);
  });

  testPackaged('may be many, in a folder', () => {
    const place = withProvider();
    place.put(`${HOME}/links.csv`, 'key,code,limit,note\nabc,CODE00000001,2,anna\n');
    place.run(['link', 'import', 'links.csv']);
    const words = ['link', 'qr', '--all', '--url', 'https://sub.example.com/sub/{key}'];
    const { stdout, code } = place.run([...words, '--keys', 'links.csv', '--out', 'qr']);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`2 files in ${HOME}/qr\n`)]);
    const names = readdirSync(place.at(`${HOME}/qr`));
    expect(names).toHaveLength(2);
    expect(lstatSync(place.at(`${HOME}/qr`)).mode & 0o777).toBe(0o700);
  });

  testPackaged('may be the database of a panel that writes to it', () => {
    const place = withProvider();
    const db = new Database(place.at(`${HOME}/x-ui.db`), { create: true });
    db.run('PRAGMA journal_mode = WAL');
    db.run('CREATE TABLE users (id INTEGER PRIMARY KEY, username TEXT, status TEXT)');
    db.run("INSERT INTO users (username, status) VALUES ('anna', 'active')");
    const words = ['import', 'x-ui.db', '--panel', 'marzban', '--code', 'MYSHOP01', '--check'];
    const { code, stdout, stderr } = place.run(words);
    db.close();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toStartWith('1 user, ');
  });

  testPackaged('may be the configuration', () => {
    const place = withProvider();
    place.put(`${HOME}/my.toml`, `data = "/var/lib/gatepost"\n\n\n[server]\nport = 9000\n`);
    const { stdout } = place.run(['config', '--config', 'my.toml']);
    expect(stdout).toStartWith('Configuration file: my.toml\n');
    expect(stdout).toMatch(/^server\.port +9000 +my\.toml:5$/m);
    mkdirSync(place.at(`${HOME}/my.d`));
    expect(place.run(['config', '--config', 'my.toml']).stderr).toContain('permission denied');
  });
});
