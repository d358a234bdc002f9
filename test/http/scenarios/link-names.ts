/** The names of links in add-install: `rc` 2 with a body, and codes of 8 to 11 characters. */

import { aLink, asked, CODE, FOREIGN, OTHER_CODE, OWN, type Scenario } from './scenario.ts';

const ADD = '/api/add-install';
const KEY = 'key-of-boris';
const UNKNOWN = '{"rc":0,"msg":"Unknown error"}';
const TAKEN = '{"rc":0,"msg":"Unknown error","detail":"taken"}';
const ENDED = 'install_code is that of a link that was removed or revoked';
const EXISTS = '{"rc":2,"msg":"Install code exists"}';
const NAMED = (code: string) =>
  `{"rc":2,"msg":"Install code exists","id":1,"install_code":"${code}"}`;
const SHORT = 'aB3dE5g7';
const SHORT_RULE =
  'install_code must be 12 letters and digits, or 8 to 11 that mix digits and letters or both cases of letters';

const withPolicy = (terms: Record<string, string | number>, by = OWN) =>
  asked('/api/policy', by, terms);
const rc2Body = withPolicy({ rc2_body: 'on' });
const shortCodes = withPolicy({ short_codes: 1 });
const foreignShort = [withPolicy({ short_codes: 1 }, FOREIGN), aLink(SHORT, 2, FOREIGN)];
const removed = asked('/api/remove-install', OWN, { id: 1 });
const byAppliance = { legacyRc2Body: true };

const named: Scenario[] = [
  {
    name: 'with rc2_body a code of its own: the body names the link',
    path: ADD,
    says: 'install_code_exists',
    given: [rc2Body, aLink(CODE)],
    request: { install_limit: 1, install_code: CODE },
    answer: NAMED(CODE),
    answerHeaders: { 'x-install-id': '1' },
    detail: 'install_code is taken',
  },
  {
    name: 'with rc2_body a subscription key of its own: the body names the link that has it',
    path: ADD,
    says: 'install_code_exists',
    given: [
      rc2Body,
      asked(ADD, OWN, { install_limit: 2, install_code: OTHER_CODE, subscription_key: KEY }),
    ],
    request: { install_limit: 1, install_code: CODE, subscription_key: KEY },
    answer: NAMED(OTHER_CODE),
    answerHeaders: { 'x-install-id': '1' },
    detail: 'subscription_key is that of another link',
  },
  {
    name: 'with rc2_body a code of another provider is no success',
    path: ADD,
    says: 'install_code_taken',
    given: [rc2Body, aLink(CODE, 2, FOREIGN)],
    request: { install_limit: 1, install_code: CODE },
    answer: TAKEN,
    detail: 'taken',
  },
  {
    name: 'with rc2_body a code of a link that was removed is no success either',
    path: ADD,
    says: 'install_code_taken',
    given: [rc2Body, aLink(CODE), removed],
    request: { install_limit: 1, install_code: CODE },
    answer: TAKEN,
    detail: ENDED,
  },
  {
    name: 'legacy.rc2_body is for all providers',
    path: ADD,
    says: 'install_code_exists',
    options: byAppliance,
    given: [aLink(CODE)],
    request: { install_limit: 1, install_code: CODE },
    answer: NAMED(CODE),
    answerHeaders: { 'x-install-id': '1' },
    detail: 'install_code is taken',
  },
  {
    name: 'legacy.rc2_body gives nothing of another provider',
    path: ADD,
    says: 'install_code_taken',
    options: byAppliance,
    given: [aLink(CODE, 2, FOREIGN)],
    request: { install_limit: 1, install_code: CODE },
    answer: TAKEN,
    detail: 'taken',
  },
  {
    name: 'rc2_body off of the provider goes before legacy.rc2_body',
    path: ADD,
    says: 'install_code_exists',
    options: byAppliance,
    given: [withPolicy({ rc2_body: 'off' }), aLink(CODE, 2, FOREIGN)],
    request: { install_limit: 1, install_code: CODE },
    answer: EXISTS,
    detail: 'install_code is taken',
  },
  {
    name: 'rc2_body of another provider changes nothing here',
    path: ADD,
    says: 'install_code_exists',
    given: [withPolicy({ rc2_body: 'on' }, FOREIGN), aLink(CODE)],
    request: { install_limit: 1, install_code: CODE },
    answer: EXISTS,
    answerHeaders: { 'x-install-id': '1' },
    detail: 'install_code is taken',
  },
];

const short: Scenario[] = [
  ...[SHORT, 'abcdefg1', 'ABCDefgh', '1234567a', 'aB3dE5g7hJ9'].map(
    (install_code): Scenario => ({
      name: `with short_codes the code ${install_code}`,
      path: ADD,
      says: 'ok',
      given: [shortCodes],
      request: { install_limit: 2, install_code },
      answer: `{"rc":1,"msg":"Ok","install_code":"${install_code}","id":1}`,
      changed: ['install 1 added', 'provider 1 install_count: 0 -> 1'],
    }),
  ),
  ...[
    '12345678',
    '9876543210',
    'abcdefgh',
    'ABCDEFGHIJ',
    'aB3dE5g',
    'aB3dE5g7hJ9kL',
    'aB3dE-g7',
  ].map(
    (install_code): Scenario => ({
      name: `with short_codes not ${install_code}`,
      path: ADD,
      says: 'unknown_error',
      given: [shortCodes],
      request: { install_limit: 2, install_code },
      answer: UNKNOWN,
      detail: SHORT_RULE,
    }),
  ),
  {
    name: 'short_codes of another provider changes nothing here',
    path: ADD,
    says: 'unknown_error',
    given: [withPolicy({ short_codes: 1 }, FOREIGN)],
    request: { install_limit: 2, install_code: SHORT },
    answer: UNKNOWN,
    detail: 'install_code must be 12 letters and digits',
  },
  {
    name: 'a short code that another provider chose first is no success, without rc2_body too',
    path: ADD,
    says: 'install_code_taken',
    given: [shortCodes, ...foreignShort],
    request: { install_limit: 2, install_code: SHORT },
    answer: TAKEN,
    detail: 'taken',
  },
  {
    name: 'a short code of its own is answered as any other',
    path: ADD,
    says: 'install_code_exists',
    given: [shortCodes, aLink(SHORT)],
    request: { install_limit: 2, install_code: SHORT },
    answer: EXISTS,
    answerHeaders: { 'x-install-id': '1' },
    detail: 'install_code is taken',
  },
  {
    name: 'a short code is that of no other provider',
    path: '/api/list-hwid',
    says: 'install_code_error',
    given: foreignShort,
    request: { install_code: SHORT },
    answer: '{"rc":0,"msg":"Install code error"}',
    detail: 'install_code and install_id name no limited link of this provider',
  },
];

export const linkNameScenarios = [...named, ...short];
