/** POST /remote/notification with what does not fit. */

import { form, malformed, toAndroid, toHwid, withForm } from './remote-notification.ts';
import { HWID, type Scenario } from './scenario.ts';

const BODY_RULE = 'body is required';
const LINK_RULE = 'must be an absolute http or https URL, or a deep link of an app';

export const formScenarios: Scenario[] = [
  malformed('no form', 'PushNotificationForm is required and must be an object', {
    os: ['android'],
  }),
  malformed('a form that is a list', 'PushNotificationForm is required and must be an object', {
    ...toAndroid,
    PushNotificationForm: [form],
  }),
  malformed('no body', BODY_RULE, withForm({ body: null })),
  malformed('an empty body', BODY_RULE, withForm({ body: '' })),
  malformed(
    'a body of which the filter leaves nothing',
    'body is empty after the HTML filter has removed what is not allowed',
    withForm({ body: '<script>alert(1)</script>' }),
  ),
  malformed(
    'a title that is no text',
    'title must be a string of whole Unicode characters',
    withForm({ title: 5 }),
  ),
  malformed(
    'a link that runs code',
    `link_for_open ${LINK_RULE}`,
    withForm({ link_for_open: 'javascript:alert(1)' }),
  ),
  malformed(
    'an image that is no URL',
    'background_image must be an absolute http or https URL',
    withForm({ background_image: '/a.png' }),
  ),
  malformed(
    'a locale that is none',
    'locales.R is not a locale: 2 to 8 letters, perhaps with a region',
    withForm({ locales: { R: { body: 'x' } } }),
  ),
  malformed(
    'a link in a locale',
    `locales.RU.link-for-open ${LINK_RULE}`,
    withForm({ locales: { RU: { 'link-for-open': 'x' } } }),
  ),
  malformed(
    'no type_push',
    'type_push is required and must be force or optional',
    withForm({ type_push: undefined }),
  ),
  ...[0, 366, -1, 1.5, '1e2', undefined].map((expire_days) =>
    malformed(
      `expire_days ${expire_days}`,
      'expire_days is required and must be a whole number from 1 to 365',
      withForm({ expire_days }),
    ),
  ),
  malformed(
    'a date without a time',
    'send_time is required when send_date is given',
    withForm({ send_date: '2026-11-21' }),
  ),
  malformed(
    'a time without a date',
    'send_date is required when send_time is given',
    withForm({ send_time: '10:00' }),
  ),
  malformed(
    'a day that does not exist',
    'send_date must be an existing day as YYYY-MM-DD',
    withForm({ send_date: '2027-02-29', send_time: '10:00' }),
  ),
  malformed(
    'a time that does not exist',
    'send_time must be a time of day as HH:MM',
    withForm({ send_date: '2026-11-21', send_time: '24:00' }),
  ),
  malformed(
    'a minute ago',
    'send_date and send_time, which are in UTC+3, must not be in the past',
    withForm({ send_date: '2026-11-20', send_time: '14:59' }),
  ),
  malformed(
    'more than 365 days ahead',
    'send_date must be at most 365 days ahead',
    withForm({ send_date: '2027-11-20', send_time: '15:01' }),
  ),
  malformed('another os', 'os must be an array of ios and android', {
    ...toAndroid,
    os: ['ios', 'windows'],
  }),
  malformed('six HWIDs', 'hwid must name at most 5 HWIDs', { ...toHwid, hwid: 'a,b,c,d,e,f' }),
  malformed('a hwid that is a list', 'hwid must be a string of HWIDs between commas', {
    ...toHwid,
    hwid: [HWID],
  }),
  malformed('a body that is no JSON', 'the body must be a JSON object in UTF-8', '{"os":'),
  malformed('a body that is a list', 'the body must be a JSON object in UTF-8', [toAndroid]),
  malformed('an empty request body', 'the body must be a JSON object in UTF-8', ''),
];
