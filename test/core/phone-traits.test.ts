import { expect, test } from 'bun:test';
import { NO_FACTS } from '../../src/core/device-facts.ts';
import { sightingOf } from '../../src/core/phone-traits.ts';
import type { DeviceFacts } from '../../src/core/port/device.ts';

const see = (facts: Partial<DeviceFacts>) =>
  sightingOf('subscription', { ...NO_FACTS, ...facts }, (model) => `#${model}`);

test.each([
  ['iOS', 'ios'],
  ['iPadOS', 'ios'],
  ['iPhone OS 18.1', 'ios'],
  ['Android', 'android'],
  ['AndroidTV', ''],
  ['Windows', 'windows'],
  ['Windows_NT', 'windows'],
  ['windows 11', 'windows'],
  ['macOS', 'macos'],
  ['Mac OS X', 'macos'],
  ['tvOS', 'tvos'],
  ['OpenWrt 23.05', 'openwrt'],
  ['Linux', 'linux'],
  ['Ubuntu 24.04', 'linux'],
  // Two systems have it.
  ['Darwin', ''],
  ['unknown', ''],
  ['', ''],
])('the system %s is of the family %s', (os, family) => {
  expect(see({ os }).family).toBe(family);
});

test('an app that names no system in a header has the family that its name shows', () => {
  expect(see({ userAgent: 'v2rayNG/1.10.2' }).family).toBe('android');
  expect(see({ userAgent: 'v2rayN/7.10' }).family).toBe('desktop');
  expect(see({ userAgent: 'FlClash/v0.8.90 clash-verge Platform/windows' }).family).toBe('windows');
  expect(see({ userAgent: 'HiddifyNext/4.1.1 (android) like ClashMeta' }).family).toBe('android');
  expect(see({ userAgent: 'v2rayNG/1.10.2', os: 'Android' }).family).toBe('android');
  // Other words are anybody's, and say nothing of the system.
  expect(see({ userAgent: 'Mozilla/5.0 (Windows NT 10.0)' }).family).toBe('');
  expect(see({ userAgent: 'SFI/1.12 (sing-box 1.12.0)' }).family).toBe('');
});

test('an app has one name in each version, and none when it is not known', () => {
  const happ = see({ userAgent: 'Happ/3.2.1/ios' });
  expect([happ.app, happ.version]).toEqual(['Happ', '3.2.1']);
  expect(see({ userAgent: 'happ/4.0' })).toMatchObject({ app: 'Happ', version: '4.0' });
  expect(see({ userAgent: 'OurShop/1.0' }).app).toBe('');
  expect(see({ userAgent: 'FlClash X/v0.3.2 Platform/android' }).version).toBe('0.3.2');
  const tun = { userAgent: 'v2raytun/android', appVersion: '5.25.80' };
  expect(see(tun)).toMatchObject({ app: 'v2RayTun', version: '' });
  expect(see({ userAgent: '' })).toMatchObject({ app: '', version: '' });
});

test('an app that has another name by `change-user-agent` is not that app', () => {
  const os = 'iOS';
  expect(see({ os, userAgent: 'v2rayNG/1.8.5' })).toMatchObject({ family: 'ios', app: '' });
  expect(see({ os, userAgent: 'Chrome/120' })).toMatchObject({ family: 'ios', app: '' });
});

test.each([
  ['SM-S918B', 'samsung SM-S918B'],
  ['sm_s918b', 'Samsung  SM-S918B'],
  ['Pixel 9', 'Google Pixel 9'],
  ['Redmi Note 8', 'Xiaomi Redmi Note 8'],
])('one model in two spellings: %s, %s', (one, other) => {
  expect(see({ deviceName: one }).modelHash).not.toBe('');
  expect(see({ deviceName: one })).toEqual(see({ deviceName: other }));
});

test('models that say no more than the family and its version say nothing', () => {
  const little = [
    '',
    'unknown',
    'iPhone',
    'iPad',
    'Windows 11 Pro',
    'PC | Windows 10 Pro',
    'x86_64',
  ];
  for (const deviceName of little) expect(see({ deviceName }).modelHash).toBe('');
  expect(see({ deviceName: 'iPhone15,2' }).modelHash).toBe('i:#iphone152');
  expect(see({ deviceName: 'iPhone 14 Pro' }).modelHash).toBe('#iphone14pro');
});

test('the name of a computer is no model where a network may change it', () => {
  const named = (os: string, deviceName: string) => see({ os, deviceName }).modelHash;
  expect(named('macOS', 'Annas-MacBook.fritz.box_arm64')).toBe('');
  expect(named('macOS', 'MacBookPro18,3')).toBe('i:#macbookpro183');
  expect(named('Linux', 'Ubuntu 24.04.1 LTS')).toBe('');
  expect(named('Windows', 'DESKTOP-AB12CD3_x86_64')).not.toBe('');
  expect(named('OpenWrt', 'Xiaomi Mi Router AX3000T')).not.toBe('');
});

test('two phones of other models have other hashes, and versions of systems are not looked at', () => {
  expect(see({ deviceName: 'SM-S918B' }).modelHash).not.toBe(
    see({ deviceName: 'SM-S911B' }).modelHash,
  );
  expect(see({ os: 'iOS', osVersion: '17' })).toEqual(see({ os: 'iOS', osVersion: '18' }));
});
