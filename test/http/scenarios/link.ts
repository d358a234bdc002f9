/** Limited links: add-install, update-install, list-install. */

import {
  aBinding,
  aCapOfLinks,
  aDevice,
  aDisabledLink,
  aLink,
  CODE,
  FOREIGN,
  gateScenarios,
  HASH,
  OTHER_CODE,
  type Scenario,
  timePasses,
} from './scenario.ts';

const ADD = '/api/add-install';
const UPDATE = '/api/update-install';
const LIST = '/api/list-install';

const LIMIT_DETAIL = 'install_limit must be a whole number from 1 to 100';
const NOTE_DETAIL = 'note must be a text of up to 255 characters in UTF-8';
const UNKNOWN = '{"rc":0,"msg":"Unknown error"}';
const LIMIT_ERROR = '{"rc":0,"msg":"Install limit error"}';
const NOT_FOUND = '{"rc":0,"msg":"Install not found"}';
const NOT_FOUND_DETAIL = 'id names no limited link of this provider';
const UPDATED = `{"rc":1,"msg":"Ok","install_code":"${CODE}","id":1}`;

export const record = (id: number, code: string, count: number, time = '15:00:00') =>
  `{"id":${id},"install_code":"${code}","install_limit":2,"install_count":${count},"status":10,` +
  `"note":"note","created_at":"2026-11-20 ${time}"}`;

const addLink: Scenario[] = [
  ...gateScenarios(ADD, { install_limit: 1 }, [], 'addLink'),
  {
    name: 'a code and a note of its own',
    path: ADD,
    says: 'ok',
    request: { install_limit: 100, install_code: CODE, note: 'Привет, +1 & 100%' },
    answer: `{"rc":1,"msg":"Ok","install_code":"${CODE}","id":1}`,
    changed: ['install 1 added', 'provider 1 install_count: 0 -> 1'],
  },
  {
    name: 'a code that the provider has already',
    path: ADD,
    says: 'install_code_exists',
    given: [aLink(CODE)],
    request: { install_limit: 1, install_code: CODE },
    answer: '{"rc":2,"msg":"Install code exists"}',
    answerHeaders: { 'x-install-id': '1' },
    detail: 'install_code is taken',
  },
  {
    name: 'a code that another provider has already: no word of whose it is',
    path: ADD,
    says: 'install_code_exists',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { install_limit: 1, install_code: CODE },
    answer: '{"rc":2,"msg":"Install code exists"}',
    detail: 'install_code is taken',
  },
  {
    name: 'a provider at its cap of links',
    path: ADD,
    says: 'install_code_limit_reached',
    given: [aCapOfLinks(1), aLink(CODE)],
    request: { install_limit: 1, install_code: OTHER_CODE },
    answer: '{"rc":0,"msg":"Install code limit reached"}',
    detail: 'the provider has as many limited links as it may have',
  },
  {
    name: 'no limit',
    path: ADD,
    says: 'install_limit_error',
    request: { install_code: CODE },
    answer: LIMIT_ERROR,
    detail: 'install_limit is required: a whole number from 1 to 100',
  },
  {
    name: 'a limit of 0',
    path: ADD,
    says: 'install_limit_error',
    request: { install_limit: 0 },
    answer: LIMIT_ERROR,
    detail: LIMIT_DETAIL,
  },
  {
    name: 'a limit of 101',
    path: ADD,
    says: 'install_limit_error',
    request: { install_limit: 101 },
    answer: LIMIT_ERROR,
    detail: LIMIT_DETAIL,
  },
  {
    name: 'a code of 11 characters',
    path: ADD,
    says: 'unknown_error',
    request: { install_limit: 1, install_code: 'LinkCode001' },
    answer: UNKNOWN,
    detail: 'install_code must be 12 letters and digits',
  },
  {
    name: 'a note of 256 characters',
    path: ADD,
    says: 'unknown_error',
    request: { install_limit: 1, note: 'н'.repeat(256) },
    answer: UNKNOWN,
    detail: NOTE_DETAIL,
  },
];

const updateLink: Scenario[] = [
  ...gateScenarios(UPDATE, { id: 1, status: 5 }, [aLink()], 'updateLink'),
  {
    name: 'all fields together',
    path: UPDATE,
    says: 'ok',
    given: [aLink()],
    request: { id: 1, install_limit: 100, note: 'new', status: 5 },
    answer: UPDATED,
    changed: [
      'install 1 install_limit: 2 -> 100',
      'install 1 note: "note" -> "new"',
      'install 1 status: 10 -> 5',
    ],
  },
  {
    name: 'a disabled link made active again',
    path: UPDATE,
    says: 'ok',
    given: [aLink(), aDisabledLink(1)],
    request: { id: 1, status: 10 },
    answer: UPDATED,
    changed: ['install 1 status: 5 -> 10'],
  },
  {
    name: 'an empty note: cleared',
    path: UPDATE,
    says: 'ok',
    given: [aLink()],
    request: { id: 1, note: '' },
    answer: UPDATED,
    changed: ['install 1 note: "note" -> null'],
  },
  {
    name: 'the id alone, and empty fields',
    path: UPDATE,
    says: 'ok',
    given: [aLink()],
    request: { id: 1, install_limit: '', status: '' },
    answer: UPDATED,
  },
  {
    name: 'a limit equal to the HWIDs on the link',
    path: UPDATE,
    says: 'ok',
    given: [aLink(), aBinding(), aDevice('a'), timePasses(1)],
    request: { id: 1, install_limit: 1 },
    answer: UPDATED,
    changed: ['install 1 install_limit: 2 -> 1'],
  },
  {
    name: 'an id that nobody has',
    path: UPDATE,
    says: 'install_not_found',
    given: [aLink()],
    request: { id: 2, status: 5 },
    answer: NOT_FOUND,
    detail: NOT_FOUND_DETAIL,
  },
  {
    name: "another provider's id",
    path: UPDATE,
    says: 'install_not_found',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { id: 1, status: 5 },
    answer: NOT_FOUND,
    detail: NOT_FOUND_DETAIL,
  },
  {
    name: 'no id',
    path: UPDATE,
    says: 'install_not_found',
    given: [aLink()],
    request: { status: 5 },
    answer: NOT_FOUND,
    detail: 'id is required: a whole number of 1 to 15 digits',
  },
  {
    name: 'a malformed id',
    path: UPDATE,
    says: 'install_not_found',
    given: [aLink()],
    request: { id: '+1', status: 5 },
    answer: NOT_FOUND,
    detail: 'id must be a whole number of 1 to 15 digits',
  },
  {
    name: 'a limit of 101',
    path: UPDATE,
    says: 'install_limit_error',
    given: [aLink()],
    request: { id: 1, install_limit: 101 },
    answer: LIMIT_ERROR,
    detail: LIMIT_DETAIL,
  },
  {
    name: 'a limit below the HWIDs on a disabled link, with other fields: none of them changes',
    path: UPDATE,
    says: 'install_limit_below_count',
    given: [aLink(), aBinding(), aDevice('a'), aDevice('b'), aDisabledLink(1)],
    request: { id: 1, install_limit: 1, note: 'new', status: 10 },
    answer: '{"rc":0,"msg":"Install limit is less than the current install_count"}',
    detail: 'install_limit must not be lower than the number of HWIDs on the link',
  },
  {
    name: 'a limit below the HWIDs on the link, as they leave',
    path: UPDATE,
    says: 'ok',
    given: [aLink(), aBinding(), aDevice('a'), aDevice('b')],
    request: { id: 1, install_limit: 1, as_they_leave: 1 },
    answer: UPDATED,
    changed: ['install 1 limit_wanted: null -> 1'],
  },
  {
    name: 'a number for as_they_leave that is no flag',
    path: UPDATE,
    says: 'install_save_error',
    given: [aLink()],
    request: { id: 1, install_limit: 1, as_they_leave: 2 },
    answer: '{"rc":0,"msg":"Error save install"}',
    detail: 'as_they_leave must be 0 or 1',
  },
  {
    name: 'a status that there is not',
    path: UPDATE,
    says: 'install_status_error',
    given: [aLink()],
    request: { id: 1, note: 'new', status: 1 },
    answer: '{"rc":0,"msg":"Install status error"}',
    detail: 'status must be 5 or 10',
  },
  {
    name: 'a note of 256 characters',
    path: UPDATE,
    says: 'install_save_error',
    given: [aLink()],
    request: { id: 1, install_limit: 5, note: 'н'.repeat(256) },
    answer: '{"rc":0,"msg":"Error save install"}',
    detail: NOTE_DETAIL,
  },
  {
    name: 'a change that cannot be saved',
    path: UPDATE,
    says: 'install_save_error',
    given: [aLink()],
    request: { id: 1, status: 5 },
    fault: { method: 'updateLink', kind: 'write_failed' },
    answer: '{"rc":0,"msg":"Error save install"}',
    detail: 'the change could not be saved; internal fault ',
  },
];

const listInstall: Scenario[] = [
  ...gateScenarios(LIST, {}, [aLink()], 'listLinksOf'),
  {
    name: 'everything of its own, newest first',
    path: LIST,
    says: 'ok',
    given: [
      aLink('LinkCode0009', 2, FOREIGN),
      aLink(CODE),
      timePasses(61_000),
      aLink(OTHER_CODE),
      aBinding(),
      aDevice('a', OTHER_CODE, HASH),
    ],
    request: {},
    answer:
      '{"rc":1,"msg":"Ok","data":[' +
      `${record(3, OTHER_CODE, 1, '15:01:01')},${record(2, CODE, 0)}]}`,
  },
  {
    name: 'nothing yet',
    path: LIST,
    says: 'ok',
    request: {},
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'one id',
    path: LIST,
    says: 'ok',
    given: [aLink(CODE), aLink(OTHER_CODE)],
    request: { id: 1 },
    answer: `{"rc":1,"msg":"Ok","data":[${record(1, CODE, 0)}]}`,
  },
  {
    name: 'further back',
    path: LIST,
    says: 'ok',
    given: [aLink(CODE), aLink(OTHER_CODE)],
    request: { before_id: 2 },
    answer: `{"rc":1,"msg":"Ok","data":[${record(1, CODE, 0)}]}`,
  },
  {
    name: "another provider's id",
    path: LIST,
    says: 'ok',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { id: 1 },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'a malformed id',
    path: LIST,
    says: 'unknown_error',
    given: [aLink()],
    request: { id: '1.0' },
    answer: UNKNOWN,
    detail: 'id must be a whole number of 1 to 15 digits',
  },
  {
    name: 'a malformed before_id',
    path: LIST,
    says: 'unknown_error',
    given: [aLink()],
    request: { before_id: '-1' },
    answer: UNKNOWN,
    detail: 'before_id must be a whole number of 1 to 15 digits',
  },
];

export const linkScenarios = [...addLink, ...updateLink, ...listInstall];
