import { expect, test } from 'bun:test';
import { APART_MS, earlierSelf, isSameApp, phoneIn } from '../../src/core/same-phone.ts';

const MINUTE_MS = 60_000;
const PHONE = { deviceName: 'Pixel 9', os: 'android' };
const slot = (hwid: string, fromMs: number, lastSeenAtMs: number, more = {}) => ({
  ...PHONE,
  hwid,
  fromMs: fromMs * MINUTE_MS,
  lastSeenAtMs: lastSeenAtMs * MINUTE_MS,
  ...more,
});
const NEW = { ...PHONE, hwid: 'new', fromMs: 100 * MINUTE_MS };

test('the slot of the same model and system that was silent since', () => {
  const slots = [slot('a', 0, 50), slot('b', 0, 90), slot('c', 0, 101)];
  expect(earlierSelf(NEW, slots)?.hwid).toBe('b');
});

test('not one that was seen after the newcomer came, nor itself', () => {
  expect(earlierSelf(NEW, [slot('a', 0, 101), slot('new', 0, 10)])).toBeNull();
  expect(earlierSelf(NEW, [slot('a', 0, 100)])?.hwid).toBe('a');
});

test('not another model or system, and none for a device that told no model', () => {
  expect(earlierSelf(NEW, [slot('a', 0, 50, { deviceName: 'Pixel 8' })])).toBeNull();
  expect(earlierSelf(NEW, [slot('a', 0, 50, { os: 'ios' })])).toBeNull();
  const nameless = { ...NEW, deviceName: '' };
  expect(earlierSelf(nameless, [slot('a', 0, 50, { deviceName: '' })])).toBeNull();
});

test('not one that came at the same time: those are two phones', () => {
  expect(earlierSelf(NEW, [slot('a', 91, 91)], APART_MS)).toBeNull();
  expect(earlierSelf(NEW, [slot('a', 90, 90)], APART_MS)?.hwid).toBe('a');
  expect(earlierSelf(NEW, [slot('a', 100, 100)])?.hwid).toBe('a');
});

const HAPP = {
  os: 'iPadOS',
  osVersion: '18',
  deviceName: 'iPad Pro',
  appVersion: '3',
  userAgent: 'Happ/3.1.0/ios',
};

test('a phone is known again by its model, system and app, all three', () => {
  const phone = phoneIn(HAPP);
  expect(phone).toEqual({ deviceName: 'iPad Pro', os: 'ios', app: 'Happ' });
  for (const fact of ['os', 'deviceName', 'userAgent'] as const) {
    expect(phoneIn({ ...HAPP, [fact]: '' })).toBe(null);
  }
  expect(phoneIn(undefined)).toBe(null);
});

test('an app is the same in each version, also one that is not known', () => {
  const happ = phoneIn(HAPP);
  const own = phoneIn({ ...HAPP, userAgent: 'OurShop/1.0 (build 7)' });
  if (happ === null || own === null) throw new Error('no phone');
  expect(isSameApp(happ, 'happ/9')).toBe(true);
  expect(isSameApp(happ, 'INCY/1')).toBe(false);
  expect(isSameApp(happ, '')).toBe(false);
  expect(isSameApp(own, 'ourshop/2.0')).toBe(true);
  expect(isSameApp(own, 'OurShopping/2.0')).toBe(false);
});
