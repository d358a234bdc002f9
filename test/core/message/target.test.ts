import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  readCommandTargets,
  readNotificationTargets,
  TARGET_HWID_COUNT_MAX,
} from '../../../src/core/message/target.ts';
import { isMisfit, misfitOf } from '../../support/refusal.ts';

const ABSENT = [undefined, null, ''];
const UUID = '6f1c1f0e-9f3b-4a53-9d8e-0d2c3b4a5f60';

/** Cases of the two lists, which notifications and commands read alike. */
const HWIDS: [unknown, string[]][] = [
  ['a', ['a']],
  [UUID, [UUID]],
  ['a,b,c,d,e', ['a', 'b', 'c', 'd', 'e']],
  [' a , b\t,\nc ', ['a', 'b', 'c']],
  ['b,a,b, b,a', ['b', 'a']],
  ['a,,b,', ['a', 'b']],
  ['a,b,c,d,e,a,b,c', ['a', 'b', 'c', 'd', 'e']],
  ['a,A', ['a', 'A']],
  ['x'.repeat(128), ['x'.repeat(128)]],
  ['!~<>"\'\\;=&', ['!~<>"\'\\;=&']],
];
const NOBODY = ['x'.repeat(129), 'a b', 'ж', 'a,\u0007', 'a,b c', '\u007f'];
const HWID_MISFITS = ['a,b,c,d,e,f', 'a,b,c,d,e,ж', 1, 0, true, false, ['a'], {}];

const OSES: [unknown, string[]][] = [
  [['ios'], ['ios']],
  [['android'], ['android']],
  [
    ['android', 'ios'],
    ['ios', 'android'],
  ],
  [
    ['iOS', ' Android ', 'IOS'],
    ['ios', 'android'],
  ],
  ['ios', ['ios']],
  ['Android, ios,', ['ios', 'android']],
  [['ios', null, ''], ['ios']],
];
const NO_OS = [...ABSENT, [], [''], [null], ',', ' , '];
const OS_MISFITS = [
  ['windows'],
  ['ios', 'windows'],
  'macos',
  'ios;android',
  [1],
  [['ios']],
  [true],
];
const OS_MISFIT_TYPES = [
  1,
  0,
  true,
  false,
  {},
  { ios: true },
  ['toString'],
  ['ios,android'],
  [' '],
];

describe('notifications', () => {
  test.each(HWIDS)('hwid %j names %j, whatever os says', (hwid, hwids) => {
    for (const os of [undefined, ['ios'], ['windows'], 7]) {
      expect(readNotificationTargets({ hwid, os })).toEqual({ hwids });
    }
  });

  test.each(NOBODY)('hwid %j cannot be anybody', (hwid) => {
    expect(readNotificationTargets({ hwid, os: ['ios'] })).toMatchObject({
      says: 'device_not_found',
    });
  });

  test.each(HWID_MISFITS.map((hwid) => [hwid]))('hwid %j is refused', (hwid) => {
    expect(misfitOf(readNotificationTargets({ hwid, os: ['ios'] }))).toStartWith('hwid ');
  });

  test.each(OSES)('os %j without hwid means %j', (os, named) => {
    for (const hwid of [...ABSENT, ' ', ',', ' , ,']) {
      expect(readNotificationTargets({ hwid, os })).toEqual({ os: named as never });
    }
  });

  test.each([...OS_MISFITS, ...OS_MISFIT_TYPES].map((os) => [os]))('os %j is refused', (os) => {
    expect(misfitOf(readNotificationTargets({ os }))).toStartWith('os ');
  });

  test.each(NO_OS.map((os) => [os]))('os %j without hwid reaches nobody', (os) => {
    expect(readNotificationTargets({ os })).toMatchObject({ says: 'no_devices_found' });
  });
});

describe('commands', () => {
  const ON = [true, 'true', 1, '1'];
  const OFF = [false, 'false', 0, '0'];

  test.each(HWIDS)('with the toggle on, hwid %j names %j, whatever os says', (hwid, hwids) => {
    for (const specific_device_toggle of ON) {
      expect(readCommandTargets({ specific_device_toggle, hwid, os: 7 })).toEqual({ hwids });
    }
  });

  test.each(OSES)('with the toggle off, os %j means %j, whatever hwid says', (os, named) => {
    for (const specific_device_toggle of OFF) {
      expect(readCommandTargets({ specific_device_toggle, hwid: {}, os })).toEqual({
        os: named as never,
      });
    }
  });

  test('what the toggle asks for and is missing is refused', () => {
    for (const hwid of [...ABSENT, ' ', ',']) {
      const body = { specific_device_toggle: true, hwid, os: ['ios'] };
      expect(readCommandTargets(body)).toMatchObject({ says: 'target_hwid_required' });
    }
    for (const os of NO_OS) {
      const body = { specific_device_toggle: false, hwid: 'a', os };
      expect(readCommandTargets(body)).toMatchObject({ says: 'target_os_required' });
    }
  });

  test('lists are refused as for notifications', () => {
    const on = (hwid: unknown) => readCommandTargets({ specific_device_toggle: true, hwid });
    const off = (os: unknown) => readCommandTargets({ specific_device_toggle: false, os });
    for (const hwid of NOBODY) expect(on(hwid)).toMatchObject({ says: 'device_not_found' });
    for (const hwid of HWID_MISFITS) expect(misfitOf(on(hwid))).toStartWith('hwid ');
    for (const os of [...OS_MISFITS, ...OS_MISFIT_TYPES])
      expect(misfitOf(off(os))).toStartWith('os ');
  });

  test('a missing toggle is on with hwid and off without', () => {
    for (const specific_device_toggle of ABSENT) {
      const body = { specific_device_toggle, os: ['ios'] };
      expect(readCommandTargets({ ...body, hwid: 'a' })).toEqual({ hwids: ['a'] });
      for (const hwid of ABSENT) {
        expect(readCommandTargets({ ...body, hwid })).toEqual({ os: ['ios'] });
      }
    }
    expect(readCommandTargets({})).toMatchObject({ says: 'target_os_required' });
    expect(readCommandTargets({ hwid: '' })).toMatchObject({ says: 'target_os_required' });
  });

  test('the hyphenated toggle is the same field; the other one goes first', () => {
    const body = { hwid: 'a', os: ['ios'] };
    expect(readCommandTargets({ ...body, 'specific-device-toggle': false })).toEqual({
      os: ['ios'],
    });
    expect(readCommandTargets({ os: ['ios'], 'specific-device-toggle': true })).toMatchObject({
      says: 'target_hwid_required',
    });
    const both = { specific_device_toggle: true, 'specific-device-toggle': false };
    expect(readCommandTargets({ ...body, ...both })).toEqual({ hwids: ['a'] });
    const empty = { specific_device_toggle: null, 'specific-device-toggle': false };
    expect(readCommandTargets({ ...body, ...empty })).toEqual({ os: ['ios'] });
  });

  test.each([['yes'], ['TRUE'], [2], [-1], [0.5], [[]], [{}], [' true']])(
    'toggle %j is refused',
    (toggle) => {
      for (const name of ['specific_device_toggle', 'specific-device-toggle']) {
        const targets = readCommandTargets({ [name]: toggle, hwid: 'a', os: ['ios'] });
        expect(misfitOf(targets)).toStartWith('specific_device_toggle ');
      }
    },
  );
});

test('any list of HWIDs, however spaced and repeated, names each of them once and at most five', () => {
  const hwid = fc.stringMatching(/^[!-+\--~]{1,128}$/);
  const blank = fc.constantFrom('', ' ', '  ', '\t', '\n');
  const item = fc.tuple(blank, hwid, blank, fc.integer({ min: 1, max: 3 }));
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 8 }), (items) => {
      const written = items.flatMap(([before, id, after, times]) =>
        Array.from({ length: times }, () => before + id + after),
      );
      const distinct = new Set(items.map(([, id]) => id));
      const targets = readNotificationTargets({ hwid: written.join(',') });
      if (distinct.size > TARGET_HWID_COUNT_MAX) misfitOf(targets);
      else expect(targets).toEqual({ hwids: [...distinct] });
    }),
    { numRuns: 500 },
  );
});

test('any body makes targets, a refusal, or a detail that fits a header', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>('a', 'ios', ['ios'], 'true', 1, 0),
  );
  const body = fc.record(
    { hwid: value, os: value, specific_device_toggle: value, 'specific-device-toggle': value },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(body, (given) => {
      for (const targets of [readNotificationTargets(given), readCommandTargets(given)]) {
        if (isMisfit(targets)) misfitOf(targets);
      }
    }),
    { numRuns: 1000 },
  );
});

describe('lists that no five HWIDs fill', () => {
  test('are refused without being taken apart', () => {
    const hwid = 'a'.padEnd(4096, ',');
    expect(readNotificationTargets({ hwid })).toEqual({ hwids: ['a'] });
    const tooLong = { detail: 'hwid must not be longer than 4096 characters' };
    expect(readNotificationTargets({ hwid: `${hwid},` })).toMatchObject(tooLong);
  });

  test('of operating systems too', () => {
    const refused = { detail: 'os must be an array of ios and android' };
    const many = Array.from({ length: 65 }, () => 'ios');
    expect(readNotificationTargets({ os: many })).toMatchObject(refused);
    expect(readNotificationTargets({ os: many.slice(1) })).toEqual({ os: ['ios'] });
    expect(readNotificationTargets({ os: ['ios'.padEnd(1025)] })).toMatchObject(refused);
    expect(readNotificationTargets({ os: 'ios'.padEnd(1024, ',') })).toEqual({ os: ['ios'] });
    expect(readNotificationTargets({ os: 'ios'.padEnd(1025, ',') })).toMatchObject(refused);
  });
});
