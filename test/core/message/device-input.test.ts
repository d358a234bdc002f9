/** What a device may say of itself and of its messages, and the sentence for each mistake. */

import { expect, test } from 'bun:test';
import { readAckItems, readRegistration } from '../../../src/core/message/device-input.ts';
import { Refused } from '../../../src/core/outcome.ts';

const REACH = { outgoingAllow: [], outgoingAllowHttp: false };
const read = (body: Record<string, unknown>) => readRegistration(body, REACH);
const detailOf = (read: unknown) => (read instanceof Refused ? [read.says, read.detail] : read);

const FULL = {
  hwid: 'phone-1',
  os: 'android',
  device_name: 'Pixel',
  os_version: '15',
  app_version: '2.1',
  locale: 'pt-BR',
  provider_code: 'Provide1',
  domain_hash: 'a'.repeat(64),
  install_code: 'LinkCode0001',
  push: { gateway: 'fcm', token: 't' },
};

test('each field of a registration is kept under its name', () => {
  expect(read(FULL)).toEqual({
    hwid: 'phone-1',
    facts: {
      os: 'android',
      deviceName: 'Pixel',
      osVersion: '15',
      appVersion: '2.1',
      userAgent: '',
    },
    locale: 'pt-BR',
    push: { gateway: 'fcm', token: 't' },
    installCode: 'LinkCode0001',
    domainHash: 'a'.repeat(64),
    providerCode: 'Provide1',
  });
});

test('all but the HWID may be absent, null or empty; others are not read', () => {
  const none = {
    hwid: 'phone-1',
    facts: { os: '', osVersion: '', deviceName: '', appVersion: '', userAgent: '' },
    locale: null,
    push: null,
    installCode: null,
    domainHash: null,
    providerCode: null,
  };
  expect(read({ hwid: 'phone-1', user_agent: 'x', other: {} })).toEqual(none);
  for (const value of [null, '']) {
    const fields = Object.keys(FULL).filter((name) => name !== 'hwid');
    const empty = Object.fromEntries(fields.map((name) => [name, value]));
    expect(read({ ...empty, hwid: 'phone-1' })).toEqual(none);
  }
});

const TEXTS = [
  ...['os', 'device_name', 'os_version', 'app_version', 'locale'],
  ...['provider_code', 'domain_hash', 'install_code'],
];

test.each(TEXTS)('%s is a text', (name) => {
  for (const value of [1, true, {}, ['x'], '\ud800']) {
    expect(detailOf(read({ ...FULL, [name]: value }))).toEqual([
      ...['malformed', `${name} must be a string`],
    ]);
  }
});

test('a HWID that is none is refused before all other mistakes', () => {
  for (const hwid of [undefined, null, '', 1, 'a,b', ' ', 'x'.repeat(129)]) {
    expect(read({ ...FULL, hwid, os: 1, push: 1 })).toMatchObject({ says: 'hwid_required' });
  }
});

test.each(['en', 'pt-BR', 'zh_Hans_CN', 'x'.repeat(8)])('%s is a language', (locale) => {
  expect(read({ ...FULL, locale })).toMatchObject({ locale });
});

test.each(['e', 'x'.repeat(9), 'en-', '1a', 'en-a-b-c-d-e', 'en US', 'en\n'])(
  '%j is no language',
  (locale) => {
    expect(detailOf(read({ ...FULL, locale }))).toEqual([
      ...['malformed', 'locale must be a language tag such as en or pt-BR'],
    ]);
  },
);

test('a push address that is none is refused', () => {
  expect(detailOf(read({ ...FULL, push: 'fcm' }))).toEqual([
    ...['malformed', 'push must be an object with gateway and token'],
  ]);
});

test('an acknowledgement has an id and a state; its detail is one short line', () => {
  const items = [
    { id: 1, state: 'received' },
    { id: '2', state: 'opened', detail: null },
    { id: 3, state: 'executed', detail: { a: 1 } },
    { id: 4, state: 'failed', detail: ` a\n\u001b b ${'x'.repeat(300)}` },
  ];
  const read = readAckItems(items);
  expect(read).toEqual([
    { id: 1, state: 'received', detail: null },
    { id: 2, state: 'opened', detail: null },
    { id: 3, state: 'executed', detail: null },
    { id: 4, state: 'failed', detail: expect.stringMatching(/^a {1,3}b x{247,250}$/) },
  ]);
});

test('1 to 100 items are read', () => {
  const many = Array.from({ length: 101 }, (_, n) => ({ id: n + 1, state: 'received' }));
  expect(readAckItems(many.slice(1))).toHaveLength(100);
  for (const wrong of [many, [], {}, null, undefined, 'x', 1]) {
    expect(detailOf(readAckItems(wrong))).toEqual([
      ...['malformed', 'items must be a list of 1 to 100 acknowledgements'],
    ]);
  }
});

const NAMELESS = [null, 1, {}, { id: 1.5 }, { id: -1 }, { id: 'x' }, { id: null }];

test.each(NAMELESS)('%j names no message', (item) => {
  const wrong = typeof item === 'object' && item !== null ? { ...item, state: 'received' } : item;
  expect(detailOf(readAckItems([{ id: 1, state: 'received' }, wrong]))).toEqual([
    ...['malformed', 'each item must have the id of a message'],
  ]);
});

test.each([undefined, null, '', 'read', 'Received', 1])('%j is no state', (state) => {
  expect(detailOf(readAckItems([{ id: 1, state }]))).toEqual([
    ...['malformed', 'the state of an item must be received, opened, executed, failed'],
  ]);
});
