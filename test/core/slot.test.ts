import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import type { Door, FullLink, Policy } from '../../src/core/port/slot.ts';
import { formerHwid, freeFrom, judge, NO_POLICY, policyOf } from '../../src/core/slot.ts';

const HOUR_MS = DAY_MS / 24;
/** Noon of a UTC day. */
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const END_OF_DAY_MS = Date.UTC(2026, 10, 21) - 1;
const FACTS = { os: '', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };

function full(policy: Partial<Policy>, more: Partial<FullLink> = {}): FullLink {
  return {
    policy: { ...policyOf(NO_POLICY, NO_POLICY), ...policy },
    replacedAtMs: null,
    limitWanted: null,
    oldest: { hwid: 'a', registeredAtMs: 0, lastSeenAtMs: NOW_MS },
    former: null,
    ...more,
  };
}

function door(deviceCount: number, more: Partial<Door> = {}): Door {
  return {
    link: {
      installId: 1,
      providerId: 1,
      providerCode: 'Provide1',
      status: 10,
      installLimit: 2,
      deviceCount,
    },
    isBound: true,
    device: null,
    full: null,
    counts: false,
    ...more,
  };
}

describe('the verdict', () => {
  const device = { ...FACTS, lastSeenAtMs: 0, isRegistered: false };
  const disabled = { link: { ...door(0).link, status: 5 } };
  const anything = full({ inactiveDays: 1, whenFull: 'replace-oldest' });
  test.each([
    ['room', door(1)],
    ['link_limit_reached', door(2)],
    ['known', door(2, { device })],
    ['link_disabled', door(0, disabled)],
    ['link_disabled', door(0, { ...disabled, device })],
    ['link_domain_not_bound', door(0, { isBound: false, device })],
    ['link_domain_not_bound', door(0, { ...disabled, isBound: false })],
    // Whatever a policy frees, it frees nothing while there is room, or for those it need not.
    ['room', door(1, { full: anything })],
    ['known', door(2, { full: anything, device })],
    ['link_disabled', door(2, { ...disabled, full: anything })],
    ['link_domain_not_bound', door(2, { isBound: false, full: anything })],
    ['link_limit_reached', door(2, { full: full({}) })],
    // A link that only counts takes more, up to what any link may hold, and frees nothing.
    ['room', door(1, { counts: true })],
    ['over', door(2, { counts: true })],
    ['over', door(99, { counts: true, full: anything })],
    ['link_limit_reached', door(100, { counts: true, full: anything })],
    ['known', door(5, { counts: true, device })],
    [
      'link_disabled',
      door(2, { ...disabled, counts: true, link: { ...disabled.link, deviceCount: 2 } }),
    ],
    ['link_domain_not_bound', door(2, { isBound: false, counts: true })],
    // Over its limit it gives no slot for a slot.
    ['link_limit_reached', door(3, { full: anything })],
    ['known', door(3, { device })],
  ] as const)('%s', (verdict, at) => {
    expect(judge(at, NOW_MS + 1000 * DAY_MS)).toBe(verdict);
  });
});

describe('a full link', () => {
  const verdict = (link: FullLink, nowMs: number) => judge(door(2, { full: link }), nowMs);

  test('with inactive_days 30: a slot last seen 31 days ago is freed, of 29 days not', () => {
    const link = full({ inactiveDays: 30 });
    expect(verdict(link, NOW_MS + 29 * DAY_MS)).toBe('link_limit_reached');
    expect(verdict(link, NOW_MS + 31 * DAY_MS)).toBe('inactive');
  });

  test('counts days from the end of the one on which the slot was seen: it is written once', () => {
    const seenEarly = Date.UTC(2026, 10, 20);
    for (const lastSeenAtMs of [seenEarly, NOW_MS, END_OF_DAY_MS]) {
      const oldest = { hwid: 'a', registeredAtMs: 0, lastSeenAtMs };
      const link = full({ inactiveDays: 1 }, { oldest });
      expect(verdict(link, END_OF_DAY_MS + DAY_MS - 1)).toBe('link_limit_reached');
      expect(verdict(link, END_OF_DAY_MS + DAY_MS)).toBe('inactive');
    }
  });

  test('with inactive_days 0 frees none, however old', () => {
    expect(verdict(full({ inactiveDays: 0 }), NOW_MS + 9_000 * DAY_MS)).toBe('link_limit_reached');
  });

  test('with replace-oldest replaces one, and the next when the cool-down is over', () => {
    const policy = { whenFull: 'replace-oldest', coolDownHours: 2 } as const;
    expect(verdict(full(policy), NOW_MS)).toBe('replaced');
    const link = full(policy, { replacedAtMs: NOW_MS });
    // A clock that was put back as well.
    for (const hours of [-1, 0, 1.99]) {
      expect(verdict(link, NOW_MS + hours * HOUR_MS)).toBe('link_limit_reached');
    }
    expect(verdict(link, NOW_MS + 2 * HOUR_MS)).toBe('replaced');
  });

  test('frees what is inactive also during the cool-down, and calls it so', () => {
    const policy = { inactiveDays: 1, whenFull: 'replace-oldest', coolDownHours: 720 } as const;
    const link = full(policy, { replacedAtMs: NOW_MS + 2 * DAY_MS });
    expect(verdict(link, NOW_MS + 2 * DAY_MS)).toBe('inactive');
    expect(verdict(full(policy), NOW_MS + 2 * DAY_MS)).toBe('inactive');
  });

  test('with same_phone replace gives a phone its slot that was silent for a week, once', () => {
    const former = { hwid: 'b', registeredAtMs: 0, lastSeenAtMs: NOW_MS };
    const silentMs = END_OF_DAY_MS + 7 * DAY_MS;
    const link = full({ samePhone: 'replace', coolDownHours: 2 }, { former });
    expect(verdict(link, silentMs - 1)).toBe('link_limit_reached');
    expect(formerHwid(link, silentMs - 1)).toBe(null);
    expect(verdict(link, silentMs)).toBe('same_phone');
    expect(verdict({ ...link, former: null }, silentMs)).toBe('link_limit_reached');
    expect(verdict({ ...link, replacedAtMs: silentMs - HOUR_MS }, silentMs)).toBe(
      'link_limit_reached',
    );
    expect(verdict({ ...link, replacedAtMs: silentMs - 2 * HOUR_MS }, silentMs)).toBe('same_phone');
    // Its own slot rather than another's.
    const freeing = full({ samePhone: 'replace', inactiveDays: 1 }, { former });
    expect(verdict(freeing, silentMs)).toBe('same_phone');
  });

  test('a slot is silent after the hours of the policy, once in a cool-down', () => {
    const former = { hwid: 'b', registeredAtMs: 0, lastSeenAtMs: NOW_MS };
    const hours = { samePhone: 'replace', samePhoneHours: 1, coolDownHours: 24 } as const;
    const silentMs = END_OF_DAY_MS + HOUR_MS;
    expect(verdict(full(hours, { former }), silentMs - 1)).toBe('link_limit_reached');
    expect(verdict(full(hours, { former }), silentMs)).toBe('same_phone');
    const replaced = full(hours, { former, replacedAtMs: silentMs - 23 * HOUR_MS });
    expect(verdict(replaced, silentMs)).toBe('link_limit_reached');
    expect(verdict(replaced, silentMs + HOUR_MS)).toBe('same_phone');
  });

  test('with same_phone ask frees nothing, and names the slot', () => {
    const former = { hwid: 'b', registeredAtMs: 0, lastSeenAtMs: NOW_MS };
    const link = full({ samePhone: 'ask' }, { former });
    expect(verdict(link, NOW_MS + 9 * DAY_MS)).toBe('link_limit_reached');
    expect(formerHwid(link, NOW_MS + 9 * DAY_MS)).toBe('b');
    expect(formerHwid(null, NOW_MS)).toBe(null);
  });

  test('tells from when', () => {
    expect(freeFrom(full({}))).toEqual({ inactiveMs: null, replacedMs: null });
    const policy = { inactiveDays: 3, whenFull: 'replace-oldest', coolDownHours: 5 } as const;
    expect(freeFrom(full(policy))).toEqual({
      inactiveMs: END_OF_DAY_MS + 3 * DAY_MS,
      replacedMs: 0,
    });
    const replaced = full(policy, { replacedAtMs: NOW_MS });
    expect(freeFrom(replaced).replacedMs).toBe(NOW_MS + 5 * HOUR_MS);
  });
});

test("a policy is the link's, else its provider's, else the default, part by part", () => {
  const standard: Policy = {
    inactiveDays: 0,
    whenFull: 'refuse',
    coolDownHours: 24,
    enforce: 1,
    withoutHwid: 'refuse',
    samePhone: 'off',
    samePhoneHours: 168,
    copiedHwid: 'tell',
    whenNew: 'admit',
  };
  expect(policyOf(NO_POLICY, NO_POLICY)).toEqual(standard);
  const providers: Policy = {
    inactiveDays: 9,
    whenFull: 'replace-oldest',
    coolDownHours: 8,
    enforce: 0,
    withoutHwid: 'count',
    samePhone: 'ask',
    samePhoneHours: 48,
    copiedHwid: 'refuse',
    whenNew: 'refuse',
  };
  expect(policyOf(NO_POLICY, providers)).toEqual(providers);
  const own: Policy = { ...standard, coolDownHours: 1, withoutHwid: 'pass', samePhone: 'replace' };
  expect(policyOf(own, providers)).toEqual(own);
  expect(policyOf({ ...NO_POLICY, coolDownHours: 1 }, providers)).toEqual({
    ...providers,
    coolDownHours: 1,
  });
  // That of the upstream counts where neither decides.
  expect(policyOf(NO_POLICY, NO_POLICY, false)).toEqual({ ...standard, enforce: 0 });
  expect(policyOf(NO_POLICY, own, false).enforce).toBe(1);
  expect(policyOf({ ...NO_POLICY, enforce: 1 }, providers, false).enforce).toBe(1);
});
