/** The two calls of apps: /install and /provider. */

import {
  aBinding,
  aDeletedBinding,
  aDevice,
  aDisabledLink,
  aLink,
  brokenStore,
  CODE,
  FOREIGN,
  HASH,
  HWID,
  OTHER_HASH,
  OWN,
  type Scenario,
} from './scenario.ts';

const INSTALL = '/install';
const PROVIDER = '/provider';

const knock = { id: HASH, installid: CODE, hwid: HWID };
const checkIn = { id: OWN.code, domain_hash: HASH, hwid: HWID };
const door = [aLink(), aBinding()];
const admitted = (count: number) =>
  `{"rc":1,"msg":"Ok","provider_id":"${OWN.code}","status":10,"install_limit":2,"install_count":${count}}`;
const HWID_ANSWER = '{"rc":0,"msg":"HWID is required"}';
const HWID_DETAIL = 'hwid must be 1 to 128 visible ASCII characters without comma';
const NOT_FOUND_DETAIL =
  'installid names no limited link, or id is not a domain that is actively bound to its provider';
const BASIC = '{"rc":1,"msg":"Ok","status":"basic"}';
const EXTENDED = '{"rc":1,"msg":"Ok","status":"extended"}';
const active = { 'x-hwid-active': 'true' };
const notSupported = { 'x-hwid-not-supported': 'true' };

const notFound = (
  name: string,
  given: Scenario['given'],
  request: Scenario['request'],
  detail = NOT_FOUND_DETAIL,
): Scenario => ({
  name,
  path: INSTALL,
  says: 'link_not_found',
  ...(given && { given }),
  request,
  answer: '{"rc":0,"msg":"Install not found"}',
  detail,
  answerHeaders: active,
});

const install: Scenario[] = [
  {
    name: 'a new device takes a slot',
    path: INSTALL,
    says: 'ok',
    given: door,
    request: knock,
    answer: admitted(1),
    answerHeaders: active,
    changed: [
      'device 1 added',
      'device_provider 1/1 added',
      'install 1 device_count: 0 -> 1',
      'install_device 1 added',
    ],
  },
  {
    name: 'a device on a full link is let in again and takes no second slot',
    path: INSTALL,
    says: 'ok',
    given: [...door, aDevice(HWID), aDevice('hwid-2')],
    request: { ...knock, device_model: 'Pixel 9', os_name: 'Android' },
    answer: admitted(2),
    answerHeaders: active,
  },
  {
    name: 'no HWID',
    path: INSTALL,
    says: 'hwid_required',
    given: door,
    request: { id: HASH, installid: CODE },
    answer: HWID_ANSWER,
    detail: HWID_DETAIL,
    answerHeaders: { ...active, ...notSupported },
  },
  {
    name: 'a malformed HWID',
    path: INSTALL,
    says: 'hwid_required',
    given: door,
    request: { ...knock, hwid: 'a,b' },
    answer: HWID_ANSWER,
    detail: HWID_DETAIL,
    answerHeaders: { ...active, ...notSupported },
  },
  notFound('a code that nobody has', [aBinding()], knock),
  notFound('a malformed code', door, { ...knock, installid: 'short' }),
  notFound('no code', door, { id: HASH, hwid: HWID }),
  notFound('no domain', door, { installid: CODE, hwid: HWID }),
  notFound('a domain that is not bound', door, { ...knock, id: OTHER_HASH }),
  notFound('a domain bound to another provider', [aLink(), aBinding(HASH, FOREIGN)], knock),
  notFound('a binding that is disabled', [...door, aDeletedBinding(1)], knock),
  {
    name: 'a disabled link lets no new device in',
    path: INSTALL,
    says: 'link_disabled',
    given: [...door, aDisabledLink(1)],
    request: knock,
    answer: '{"rc":0,"msg":"Install disabled"}',
    detail: 'the limited link is disabled',
    answerHeaders: active,
  },
  {
    name: 'a disabled link says so to a device that is on it',
    path: INSTALL,
    says: 'link_disabled',
    given: [...door, aDevice(HWID), aDisabledLink(1)],
    request: knock,
    answer: '{"rc":0,"msg":"Install disabled"}',
    detail: 'the limited link is disabled',
    answerHeaders: active,
  },
  {
    name: 'one device more than the link may hold',
    path: INSTALL,
    says: 'link_limit_reached',
    given: [...door, aDevice('a'), aDevice('b')],
    request: knock,
    answer: '{"rc":0,"msg":"Install limit reached"}',
    detail: 'the limited link holds as many devices as it may',
    answerHeaders: {
      ...active,
      'x-hwid-max-devices-reached': 'true',
      'x-hwid-limit': 'true',
    },
  },
  {
    ...brokenStore(INSTALL, knock, door, 'takeSlot'),
    answerHeaders: active,
  },
  {
    ...brokenStore(INSTALL, knock, door, 'takeSlot'),
    name: 'a slot that cannot be saved',
    fault: { method: 'takeSlot', kind: 'write_failed' },
    answerHeaders: active,
  },
];

const provider: Scenario[] = [
  {
    name: 'from an active binding: known, seen and linked',
    path: PROVIDER,
    says: 'ok',
    given: [aBinding()],
    request: checkIn,
    answer: EXTENDED,
    changed: ['device 1 added', 'device_domain 1 added', 'device_provider 1/1 added'],
  },
  {
    name: 'from no binding: known and seen',
    path: PROVIDER,
    says: 'ok',
    request: { id: OWN.code, hwid: HWID },
    answer: BASIC,
    changed: ['device 1 added', 'device_provider 1/1 added'],
  },
  {
    name: 'from a disabled binding: known and seen, not linked',
    path: PROVIDER,
    says: 'ok',
    given: [aBinding(), aDeletedBinding(1)],
    request: checkIn,
    answer: BASIC,
    changed: ['device 1 added', 'device_provider 1/1 added'],
  },
  {
    name: "from another provider's binding: known and seen, not linked",
    path: PROVIDER,
    says: 'ok',
    given: [aBinding(HASH, FOREIGN)],
    request: checkIn,
    answer: BASIC,
    changed: ['device 1 added', 'device_provider 1/1 added'],
  },
  {
    name: 'a device with a slot is linked, whatever it says',
    path: PROVIDER,
    says: 'ok',
    given: [...door, aDevice(HWID)],
    request: { id: OWN.code, hwid: HWID },
    answer: EXTENDED,
  },
  {
    name: 'as an older app says it: hash and facts in headers',
    path: PROVIDER,
    says: 'ok',
    given: [aBinding()],
    request: { id: OWN.code },
    headers: { 'x-domain-hash': HASH, 'x-device-info': `hwid=${HWID}; os=iOS` },
    answer: EXTENDED,
    changed: ['device 1 added', 'device_domain 1 added', 'device_provider 1/1 added'],
  },
  {
    name: 'no HWID',
    path: PROVIDER,
    says: 'hwid_required',
    request: { id: OWN.code },
    answer: HWID_ANSWER,
    detail: HWID_DETAIL,
    answerHeaders: notSupported,
  },
  {
    name: 'a code that nobody has',
    path: PROVIDER,
    says: 'provider_not_found',
    request: { id: 'Nobody00', hwid: HWID },
    answer: '{"rc":0,"msg":"Provider not found"}',
    detail: 'there is no such provider',
  },
  {
    name: 'a malformed code',
    path: PROVIDER,
    says: 'provider_not_found',
    request: { id: `${OWN.code}0`, hwid: HWID },
    answer: '{"rc":0,"msg":"Provider not found"}',
    detail: 'there is no such provider',
  },
  brokenStore(PROVIDER, checkIn, [aBinding()], 'recordCheckIn'),
];

export const deviceScenarios = [...install, ...provider].map((scenario) => ({
  ...scenario,
  credentials: null,
}));
