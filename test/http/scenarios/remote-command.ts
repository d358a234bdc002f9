/** POST /remote/command: toggles, the four actions, linked and unbound devices. */

import { crowd } from './remote-notification.ts';
import {
  aRegisteredDevice,
  asked,
  type Given,
  gateScenarios,
  HWID,
  OWN,
  onPlan,
  type Scenario,
  timePasses,
} from './scenario.ts';
import { beyondBounds } from './send-bounds.ts';

export const COMMAND = '/remote/command';
const DAY_MS = 86_400_000;

const update = { action_type: 'update-subscription' };
export const toAndroid = { ...update, specific_device_toggle: false, os: ['android'] };
const importTo = (hwid: string) => ({ action_type: 'import-data', hwid, import_data: 'vless://x' });
const settings = (value: unknown) => ({
  ...toAndroid,
  action_type: 'set-settings',
  settings: value,
});
const change = (change_type: unknown, change_value: unknown) => ({
  ...toAndroid,
  action_type: 'sub-change',
  change_type,
  change_value,
});

const owner = [...crowd, onPlan('pro')];
/** Known to the appliance, linked to nobody. */
const stranger = (hwid: string) => aRegisteredDevice(hwid, hwid.padEnd(43, 'x'));
const strangers = ['s1', 's2', 's3', 's4', 's5', 's6', 's7', 's8', 's9', 's10', 's11'];
const allStrangers = strangers.map(stranger);
const ordered = (body: unknown) => asked(COMMAND, OWN, {}, body);
/** Ten commands to unbound HWIDs: all that may be in a day. */
const quotaUsed = [
  ...allStrangers,
  ordered(importTo('s1,s2,s3,s4,s5')),
  ordered(importTo('s6,s7,s8,s9,s10')),
];

const accepted = (name: string, body: unknown, given: readonly Given[] = owner): Scenario => ({
  name,
  path: COMMAND,
  says: 'ok',
  given,
  request: {},
  body,
  answer: '{"rc":1,"msg":"Ok","id":1}',
  changed: ['distribution 1 added'],
});

/** The old domain has to be served on. */
const moved = (name: string, body: unknown): Scenario => ({
  ...accepted(name, body),
  answerHeaders: {
    'x-note':
      'serve the old domain too until every device has got this: an app that has not asks there still',
  },
});

const refused =
  (says: Scenario['says'], msg: string, detail: string) =>
  (name: string, body: unknown, given: readonly Given[] = owner): Scenario => ({
    name,
    path: COMMAND,
    says,
    given,
    request: {},
    body,
    answer: JSON.stringify({ rc: 0, msg }),
    detail,
  });

const malformed = (name: string, detail: string, body: unknown): Scenario =>
  refused('unknown_error', 'Unknown error', detail)(name, body);
const hwidRequired = refused(
  'target_hwid_required',
  'HWID is required for specific device',
  'hwid is required when specific_device_toggle is true',
);
const osRequired = refused(
  'target_os_required',
  'Select at least one OS or enable specific device',
  'os is required when specific_device_toggle is false',
);
const notFound = refused(
  'device_not_found',
  'Device with this HWID not found',
  'a HWID in hwid is not known, or not of this provider; nothing was sent',
);
const importEmpty = refused(
  'import_data_empty',
  'Import data cannot be empty',
  'import_data is required',
);
const settingsEmpty = refused(
  'settings_empty',
  'Settings cannot be empty',
  'settings must be an object with a key',
);
const notAllowed = refused(
  'unbound_not_allowed',
  'Action is not allowed for not linked HWIDs',
  'only import-data may go to a HWID that is not linked to the provider',
);
const exceeded = refused(
  'unbound_quota_exceeded',
  'The maximum number of commands to unbound HWIDs has been exceeded',
  'too many HWIDs that are not linked to the provider got a command in the last 24 hours',
);

const accesses: Scenario[] = [
  ...beyondBounds('command', COMMAND, owner, toAndroid),
  ...gateScenarios(COMMAND, {}, owner, 'addDistribution', toAndroid),
  refused(
    'pro_required',
    'This feature requires Pro or Enterprise plan',
    "remote commands are not part of the provider's plan",
  )('the basic plan, however wrong the body is', '{', [...crowd, onPlan('basic')]),
  {
    ...refused(
      'command_save_error',
      'Failed to save command',
      'it could not be saved; internal fault ',
    )('a command that cannot be saved', toAndroid),
    fault: { method: 'addDistribution', kind: 'write_failed' },
  },
];

const accepting: Scenario[] = [
  accepted('to an operating system', toAndroid),
  accepted('on the Enterprise plan', toAndroid, [...owner, onPlan('enterprise')]),
  accepted('to an operating system that no device has: it is looked up at delivery', {
    ...toAndroid,
    os: ['ios'],
  }),
  accepted('as one panel sends it: settings and hwid, both empty', {
    ...toAndroid,
    settings: {},
    hwid: '',
  }),
  accepted('the toggle spelt with hyphens', {
    ...update,
    'specific-device-toggle': true,
    hwid: HWID,
    os: [],
  }),
  accepted('the toggle as a text', { ...update, specific_device_toggle: 'true', hwid: HWID }),
  accepted('the toggle as a number', { ...update, specific_device_toggle: 0, os: 'android' }),
  accepted('no toggle but a HWID', { ...update, hwid: HWID }),
  accepted('no toggle but an os', { ...update, os: ['android'] }),
  accepted('the toggle off: a hwid that nobody knows is not looked at', {
    ...toAndroid,
    hwid: 'nobody',
  }),
  accepted('settings', settings({ 'ping-type': 'tcp', 'my-key': 5 })),
  accepted('settings as a text', settings('{"ping-type":"tcp"}')),
  {
    ...accepted('settings with an odd key', settings({ 'ping-type': 'tcp', 'my key': 5 })),
    detail:
      'settings key mykey must be 1 to 64 letters, digits, dots, hyphens and underscores; it was left out',
  },
  {
    ...accepted('settings with an odd value of a newer key', settings({ 'mux-quic': 'maybe' })),
    detail: 'settings key mux-quic should be one of reject, allow, skip; it was passed on as it is',
  },
  moved('another domain', change('domain', 'example.com')),
  moved('another domain with a port', change('domain', 'пример.example:8443')),
  accepted('another address', change('url', 'https://example.com/sub')),
  accepted('scheduled', { ...toAndroid, send_date: '2026-11-20', send_time: '15:01' }),
  accepted('data to import, with line breaks', {
    ...importTo(HWID),
    import_data: 'vless://a\r\nvless://b',
  }),
  accepted('data to import for an unbound device', importTo('s1'), [...owner, stranger('s1')]),
  {
    ...accepted('to an unbound device a day after the last of ten', importTo('s11')),
    given: [...owner, ...quotaUsed, timePasses(DAY_MS)],
    answer: '{"rc":1,"msg":"Ok","id":3}',
    changed: ['distribution 3 added'],
  },
  {
    ...accepted('to a linked device when the quota of unbound ones is used up', importTo(HWID)),
    given: [...owner, ...quotaUsed],
    answer: '{"rc":1,"msg":"Ok","id":3}',
    changed: ['distribution 3 added'],
  },
];

const refusing: Scenario[] = [
  hwidRequired('the toggle on and no hwid', { ...toAndroid, specific_device_toggle: true }),
  hwidRequired('the toggle on and commas alone', {
    ...update,
    specific_device_toggle: true,
    hwid: ' , ',
  }),
  osRequired('the toggle off and no os', {
    ...update,
    specific_device_toggle: false,
    hwid: HWID,
  }),
  osRequired('the toggle off and an empty os', { ...toAndroid, os: [] }),
  osRequired('neither toggle nor hwid nor os', update),
  notFound('a HWID that nobody knows', { ...update, hwid: 'nobody' }),
  notFound('an unknown HWID beside a good one', { ...update, hwid: `${HWID},nobody` }),
  importEmpty('no data to import', { ...importTo(HWID), import_data: null }),
  importEmpty('blank data to import', { ...importTo(HWID), import_data: ' \n' }),
  settingsEmpty('no settings', settings(undefined)),
  settingsEmpty('settings without a key', settings({})),
  settingsEmpty('settings that are a list', settings(['ping-type'])),
  settingsEmpty('settings that are no JSON', settings('{"ping-type":')),
  notAllowed('an unbound device', { ...update, hwid: 's1' }, [...owner, stranger('s1')]),
  notAllowed('an unbound device beside a linked one', { ...update, hwid: `${HWID},s1` }, [
    ...owner,
    stranger('s1'),
  ]),
  exceeded('the eleventh unbound device in a day', importTo('s11'), [
    ...owner,
    ...quotaUsed,
    timePasses(DAY_MS - 1),
  ]),
  exceeded('five unbound devices where four are left', importTo('s7,s8,s9,s10,s11'), [
    ...owner,
    ...allStrangers,
    ordered(importTo('s1,s2,s3,s4,s5')),
    ordered(importTo('s6')),
  ]),
];

const CHANGE_TYPE_RULE = 'change_type must be domain or url';
const misfits: Scenario[] = [
  malformed(
    'another action',
    'action_type must be one of import-data, update-subscription, set-settings, sub-change',
    { ...toAndroid, action_type: 'reboot' },
  ),
  malformed('a toggle that is neither', 'specific_device_toggle must be true or false', {
    ...toAndroid,
    specific_device_toggle: 'yes',
  }),
  malformed('another os', 'os must be an array of ios and android', { ...toAndroid, os: ['mac'] }),
  malformed('six HWIDs', 'hwid must name at most 5 HWIDs', { ...update, hwid: 'a,b,c,d,e,f' }),
  malformed('a time without a date', 'send_date is required when send_time is given', {
    ...toAndroid,
    send_time: '10:00',
  }),
  malformed(
    'data to import that is no text',
    'import_data must be a string of whole Unicode characters',
    { ...importTo(HWID), import_data: { a: 1 } },
  ),
  malformed(
    'a value that a setting does not take',
    'settings key ping-type must be one of proxy, proxy-head, tcp, icmp',
    settings({ 'ping-type': 'udp' }),
  ),
  malformed(
    'a line break in a setting that becomes a header',
    'settings key change-user-agent must be a string without line breaks and NUL',
    settings({ 'change-user-agent': 'a\r\nx: y' }),
  ),
  malformed(
    'a custom key that is none, alone',
    'settings key mykey must be 1 to 64 letters, digits, dots, hyphens and underscores',
    settings({ 'my key': 1 }),
  ),
  malformed('no change_type', CHANGE_TYPE_RULE, change(undefined, 'example.com')),
  malformed('no change_value', 'change_value is required', change('url', '')),
  malformed(
    'a domain with a scheme',
    'change_value must be a host name, perhaps with a port, without scheme and path',
    change('domain', 'https://example.com'),
  ),
  malformed(
    'an address without a scheme',
    'change_value must be an absolute http or https URL of up to 8192 characters',
    change('url', 'example.com/sub'),
  ),
  malformed('a body that is no JSON', 'the body must be a JSON object in UTF-8', 'hwid=1'),
];

export const commandScenarios = [...accesses, ...accepting, ...refusing, ...misfits];
