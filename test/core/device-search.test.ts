/** A filter names all devices that it finds, or none if they are too many. */

import { expect, test } from 'bun:test';
import type { Core } from '../../src/core/core.ts';
import { findDevices } from '../../src/core/device-search.ts';
import type { DeviceSearchStore, SearchedDevice } from '../../src/core/port/device-search.ts';

const ANY = {
  os: null,
  appVersion: null,
  language: null,
  seenSinceMs: null,
  unseenSinceMs: null,
  domainId: null,
  link: null,
};

/** A core whose store has devices, ten in a slice. */
function coreOf(devices: readonly SearchedDevice[], onSlice = () => {}) {
  const searchDevices: DeviceSearchStore['searchDevices'] = async (_, __, after) => {
    onSlice();
    const from = after?.deviceId ?? 0;
    const next = from + 10 < devices.length ? { os: '', deviceId: from + 10 } : null;
    return { devices: devices.slice(from, from + 10), next };
  };
  return { store: { searchDevices } } as unknown as Core;
}

const devices = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    hwid: `device-${n}`,
    deviceName: `Phone ${n}`,
    os: n % 3 === 0 ? 'ios' : 'android',
    appVersion: n === 0 ? '' : '2.0',
    locale: n % 2 === 0 ? 'zh-CN' : '%$',
  }));
const NEVER = new AbortController().signal;
const find = (core: Core, signal = NEVER) => findDevices(core, { id: 1 }, ANY, signal);

test('all slices are read, and what they have is offered for the next search', async () => {
  const found = await find(coreOf(devices(25)));
  expect(found).toMatchObject({ count: 25, isPart: false });
  expect(found.examples).toHaveLength(8);
  expect(found.systems).toEqual(['android', 'ios']);
  expect(found.appVersions).toEqual(['2.0']);
  expect(found.languages).toEqual(['zh']);
});

test('a caller that has left ends the search', async () => {
  const leaving = new AbortController();
  let slices = 0;
  const core = coreOf(devices(100), () => {
    slices += 1;
    if (slices === 2) leaving.abort();
  });
  expect(await find(core, leaving.signal)).toMatchObject({ isPart: true, count: 20 });
  expect(slices).toBe(2);
});
