/** The table of apps: complete, sourced, and the same names as its fixtures have. */

import { describe, expect, test } from 'bun:test';
import { appOf } from '../../src/core/app/find.ts';
import type { App } from '../../src/core/app/record.ts';
import { APPS } from '../../src/core/app/table.ts';
import { APP_MOVES } from '../../src/core/app-moves.ts';
import { SETTING_KEYS } from '../../src/core/message/setting-table.ts';
import { COMMAND, PUSH } from '../../src/core/port/distribution.ts';
import { carriesPart } from '../../src/core/ride/carries.ts';
import { partsOf, partsTo, type RidingPayload } from '../../src/core/ride/parts.ts';
import { SETTINGS_BY_APP, settingsOf } from '../../src/core/ride/setting.ts';
import { RIDING_APPS } from '../support/riding-apps.ts';

const named = (name: string): App => {
  const app = APPS.find((row) => row.name === name);
  if (app === undefined) throw new Error(`no app ${name}`);
  return app;
};

test('the table has these apps, and each row its source and the day of the reading', () => {
  const facts = APPS.map(({ hwid, isKnown, name, reads, textLengthMax }) => {
    const headers = reads.map((row) => row.header).join();
    return `${isKnown ? '' : 'not known: '}${name}, ${hwid}: ${headers} ${textLengthMax}`;
  });
  expect(facts).toEqual([
    'Happ, default: announce,sub-info-text,sub-info-color,sub-info-button-text,sub-info-button-link,new-domain,new-url 200',
    'INCY, sends: announce,announce-url 200',
    'FlClashX, default: announce,flclashx-newdomain 200',
    'Koala Clash, default: announce,announce-url,new-sub-domain 200',
    'v2RayTun, sends: announce 200',
    'Prizrak-Box, sends: announce,announce-url,new-domain,new-url 200',
    'Clod Clash for Android, default: announce,announce-url,new-domain,new-url 300',
    'Clod Clash, default: announce,announce-url,new-domain,new-url 500',
    ...['Karing, switch:  200', 'LxBox, never:  200', 'Hiddify, never:  200'],
    ...['v2rayNG, never:  200', 'v2rayN, never:  200', 'NekoBox, never:  200'],
    ...['Clash Party, never:  200', 'Clash Meta for Android, never:  200'],
    ...['Clash Verge Rev, never:  200', 'FlClash, never:  200', 'Throne, switch:  200'],
    ...['PassWall, sends:  200', 'sing-box, never:  200'],
    'not known: Shadowrocket, sends: announce 200',
    'not known: Streisand, unknown: announce 200',
    'not known: V2Box, unknown: announce 200',
  ]);
  for (const { isKnown, name, panelMoves, readOn, reads, source } of APPS) {
    const sources = [
      source,
      ...(isKnown ? [...reads, ...panelMoves].map((row) => row.source) : []),
    ];
    for (const text of sources) {
      expect(`${name}: ${text}`).toMatch(/: .*(?:\w\/[\w-]+: [\w./-]+|closed)/);
    }
    expect(readOn).toMatch(/^2026-\d\d-\d\d$/);
  }
  expect(APPS.filter(({ keepsText }) => keepsText).map(({ name }) => name)).toEqual([
    'Prizrak-Box',
  ]);
});

test('settings are those of apps of the table', () => {
  const names = APPS.map(({ name }) => name);
  expect([...SETTINGS_BY_APP.keys()].filter((name) => !names.includes(name))).toEqual([]);
});

test('headers that move apps are those of the rows', () => {
  expect(APP_MOVES).toEqual([
    ...['new-domain', 'new-url', 'fallback-url', 'flclashx-newdomain', 'new-sub-domain'],
    ...['fallback-domain', 'moved-permanently-to'],
  ]);
});

test('names of headers are lower-case tokens, once an app', () => {
  for (const app of APPS) {
    const headers = settingsOf(app).flatMap((row) => row.headers.map(({ header }) => header));
    const all = [...app.reads.map((row) => row.header), ...headers, ...app.passes];
    expect(all.filter((header) => !/^[a-z][a-z-]+[a-z]$/.test(header))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
    expect(new Set(settingsOf(app).map(({ key }) => key)).size).toBe(settingsOf(app).length);
  }
});

describe('an app is known by the beginning of its User-Agent', () => {
  test.each(RIDING_APPS.map(({ name, userAgent }) => [name, userAgent]))(
    '%s: %s',
    (name, agent) => {
      const known = name === 'sing-box for Android' ? 'sing-box' : name;
      expect(appOf(agent)?.name).toBe(known);
      expect(appOf(` ${agent.toUpperCase()}`)?.name).toBe(known);
    },
  );

  test.each([
    ['', undefined],
    ['Mozilla/5.0 (X11) Happ/4', undefined],
    ['Happy/1.0', undefined],
    ['FlClash/v0.8.70', 'FlClash'],
    ['FlClashX/v0.4', 'FlClashX'],
    ['clash-verge/v2', 'Clash Verge Rev'],
    ['sing-box 1.12', 'sing-box'],
    ['Clash-Meta/Prizrak-Box (Android Build 1.0.21)', 'Prizrak-Box'],
    ['Clash-Meta/1.19', undefined],
    ['ClodClash/1.4.0', 'Clod Clash'],
    ['ClodClash/0.0.10 (Android)', 'Clod Clash for Android'],
    ['v2rayN/7.15.0', 'v2rayN'],
    ['NekoBox/Android/1.4.2 (Prefer ClashMeta Format)', 'NekoBox'],
    ['mihomo.party/v1.9.6 (clash.meta)', 'Clash Party'],
    ['ClashMetaForAndroid/2.11.21', 'Clash Meta for Android'],
    ['Streisand/1.6.0', 'Streisand'],
    ['V2Box/4.2', 'V2Box'],
    [null, undefined],
    [undefined, undefined],
  ])('%p is %p', (agent, name) => {
    expect(appOf(agent)?.name).toBe(name as string);
  });

  test('no beginning is in that of another app', () => {
    const all = APPS.flatMap(({ agentHas, agents }) =>
      agents.map((start) => ({ agentHas, start })),
    );
    const inside = all.filter((one) =>
      all.some((other) => other !== one && other.start.startsWith(one.start)),
    );
    // Two rows of one maker, told apart by what follows; the narrower one is first.
    expect(inside).toEqual([
      { agentHas: '(android)', start: 'clodclash/' },
      { agentHas: null, start: 'clodclash/' },
    ]);
  });
});

test('the keys of the contract that an app reads', () => {
  const lacking = (name: string) => {
    const keys = new Set(settingsOf(named(name)).map(({ key }) => key));
    return SETTING_KEYS.filter(({ key, isNewer }) => !isNewer && !keys.has(key)).map(
      ({ key }) => key,
    );
  };
  expect(lacking('Happ')).toEqual([
    ...['local-dns-enable', 'fragmentation-type', 'fragmentation-advanced-param'],
  ]);
  expect(lacking('INCY')).toContain('change-user-agent');
  expect(lacking('INCY')).not.toContain('per-app-proxy-mode');
});

describe('the parts of a message', () => {
  const settings = { 'ping-type': 'tcp', 'my.own': 1, announce: 'x', __proto__: {} };

  test.each<[number, unknown, string[]]>([
    [PUSH, { body: 'Hello', type_push: 'force', expire_days: 1 }, ['message']],
    [COMMAND, { action_type: 'set-settings', settings }, ['set:ping-type']],
    [COMMAND, { action_type: 'sub-change', change_type: 'url', change_value: 'x' }, ['url']],
    [COMMAND, { action_type: 'sub-change', change_type: 'domain', change_value: 'x' }, ['domain']],
    [COMMAND, { action_type: 'update-subscription' }, ['update']],
    [COMMAND, { action_type: 'import-data', 'input-data': 'x' }, []],
  ])('%p %p', (type, payload, parts) => {
    expect(partsOf(type, payload as RidingPayload)).toEqual(parts as never);
  });

  test('to all devices are without the URL of one user', () => {
    const payload = { action_type: 'sub-change', change_type: 'url', change_value: 'x' };
    expect(partsTo(false, COMMAND, payload as RidingPayload)).toEqual(['url']);
    expect(partsTo(true, COMMAND, payload as RidingPayload)).toEqual([]);
  });
});

test.each<[string | null, string, boolean, boolean]>([
  ['Happ', 'message', false, true],
  ['Happ', 'domain', false, false],
  ['Happ', 'domain', true, true],
  ['Happ', 'url', true, true],
  ['Happ', 'set:ping-type', false, false],
  ['Happ', 'set:ping-type', true, true],
  ['Happ', 'set:routing-enable', false, true],
  ['Happ', 'set:my.own', true, false],
  ['INCY', 'set:fragmentation-enable', false, true],
  ['INCY', 'set:ping-type', true, false],
  ['INCY', 'domain', true, false],
  ['INCY', 'url', true, false],
  ['Koala Clash', 'domain', false, true],
  ['Koala Clash', 'url', true, false],
  ['Prizrak-Box', 'url', false, true],
  ['FlClashX', 'domain', false, true],
  ['Shadowrocket', 'message', false, true],
  ['Shadowrocket', 'domain', true, false],
  ['Karing', 'message', true, false],
  ['Karing', 'update', false, true],
  [null, 'message', false, true],
  [null, 'update', false, true],
  [null, 'domain', true, false],
  [null, 'set:ping-type', true, false],
])('%s takes %s, with a Provider ID %p: %p', (name, part, hasId, carries) => {
  expect(carriesPart(name === null ? null : named(name), part, hasId)).toBe(carries);
});
