/** Copied HWIDs and honest households, with the headers that real apps send. */

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { HOUR_MS } from '../../src/core/calendar.ts';
import { mergeFacts } from '../../src/core/device.ts';
import { sightingOf } from '../../src/core/phone-traits.ts';
import { judgeSighting } from '../../src/core/phones.ts';
import type { DeviceFacts } from '../../src/core/port/device.ts';
import type { Phone } from '../../src/core/port/phone.ts';
import { APP_HEADERS, type AppHeaders } from '../support/app-headers.ts';
import { fateOf, playLinks, SEEDS, tableOf, withTable } from '../support/copied-hwid.ts';
import { HWID_ALONE, KINDS, type Kind } from '../support/phone-world.ts';
import { IS_LONG } from '../support/scale.ts';

const APPS = APP_HEADERS.filter(({ app }) => !app.startsWith('a tool'));
const hash = (model: string) => model;

const factsOf = (row: AppHeaders, version = ''): DeviceFacts => ({
  os: row.os ?? '',
  osVersion: `${row.osVersion ?? ''}${version}`,
  deviceName: (row.model ?? '').replace(/[{}]/g, ''),
  appVersion: row.appVersion ?? '',
  userAgent: row.userAgent.replace(/(\d)(?=[\s)]|$)/, `$1${version}`),
});

const sightOf = (row: AppHeaders) => sightingOf('subscription', factsOf(row), hash);

/** Calls each hour, one app after another, with one HWID. Returns the phones of its slot. */
function seen(...calls: readonly DeviceFacts[]): Phone[] {
  let phones: Phone[] = [];
  let [known] = calls as [DeviceFacts];
  let atMs = Date.UTC(2026, 10, 1);
  for (const facts of calls) {
    const slot = { phones, before: sightingOf('', known, hash), lastSeenAtMs: atMs };
    atMs += HOUR_MS;
    const judged = judgeSighting(slot, sightingOf('subscription', facts, hash), atMs);
    const numbers = new Set([...judged.drops, ...judged.saves.map(({ number }) => number)]);
    phones = [...phones.filter(({ number }) => !numbers.has(number)), ...judged.saves];
    known = mergeFacts(known, facts);
  }
  return phones;
}

describe.each(
  APPS.map((row) => [`${row.userAgent} on ${row.os ?? 'a system that it hides'}`, row]),
)('%s', (_, row) => {
  if (typeof row === 'string') return;

  test('says its system and name', () => {
    const { app, family } = sightOf(row);
    expect(app).toBe(row.app);
    if (row.os !== null) expect(row.os.toLowerCase()).toStartWith(family);
  });

  test('is one phone after updates', () => {
    expect(seen(factsOf(row), factsOf(row, '1'), factsOf(row), factsOf(row, '2'))).toEqual([]);
  });

  test('is one phone with each other app of its system, whatever they call the model', () => {
    const { family } = sightOf(row);
    const others = APPS.filter((other) => other !== row && sightOf(other).family === family);
    for (const other of others.filter(({ app }) => app !== row.app)) {
      const turns = Array.from({ length: 8 }, (_, at) => factsOf(at % 2 === 0 ? row : other));
      expect(seen(...turns).filter(({ state }) => state === 'certain')).toEqual([]);
    }
  });
});

test('five phones of one HWID: four are further ones', () => {
  const apps = ['Happ', 'v2RayTun', 'FlClashX', 'Koala Clash', 'PassWall'];
  const systems = ['Android', 'iOS', 'Windows', 'macOS', 'OpenWrt'];
  const five = apps.map((app, at) => APPS.find((row) => row.app === app && row.os === systems[at]));
  const calls = five.map((row) => factsOf(row as AppHeaders));
  const states = seen(...calls, ...calls).map(({ state }) => state);
  expect(states.filter((state) => state === 'certain')).toHaveLength(4);
});

/** The part of the links of each seed; a half takes five seconds for each rule. */
const SHARE = IS_LONG ? 0.2 : 0.015;

test.each(['tell', 'count', 'refuse'] as const)('no honest phone suffers under `%s`', (rule) => {
  for (const seed of SEEDS) {
    const { household, copied } = playLinks(seed, rule, SHARE);
    const { told, counted, refused, full } = household;
    expect([told, counted, refused, full]).toEqual([0, 0, 0, 0]);
    // A copy of all headers is not found, and the page says so.
    expect(copied.refused + copied.counted).toBe(0);
  }
});

test('nine of ten links that change the HWID alone are found within two fetches each', () => {
  const kinds = SEEDS.map((seed) => playLinks(seed, 'tell', SHARE)).flatMap((sums) =>
    HWID_ALONE.map((kind) => sums[kind]),
  );
  const links = kinds.reduce((sum, kind) => sum + kind.links, 0);
  const found = kinds.reduce((sum, kind) => sum + kind.toldByTwo, 0);
  expect(found / links).toBeGreaterThan(0.9);
});

test('under `off` nothing is judged', () => {
  for (const kind of Object.keys(KINDS) as Kind[]) {
    for (let seed = 0; seed < 5; seed++) {
      expect(fateOf(kind, seed, 'off')).toMatchObject({ isTold: false, counted: 0, refused: 0 });
    }
  }
});

test('the page has the table of the model', () => {
  const page = readFileSync('docs/gate.md', 'utf8');
  for (const { is, links } of Object.values(KINDS)) {
    const all = (links * SEEDS.length).toLocaleString('en-US');
    expect(page).toContain(`\n| ${is} | ${all} |`);
  }
  expect(page).toContain('\n| honest households | 39,500 | 0 | 0 | | 0 | 0 | 0 |\n');
  if (!IS_LONG) return;
  expect(page).toBe(withTable(page, tableOf(playLinks, SEEDS)));
});
