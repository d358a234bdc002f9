/** What links have of their own beside the contract: add-install, update-install, list-install. */

import { record } from './link.ts';
import {
  aLink,
  asked,
  CODE,
  FOREIGN,
  type Given,
  OTHER_CODE,
  OWN,
  type Scenario,
} from './scenario.ts';

const ADD = '/api/add-install';
const UPDATE = '/api/update-install';
const LIST = '/api/list-install';

const UNKNOWN = '{"rc":0,"msg":"Unknown error"}';
const SAVE_ERROR = '{"rc":0,"msg":"Error save install"}';
const UPDATED = `{"rc":1,"msg":"Ok","install_code":"${CODE}","id":1}`;

const KEY = 'a-key_of.a~panel=';
const KEY_DETAIL =
  'subscription_key must be 1 to 256 visible characters without / and \\; or marzban/NAME, pasarguard/ID or pasarguard/name/NAME';
const OTHER_KEY_DETAIL = 'subscription_key is that of another link';
const terms = {
  inactive_days: 30,
  when_full: 'replace-oldest',
  cool_down_hours: 48,
  enforce: 0,
  without_hwid: 'count',
  same_phone: 'replace',
  when_new: 'refuse',
  subscription_key: KEY,
};
/** A link with everything of its own. */
const aLinkOfTerms = (install_code = CODE, by = OWN): Given =>
  asked(ADD, by, { install_code, install_limit: 2, note: 'note', ...terms });

/** Misfits of the terms, as both calls have them. */
const termMisfits = (
  path: string,
  says: 'unknown_error' | 'install_save_error',
  given: readonly Given[],
  request: Scenario['request'],
  answer: string,
): Scenario[] =>
  (
    [
      ['inactive_days', 3651, 'a whole number from 0 to 3650, or default'],
      ['inactive_days', 'never', 'a whole number from 0 to 3650, or default'],
      ['when_full', 'Refuse', 'one of refuse, replace-oldest and default'],
      ['cool_down_hours', 0, 'a whole number from 1 to 720, or default'],
      ['cool_down_hours', '1e1', 'a whole number from 1 to 720, or default'],
      ['enforce', 2, 'one of 0, 1 and default'],
      ['without_hwid', 'no', 'one of refuse, pass, count and default'],
      ['same_phone', 'yes', 'one of off, ask, replace and default'],
      ['when_new', 'yes', 'one of admit, refuse and default'],
      ['support_url', 'javascript:alert(1)', URL_RULE],
      ['greeting', 'a\u202Eb', GREETING_RULE],
    ] as const
  ).map(([name, value, rule]) => ({
    name: `${name}=${value}`,
    path,
    says,
    given,
    request: { ...request, note: 'new', [name]: value },
    answer,
    detail: `${name} must be ${rule}`,
  }));

const GREETING_RULE =
  'one line of 1 to 40 characters in UTF-8, without signs of direction, or default';
const URL_RULE = 'an http, https or tg URL of up to 255 ASCII characters, or default';
const buttons = { support_url: 'tg://resolve?domain=a', web_page_url: 'https://example.com/' };
/** The buttons before a change by a key, as a row has them. */
const quoted = (more: { greeting?: null } = {}) =>
  JSON.stringify(JSON.stringify({ supportUrl: null, webPageUrl: null, ...more }));

const addLink: Scenario[] = [
  {
    name: 'a policy and a subscription key of its own',
    path: ADD,
    says: 'ok',
    request: { install_limit: 100, install_code: CODE, ...terms },
    answer: `{"rc":1,"msg":"Ok","install_code":"${CODE}","id":1}`,
    changed: ['install 1 added', 'provider 1 install_count: 0 -> 1'],
  },
  {
    name: 'buttons of its own',
    path: ADD,
    says: 'ok',
    request: { install_limit: 100, install_code: CODE, ...buttons },
    answer: `{"rc":1,"msg":"Ok","install_code":"${CODE}","id":1}`,
    changed: ['install 1 added', 'provider 1 install_count: 0 -> 1'],
  },
  {
    name: 'default, and empty, are nothing of its own',
    path: ADD,
    says: 'ok',
    request: {
      install_limit: 100,
      install_code: CODE,
      inactive_days: 'default',
      when_full: 'default',
      cool_down_hours: '',
      enforce: 'default',
      without_hwid: '',
      same_phone: 'default',
      when_new: 'default',
      subscription_key: 'default',
    },
    answer: `{"rc":1,"msg":"Ok","install_code":"${CODE}","id":1}`,
    changed: ['install 1 added', 'provider 1 install_count: 0 -> 1'],
  },
  {
    name: 'a subscription key that another provider has',
    path: ADD,
    says: 'ok',
    given: [aLinkOfTerms(OTHER_CODE, FOREIGN)],
    request: { install_limit: 1, install_code: CODE, subscription_key: KEY },
    answer: `{"rc":1,"msg":"Ok","install_code":"${CODE}","id":2}`,
    changed: ['install 2 added', 'provider 1 install_count: 0 -> 1'],
  },
  {
    name: 'a subscription key that the provider has already',
    path: ADD,
    says: 'install_code_exists',
    given: [aLinkOfTerms(OTHER_CODE)],
    request: { install_limit: 1, install_code: CODE, subscription_key: KEY },
    answer: '{"rc":2,"msg":"Install code exists"}',
    answerHeaders: { 'x-install-id': '1' },
    detail: OTHER_KEY_DETAIL,
  },
  {
    name: 'a subscription key of three characters',
    path: ADD,
    says: 'unknown_error',
    request: { install_limit: 1, subscription_key: 'a/c' },
    answer: UNKNOWN,
    detail: KEY_DETAIL,
  },
  ...termMisfits(ADD, 'unknown_error', [], { install_limit: 1 }, UNKNOWN),
];

const updateLink: Scenario[] = [
  {
    name: 'buttons',
    path: UPDATE,
    says: 'ok',
    given: [aLink()],
    request: { id: 1, ...buttons },
    answer: UPDATED,
    changed: [
      'install 1 buttons_at_ms: 0 -> 1795176000000',
      `install 1 former_buttons: null -> ${quoted({ greeting: null })}`,
      'install 1 support_url: null -> "tg://resolve?domain=a"',
      'install 1 web_page_url: null -> "https://example.com/"',
    ],
  },
  {
    name: 'default for a button: that of the provider again',
    path: UPDATE,
    says: 'ok',
    given: [asked(ADD, OWN, { install_limit: 2, install_code: CODE, ...buttons })],
    request: { id: 1, support_url: 'default', web_page_url: '' },
    answer: UPDATED,
    changed: [
      // The key that added the link waits, so none of its addresses was used before.
      `install 1 former_buttons: ${quoted()} -> ${quoted({ greeting: null })}`,
      'install 1 support_url: "tg://resolve?domain=a" -> null',
    ],
  },
  {
    name: 'a policy and a subscription key',
    path: UPDATE,
    says: 'ok',
    given: [aLink()],
    request: { id: 1, ...terms },
    answer: UPDATED,
    changed: [
      'install 1 cool_down_hours: null -> 48',
      'install 1 enforce: null -> 0',
      'install 1 inactive_days: null -> 30',
      'install 1 same_phone: null -> "replace"',
      'install 1 subscription_key_hash: null -> 32 bytes',
      'install 1 when_full: null -> "replace-oldest"',
      'install 1 when_new: null -> "refuse"',
      'install 1 without_hwid: null -> "count"',
    ],
  },
  {
    name: 'default for each of them: nothing of its own any more',
    path: UPDATE,
    says: 'ok',
    given: [aLinkOfTerms()],
    request: {
      id: 1,
      inactive_days: 'default',
      when_full: 'default',
      cool_down_hours: 'default',
      enforce: 'default',
      without_hwid: 'default',
      same_phone: 'default',
      when_new: 'default',
      subscription_key: 'default',
    },
    answer: UPDATED,
    changed: [
      'install 1 cool_down_hours: 48 -> null',
      'install 1 enforce: 0 -> null',
      'install 1 inactive_days: 30 -> null',
      'install 1 same_phone: "replace" -> null',
      'install 1 subscription_key_hash: 32 bytes -> null',
      'install 1 when_full: "replace-oldest" -> null',
      'install 1 when_new: "refuse" -> null',
      'install 1 without_hwid: "count" -> null',
    ],
  },
  {
    name: 'never is a policy of its own; what is empty stays',
    path: UPDATE,
    says: 'ok',
    given: [aLinkOfTerms()],
    request: { id: 1, inactive_days: 0, when_full: '', cool_down_hours: '', subscription_key: '' },
    answer: UPDATED,
    changed: ['install 1 inactive_days: 30 -> 0'],
  },
  {
    name: 'the subscription key that it has',
    path: UPDATE,
    says: 'ok',
    given: [aLinkOfTerms()],
    request: { id: 1, subscription_key: KEY },
    answer: UPDATED,
  },
  {
    name: 'the subscription key of another link, with other fields: none of them changes',
    path: UPDATE,
    says: 'install_save_error',
    given: [aLink(), aLinkOfTerms(OTHER_CODE)],
    request: { id: 1, install_limit: 5, inactive_days: 1, subscription_key: KEY },
    answer: SAVE_ERROR,
    detail: OTHER_KEY_DETAIL,
  },
  {
    name: 'a subscription key with a slash',
    path: UPDATE,
    says: 'install_save_error',
    given: [aLink()],
    request: { id: 1, subscription_key: 'sub/key' },
    answer: SAVE_ERROR,
    detail: KEY_DETAIL,
  },
  ...termMisfits(UPDATE, 'install_save_error', [aLink()], { id: 1, status: 5 }, SAVE_ERROR),
];

const listInstall: Scenario[] = [
  {
    name: 'by subscription key',
    path: LIST,
    says: 'ok',
    given: [aLink(CODE), aLinkOfTerms(OTHER_CODE)],
    request: { subscription_key: KEY },
    answer: `{"rc":1,"msg":"Ok","data":[${record(2, OTHER_CODE, 0)}]}`,
  },
  {
    name: 'by subscription key and id, of which one fits',
    path: LIST,
    says: 'ok',
    given: [aLink(CODE), aLinkOfTerms(OTHER_CODE)],
    request: { subscription_key: KEY, id: 1 },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'by subscription key, further back than it is',
    path: LIST,
    says: 'ok',
    given: [aLinkOfTerms(CODE)],
    request: { subscription_key: KEY, before_id: 1 },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'by code',
    path: LIST,
    says: 'ok',
    given: [aLink(CODE), aLink(OTHER_CODE)],
    request: { install_code: CODE },
    answer: `{"rc":1,"msg":"Ok","data":[${record(1, CODE, 0)}]}`,
  },
  {
    name: 'by code and the subscription key of another link',
    path: LIST,
    says: 'ok',
    given: [aLink(CODE), aLinkOfTerms(OTHER_CODE)],
    request: { install_code: CODE, subscription_key: KEY },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'by code and subscription key of one link',
    path: LIST,
    says: 'ok',
    given: [aLink(CODE), aLinkOfTerms(OTHER_CODE)],
    request: { install_code: OTHER_CODE, subscription_key: KEY },
    answer: `{"rc":1,"msg":"Ok","data":[${record(2, OTHER_CODE, 0)}]}`,
  },
  {
    name: "another provider's code",
    path: LIST,
    says: 'ok',
    given: [aLink(CODE, 2, FOREIGN)],
    request: { install_code: CODE },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'a malformed code',
    path: LIST,
    says: 'unknown_error',
    given: [aLink()],
    request: { install_code: 'a/c' },
    answer: UNKNOWN,
    detail: 'install_code must be 8 to 12 letters and digits',
  },
  {
    name: "another provider's subscription key",
    path: LIST,
    says: 'ok',
    given: [aLinkOfTerms(CODE, FOREIGN)],
    request: { subscription_key: KEY },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'a malformed subscription key',
    path: LIST,
    says: 'unknown_error',
    given: [aLink()],
    request: { subscription_key: 'a/c' },
    answer: UNKNOWN,
    detail: KEY_DETAIL,
  },
];

export const linkTermScenarios = [...addLink, ...updateLink, ...listInstall];
