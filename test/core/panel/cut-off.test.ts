/** Where cut-off is possible, and what counts as a change of another field. */

import { describe, expect, test } from 'bun:test';
import { type CredentialHolder, differencesOf } from '../../../src/core/panel/credentials.ts';
import { type CutUpstream, canCut, isSamePanel } from '../../../src/core/panel/cut-off.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { PANELS } from '../../../src/core/panel/kind.ts';
import { upstreamTo } from '../../support/upstream.ts';

const upstream = (more: Partial<CutUpstream> = {}): CutUpstream => ({
  ...upstreamTo('http://127.0.0.1:2097', 'Ab3dE5gH'),
  panel: '3x-ui',
  panelUrl: 'https://panel.example.org/web',
  panelTokenFile: '/t',
  cutOff: true,
  ...more,
});

const at = (more: Partial<CutUpstream>, ...others: Partial<CutUpstream>[]) => {
  const own = upstream(more);
  const all = others.map((other) => upstream({ host: 'b.example.org', provider: 'B', ...other }));
  const can = canCut(own, [own, ...all]);
  return can.possible ? 'possible' : can.why;
};

const OF_TWO =
  'another provider has an upstream at this panel: set a panel_admin that it does not have';

describe('cut-off', () => {
  test.each(PANELS)('%s has one, or says why not', (panel) => {
    const { cutOff, keys } = PANEL_TRAITS[panel];
    const key = typeof keys === 'string' ? 'plain' : panel;
    expect(at({ panel, key })).toBe('why' in cutOff ? cutOff.why : 'possible');
    // No way of a panel ends the link, too.
    if (!('why' in cutOff)) expect(JSON.stringify(cutOff)).not.toContain('revoke_sub');
  });

  test.each([
    [{ cutOff: false }, 'cut_off is not switched on for sub.example.org'],
    [{ panelTokenFile: '' }, 'the settings name no token for the API of 3x-ui'],
    [{ panelTokenFile: '', panelAccountFile: '/a' }, 'possible'],
    [{ panel: '' as const }, 'the settings name no panel for this host'],
    [{ panel: 'marzban' as const }, 'Marzban does not know users by these keys'],
  ])('with %j: %s', (more, said) => {
    expect(at(more)).toBe(said);
  });

  test.each([
    // The same address, in another spelling.
    [{ url: 'http://localhost:2097/sub' }, OF_TWO],
    [{ url: 'http://[::1]:2097', panelUrl: '' }, OF_TWO],
    [{ url: 'http://c.example.org', panelUrl: 'http://PANEL.example.org:443/other' }, OF_TWO],
    // The same token.
    [{ url: 'http://c.example.org', panelUrl: '', panelTokenFile: '/t' }, OF_TWO],
    [{ url: 'http://c.example.org', panelUrl: '', panelTokenFile: '/u' }, 'possible'],
    [{ url: 'http://127.0.0.1:2098', panelUrl: '', panelTokenFile: '/u' }, 'possible'],
    [{ provider: 'Ab3dE5gH' }, 'possible'],
  ])('beside an upstream with %j: %s', (other, said) => {
    expect(at({}, other)).toBe(said);
    expect(at({}, { panelAdmin: 'b', ...other })).toBe(said);
    expect(at({ panelAdmin: 'a' }, { panelAdmin: 'a', ...other })).toBe(said);
    expect(at({ panelAdmin: 'a' }, { panelAdmin: 'b', ...other })).toBe('possible');
    expect(at({ panelAdmin: 'a' }, { cutOff: false, ...other })).toBe('possible');
  });

  test.each([
    ['inbound:1,2', 'inbound:2,1', OF_TWO],
    ['inbound:1,2', 'inbound:2', OF_TWO],
    ['inbound:1,2', 'inbound:3,12', 'possible'],
    ['inbound:1,2', '2', 'possible'],
  ])('panel_admin %s beside %s: %s', (own, other, said) => {
    expect(at({ panelAdmin: own }, { panelAdmin: other })).toBe(said);
  });

  test('two upstreams of which one has no URL of an API are compared by all that they have', () => {
    const one = upstream({ url: 'http://b.example.org:8000', panelUrl: '' });
    const two = upstream({
      url: 'https://sub.example.org',
      panelUrl: 'https://b.example.org:8000',
      panelTokenFile: '/u',
    });
    expect([isSamePanel(one, two), isSamePanel(two, one)]).toEqual([true, true]);
  });
});

const holder = (more: Partial<CredentialHolder>): CredentialHolder => ({
  keys: [],
  credentials: {},
  counters: {},
  others: {},
  belongsTo: () => true,
  change: () => ({ method: 'PUT', path: '/', body: {} }),
  ...more,
});

describe('a difference', () => {
  test.each([
    [{ a: 1 }, { a: 2 }, ['a']],
    [{ a: 1 }, {}, ['a']],
    [{}, { a: 1 }, ['a']],
    [{ a: null }, {}, []],
    [{ a: { b: { c: 1 } } }, { a: { b: { c: 2 } } }, ['a.b.c']],
    [{ a: { b: 1 } }, { a: [] }, ['a']],
    // The order says nothing.
    [{ a: [1, 2], b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: [2, 1] }, []],
    [{ a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 2 }, { b: 1 }] }, []],
    [{ a: [1, 2] }, { a: [1, 2, 2] }, ['a']],
    [{ a: '1' }, { a: 1 }, ['a']],
    // A name that may be that of a user is not told.
    [{ 'anna@example': 1 }, {}, ['another field']],
  ])('from %j to %j is %j', (before, after, names) => {
    expect(differencesOf(holder({ others: before }), holder({ others: after }))).toEqual(names);
  });

  test('is bounded', () => {
    const others = Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`f${nth}`, nth]));
    expect(differencesOf(holder({ others }), holder({}))).toHaveLength(16);
  });

  test('of a counter is a lower one, and of credentials a missing one', () => {
    const before = holder({ counters: { used: 5, old: 1 }, credentials: { a: 'x', b: 'y' } });
    const after = holder({ counters: { used: 4 }, credentials: { a: 'z', b: '' } });
    expect(differencesOf(before, after)).toEqual(['used', 'old', 'b']);
    const grown = holder({ counters: { used: 6, old: 1 }, credentials: { a: 'z', b: 'w' } });
    expect(differencesOf(before, grown)).toEqual([]);
  });
});
