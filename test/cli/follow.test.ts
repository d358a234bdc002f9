/** `gatepost follow list` and `follow accept`. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { HeldPass } from '../../src/core/port/follow.ts';
import { auditEntries } from '../support/audit.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openPlace } from '../support/place.ts';

const HOST = 'sub.example.org';
let line: CommandLine;
beforeEach(async () => {
  line = commandLine();
  await line.run('provider', 'add', '--name', 'n');
});
afterEach(() => line.close());

/** Commands without a database of their own keep a file. */
const openStore = () => openPlace({ dataDir: line.dataDir, databaseUrl: null });

/** Notes a whole pass, and then one that waits. */
async function wait(held: HeldPass): Promise<void> {
  const store = await openStore();
  const fresh = { source: 'MYSHOP01/marzban', hashKey: 'a'.repeat(64) };
  const claim = { owner: 'one', nowMs: 1_000, leaseUntilMs: 61_000 };
  const first = await store.claimFollow(HOST, fresh, claim);
  const hold = { ...claim, id: first?.id ?? 0 };
  const counts = { userCount: 20, addedCount: 20, changedCount: 0, goneCount: 0, missingCount: 0 };
  await store.endFollow(hold, { counts, view: '', tookMs: 9, nextAtMs: 0 });
  await store.claimFollow(HOST, fresh, claim);
  const failed = { problem: 'many_missing', reason: '5 of 20 known users are not there' } as const;
  await store.endFollow(hold, { ...failed, held, tookMs: 9, nextAtMs: 5 });
  await store.close();
}

test('a pass that waits is shown, and goes on once the operator agrees', async () => {
  await wait({ missingCount: 5, knownCount: 20, view: '' });
  const { stdout } = await line.run('follow', 'list');
  expect(stdout).toContain(HOST);
  expect(stdout).toContain('many_missing: 5 of 20 known users are not there');
  const shown = JSON.parse((await line.run('follow', 'list', '--json')).stdout);
  expect(shown).toMatchObject([
    { host: HOST, users: 20, problem: 'many_missing', waits_for_accept: true, admin: null },
  ]);
  const check = await line.run('follow', 'accept', HOST, '--check');
  expect(check.stdout).toContain('5 of 20 known users count as missing');
  expect(check.stdout).toContain('their links stay. Nothing was changed');
  expect(await line.run('follow', 'accept', HOST)).toMatchObject({ code: 2 });
  const done = await line.run('follow', 'accept', HOST, '--yes', '--json');
  expect(JSON.parse(done.stdout)).toEqual({ host: HOST, missing: 5, known: 20, check: false });
  const store = await openStore();
  const entries = await auditEntries({ store });
  await store.close();
  expect(entries.filter(({ action }) => action === 'follow.accept')).toHaveLength(1);
  const after = JSON.parse((await line.run('follow', 'list', '--json')).stdout);
  expect(after).toMatchObject([{ waits_for_accept: false }]);
});

test('another admin is named', async () => {
  await wait({ missingCount: 0, knownCount: 20, view: 'seller' });
  const { stdout } = await line.run('follow', 'accept', HOST, '--check');
  expect(stdout).toContain('the users of the admin seller of the panel are followed from now on');
});
