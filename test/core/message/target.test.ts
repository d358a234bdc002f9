import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  parseCommandTargets,
  parseNotificationTargets,
  TARGET_HWID_COUNT_MAX,
} from '../../../src/core/message/target.ts';

/** The sentence of a problem, which every test also holds to what a response header can carry. */
function sentence(
  targets: ReturnType<typeof parseCommandTargets | typeof parseNotificationTargets>,
) {
  if (typeof targets === 'string' || !('problem' in targets)) throw new Error('no problem');
  expect(targets.problem).toMatch(/^[\x20-\x7e]{1,200}$/);
  return targets.problem;
}

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
      expect(parseNotificationTargets({ hwid, os })).toEqual({ hwids });
    }
  });

  test.each(NOBODY)('hwid %j cannot be anybody', (hwid) => {
    expect(parseNotificationTargets({ hwid, os: ['ios'] })).toBe('device_not_found');
  });

  test.each(HWID_MISFITS.map((hwid) => [hwid]))('hwid %j is refused', (hwid) => {
    expect(sentence(parseNotificationTargets({ hwid, os: ['ios'] }))).toStartWith('hwid ');
  });

  test.each(OSES)('os %j without hwid means %j', (os, named) => {
    for (const hwid of [...ABSENT, ' ', ',', ' , ,']) {
      expect(parseNotificationTargets({ hwid, os })).toEqual({ os: named as never });
    }
  });

  test.each([...OS_MISFITS, ...OS_MISFIT_TYPES].map((os) => [os]))('os %j is refused', (os) => {
    expect(sentence(parseNotificationTargets({ os }))).toStartWith('os ');
  });

  test.each(NO_OS.map((os) => [os]))('os %j without hwid reaches nobody', (os) => {
    expect(parseNotificationTargets({ os })).toBe('no_devices_found');
  });
});

describe('commands', () => {
  const ON = [true, 'true', 1, '1'];
  const OFF = [false, 'false', 0, '0'];

  test.each(HWIDS)('with the toggle on, hwid %j names %j, whatever os says', (hwid, hwids) => {
    for (const specific_device_toggle of ON) {
      expect(parseCommandTargets({ specific_device_toggle, hwid, os: 7 })).toEqual({ hwids });
    }
  });

  test.each(OSES)('with the toggle off, os %j means %j, whatever hwid says', (os, named) => {
    for (const specific_device_toggle of OFF) {
      expect(parseCommandTargets({ specific_device_toggle, hwid: {}, os })).toEqual({
        os: named as never,
      });
    }
  });

  test('what the toggle asks for and is missing is refused', () => {
    for (const hwid of [...ABSENT, ' ', ',']) {
      const body = { specific_device_toggle: true, hwid, os: ['ios'] };
      expect(parseCommandTargets(body)).toBe('target_hwid_required');
    }
    for (const os of NO_OS) {
      const body = { specific_device_toggle: false, hwid: 'a', os };
      expect(parseCommandTargets(body)).toBe('target_os_required');
    }
  });

  test('lists are refused as for notifications', () => {
    const on = (hwid: unknown) => parseCommandTargets({ specific_device_toggle: true, hwid });
    const off = (os: unknown) => parseCommandTargets({ specific_device_toggle: false, os });
    for (const hwid of NOBODY) expect(on(hwid)).toBe('device_not_found');
    for (const hwid of HWID_MISFITS) expect(sentence(on(hwid))).toStartWith('hwid ');
    for (const os of [...OS_MISFITS, ...OS_MISFIT_TYPES])
      expect(sentence(off(os))).toStartWith('os ');
  });

  test('a missing toggle is on with hwid and off without', () => {
    for (const specific_device_toggle of ABSENT) {
      const body = { specific_device_toggle, os: ['ios'] };
      expect(parseCommandTargets({ ...body, hwid: 'a' })).toEqual({ hwids: ['a'] });
      for (const hwid of ABSENT) {
        expect(parseCommandTargets({ ...body, hwid })).toEqual({ os: ['ios'] });
      }
    }
    expect(parseCommandTargets({})).toBe('target_os_required');
    expect(parseCommandTargets({ hwid: '' })).toBe('target_os_required');
  });

  test('the hyphenated toggle is the same field; the other one goes first', () => {
    const body = { hwid: 'a', os: ['ios'] };
    expect(parseCommandTargets({ ...body, 'specific-device-toggle': false })).toEqual({
      os: ['ios'],
    });
    expect(parseCommandTargets({ os: ['ios'], 'specific-device-toggle': true })).toBe(
      'target_hwid_required',
    );
    const both = { specific_device_toggle: true, 'specific-device-toggle': false };
    expect(parseCommandTargets({ ...body, ...both })).toEqual({ hwids: ['a'] });
    const empty = { specific_device_toggle: null, 'specific-device-toggle': false };
    expect(parseCommandTargets({ ...body, ...empty })).toEqual({ os: ['ios'] });
  });

  test.each([['yes'], ['TRUE'], [2], [-1], [0.5], [[]], [{}], [' true']])(
    'toggle %j is refused',
    (toggle) => {
      for (const name of ['specific_device_toggle', 'specific-device-toggle']) {
        const targets = parseCommandTargets({ [name]: toggle, hwid: 'a', os: ['ios'] });
        expect(sentence(targets)).toStartWith('specific_device_toggle ');
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
      const targets = parseNotificationTargets({ hwid: written.join(',') });
      if (distinct.size > TARGET_HWID_COUNT_MAX) sentence(targets);
      else expect(targets).toEqual({ hwids: [...distinct] });
    }),
    { numRuns: 500 },
  );
});

test('any body makes targets, a refusal, or a problem that fits a header', () => {
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
      for (const targets of [parseNotificationTargets(given), parseCommandTargets(given)]) {
        if (typeof targets !== 'string' && 'problem' in targets) sentence(targets);
      }
    }),
    { numRuns: 1000 },
  );
});

describe('lists that no five HWIDs fill', () => {
  test('are refused without being taken apart', () => {
    const hwid = 'a'.padEnd(4096, ',');
    expect(parseNotificationTargets({ hwid })).toEqual({ hwids: ['a'] });
    const tooLong = { problem: 'hwid must not be longer than 4096 characters' };
    expect(parseNotificationTargets({ hwid: `${hwid},` })).toEqual(tooLong);
  });

  test('of operating systems too', () => {
    const refused = { problem: 'os must be an array of ios and android' };
    const many = Array.from({ length: 65 }, () => 'ios');
    expect(parseNotificationTargets({ os: many })).toEqual(refused);
    expect(parseNotificationTargets({ os: many.slice(1) })).toEqual({ os: ['ios'] });
    expect(parseNotificationTargets({ os: ['ios'.padEnd(1025)] })).toEqual(refused);
    expect(parseNotificationTargets({ os: 'ios'.padEnd(1024, ',') })).toEqual({ os: ['ios'] });
    expect(parseNotificationTargets({ os: 'ios'.padEnd(1025, ',') })).toEqual(refused);
  });
});
