/** Ends of limited links: free-slots, revoke-install, remove-install; and the search of links. */

import { record } from './link.ts';
import {
  aBinding,
  aDevice,
  aLink,
  asked,
  CODE,
  DRAWN_CODE,
  FOREIGN,
  gateScenarios,
  OTHER_CODE,
  OWN,
  type Scenario,
} from './scenario.ts';

const FREE = '/api/free-slots';
const REVOKE = '/api/revoke-install';
const REMOVE = '/api/remove-install';
const LIST = '/api/list-install';
const ADD = '/api/add-install';

const CODE_ERROR = '{"rc":0,"msg":"Install code error"}';
const CODE_ERROR_DETAIL = 'install_code and install_id name no limited link of this provider';
const NOT_FOUND = '{"rc":0,"msg":"Install not found"}';
const NOT_FOUND_DETAIL = 'id names no limited link of this provider';

const twoDevices = [aLink(), aBinding(), aDevice('a'), aDevice('b')];
const slotsGone = [
  'device_provider 1/1 slot_count: 1 -> 0',
  'device_provider 2/1 slot_count: 1 -> 0',
  'install_device 1 removed',
  'install_device 2 removed',
];
const ends = ['provider 1 slot_end_count: 0 -> 2', 'slot_end 1 added', 'slot_end 2 added'];

const RENAMED = `install 1 install_code: "${CODE}" -> "${DRAWN_CODE}"`;
const TOMBSTONE = 'provider 1 tombstone_count: 0 -> 1';

const freeSlots: Scenario[] = [
  ...gateScenarios(FREE, { install_id: 1 }, twoDevices, 'freeSlots'),
  ...([{ install_code: CODE }, { install_id: 1 }] as const).map(
    (request): Scenario => ({
      name: `by ${Object.keys(request)[0]}: all slots are free`,
      path: FREE,
      says: 'ok',
      given: twoDevices,
      request,
      answer: '{"rc":1,"msg":"Ok","install_count":0,"freed":2}',
      changed: [
        ...slotsGone.slice(0, 2),
        'install 1 device_count: 2 -> 0',
        ...slotsGone.slice(2),
        ...ends,
      ],
    }),
  ),
  {
    name: 'a link without HWIDs: a retry succeeds',
    path: FREE,
    says: 'ok',
    given: [aLink()],
    request: { install_code: CODE, install_id: 1 },
    answer: '{"rc":1,"msg":"Ok","install_count":0,"freed":0}',
  },
  {
    name: 'neither selector',
    path: FREE,
    says: 'invalid_parameters',
    given: twoDevices,
    request: {},
    answer: '{"rc":0,"msg":"Invalid parameters"}',
    detail: 'install_code or install_id is required',
  },
  ...(
    [
      ['selectors of two links', { install_code: CODE, install_id: 2 }, [aLink(OTHER_CODE)]],
      ['an unknown id', { install_id: 9 }, []],
      ['an unknown code', { install_code: OTHER_CODE }, []],
      ['the id of another provider', { install_id: 2 }, [aLink(OTHER_CODE, 2, FOREIGN)]],
      [
        'the code of another provider',
        { install_code: OTHER_CODE },
        [aLink(OTHER_CODE, 2, FOREIGN)],
      ],
    ] as const
  ).map(
    ([name, request, more]): Scenario => ({
      name,
      path: FREE,
      says: 'install_code_error',
      given: [...twoDevices, ...more],
      request,
      answer: CODE_ERROR,
      detail: CODE_ERROR_DETAIL,
    }),
  ),
];

/** What both calls refuse. */
const refusals = (path: string): Scenario[] => [
  ...(
    [
      ['without an id', {}, 'id is required: a whole number of 1 to 15 digits'],
      ['a malformed id', { id: 'one' }, 'id must be a whole number of 1 to 15 digits'],
      ['an unknown id', { id: 9 }, NOT_FOUND_DETAIL],
      ['the id of another provider', { id: 2 }, NOT_FOUND_DETAIL],
    ] as const
  ).map(
    ([name, request, detail]): Scenario => ({
      name,
      path,
      says: 'install_not_found',
      given: [aLink(), aLink(OTHER_CODE, 2, FOREIGN)],
      request,
      answer: NOT_FOUND,
      detail,
    }),
  ),
];

const UNSAVED = '{"rc":0,"msg":"Error save install"}';

const unsaved = (path: string, method: 'revokeLink' | 'removeLink'): Scenario => ({
  name: 'a change that cannot be saved',
  path,
  says: 'install_save_error',
  given: twoDevices,
  request: { id: 1 },
  fault: { method, kind: 'write_failed' },
  answer: UNSAVED,
  detail: 'the change could not be saved; internal fault ',
});

const aKeyedLink = asked(ADD, OWN, {
  install_code: CODE,
  install_limit: 2,
  note: 'note',
  subscription_key: 'panel-key',
});

const revokeLink: Scenario[] = [
  ...gateScenarios(REVOKE, { id: 1 }, [aLink()], 'revokeLink'),
  {
    name: 'a link with HWIDs and a key: another code, and neither',
    path: REVOKE,
    says: 'ok',
    given: [aKeyedLink, aBinding(), aDevice('a'), aDevice('b')],
    request: { id: 1 },
    answer: `{"rc":1,"msg":"Ok","install_code":"${DRAWN_CODE}","id":1,"freed":2,"had_subscription_key":true}`,
    changed: [
      ...slotsGone.slice(0, 2),
      ...['install 1 device_count: 2 -> 0', RENAMED],
      'install 1 subscription_key_hash: 32 bytes -> null',
      ...slotsGone.slice(2),
      ...['install_tombstone 1 added', ends[0] ?? '', TOMBSTONE, ...ends.slice(1)],
    ],
  },
  {
    name: 'a link with neither',
    path: REVOKE,
    says: 'ok',
    given: [aLink()],
    request: { id: 1 },
    answer: `{"rc":1,"msg":"Ok","install_code":"${DRAWN_CODE}","id":1,"freed":0,"had_subscription_key":false}`,
    changed: [RENAMED, 'install_tombstone 1 added', TOMBSTONE],
  },
  unsaved(REVOKE, 'revokeLink'),
  ...refusals(REVOKE),
];

const removeLink: Scenario[] = [
  ...gateScenarios(REMOVE, { id: 1 }, [aLink()], 'removeLink'),
  unsaved(REMOVE, 'removeLink'),
  {
    name: 'the link is gone, the devices stay known',
    path: REMOVE,
    says: 'ok',
    given: twoDevices,
    request: { id: 1 },
    answer: '{"rc":1,"msg":"Ok","id":1,"freed":2}',
    changed: [
      ...[...slotsGone.slice(0, 2), 'install 1 removed', ...slotsGone.slice(2)],
      ...['install_tombstone 1 added', 'provider 1 install_count: 1 -> 0', TOMBSTONE],
    ],
  },
  ...refusals(REMOVE),
];

const given = [
  asked(ADD, OWN, { install_code: CODE, install_limit: 2, note: 'note' }),
  asked(ADD, OWN, { install_code: OTHER_CODE, install_limit: 2, note: 'note' }),
  asked(ADD, FOREIGN, { install_code: 'LinkCode0003', install_limit: 2, note: 'note' }),
  aBinding(),
  aDevice('phone-a'),
];
const list = (...rows: string[]) => `{"rc":1,"msg":"Ok","data":[${rows.join(',')}]}`;
const one = record(1, CODE, 1);
const two = record(2, OTHER_CODE, 0);

const search: Scenario[] = [
  ...(
    [
      ['in the note', { search: 'NOTE' }, list(two, one)],
      ['in the code', { search: 'code0001' }, list(one)],
      ['in the model of a device', { search: 'pixel' }, list(one)],
      ['at the start of a HWID', { search: 'phone' }, list(one)],
      ['with one id', { search: 'note', id: 1 }, list(one)],
      ['with one id that is not found', { search: 'pixel', id: 2 }, list()],
      ['further back', { search: 'note', before_id: 2 }, list(one)],
      ['one id that is not further back', { search: 'note', id: 1, before_id: 1 }, list()],
      [
        'with a subscription key that no link has',
        { search: 'note', subscription_key: 'k' },
        list(),
      ],
      ['more HWIDs than the limit', { over: 1 }, list()],
      ['all, with over=0', { over: 0 }, list(two, one)],
    ] as const
  ).map(
    ([name, request, answer]): Scenario => ({
      name: `search: ${name}`,
      path: LIST,
      says: 'ok',
      given,
      request,
      answer,
    }),
  ),
  {
    name: 'search: a text of 65 characters',
    path: LIST,
    says: 'unknown_error',
    given,
    request: { search: 'n'.repeat(65) },
    answer: '{"rc":0,"msg":"Unknown error"}',
    detail: 'search must be a text of 1 to 64 characters in UTF-8',
  },
  {
    name: 'over: neither 0 nor 1',
    path: LIST,
    says: 'unknown_error',
    given,
    request: { over: 2 },
    answer: '{"rc":0,"msg":"Unknown error"}',
    detail: 'over must be 0 or 1',
  },
];

const ended: Scenario[] = [
  {
    name: 'the code of a link that was removed',
    path: ADD,
    says: 'install_code_exists',
    given: [aLink(), asked(REMOVE, OWN, { id: 1 })],
    request: { install_limit: 1, install_code: CODE },
    answer: '{"rc":2,"msg":"Install code exists"}',
    detail: 'install_code is that of a link that was removed or revoked',
  },
  {
    name: 'the subscription key of a link that was revoked',
    path: ADD,
    says: 'install_code_exists',
    given: [aKeyedLink, asked(REVOKE, OWN, { id: 1 })],
    request: { install_limit: 1, install_code: OTHER_CODE, subscription_key: 'panel-key' },
    answer: '{"rc":2,"msg":"Install code exists"}',
    detail: 'subscription_key is that of a link that was removed or revoked',
  },
];

export const linkEndScenarios = [...freeSlots, ...revokeLink, ...removeLink, ...search, ...ended];
