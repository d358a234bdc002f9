/** The table of apps: complete, sourced, and the same names as its fixtures have. */

import { describe, expect, test } from 'bun:test';
import { SETTING_KEYS } from '../../src/core/message/setting-table.ts';
import { COMMAND, PUSH } from '../../src/core/port/distribution.ts';
import { APPS, type App, appOf, carriesPart } from '../../src/core/ride/app.ts';
import { partsOf, partsTo, type RidingPayload } from '../../src/core/ride/parts.ts';
import { RIDING_APPS } from '../support/riding-apps.ts';

const named = (name: string): App => {
  const app = APPS.find((row) => row.name === name);
  if (app === undefined) throw new Error(`no app ${name}`);
  return app;
};

test('the table has these apps, and each row its source', () => {
  expect(
    APPS.map(({ name, reads }) => `${name}: ${reads.map((row) => row.header).join()}`),
  ).toEqual([
    'Happ: announce,sub-info-text,sub-info-color,sub-info-button-text,sub-info-button-link,new-domain,new-url',
    'INCY: announce,announce-url',
    'FlClashX: announce',
    'Koala Clash: announce,announce-url,new-sub-domain',
    'v2RayTun: announce',
    ...['Karing: ', 'Prizrak-Box: ', 'LxBox: ', 'Hiddify: ', 'v2rayNG: ', 'Clash Verge Rev: '],
    ...['FlClash: ', 'Throne: ', 'PassWall: ', 'sing-box: '],
  ]);
  for (const { name, source, reads } of APPS) {
    for (const text of [source, ...reads.map((row) => row.source)]) {
      expect(`${name}: ${text}`).toMatch(/: .*(?:\w\/[\w-]+: [\w./-]+|closed)/);
    }
  }
});

test('names of headers are lower-case tokens, once an app', () => {
  for (const app of APPS) {
    const headers = app.settings.flatMap((row) => row.headers.map(({ header }) => header));
    const all = [...app.reads.map((row) => row.header), ...headers];
    expect(all.filter((header) => !/^[a-z][a-z-]+[a-z]$/.test(header))).toEqual([]);
    expect(new Set(all).size).toBe(all.length);
    expect(new Set(app.settings.map(({ key }) => key)).size).toBe(app.settings.length);
  }
});

describe('an app is known by the beginning of its User-Agent', () => {
  test.each(RIDING_APPS.map(({ name, userAgent }) => [name, userAgent]))(
    '%s: %s',
    (name, agent) => {
      const known = name === 'Shadowrocket' ? undefined : name.replace(' for Android', '');
      expect(appOf(agent)?.name).toBe(known as string);
      expect(appOf(` ${agent.toUpperCase()}`)?.name).toBe(known as string);
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
    [null, undefined],
    [undefined, undefined],
  ])('%p is %p', (agent, name) => {
    expect(appOf(agent)?.name).toBe(name as string);
  });

  test('no beginning is in that of another app', () => {
    const prefixes = APPS.flatMap(({ prefixes }) => prefixes);
    const inside = prefixes.filter((one) =>
      prefixes.some((other) => other !== one && other.startsWith(one)),
    );
    expect(inside).toEqual([]);
  });
});

test('the keys of the contract that an app reads', () => {
  const lacking = (name: string) => {
    const keys = new Set(named(name).settings.map(({ key }) => key));
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
  ['Happ', 'set:my.own', true, false],
  ['INCY', 'set:fragmentation-enable', false, true],
  ['INCY', 'set:ping-type', true, false],
  ['INCY', 'domain', true, false],
  ['INCY', 'url', true, false],
  ['Koala Clash', 'domain', false, true],
  ['Koala Clash', 'url', true, false],
  ['Karing', 'message', true, false],
  ['Karing', 'update', false, true],
  [null, 'message', false, true],
  [null, 'update', false, true],
  [null, 'domain', true, false],
  [null, 'set:ping-type', true, false],
])('%s takes %s, with a Provider ID %p: %p', (name, part, hasId, carries) => {
  expect(carriesPart(name === null ? null : named(name), part, hasId)).toBe(carries);
});
