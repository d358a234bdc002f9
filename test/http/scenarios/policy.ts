/** The policy of a provider's links: policy. */

import { outside, usualOf } from '../../../src/core/field.ts';
import type { OwnMy } from '../../../src/core/port/my.ts';
import { MY_TERMS } from '../../../src/core/terms.ts';
import { asked, gateScenarios, OWN, type Scenario } from './scenario.ts';

const POLICY = '/api/policy';

const answer = (changed: object = {}) =>
  JSON.stringify({
    rc: 1,
    msg: 'Ok',
    inactive_days: 0,
    when_full: 'refuse',
    cool_down_hours: 24,
    enforce: 1,
    without_hwid: 'refuse',
    same_phone: 'off',
    same_phone_hours: 168,
    copied_hwid: 'tell',
    when_new: 'admit',
    ride: 'default',
    ride_desktop: 0,
    support_url: null,
    web_page_url: null,
    buttons: 'missing',
    discovery: 0,
    ...outside(MY_TERMS, usualOf<OwnMy>(MY_TERMS)),
    rc2_body: 'default',
    short_codes: 0,
    quiet_from: null,
    quiet_to: null,
    time_zone: null,
    ...changed,
  });
const given = {
  inactive_days: 30,
  when_full: 'replace-oldest',
  cool_down_hours: 48,
  enforce: 0,
  without_hwid: 'count',
  same_phone: 'ask',
  same_phone_hours: 12,
  copied_hwid: 'count',
  when_new: 'refuse',
};

const URL_RULE = 'an http, https or tg URL of up to 255 ASCII characters, or default';
const rides = {
  ride: 'off',
  ride_desktop: 1,
  support_url: 'tg://resolve?domain=a',
  web_page_url: `https://example.com:8443/${'x'.repeat(230)}`,
  buttons: 'always',
  discovery: 1,
};

const page = { page: 1, page_name: 'Магазин 1', page_color: '#0f766e' };

const misfits: Scenario[] = (
  [
    ['inactive_days', 3651, 'a whole number from 0 to 3650, or default'],
    ['enforce', 'off', 'one of 0, 1 and default'],
    ['without_hwid', 'Pass', 'one of refuse, pass, count and default'],
    ['same_phone', 'on', 'one of off, ask, replace and default'],
    ['when_new', 'on', 'one of admit, refuse and default'],
    ['ride', 'on', 'one of off, notifications and default'],
    ['ride_desktop', 2, '0 or 1'],
    ['rc2_body', 1, 'one of on, off and default'],
    ['short_codes', 'yes', '0 or 1'],
    ['support_url', 'example.com', `${URL_RULE}`],
    ['support_url', 'https://a:b@example.com/', `${URL_RULE}`],
    ['web_page_url', `https://example.com/${'x'.repeat(240)}`, `${URL_RULE}`],
    ['web_page_url', 'https://example.com/a\r\n', `${URL_RULE}`],
    ['buttons', 'never', 'one of missing and always'],
    ['discovery', 2, '0 or 1'],
    ['page', 'on', '0 or 1'],
    ['page_name', ' ', 'one line of 1 to 64 characters in UTF-8, or default'],
    ['page_name', 'x'.repeat(65), 'one line of 1 to 64 characters in UTF-8, or default'],
    ['page_color', 'red', '# and six hexadecimal digits, or default'],
  ] as const
).map(([name, value, rule]) => ({
  name: `${name}=${value}`,
  path: POLICY,
  says: 'unknown_error',
  request: { ...given, [name]: value },
  answer: '{"rc":0,"msg":"Unknown error"}',
  detail: `${name} must be ${rule}`,
}));

export const policyScenarios: Scenario[] = [
  ...gateScenarios(POLICY, { enforce: 0 }, [], 'updateProvider'),
  { name: 'the one that holds', path: POLICY, says: 'ok', request: {}, answer: answer() },
  {
    name: 'all parts of it',
    path: POLICY,
    says: 'ok',
    request: given,
    answer: answer(given),
    changed: [
      'provider 1 cool_down_hours: null -> 48',
      'provider 1 copied_hwid: null -> "count"',
      'provider 1 enforce: null -> 0',
      'provider 1 inactive_days: null -> 30',
      'provider 1 same_phone: null -> "ask"',
      'provider 1 same_phone_hours: null -> 12',
      'provider 1 when_full: null -> "replace-oldest"',
      'provider 1 when_new: null -> "refuse"',
      'provider 1 without_hwid: null -> "count"',
    ],
  },
  {
    name: 'one part of it',
    path: POLICY,
    says: 'ok',
    request: { without_hwid: 'pass' },
    answer: answer({ without_hwid: 'pass' }),
    changed: ['provider 1 without_hwid: null -> "pass"'],
  },
  {
    name: 'default is that of the appliance; what is empty stays',
    path: POLICY,
    says: 'ok',
    given: [asked(POLICY, OWN, { enforce: 0, without_hwid: 'pass' })],
    request: { enforce: 'default', without_hwid: '' },
    answer: answer({ without_hwid: 'pass' }),
    changed: ['provider 1 enforce: 0 -> null'],
  },
  {
    name: 'what rides, and the buttons',
    path: POLICY,
    says: 'ok',
    request: rides,
    answer: answer(rides),
    changed: [
      'provider 1 buttons: null -> "always"',
      'provider 1 buttons_at_ms: 0 -> 1795176000000',
      'provider 1 discovery: 0 -> 1',
      `provider 1 former_buttons: null -> ${JSON.stringify('{"supportUrl":null,"webPageUrl":null}')}`,
      'provider 1 ride: null -> "off"',
      'provider 1 ride_desktop: 0 -> 1',
      // For doors: buttons stand without an end.
      'provider 1 ride_until_ms: 0 -> 253402300799999',
      'provider 1 ride_version: 0 -> 1',
      'provider 1 support_url: null -> "tg://resolve?domain=a"',
      `provider 1 web_page_url: null -> "${rides.web_page_url}"`,
    ],
  },
  {
    name: 'what rides, back to what it was',
    path: POLICY,
    says: 'ok',
    given: [asked(POLICY, OWN, rides)],
    request: {
      ride: 'default',
      ride_desktop: 0,
      support_url: 'default',
      web_page_url: 'default',
      buttons: 'missing',
      discovery: 0,
    },
    answer: answer(),
    changed: [
      'provider 1 buttons: "always" -> null',
      'provider 1 discovery: 1 -> 0',
      'provider 1 ride: "off" -> null',
      'provider 1 ride_desktop: 1 -> 0',
      'provider 1 ride_until_ms: 253402300799999 -> 0',
      'provider 1 ride_version: 1 -> 2',
      'provider 1 support_url: "tg://resolve?domain=a" -> null',
      `provider 1 web_page_url: "${rides.web_page_url}" -> null`,
    ],
  },
  {
    name: 'what the bot is answered',
    path: POLICY,
    says: 'ok',
    request: { rc2_body: 'on', short_codes: 1 },
    answer: answer({ rc2_body: 'on', short_codes: 1 }),
    changed: ['provider 1 rc2_body: null -> "on"', 'provider 1 short_codes: 0 -> 1'],
  },
  {
    name: 'the page of users',
    path: POLICY,
    says: 'ok',
    request: page,
    answer: answer(page),
    changed: [
      'provider 1 my: 0 -> 1',
      'provider 1 my_color: null -> "#0f766e"',
      'provider 1 my_name: null -> "Магазин 1"',
      // For doors: answers have the page of a link without an end.
      'provider 1 ride_until_ms: 0 -> 253402300799999',
      'provider 1 ride_version: 0 -> 1',
    ],
  },
  {
    name: 'the page of users, off and without a name',
    path: POLICY,
    says: 'ok',
    given: [asked(POLICY, OWN, page)],
    request: { page: 0, page_name: 'default', page_color: 'default' },
    answer: answer(),
    changed: [
      'provider 1 my: 1 -> 0',
      'provider 1 my_color: "#0f766e" -> null',
      'provider 1 my_name: "Магазин 1" -> null',
      'provider 1 ride_until_ms: 253402300799999 -> 0',
      'provider 1 ride_version: 1 -> 2',
    ],
  },
  ...misfits,
];
