/** The policy of a provider's links: policy. */

import { asked, gateScenarios, OWN, type Scenario } from './scenario.ts';

const POLICY = '/api/policy';

const answer = (changed: object = {}) =>
  JSON.stringify({
    ...{ rc: 1, msg: 'Ok', inactive_days: 0, when_full: 'refuse', cool_down_hours: 24 },
    ...{ enforce: 1, without_hwid: 'refuse', ...changed },
  });
const given = {
  ...{ inactive_days: 30, when_full: 'replace-oldest', cool_down_hours: 48 },
  ...{ enforce: 0, without_hwid: 'count' },
};

const misfits: Scenario[] = (
  [
    ['inactive_days', 3651, 'a whole number from 0 to 3650, or default'],
    ['enforce', 'off', 'one of 0, 1 and default'],
    ['without_hwid', 'Pass', 'one of refuse, pass, count and default'],
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
      'provider 1 enforce: null -> 0',
      'provider 1 inactive_days: null -> 30',
      'provider 1 when_full: null -> "replace-oldest"',
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
  ...misfits,
];
