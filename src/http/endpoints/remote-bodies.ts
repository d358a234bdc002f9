/**
 * Bodies of providers and messages to devices, as schemas for the documents. The core also accepts
 * values of forms (numbers as digits, lists as text with commas). The schemas use the tables of the
 * core, and a test sends values that they allow and forbid.
 */

import { type TProperties, Type } from '@sinclair/typebox';
import { EXPIRE_DAYS, HWID, PUSH_TYPE } from '../../core/formats.ts';
import { HOST_LABEL } from '../../core/host-name.ts';
import { LOCALE_COUNT_MAX, LOCALE_KEY } from '../../core/message/notification.ts';
import { DAYS_AHEAD_MAX, TIME_OF_DAY } from '../../core/message/schedule.ts';
import { TARGET_HWID_COUNT_MAX, TARGET_OS } from '../../core/message/target.ts';
import { choice, forms, HWID_EXAMPLE, text } from './params.ts';
import { SETTING_VALUE, Settings } from './settings-body.ts';

const uri = (description: string, example: string) =>
  Type.String({ format: 'uri', description, examples: [example] });

const WEB_URL = { format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' };

const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `${BYTE}(?:\\.${BYTE}){3}`;
const PORT =
  '(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
/** A host name in ASCII or an IPv4 address, with an optional port. */
const HOST_AND_PORT = {
  pattern: `^((${HOST_LABEL}\\.)*[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?|${IPV4})(:${PORT})?$`,
};

/** The pattern of a HWID without its anchors, as a part of longer patterns. */
const HWID_INSIDE = HWID.pattern.source.slice(1, -1);

const targets = {
  hwid: Type.Optional(
    Type.String({
      pattern: `^${HWID_INSIDE}(,${HWID_INSIDE}){0,${TARGET_HWID_COUNT_MAX - 1}}$`,
      description: `Up to ${TARGET_HWID_COUNT_MAX} HWIDs between commas.`,
      examples: [HWID_EXAMPLE],
    }),
  ),
  os: Type.Optional(
    Type.Array(choice(TARGET_OS), {
      minItems: 1,
      description: 'Every linked device with one of these operating systems.',
      examples: [['android']],
    }),
  ),
};

/** The filter of subscriptions: figures-params.ts. */
const figures = {
  ends_in_days: Type.Optional(forms.figuresDays.schema),
  ended: Type.Optional(Type.Literal(1)),
  traffic_over: Type.Optional(forms.trafficPercent.schema),
  unread_days: Type.Optional(forms.figuresDays.schema),
};

const schedule = {
  send_date: Type.Optional(
    Type.String({
      format: 'date',
      description: `The day in UTC+3, at most ${DAYS_AHEAD_MAX} days ahead; only with \`send_time\`.`,
      examples: ['2026-11-22'],
    }),
  ),
  send_time: Type.Optional(
    Type.RegExp(TIME_OF_DAY, {
      description:
        'The minute in UTC+3, not in the past; the current one means at once. Only with `send_date`.',
      examples: ['09:30'],
    }),
  ),
};

/** Each needs the other. */
const SCHEDULE_PAIR = { send_date: ['send_time'], send_time: ['send_date'] };

const URL_RULE = 'What to open on a tap: an absolute http or https URL, or a deep link of an app.';
const HTML_RULE = 'HTML that shows something after the filter has dropped what is not allowed.';
const title = text('Plain text.', 'Maintenance');
const html = Type.String({
  minLength: 1,
  contentMediaType: 'text/html',
  description: HTML_RULE,
  examples: ['Tonight, <b>23:00</b>'],
});
const URL_EXAMPLE = 'https://example.com/news';
/** Both spellings of the field are accepted. */
const urlToOpen = (other: string) =>
  uri(`${URL_RULE} \`${other}\` is the same field.`, URL_EXAMPLE);

const Locale = Type.Object(
  {
    title: Type.Optional(title),
    body: Type.Optional(html),
    'link-for-open': Type.Optional(urlToOpen('link_for_open')),
  },
  {
    title: 'Locale',
    description: 'One language of a notification; a missing field is taken from outside.',
  },
);

const LOCALES = {
  patternProperties: { [LOCALE_KEY.source]: Locale },
  maxProperties: LOCALE_COUNT_MAX,
  additionalProperties: false,
  description: 'By locale: 2 to 8 letters, perhaps with a region.',
};
const LOCALES_EXAMPLE = { RU: { title: 'Работы', body: 'Сегодня, <b>23:00</b>' } };

/** The content of a notification, for providers and devices. */
const notificationContent = {
  title: Type.Optional(title),
  body: html,
  link_for_open: Type.Optional(urlToOpen('link-for-open')),
  background_image: Type.Optional(
    Type.String({
      ...WEB_URL,
      description: 'An absolute http or https URL.',
      examples: ['https://example.com/night.png'],
    }),
  ),
  locales: Type.Optional(Type.Object({}, { ...LOCALES, examples: [LOCALES_EXAMPLE] })),
  type_push: choice(PUSH_TYPE.values),
  expire_days: Type.Integer({
    minimum: EXPIRE_DAYS.minimum,
    maximum: EXPIRE_DAYS.maximum,
    description: 'For how many days it waits for a device.',
    examples: [3],
  }),
};

const FORM_EXAMPLE = {
  title: 'Maintenance',
  body: 'Tonight, <b>23:00</b>',
  type_push: 'optional',
  expire_days: 3,
};

/** `POST /remote/notification`. */
export const NotificationInput = Type.Object(
  {
    PushNotificationForm: Type.Object(
      { ...notificationContent, ...schedule },
      { title: 'PushNotificationForm', dependentRequired: SCHEDULE_PAIR },
    ),
    ...targets,
    ...figures,
  },
  {
    title: 'NotificationInput',
    description:
      'Needs `hwid`, `os` or a filter of subscriptions; `os` is ignored beside `hwid`, and a filter stands alone.',
    anyOf: ['hwid', 'os', ...Object.keys(figures)].map((one) => ({ required: [one] })),
    examples: [{ PushNotificationForm: FORM_EXAMPLE, os: ['android'] }],
  },
);

/** The message that a device gets: {@link NotificationInput} after the filter. */
const NotificationPayload = Type.Object(
  {
    ...notificationContent,
    // An accepted value is not changed; international URLs are no `uri`.
    link_for_open: Type.Optional(text(URL_RULE, URL_EXAMPLE)),
    background_image: Type.Optional(
      text('An absolute http or https URL.', 'https://example.com/night.png'),
    ),
    locales: Type.Optional(
      Type.Object(
        {},
        {
          description: 'By locale, with the fields that the provider gave.',
          additionalProperties: Type.Object({
            title: Type.Optional(Type.String()),
            body: Type.Optional(Type.String()),
            'link-for-open': Type.Optional(Type.String()),
          }),
        },
      ),
    ),
  },
  { title: 'NotificationPayload', examples: [FORM_EXAMPLE] },
);

/** The fields of a payload that differ by action. */
const change = {
  change_type: choice(['domain', 'url']),
  change_value: text(
    'For `domain` a host name, perhaps with a port; an international name reaches the device in its ASCII form. For `url` an absolute http or https URL.',
    'example.com',
  ),
};

/** Targets by hwid or os, chosen by the toggle; without it, by hwid if that is given. */
const COMMAND_TARGETS = [
  { required: ['hwid'], properties: { specific_device_toggle: { const: true } } },
  { required: ['os'], properties: { specific_device_toggle: { const: false } } },
];

function commandInput(name: string, action: string, fields: TProperties, example: object) {
  const toggle =
    'True: by `hwid`; false: by `os`; when absent, true if `hwid` is given. `specific-device-toggle` is the same field.';
  return Type.Object(
    {
      // In the order of the checks.
      action_type: Type.Literal(action),
      specific_device_toggle: Type.Optional(Type.Boolean({ description: toggle })),
      ...targets,
      ...schedule,
      ...fields,
    },
    {
      title: name,
      dependentRequired: SCHEDULE_PAIR,
      anyOf: COMMAND_TARGETS,
      examples: [{ action_type: action, ...example }],
    },
  );
}

const ImportData = commandInput(
  'ImportData',
  'import-data',
  {
    import_data: Type.String({
      pattern: '\\S',
      description: 'The data for the app to import; the device gets it in base64 as `input-data`.',
      examples: ['https://example.com/sub/1'],
    }),
  },
  { hwid: HWID_EXAMPLE, import_data: 'https://example.com/sub/1' },
);
const UpdateSubscription = commandInput(
  'UpdateSubscription',
  'update-subscription',
  {},
  { os: ['ios', 'android'], send_date: '2026-11-22', send_time: '09:30' },
);
const SetSettings = commandInput(
  'SetSettings',
  'set-settings',
  { settings: Settings },
  { os: ['android'], settings: { 'fragmentation-enable': true, 'ping-type': 'tcp' } },
);
const SubChange = {
  ...commandInput('SubChange', 'sub-change', change, {
    os: ['android'],
    change_type: 'domain',
    change_value: 'example.com',
  }),
  // Beside `anyOf`, a `oneOf` is what generators of clients make two types of one name from.
  if: { properties: { change_type: { const: 'domain' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { change_value: HOST_AND_PORT } },
  else: { properties: { change_value: WEB_URL } },
};

const commandInputs = [ImportData, UpdateSubscription, SetSettings, SubChange];

/** `POST /remote/command`. */
export const CommandInput = Type.Unsafe<unknown>({
  title: 'CommandInput',
  oneOf: commandInputs,
  discriminator: {
    propertyName: 'action_type',
    mapping: Object.fromEntries(
      commandInputs.map(({ properties, title }) => [
        properties.action_type.const,
        `#/components/schemas/${title}`,
      ]),
    ),
  },
});

const payload = (name: string, action: string, fields: TProperties) =>
  Type.Object({ action_type: Type.Literal(action), ...fields }, { title: name });

/** The payload of a message. */
export const Payload = Type.Unsafe<unknown>({
  oneOf: [
    NotificationPayload,
    payload('ImportDataPayload', 'import-data', {
      'input-data': Type.String({
        contentEncoding: 'base64',
        description: 'The UTF-8 text to import.',
        examples: ['aHR0cHM6Ly9leGFtcGxlLmNvbS9zdWIvMQ=='],
      }),
    }),
    payload('UpdateSubscriptionPayload', 'update-subscription', {}),
    payload('SetSettingsPayload', 'set-settings', {
      settings: Type.Object(
        {},
        {
          additionalProperties: SETTING_VALUE,
          description: 'Keys and values, with their types unchanged.',
          examples: [{ 'fragmentation-enable': true }],
        },
      ),
    }),
    payload('SubChangePayload', 'sub-change', change),
  ],
});
