import { expect, test } from 'bun:test';
import { earlierSelf } from '../../src/core/same-phone.ts';

const PHONE = { deviceName: 'Pixel 9', os: 'android' };
const slot = (hwid: string, fromMs: number, lastSeenAtMs: number, more = {}) => ({
  ...{ ...PHONE, hwid, fromMs, lastSeenAtMs },
  ...more,
});
const NEW = { ...PHONE, hwid: 'new', fromMs: 100 };

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
