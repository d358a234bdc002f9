/** The header X-Device-Info of older apps: two forms are read, all other texts are ignored. */

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type DeviceInfo, readDeviceInfo } from '../../src/core/device-info.ts';

const noFacts = {
  hwid: '',
  os: '',
  osVersion: '',
  deviceName: '',
  appVersion: '',
  userAgent: '',
};
const phone = { os: 'Android', osVersion: '15', deviceName: 'Pixel 9' };

describe('the forms', () => {
  const forms: [string, Partial<DeviceInfo>][] = [
    ['{"os":"Android","osVersion":"15","model":"Pixel 9"}', phone],
    [' {"OS":"Android","os-version":15,"device_model":"Pixel 9","x":{"os":"iOS"}} ', phone],
    ['os=Android; os_version=15; model=Pixel 9', phone],
    ['x-device-os: Android; x-ver-os: 15; x-device-model: Pixel 9', phone],
    ['os=Android&osVersion=15&deviceModel=Pixel 9', phone],
    ['os="Android",os_version="15",model="Pixel 9"', phone],
    [
      'model=iPhone12,5; app=App/2; app-version=2',
      {
        deviceName: 'iPhone12,5',
        userAgent: 'App/2',
        appVersion: '2',
      },
    ],
    ['hwid=a-1;platform=iOS', { hwid: 'a-1', os: 'iOS' }],
    ['system: iOS; unknown: x; os=Android', { os: 'iOS' }],
    ['os=; os=iOS', { os: 'iOS' }],
    ['model=a=b:c', { deviceName: 'a=b:c' }],
  ];
  test.each(forms)('%s', (header, facts) => {
    expect(readDeviceInfo(header)).toEqual({ ...noFacts, ...facts });
  });

  test.each([
    '',
    '   ',
    'a, b',
    'Pixel 9',
    'Android; 15; Pixel 9',
    'Android;15;Pixel 9;2.1.0',
    '{',
    '{"os":["iOS"],"model":null,"app":true}',
    '{"__proto__":{"os":"iOS"},"constructor":"x"}',
    'toString=x; __proto__=y',
    `{"os":"iOS","a":${'['.repeat(40)}${']'.repeat(40)}}`,
    `os=iOS; model=${'x'.repeat(2_048)}`,
  ])('%p is ignored', (header) => {
    expect(readDeviceInfo(header)).toEqual(noFacts);
  });

  test('only the first 64 parts are read', () => {
    const parts = (count: number) => `${'a=b;'.repeat(count)}os=iOS`;
    expect([readDeviceInfo(parts(63)).os, readDeviceInfo(parts(64)).os]).toEqual(['iOS', '']);
  });
});

test('reads anything, and every fact is a text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (header) => {
      const info = readDeviceInfo(header);
      expect(Object.keys(info)).toEqual(Object.keys(noFacts));
      for (const fact of Object.values(info)) expect(typeof fact).toBe('string');
    }),
  );
});
