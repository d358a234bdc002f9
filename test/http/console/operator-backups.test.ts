/** The operator's calls about backups, and the download of a copy. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { testAppliance } from '../../support/appliance.ts';
import type { ConsoleBrowser } from '../../support/console.ts';
import { operatorBrowser } from '../../support/operator.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatepost-copy-'));
const file = join(folder, 'copy');
let ownerId = 0;

let app: TestApp;
let operator: ConsoleBrowser;
beforeAll(async () => {
  writeFileSync(file, 'age-encryption.org/v1\n');
  const base = testAppliance();
  const fake = base.backups as NonNullable<typeof base.backups>;
  const backups: typeof fake = {
    ...fake,
    prepare: async (passphrase, sessionId, nowMs, note) => {
      ownerId = sessionId;
      return fake.prepare(passphrase, sessionId, nowMs, note);
    },
    copyOf: (sessionId) => (sessionId === ownerId ? { file, bytes: 22 } : null),
  };
  app = await startTestApp({ appliance: { ...base, backups } });
  operator = await operatorBrowser(app);
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true });
});

const download = (cookie: string, more: Record<string, string> = {}) =>
  fetch(`${app.url}/console/backup`, { headers: { cookie, ...more } });

test('backups are listed, made and verified', async () => {
  const listed = await operator.get('backups.list', {});
  expect(listed).toMatchObject({ schedule: '03:30', keep: 7, isEncrypted: false });
  expect(await operator.get('backups.make', {})).toEqual({ problem: 'the disk is full' });
  const [good, bad] = listed?.files ?? [];
  const verify = (name = '') => operator.get('backups.verify', { name });
  expect(await verify(good?.name)).toEqual({ problem: null });
  expect(await verify(bad?.name)).toEqual({ problem: 'a chunk is damaged' });
  expect(await operator.refusal('backups.verify', { name: 'x' })).toBe('backup_not_found');
});

test('a copy is of the session that asked for it, and has an entry in the audit log', async () => {
  expect((await download(operator.cookie)).status).toBe(404);
  const made = await operator.get('backups.prepare', { passphrase: 'a long passphrase' });
  expect(made).toEqual({ bytes: 7, problem: null });
  const answer = await download(operator.cookie);
  expect(await answer.text()).toStartWith('age-encryption.org');
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="gatepost-/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const other = await operatorBrowser(app);
  const observer = await operatorBrowser(app, 'oskar', 'observer');
  for (const cookie of ['', other.cookie, observer.cookie]) {
    expect((await download(cookie)).status).toBe(404);
  }
  const elsewhere = { 'sec-fetch-site': 'cross-site' };
  expect((await download(operator.cookie, elsewhere)).status).toBe(404);
  const { rows } = await operator.get('audit.list', {
    provider: null,
    who: null,
    group: 'appliance',
    hwid: null,
    sinceMs: null,
    untilMs: null,
    before: null,
  });
  expect(rows).toMatchObject([{ action: 'database.download', name: 'olga' }]);
});

test('no role that lost its right downloads what it had prepared', async () => {
  const anna = await operatorBrowser(app, 'anna');
  await anna.get('backups.prepare', { passphrase: 'a long passphrase' });
  expect((await download(anna.cookie)).status).toBe(200);
  const id = (await app.core.store.findAccount('anna'))?.id ?? 0;
  await operator.get('accounts.change-role', { id, role: 'observer' });
  expect((await download(anna.cookie)).status).toBe(404);
});

test('a copy needs a passphrase, and a sign-in of the last ten minutes', async () => {
  for (const passphrase of ['short', 'two\nlines of it', ' begins with a space']) {
    expect(await operator.refusal('backups.prepare', { passphrase })).toBe('malformed');
  }
  const busy = { passphrase: 'busy busy busy' };
  expect(await operator.refusal('backups.prepare', busy)).toBe('backup_busy');
  app.clock.advance(11 * 60_000);
  const given = { passphrase: 'a long passphrase' };
  expect(await operator.refusal('backups.prepare', given)).toBe('sign_in_afresh');
});

test('with PostgreSQL there are no backups of this kind', async () => {
  const none = await startTestApp({ appliance: { ...testAppliance(), backups: null } });
  const browser = await operatorBrowser(none);
  expect(await browser.get('backups.list', {})).toBeNull();
  expect(await browser.refusal('backups.make', {})).toBe('no_database_file');
  await none.close();
});
