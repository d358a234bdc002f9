/** The chain of the audit log: whatever is done to the rows behind its back is found. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { makeLog } from '../../../src/base/log.ts';
import {
  type AuditFilter,
  auditBlocks,
  auditHead,
  exportLine,
  headText,
  listAudit,
} from '../../../src/core/audit/chain.ts';
import { actAt, SYSTEM } from '../../../src/core/audit/entry.ts';
import { verifyAudit } from '../../../src/core/audit/verify.ts';
import { actingAs } from '../../../src/core/core.ts';
import { hwidHash } from '../../../src/core/secret.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { keepAuditBounded, logAuditHead } from '../../../src/jobs/keep.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { auditEntries, deedOf } from '../../support/audit.ts';
import { openBeside } from '../../support/database.ts';
import { addLink, bind, enter, LINK } from '../../support/shop.ts';

const DAY_MS = 86_400_000;
const LINKS = 6;

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(() => app.close());

/** A provider and some links, each in a commit of its own, a day apart. */
async function makeChain() {
  const own = await seedProvider(app, { code: 'Provide1' });
  for (let n = 1; n < LINKS; n++) {
    app.clock.advance(DAY_MS);
    await call(app, '/api/add-install', own, { install_limit: n });
  }
  return own;
}

/** The bounds of the log in these tests. */
const BOUNDS = { auditDays: 2, auditEntriesMax: 1_000 };

/** As the job of the program does. */
const prune = (bounds = BOUNDS) =>
  keepAuditBounded(
    actingAs(app.core, () => SYSTEM),
    bounds,
    app.clock.nowMs(),
    app.clock.nowMs(),
  );

const verify = (expected: readonly string[] = [], bounds = BOUNDS) =>
  verifyAudit(app.core, { expected, nowMs: app.clock.nowMs(), ...bounds });

const problem = async (...expected: string[]) => (await verify(expected)).problem;

/** Changes the file without the program, which reads it again in the next turn. */
async function tamper(sql: string): Promise<void> {
  await nextTurn();
  const db = openBeside(app.dataDir);
  try {
    expect(db.run(sql).changes).toBeGreaterThan(0);
  } finally {
    db.close();
  }
}

describe('verify', () => {
  test('an empty log holds', async () => {
    expect(await verify()).toEqual({
      count: 0,
      prunedCount: 0,
      from: null,
      to: null,
      head: null,
      problem: null,
    });
  });

  test('tells how many entries, from when to when, and the head', async () => {
    const startMs = app.clock.nowMs();
    await makeChain();
    const last = await auditHead(app.core);
    expect(await verify()).toEqual({
      count: LINKS,
      prunedCount: 0,
      from: new Date(startMs).toISOString(),
      to: new Date(app.clock.nowMs()).toISOString(),
      head: last && headText(last),
      problem: null,
    });
  });

  /** To what each column is changed. */
  const COLUMNS: Record<string, string> = {
    last_number: 'last_number + 1000',
    at_ms: 'at_ms + 1',
    prev_hash: 'randomblob(32)',
    hash: 'randomblob(32)',
    entries: "replace(entries, 'Provide1', 'Provide2')",
  };

  test('every column of the table is tampered with below', () => {
    const db = openBeside(app.dataDir);
    const columns = (table: string) =>
      db
        .query<{ name: string }, []>(`PRAGMA table_info(${table})`)
        .all()
        .map(({ name }) => name);
    expect(columns('audit').toSorted()).toEqual(Object.keys(COLUMNS).toSorted());
    const anchor = ['id', ...Object.keys(ANCHOR_COLUMNS)];
    expect(columns('audit_anchor').toSorted()).toEqual(anchor.toSorted());
    db.close();
  });

  for (const [column, changed] of Object.entries(COLUMNS)) {
    test(`finds a changed ${column} in any row`, async () => {
      await makeChain();
      for (let number = 1; number <= LINKS; number++) {
        await nextTurn();
        const db = openBeside(app.dataDir);
        const row = db.query('SELECT * FROM audit WHERE last_number = ?').get(number);
        const { changes } = db.run(`UPDATE audit SET ${column} = ${changed}
          WHERE last_number = ${number}`);
        expect(changes).toBe(1);
        expect(await problem()).toMatch(/^block \d+ /);
        const now = column === 'last_number' ? number + 1000 : number;
        db.run('DELETE FROM audit WHERE last_number = ?', [now]);
        const values = Object.values(row as Record<string, string | number | Uint8Array>);
        db.run('INSERT INTO audit VALUES (?, ?, ?, ?, ?)', values);
        db.close();
        await nextTurn();
        expect(await problem()).toBeNull();
      }
    });
  }

  test('names the first block that was changed', async () => {
    await makeChain();
    await tamper(`UPDATE audit SET entries = replace(entries, '"Provide1"', '"Provide2"')
      WHERE last_number >= 4`);
    expect(await problem()).toBe('block 4 was changed: its hash differs');
  });

  test('finds a block that is missing, wherever it was', async () => {
    await makeChain();
    const noted = (await auditHead(app.core)) ?? expect.unreachable();
    await tamper('DELETE FROM audit WHERE last_number = 3');
    expect(await problem()).toBe(
      'block 4 does not follow block 2: blocks between them are missing or forged',
    );
    await tamper('DELETE FROM audit WHERE last_number > 2');
    expect(await problem()).toBeNull();
    expect(await problem(headText(noted))).toBe(
      `the chain does not contain ${headText(noted)}: it was cut off before it or rewritten`,
    );
    await tamper('DELETE FROM audit WHERE last_number = 1');
    expect(await problem()).toBe(
      'block 2 does not follow block 0: blocks between them are missing or forged',
    );
  });

  test('finds the head that was noted, and that another was never there', async () => {
    const own = await makeChain();
    const noted = headText((await auditHead(app.core)) ?? expect.unreachable());
    await call(app, '/api/add-install', own, { install_limit: 9 });
    expect(await problem(noted)).toBeNull();
    const forged = noted.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
    expect(await problem(forged)).toContain(`the chain does not contain ${forged}`);
  });
});

const entryOf = ({ kind: who, name, from }: typeof SYSTEM) => ({ who, name, from });

const ANCHOR_COLUMNS: Record<string, string> = {
  last_number: 'last_number - 1',
  hash: 'randomblob(32)',
  until_ms: 'until_ms + 1',
};

describe('a pruned log', () => {
  test('holds, and says how many entries are gone', async () => {
    await makeChain();
    const noted = headText((await auditHead(app.core)) ?? expect.unreachable());
    const [third, , first] = await app.core.store.readAuditBack(4, 3);
    const heads = [first, third].map((block) => headText(block ?? expect.unreachable()));
    await prune();
    expect(await verify([noted])).toMatchObject({
      count: LINKS - 3 + 1,
      prunedCount: 3,
      problem: null,
    });
    // The last that was pruned, which the anchor remembers, is no more there than the first.
    for (const head of heads) {
      expect(await problem(noted, head)).toStartWith(`${head} was pruned and cannot be verified`);
    }
    const entries = await auditEntries(app.core);
    expect(entries.at(-1)).toMatchObject({ ...entryOf(SYSTEM), action: 'audit.prune' });
    app.clock.advance(9 * DAY_MS);
    await prune();
    expect(await verify()).toMatchObject({ count: 1, problem: null });
  });

  test('holds although it was pruned while it was verified', async () => {
    await makeChain();
    let readCount = 0;
    const store: Parameters<typeof verifyAudit>[0]['store'] = {
      readAudit: async (after, countMax) => {
        readCount += 1;
        if (readCount === 2) await prune();
        return app.core.store.readAudit(after, countMax);
      },
    };
    const measure = { expected: [], nowMs: app.clock.nowMs(), ...BOUNDS };
    expect(await verifyAudit({ store }, measure)).toMatchObject({ prunedCount: 3, problem: null });
  });

  for (const [column, value] of Object.entries(ANCHOR_COLUMNS)) {
    test(`does not hold with another ${column} in the anchor`, async () => {
      await makeChain();
      await prune();
      expect(await problem()).toBeNull();
      await tamper(`UPDATE audit_anchor SET ${column} = ${value}`);
      expect(await problem()).toMatch(/^block \d/);
    });
  }

  test('does not hold when blocks were deleted otherwise, even with a fitting anchor', async () => {
    await makeChain();
    await tamper(`INSERT INTO audit_anchor (id, last_number, hash, until_ms)
      SELECT 1, last_number, hash, at_ms FROM audit WHERE last_number = 2`);
    await tamper('DELETE FROM audit WHERE last_number <= 2');
    expect(await problem()).toBe('block 2 and those before it were not deleted by pruning');
    await tamper('DELETE FROM audit_anchor');
    expect(await problem()).toContain('block 3 does not follow block 0');
  });

  test('the job keeps what the settings say', async () => {
    await makeChain();
    await prune();
    expect(await verify()).toMatchObject({ count: 4, prunedCount: 3 });
    const few = { auditDays: 2, auditEntriesMax: 3 };
    await prune(few);
    expect(await verify([], few)).toMatchObject({ count: 3, problem: null });
  });

  test('the head goes to the log of the server', async () => {
    const lines: string[] = [];
    const format = { logFormat: 'json', logLevel: 'info' } as const;
    const log = makeLog(format, app.clock.nowMs, (line) => lines.push(line));
    await logAuditHead(app.core, log);
    expect(lines).toEqual([]);
    await makeChain();
    await logAuditHead(app.core, log);
    const head = headText((await auditHead(app.core)) ?? expect.unreachable());
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ event: 'audit_head', head }),
    ]);
    expect(await problem(JSON.parse(lines[0] ?? '').head)).toBeNull();
  });
});

describe('list', () => {
  const ALL: AuditFilter = {
    provider: null,
    action: null,
    hwidHash: null,
    sinceMs: null,
    untilMs: null,
    countMax: 100,
  };

  test('newest first, by provider, action, HWID and time, no more than asked for', async () => {
    const own = await makeChain();
    const other = await seedProvider(app, { code: 'Provide2' });
    await bind(app, other);
    await addLink(app, other);
    await enter(app, 'phone');
    await call(app, '/api/delete-hwid', other, { install_code: LINK, hwid: 'phone' });
    const numbers = async (more: Partial<AuditFilter>) =>
      (await listAudit(app.core, { ...ALL, ...more })).map(({ number }) => number);
    expect(await numbers({})).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(await numbers({ countMax: 2 })).toEqual([10, 9]);
    expect(await numbers({ provider: own.code })).toEqual([6, 5, 4, 3, 2, 1]);
    expect(await numbers({ provider: other.code })).toEqual([10, 9, 8, 7]);
    expect(await numbers({ action: 'provider.add' })).toEqual([7, 1]);
    expect(await numbers({ hwidHash: hwidHash('phone') })).toEqual([10]);
    expect(await numbers({ hwidHash: hwidHash('other') })).toEqual([]);
    const nowMs = app.clock.nowMs();
    expect(await numbers({ sinceMs: nowMs })).toEqual([10, 9, 8, 7, 6]);
    expect(await numbers({ untilMs: nowMs - 3 * DAY_MS })).toEqual([2, 1]);
  });
});

test('an entry holds no key, code of a link, HWID or free text', async () => {
  const own = await seedProvider(app, { name: 'SECRET-name', code: 'Provide1' });
  const words = { install_code: 'SECRETcode01', note: 'SECRET-note', install_limit: 2 };
  await call(app, '/api/add-install', own, words);
  await call(app, '/api/update-install', own, { id: 1, note: 'SECRET-other' });
  const hash = 'a'.repeat(64);
  await call(app, '/api/add-domain', own, { domain_hash: hash, domain_name: 'SECRET-domain' });
  const door = { id: hash, installid: 'SECRETcode01', hwid: 'SECRET-hwid' };
  await call(app, '/install', null, { ...door, os_name: 'android' });
  const post = (body: unknown) => ({ method: 'POST', body: JSON.stringify(body) });
  const form = {
    body: 'SECRET-body',
    title: 'SECRET-title',
    type_push: 'optional',
    expire_days: 1,
  };
  const sent = { PushNotificationForm: form, hwid: 'SECRET-hwid' };
  await call(app, '/remote/notification', own, {}, post(sent));
  const data = { action_type: 'import-data', hwid: 'SECRET-hwid', import_data: 'SECRET-data' };
  await call(app, '/remote/command', own, {}, post(data));
  await call(app, '/api/delete-hwid', own, { install_code: 'SECRETcode01', hwid: 'SECRET-hwid' });
  await app.core.store.forgetDevice('SECRET-hwid', actAt(app.core, app.clock.nowMs()));
  const entries = await auditEntries(app.core);
  const actions = ['provider.add', 'install.add', 'install.update', 'domain.add'];
  actions.push('notification.send', 'command.send', 'hwid.delete', 'device.forget');
  expect(entries.map(({ action }) => action) as string[]).toEqual(actions);
  const lines: string[] = [];
  for await (const { block } of auditBlocks(app.core)) lines.push(exportLine(block));
  const text = lines.join('\n');
  expect(text).not.toContain('SECRET');
  expect(text).not.toContain(own.authKey);
  expect(entries.map(deedOf).at(-1)).toBe(
    `device.forget ${JSON.stringify({ hwid_sha256: hwidHash('SECRET-hwid') })}`,
  );
});
