import { describe, expect, test } from 'bun:test';
import { changesNoFact, mergeFacts, mergeUnproven, tidyFacts } from '../../src/core/device.ts';
import { HWID } from '../../src/core/formats.ts';
import type { DeviceFacts } from '../../src/core/port/device.ts';

const known: DeviceFacts = {
  os: 'ios',
  osVersion: '18.1',
  deviceName: 'iPhone',
  appVersion: '2',
  userAgent: 'App/2',
};
const silence: DeviceFacts = {
  os: '',
  osVersion: '',
  deviceName: '',
  appVersion: '',
  userAgent: '',
};

describe('a HWID', () => {
  test.each(['a', '0', 'a'.repeat(128), '6F9619FF-8B86-D011-B42D-00CF4FC964FF', '!~"\'\\<>&%+'])(
    'may be %j',
    (hwid) => expect(HWID.pattern.test(hwid)).toBe(true),
  );
  test.each(['', 'a'.repeat(129), 'a b', 'a,b', 'я', 'a\n', '\x7f', 'a\0'])(
    'may not be %j',
    (hwid) => expect(HWID.pattern.test(hwid)).toBe(false),
  );
});

describe('the operating system', () => {
  test.each([
    ['iOS', 'ios'],
    ['IOS 18.1', 'ios'],
    ['iPadOS', 'ios'],
    ['iPhone OS', 'ios'],
    ['iPhoneOS', 'ios'],
    ['ANDROID', 'android'],
    ['Android 15', 'android'],
    [' android ', 'android'],
    ['Windows', 'Windows'],
    ['macOS', 'macOS'],
    ['AndroidTV', 'AndroidTV'],
    ['biOS', 'biOS'],
    ['', ''],
  ])('%j is %j', (said, os) => {
    expect(tidyFacts({ ...silence, os: said }).os).toBe(os);
  });
});

describe('facts', () => {
  test('are cut to 128 characters and put on one line', () => {
    const said = { ...known, deviceName: `a\nb${'я'.repeat(200)}`, userAgent: ' x ' };
    expect(tidyFacts(said)).toEqual({
      ...known,
      deviceName: `a b${'я'.repeat(125)}`,
      userAgent: 'x',
    });
  });

  test('that are new win, silence erases nothing', () => {
    expect(mergeFacts(known, silence)).toEqual(known);
    expect(mergeFacts(silence, known)).toEqual(known);
    expect(mergeFacts(known, { ...silence, osVersion: '19' })).toEqual({
      ...known,
      osVersion: '19',
    });
  });

  test('are news in any one field', () => {
    const here = { ...known, lastSeenAtMs: 0, isRegistered: false };
    expect(changesNoFact(here, known)).toBe(true);
    expect(changesNoFact(here, silence)).toBe(true);
    for (const name of Object.keys(known)) {
      expect(changesNoFact(here, { ...silence, [name]: 'new' })).toBe(false);
    }
  });

  test('that nobody proved change no operating system of a registered device', () => {
    const here = { ...known, lastSeenAtMs: 0, isRegistered: true };
    const said = { ...silence, os: 'another', osVersion: 'new' };
    expect(mergeUnproven(here, said)).toEqual({ ...known, osVersion: 'new' });
    expect(mergeFacts(here, said)).toEqual({ ...known, os: 'another', osVersion: 'new' });
    expect(changesNoFact(here, { ...silence, os: 'another' })).toBe(true);
  });
});
