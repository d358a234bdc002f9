/** `gatepost export` and `gatepost import FILE`: a provider moves between two machines. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Policy } from '../../src/core/port/slot.ts';
import type { Store } from '../../src/core/port/store.ts';
import { hashKey } from '../../src/core/secret.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import {
  ALL,
  addDoor,
  addLink,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  providerDraft,
} from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openBeside } from '../support/database.ts';

const KEY = 'key of Provide1';

let from: CommandLine;
let to: CommandLine;
let file: string;
beforeEach(async () => {
  from = commandLine();
  to = commandLine();
  file = `${from.dataDir}.jsonl`;
  await withStore(from, async (store) => {
    const { providerId } = await addDoor(store);
    await knock(store, 'a', undefined, { ...FACTS, deviceName: 'Телефон "A"' }, NOW_MS + 123);
    await knock(store, 'b');
    await addLink(store, providerId, {
      installCode: 'LinkCode0009',
      note: null,
      installLimit: 100,
    });
    const [newest] = await store.listLinksOf(providerId, ALL);
    await store.updateLink(providerId, newest?.id ?? 0, { status: 5 }, ACT);
    await store.addProvider(providerDraft('Provide2'), ACT);
  });
});
afterEach(() => {
  from.close();
  to.close();
});

async function withStore<T>(line: CommandLine, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({
    dataDir: line.dataDir,
    create: true,
    commitBatchMax: 1024,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** Everything in the tables that move, ids included. */
function tables(line: CommandLine) {
  const db = openBeside(line.dataDir);
  try {
    const all = (sql: string) => db.query(sql).all();
    return {
      provider: all(`SELECT code, name, plan, hex(key_hash) AS k, active_until_ms, suspended_at_ms,
        install_count_max, install_count, created_at_ms, inactive_days, when_full, cool_down_hours,
        enforce, without_hwid, ride, ride_desktop, support_url, web_page_url, buttons,
        discovery FROM provider WHERE code <> 'Provide2'`),
      install: all('SELECT * FROM install ORDER BY id'),
      domain: all(`SELECT id, provider_id, domain_hash, domain_name, status, created_at_ms
        FROM domain ORDER BY id`),
      named: all('SELECT * FROM named_hwid ORDER BY id'),
      bars: all('SELECT * FROM slot_bar ORDER BY install_id, hwid_hash'),
      slots: all(`SELECT install_id, registered_at_ms, s.last_seen_at_ms AS seen, d.*
        FROM install_device s JOIN device d ON d.id = s.device_id ORDER BY s.id`),
    };
  } finally {
    db.close();
  }
}

/** A policy of the provider, another of a link with a key where a slot was replaced. */
async function setTerms(): Promise<void> {
  await withStore(from, async (store) => {
    const found = await store.findProvider('Provide1');
    const providerId = found?.id ?? 0;
    const policy: Partial<Policy> = {
      inactiveDays: 30,
      whenFull: 'replace-oldest',
      coolDownHours: 12,
      enforce: 0,
      withoutHwid: 'count',
      samePhone: 'ask',
    };
    await store.updateProvider('Provide1', { ...policy, inactiveDays: 7 }, ACT);
    const [newest] = await store.listLinksOf(providerId, ALL);
    const terms = { ...policy, subscriptionKeyHash: HASH, greeting: 'Анна 😀' };
    await store.updateLink(providerId, newest?.id ?? 0, terms, ACT);
  });
  const db = openBeside(from.dataDir);
  db.run('UPDATE install SET replaced_at_ms = ? WHERE when_full IS NOT NULL', [NOW_MS + 5]);
  db.close();
}

const exportIt = () => from.run('export', 'Provide1', file);

describe('there and back', () => {
  test('everything is the same on the other machine, to the millisecond, the key good', async () => {
    const pro = ['--plan', 'pro', '--expires', '2027-01-02', '--discovery', 'on'];
    await from.run('provider', 'set', 'Provide1', ...pro);
    await from.run('provider', 'suspend', 'Provide1');
    await setTerms();
    expect(await exportIt()).toEqual({
      code: 0,
      stdout: `Provide1: 2 links, 2 HWIDs, 1 domain, in ${file}\n`,
      stderr: '',
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { code, stdout, stderr } = await to.run('import', file, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      complete: true,
      links: { listed: 2, added: 2 },
      hwids: { added: 2 },
      domains: { added: 1 },
      new_ids: 0,
      problems: [],
    });
    expect(tables(to)).toEqual(tables(from));
    const provider = await withStore(to, async (store) => store.findProvider('Provide1'));
    expect(Buffer.from(provider?.keyHash ?? [])).toEqual(Buffer.from(hashKey(KEY)));
  });

  test('named HWIDs and bars together: the names have their places, and the bars hold', async () => {
    const { installCode, barred } = await withStore(from, async (store) => {
      const found = await store.findProvider('Provide1');
      const providerId = found?.id ?? 0;
      const { id: installId, installCode: code } = (await store.findLink('LinkCode0001')) ?? {
        id: 0,
        installCode: '',
      };
      await store.updateLink(providerId, installId, { installLimit: 4, whenNew: 'refuse' }, ACT);
      const selector = { installCode: null, installId };
      await store.nameHwids(providerId, selector, ['named', 'cut-2'], 10, ACT);
      const none = { keyHash: null, host: null, why: 'none', isByUser: false };
      for (const hwid of ['b', 'cut-2']) {
        await store.askCut(providerId, { installId, hwid, ...none }, ACT);
      }
      return { installCode: code, barred: await store.listBars(installId, NOW_MS) };
    });
    expect(barred).toHaveLength(2);
    await exportIt();
    // Twice: nothing is added again.
    for (const added of [1, 0]) {
      const { stdout } = await to.run('import', file, '--json');
      expect(JSON.parse(stdout)).toMatchObject({ problems: [], links: { added: added * 2 } });
      expect(tables(to)).toEqual(tables(from));
    }
    await withStore(to, async (store) => {
      const at = (hwid: string) => knock(store, hwid, installCode);
      expect(await at('b')).toBe('barred');
      expect(await at('CUT_2')).toBe('barred');
      expect(await at('stranger')).toBe('not_named');
      expect(await at('named')).toMatchObject({ deviceCount: 2 });
      expect(await at('a')).toMatchObject({ deviceCount: 2 });
    });
  });

  test('the limit that a link gets as its devices leave', async () => {
    const lowered = await from.run(
      'link',
      'set',
      'LinkCode0001',
      '--limit',
      '1',
      '--as-they-leave',
    );
    expect(lowered).toMatchObject({ code: 0 });
    expect(tables(from).install).toContainEqual(
      expect.objectContaining({ install_limit: 2, device_count: 2, limit_wanted: 1 }),
    );
    await exportIt();
    await to.run('import', file);
    expect(tables(to)).toEqual(tables(from));
    const shown = await to.run('link', 'show', 'LinkCode0001');
    expect(shown.stdout).toMatch(/^limit_wanted +1$/m);
    // An older limit is not taken for one that waits.
    const odd = readFileSync(file, 'utf8').replace('"limit_wanted":1', '"limit_wanted":2');
    writeFileSync(file, odd);
    expect((await to.run('import', file)).stderr).toContain(
      'limit_wanted is not below install_limit',
    );
  });

  test('a file of a version without policies: slots were seen when their devices were', async () => {
    await setTerms();
    await exportIt();
    const later = [
      ...['inactive_days', 'when_full', 'cool_down_hours', 'subscription_key_hash'],
      ...['enforce', 'without_hwid'],
    ];
    const absent = new RegExp(`,"(?:${later.join('|')}|slot_seen_at_ms)":[^,}]*`, 'g');
    const older = readFileSync(file, 'utf8').replace(absent, '');
    expect(older).not.toContain('slot_seen');
    writeFileSync(file, older);
    expect(await to.run('import', file)).toMatchObject({ code: 0 });
    const withPolicy = {
      inactive_days: null,
      when_full: null,
      cool_down_hours: null,
      enforce: null,
      without_hwid: null,
    };
    const { provider, install, slots } = tables(to);
    expect(provider).toMatchObject([withPolicy]);
    expect(install).toMatchObject([withPolicy, { ...withPolicy, subscription_key_hash: null }]);
    expect(slots).toMatchObject([{ seen: NOW_MS + 123 }, { seen: NOW_MS }]);
  });

  test('terms that do not fit are refused', async () => {
    await setTerms();
    await exportIt();
    const good = readFileSync(file, 'utf8');
    for (const [field, bad] of [
      ['"inactive_days":30', '"inactive_days":3651'],
      ['"inactive_days":30', '"inactive_days":"30"'],
      ['"when_full":"replace-oldest"', '"when_full":"other"'],
      ['"enforce":0', '"enforce":2'],
      ['"without_hwid":"count"', '"without_hwid":"no"'],
      ['"cool_down_hours":12', '"cool_down_hours":0'],
      [`"subscription_key_hash":"${HASH}"`, '"subscription_key_hash":"short"'],
      [/"slot_seen_at_ms":\d+/, '"slot_seen_at_ms":-1'],
      [/"replaced_at_ms":\d+/, '"replaced_at_ms":"now"'],
    ] as const) {
      const changed = good.replace(field, bad);
      expect(changed).not.toBe(good);
      writeFileSync(file, changed);
      expect({ bad, code: (await to.run('import', file)).code }).toEqual({ bad, code: 1 });
    }
  });

  test('facts of a device at another provider are not exported', async () => {
    await exportIt();
    const before = readFileSync(file, 'utf8');
    rmSync(file);
    await withStore(from, async (store) => {
      await addDoor(store, 'Provide2', 'OtherCode001');
      const told = { ...FACTS, deviceName: 'of another' };
      await knock(store, 'a', 'OtherCode001', told, NOW_MS + 500);
    });
    await exportIt();
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('times far ahead are made now: what was never seen so would be kept for ever', async () => {
    const far = NOW_MS + 400 * 86_400_000;
    await withStore(from, (store) =>
      knock(store, 'b', undefined, FACTS, far).then(() => undefined),
    );
    await exportIt();
    const { code, stdout } = await to.run('import', file, '--json');
    expect({ code, mended: JSON.parse(stdout).mended }).toEqual({ code: 0, mended: 1 });
    const { stdout: shown } = await to.run('device', 'show', 'b', '--json');
    expect(JSON.parse(shown).last_seen_at).toStartWith('2026-11-20T');
  });

  test('again adds nothing; under another code the links stay whose they are', async () => {
    await exportIt();
    await to.run('import', file);
    const before = tables(to);
    const again = JSON.parse((await to.run('import', file, '--json')).stdout);
    expect(again).toMatchObject({ links: { added: 0, present: 2 }, hwids: { present: 2 } });
    expect(tables(to)).toEqual(before);
    const other = await to.run('import', file, '--code', 'Provide9', '--json');
    expect(JSON.parse(other.stdout)).toMatchObject({
      provider_code: 'Provide9',
      links: { added: 0, code_taken: 2 },
      domains: { added: 1 },
    });
  });

  test('to stdout, with the figures beside it, and no key but its hash', async () => {
    const { code, stdout, stderr } = await from.run('export', 'Provide1');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'Provide1: 2 links, 2 HWIDs, 1 domain\n',
    });
    const lines = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(lines.map((line) => Object.keys(line)[0])).toEqual([
      'gatepost_export',
      'domain',
      'install',
      'install',
      'end',
    ]);
    expect(lines[0].provider.key_sha256).toBe(Buffer.from(hashKey(KEY)).toString('hex'));
    expect(lines[1].domain).toMatchObject({ domain_hash: HASH, domain_name: 'shop', status: 10 });
    expect(lines[4]).toEqual({ end: { installs: 2, hwids: 2, domains: 1 } });
  });
});

describe('refused', () => {
  test('to export over a file, or a provider that there is not', async () => {
    writeFileSync(file, 'precious');
    expect(await exportIt()).toMatchObject({
      code: 1,
      stderr: `gatepost: ${file} exists: name another\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('precious');
    const { code, stderr } = await from.run('export', 'Nobody00', `${file}.2`);
    expect({ code, stderr }).toMatchObject({ code: 1 });
    expect(stderr).toStartWith("gatepost: there is no provider 'Nobody00'");
  });

  test('a provider that is here with another key', async () => {
    await exportIt();
    await to.run('provider', 'add', '--name', 'other', '--code', 'Provide1');
    const { code, stderr } = await to.run('import', file);
    expect(code).toBe(1);
    expect(stderr).toContain('exists with another key');
  });

  const damage: [string, (lines: string[]) => string[], RegExp][] = [
    [
      'cut off between lines',
      (lines) => lines.slice(0, -1),
      /is truncated after line 4: no last line/,
    ],
    [
      'cut off in a line',
      (lines) => lines.with(3, '{"install":{"id":').slice(0, 4),
      /: line 4: it must be a JSON object in UTF-8/,
    ],
    [
      'a line missing',
      (lines) => lines.toSpliced(2, 1),
      /has 1 link, 0 HWIDs and 1 domain, but its last line says 2/,
    ],
    ['no first line', (lines) => lines.slice(1), /: line 1: a file has one provider/],
    ['two first lines', (lines) => [lines[0] ?? '', ...lines], /: line 2: a file has one provider/],
    [
      'something after the end',
      (lines) => [...lines, lines[1] ?? ''],
      /: line 6: it follows the end/,
    ],
    [
      'a wrong value',
      (lines) => lines.map((line) => line.replace('"install_limit":2', '"install_limit":0')),
      /: line 3: install_limit must be a whole number from 1 to 100/,
    ],
    [
      'a wrong HWID',
      (lines) => lines.map((line) => line.replace('"hwid":"a"', '"hwid":"a,b"')),
      /: line 3: hwid must be 1 to 128 visible ASCII characters without comma/,
    ],
    [
      'HWIDs that are no list',
      (lines) => lines.map((line) => line.replace(/"hwids":\[.*\]/, '"hwids":""')),
      /: line 3: hwids is not a list/,
    ],
    [
      'a newer format',
      (lines) => lines.map((line) => line.replace('export":1', 'export":2')),
      /: line 1: the file has format 2, this program knows up to 1/,
    ],
    ['something else', () => ['hello'], /: line 1: it must be a JSON object in UTF-8/],
    [
      'more HWIDs than the link has room for',
      (lines) => lines.map((line) => line.replace('"install_limit":2', '"install_limit":1')),
      /: line 3: hwids has more than install_limit/,
    ],
    [
      'a time that no date has',
      (lines) => lines.map((line) => line.replace(/"created_at_ms":\d+/, '"created_at_ms":9e15')),
      /: line 1: created_at_ms must be a whole number from 0 to 253402300799999/,
    ],
    ['brackets', () => ['['.repeat(10_000)], /: line 1: it must not nest deeper than 32 levels/],
    ['brackets without end', () => ['['.repeat(10_000_000)], /: line 1 is too long/],
    [
      'more values than a line has',
      () => [`{"gatepost_export":[${'0,'.repeat(3_000)}0]}`],
      /: line 1: it must not hold more than 2000 values/,
    ],
    ['nothing', () => [], /is truncated after line 0/],
  ];
  test.each(damage)('%s, before anything is stored', async (_, change, sentence) => {
    await exportIt();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    writeFileSync(
      file,
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    const { code, stdout, stderr } = await to.run('import', file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^gatepost: [^\n]+\n$/);
    expect(stderr).toMatch(sentence);
    expect(existsSync(to.dataDir)).toBe(false);
  });

  test('a pipe, a folder and stdin, which cannot be read twice', async () => {
    const pipe = `${file}.pipe`;
    expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0);
    for (const path of [pipe, tmpdir(), '-']) {
      const { code, stderr } = await to.run('import', path);
      const sentence = `${path} must be a regular file, because it is read twice`;
      expect({ code, stderr }).toEqual({ code: 1, stderr: `gatepost: ${sentence}\n` });
    }
    expect(existsSync(to.dataDir)).toBe(false);
  });

  test('bytes that are no text, and a file that is not there', async () => {
    writeFileSync(file, new Uint8Array([123, 255, 254, 10]));
    expect((await to.run('import', file)).stderr).toBe(
      `gatepost: ${file}: invalid UTF-8 in or after line 1\n`,
    );
    const { code, stderr } = await to.run('import', `${file}.none`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gatepost: cannot read [^\n]+\n$/);
  });
});
