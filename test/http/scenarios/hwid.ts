/** The HWIDs of a limited link: list-hwid, add-hwid, delete-hwid, list-refused. */

import { DAY_MS } from '../../../src/core/calendar.ts';
import {
  aBinding,
  aDevice,
  aLink,
  asked,
  CODE,
  FOREIGN,
  type Given,
  gateScenarios,
  OTHER_CODE,
  OWN,
  OWN_ID,
  type Scenario,
  timePasses,
} from './scenario.ts';

const LIST = '/api/list-hwid';
const DELETE = '/api/delete-hwid';

const CODE_ERROR = '{"rc":0,"msg":"Install code error"}';
const CODE_ERROR_DETAIL = 'install_code and install_id name no limited link of this provider';
const INVALID = '{"rc":0,"msg":"Invalid parameters"}';
const HWID_RULE = '1 to 128 visible ASCII characters without comma';

const twoDevices = [aLink(), aBinding(), aDevice('a'), timePasses(1000), aDevice('b')];
const slot = (hwid: string, second: string) =>
  `{"hwid":"${hwid}","date":"2026-11-20 15:00:${second}","device_name":"Pixel 9"}`;
const bothSlots = `{"rc":1,"msg":"Ok","data":[${slot('b', '01')},${slot('a', '00')}]}`;

const listHwid: Scenario[] = [
  ...gateScenarios(LIST, { install_id: 1 }, [aLink()], 'listSlots'),
  {
    name: 'by code, latest registration first',
    path: LIST,
    says: 'ok',
    given: twoDevices,
    request: { install_code: CODE },
    answer: bothSlots,
  },
  {
    name: 'by id',
    path: LIST,
    says: 'ok',
    given: twoDevices,
    request: { install_id: 1 },
    answer: bothSlots,
  },
  {
    name: 'by code and id of one link, one HWID',
    path: LIST,
    says: 'ok',
    given: twoDevices,
    request: { install_code: CODE, install_id: 1, hwid: 'a' },
    answer: `{"rc":1,"msg":"Ok","data":[${slot('a', '00')}]}`,
  },
  {
    name: 'a HWID that is not on the link; HWIDs are never case-folded',
    path: LIST,
    says: 'ok',
    given: twoDevices,
    request: { install_code: CODE, hwid: 'A' },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'with details: when each was last seen, at most a day ago',
    path: LIST,
    says: 'ok',
    given: [...twoDevices, timePasses(DAY_MS), aDevice('a'), timePasses(1000), aDevice('a')],
    request: { install_code: CODE, details: 1 },
    answer:
      '{"rc":1,"msg":"Ok","data":[' +
      `${slot('b', '01').slice(0, -1)},"last_seen":"2026-11-20 15:00:01"},` +
      `${slot('a', '00').slice(0, -1)},"last_seen":"2026-11-21 15:00:01"}]}`,
  },
  {
    name: 'without details, and with what asks for none: the documented fields alone',
    path: LIST,
    says: 'ok',
    given: twoDevices,
    request: { install_code: CODE, details: 0, last_seen: 1 },
    answer: bothSlots,
    detail: '1 unknown parameter was ignored: last_seen',
  },
  {
    name: 'details that there are not',
    path: LIST,
    says: 'unknown_error',
    given: twoDevices,
    request: { install_code: CODE, details: 2 },
    answer: '{"rc":0,"msg":"Unknown error"}',
    detail: 'details must be 0 or 1',
  },
  {
    name: 'neither code nor id',
    path: LIST,
    says: 'install_code_error',
    given: twoDevices,
    request: { install_code: '' },
    answer: CODE_ERROR,
    detail: 'install_code or install_id is required',
  },
  {
    name: 'code and id of different links',
    path: LIST,
    says: 'install_code_error',
    given: [aLink(), aLink(OTHER_CODE)],
    request: { install_code: CODE, install_id: 2 },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  {
    name: 'a code that nobody has',
    path: LIST,
    says: 'install_code_error',
    request: { install_code: CODE },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  {
    name: "another provider's code",
    path: LIST,
    says: 'install_code_error',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { install_code: CODE },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  {
    name: "another provider's id",
    path: LIST,
    says: 'install_code_error',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { install_id: 1 },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  {
    name: 'a malformed code',
    path: LIST,
    says: 'install_code_error',
    request: { install_code: 'short' },
    answer: CODE_ERROR,
    detail: 'install_code must be 8 to 12 letters and digits',
  },
  {
    name: 'a malformed id',
    path: LIST,
    says: 'install_code_error',
    given: [aLink()],
    request: { install_code: CODE, install_id: '1e0' },
    answer: CODE_ERROR,
    detail: 'install_id must be a whole number of 1 to 15 digits',
  },
  {
    name: 'a malformed HWID',
    path: LIST,
    says: 'unknown_error',
    given: twoDevices,
    request: { install_code: CODE, hwid: 'a,b' },
    answer: '{"rc":0,"msg":"Unknown error"}',
    detail: `hwid must be ${HWID_RULE}`,
  },
];

const deleteHwid: Scenario[] = [
  ...gateScenarios(DELETE, { install_id: 1, hwid: 'a' }, twoDevices, 'freeSlot'),
  {
    name: 'by code: the slot is free, the device stays known',
    path: DELETE,
    says: 'ok',
    given: twoDevices,
    request: { install_code: CODE, hwid: 'a' },
    answer: '{"rc":1,"msg":"Ok","install_count":1}',
    changed: [
      'device_provider 1/1 slot_count: 1 -> 0',
      'install 1 device_count: 2 -> 1',
      'install_device 1 removed',
      'provider 1 slot_end_count: 0 -> 1',
      'slot_end 1 added',
    ],
  },
  {
    name: 'by id: only from that link',
    path: DELETE,
    says: 'ok',
    given: [...twoDevices, aLink(OTHER_CODE), aDevice('a', OTHER_CODE)],
    request: { install_id: 2, hwid: 'a' },
    answer: '{"rc":1,"msg":"Ok","install_count":0}',
    changed: [
      'device_provider 1/1 slot_count: 2 -> 1',
      'install 2 device_count: 1 -> 0',
      'install_device 3 removed',
      'provider 1 slot_end_count: 0 -> 1',
      'slot_end 1 added',
    ],
  },
  {
    name: 'a HWID that is not on the link: a retry does not fail',
    path: DELETE,
    says: 'ok',
    given: twoDevices,
    request: { install_code: CODE, hwid: 'c' },
    answer: '{"rc":1,"msg":"Ok","install_count":2}',
  },
  {
    name: 'neither code nor id',
    path: DELETE,
    says: 'invalid_parameters',
    given: twoDevices,
    request: { hwid: 'a' },
    answer: INVALID,
    detail: 'install_code or install_id is required',
  },
  {
    name: 'no HWID',
    path: DELETE,
    says: 'invalid_parameters',
    given: twoDevices,
    request: { install_code: CODE },
    answer: INVALID,
    detail: `hwid is required: ${HWID_RULE}`,
  },
  {
    name: 'a HWID of 129 characters',
    path: DELETE,
    says: 'invalid_parameters',
    given: twoDevices,
    request: { install_code: CODE, hwid: 'a'.repeat(129) },
    answer: INVALID,
    detail: `hwid must be ${HWID_RULE}`,
  },
  {
    name: "another provider's link",
    path: DELETE,
    says: 'install_code_error',
    given: [aLink(CODE, 2, FOREIGN), aBinding('c'.repeat(64), FOREIGN)].concat(
      aDevice('a', CODE, 'c'.repeat(64)),
    ),
    request: { install_code: CODE, hwid: 'a' },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  {
    name: 'code and id of different links',
    path: DELETE,
    says: 'install_code_error',
    given: [...twoDevices, aLink(OTHER_CODE)],
    request: { install_code: CODE, install_id: 2, hwid: 'a' },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  {
    name: 'a malformed code',
    path: DELETE,
    says: 'install_code_error',
    given: twoDevices,
    request: { install_code: `${CODE}!`, hwid: 'a' },
    answer: CODE_ERROR,
    detail: 'install_code must be 8 to 12 letters and digits',
  },
];

const NAME = '/api/add-hwid';
const named = (hwid: string): Given => asked(NAME, OWN, { install_code: CODE, hwid });
const aNamed = '{"hwid":"a","date":"2026-11-20 15:00:00","device_name":""}';

const addHwid: Scenario[] = [
  ...gateScenarios(NAME, { install_id: 1, hwid: 'a' }, [aLink()], 'nameHwids'),
  {
    name: 'some, by code: each counts from now on, and no device is made',
    path: NAME,
    says: 'ok',
    given: [aLink()],
    request: { install_code: CODE, hwid: 'a,b,a' },
    answer: '{"rc":1,"msg":"Ok","install_count":2,"added":2}',
    changed: [
      'install 1 device_count: 0 -> 2',
      'install 1 has_hashes: 0 -> 1',
      'named_hwid 1 added',
      'named_hwid 2 added',
      'notice 1 added',
    ],
  },
  {
    name: 'by id, those that are on the link: nothing changes',
    path: NAME,
    says: 'ok',
    given: [aLink(), aBinding(), aDevice('a'), named('b')],
    request: { install_id: 1, hwid: 'b,a' },
    answer: '{"rc":1,"msg":"Ok","install_count":2,"added":0}',
  },
  {
    name: 'more than the link has room for: none',
    path: NAME,
    says: 'hwids_no_room',
    given: [aLink(), named('a')],
    request: { install_code: CODE, hwid: 'a,b,c' },
    answer: '{"rc":0,"msg":"Install limit reached"}',
    detail: 'the limited link has no room for all HWIDs: none was added',
  },
  {
    name: 'more than the provider may have',
    path: NAME,
    isAlone: true,
    says: 'hwids_too_many',
    given: [
      aLink(),
      async (app) => {
        app.core.store.nameHwids = async () => 'named_limit';
      },
    ],
    request: { install_code: CODE, hwid: 'a' },
    answer: '{"rc":0,"msg":"Error save install"}',
    detail: 'the provider has named as many HWIDs that have not come as it may',
  },
  {
    name: "another provider's link",
    path: NAME,
    says: 'install_code_error',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { install_code: CODE, hwid: 'a' },
    answer: CODE_ERROR,
    detail: CODE_ERROR_DETAIL,
  },
  ...(
    [
      ['x~2', 'a HWID with ~ cannot be named'],
      ['no-hwid-1', 'hwid must not begin with no-hwid-'],
      [`sha256:${'a'.repeat(64)}`, 'hwid must not be a hash: send the HWID itself'],
      ['a,,b', `hwid must be ${HWID_RULE}`],
      [Array.from({ length: 101 }, (_, n) => `p${n}`).join(','), 'more than 100 HWIDs'],
    ] as const
  ).map(
    ([hwid, detail]): Scenario => ({
      name: `what cannot be named: ${hwid.slice(0, 10)}`,
      path: NAME,
      says: 'invalid_parameters',
      given: [aLink()],
      request: { install_code: CODE, hwid },
      answer: INVALID,
      detail,
    }),
  ),
  {
    name: 'no HWID to name',
    path: NAME,
    says: 'invalid_parameters',
    given: [aLink()],
    request: { install_code: CODE },
    answer: INVALID,
    detail: 'hwid is required: 1 to 100 HWIDs, separated by commas',
  },
  {
    name: 'a named HWID in the form of others, when it was named',
    path: LIST,
    says: 'ok',
    given: [aLink(), named('a')],
    request: { install_code: CODE },
    answer: `{"rc":1,"msg":"Ok","data":[${aNamed}]}`,
  },
  {
    name: 'with details: that it has not come',
    path: LIST,
    says: 'ok',
    given: [aLink(), named('a')],
    request: { install_code: CODE, details: 1 },
    answer: `{"rc":1,"msg":"Ok","data":[${aNamed.slice(0, -1)},"last_seen":"2026-11-20 15:00:00","named":"has not come"}]}`,
  },
  {
    name: 'a named HWID: its place is free',
    path: DELETE,
    says: 'ok',
    given: [aLink(), named('a')],
    request: { install_code: CODE, hwid: 'a' },
    answer: '{"rc":1,"msg":"Ok","install_count":0}',
    changed: [
      'install 1 device_count: 1 -> 0',
      'install 1 has_hashes: 1 -> 0',
      'named_hwid 1 removed',
    ],
  },
];

const REFUSED = '/api/list-refused';
const refusedDevice: Given = async (app) => {
  const link = { installId: 1, providerId: OWN_ID };
  const nowMs = app.clock.nowMs();
  const phone = { hwid: 'c', deviceName: 'Pixel 9', os: 'android' };
  app.core.store.countRefusal(link, 'link_disabled', nowMs, phone);
  app.core.store.countRefusal(link, 'link_limit_reached', nowMs + 1000, phone);
  await app.core.store.saveFigures();
};

const listRefused: Scenario[] = [
  ...gateScenarios(REFUSED, { install_id: 1 }, [aLink()], 'listRefused'),
  ...([{ install_code: CODE }, { install_id: 1 }] as const).map(
    (request): Scenario => ({
      name: `by ${Object.keys(request)[0]}: a device that was refused twice`,
      path: REFUSED,
      says: 'ok',
      given: [aLink(), refusedDevice],
      request,
      answer:
        '{"rc":1,"msg":"Ok","data":[{"hwid":"c","device_name":"Pixel 9","os":"android",' +
        '"reason":"link_limit_reached","count":2,"first_refused":"2026-11-20 15:00:00",' +
        '"last_refused":"2026-11-20 15:00:01"}]}',
    }),
  ),
  {
    name: 'with the slot that it seems to have had, where the policy asks',
    path: REFUSED,
    says: 'ok',
    given: [
      asked('/api/add-install', OWN, { install_code: CODE, install_limit: 1, same_phone: 'ask' }),
      ...[aBinding(), aDevice('a'), refusedDevice],
    ],
    request: { install_id: 1 },
    answer:
      '{"rc":1,"msg":"Ok","data":[{"hwid":"c","device_name":"Pixel 9","os":"android",' +
      '"reason":"link_limit_reached","count":2,"first_refused":"2026-11-20 15:00:00",' +
      '"last_refused":"2026-11-20 15:00:01","former_hwid":"a"}]}',
  },
  {
    name: 'none was refused',
    path: REFUSED,
    says: 'ok',
    given: [aLink()],
    request: { install_id: 1 },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  ...(
    [
      ['neither selector', {}, 'install_code or install_id is required'],
      ['an unknown link', { install_id: 9 }, CODE_ERROR_DETAIL],
      ['the link of another provider', { install_id: 2 }, CODE_ERROR_DETAIL],
      ['selectors of two links', { install_id: 2, install_code: CODE }, CODE_ERROR_DETAIL],
    ] as const
  ).map(
    ([name, request, detail]): Scenario => ({
      name,
      path: REFUSED,
      says: 'install_code_error',
      given: [aLink(), aLink(OTHER_CODE, 2, FOREIGN)],
      request,
      answer: CODE_ERROR,
      detail,
    }),
  ),
];

export const hwidScenarios = [...listRefused, ...addHwid, ...listHwid, ...deleteHwid];
