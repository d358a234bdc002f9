/** Webhooks: add, list, update, rotate, remove. */

import type { NewWebhook } from '../../../src/core/port/webhook.ts';
import { USUAL_WEBHOOK } from '../../../src/core/webhook-fields.ts';
import { ACT } from '../../support/actor.ts';
import {
  FOREIGN_ID,
  type Given,
  gateScenarios,
  OWN_ID,
  type Scenario,
  timePasses,
} from './scenario.ts';

const ADD = '/api/webhook-add';
const LIST = '/api/webhook-list';
const UPDATE = '/api/webhook-update';
const ROTATE = '/api/webhook-rotate';
const REMOVE = '/api/webhook-remove';

const URL = 'https://bot.example.com/hook/s3cret';
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfUZRe9Cto=';
const TOKEN = `123456789:${'A'.repeat(35)}`;
const OTHER_TOKEN = `987654321:${'B'.repeat(35)}`;
const KINDS =
  'link.created, link.updated, link.revoked, link.removed, link.tie, link.cut_off, link.full, link.over_limit, link.refused, link.ending, link.ended, link.renewed, link.traffic_low, link.inactive, device.admitted, device.removed, device.replaced, device.inactive, hwid.copied, reminders.stopped, distribution.finished, distribution.failed, distribution.blocked, distribution.cancelled, subscription.ending, subscription.ended, quota.reached, key.rotated, key.first_use, change.waiting, webhook.disabled';

export const OK = '{"rc":1,"msg":"Ok"}';
export const NOT_FOUND = '{"rc":0,"msg":"Webhook not found"}';
export const NOT_FOUND_DETAIL = 'id names no webhook of this provider';
export const NO_ID_DETAIL = 'id is required: a whole number of 1 to 15 digits';
export const INVALID = '{"rc":0,"msg":"Invalid parameters"}';
const SAVE_ERROR = '{"rc":0,"msg":"Error save webhook"}';
const SAVE_DETAIL = 'the change could not be saved; internal fault ';

/** A webhook of the caller's, unless it is another's. */
export const aWebhook =
  (more: Partial<NewWebhook> = {}): Given =>
  async ({ core, clock }) => {
    const added = await core.store.addWebhook(
      {
        providerId: OWN_ID,
        target: { kind: 'webhook', url: URL, scheme: 'v1' },
        ...USUAL_WEBHOOK,
        secret: SECRET,
        createdAtMs: clock.nowMs(),
        ...more,
      },
      10,
      ACT,
    );
    if (typeof added === 'string') throw new Error(`given a webhook: ${added}`);
  };

export const aChat = aWebhook({
  target: { kind: 'telegram', chat: '-1001', locale: 'fa' },
  secret: TOKEN,
});

export const aDisabledWebhook: Given = async (app) => {
  await aWebhook()(app);
  const disabled = { atMs: app.clock.nowMs(), why: 'the receiver answered 410' };
  await app.core.store.updateWebhook(1, OWN_ID, { disabled }, ACT);
};

const aRotation: Given = async ({ core, clock }) => {
  const rotation = {
    secret: `${SECRET.slice(0, -2)}8=`,
    previousUntilMs: clock.nowMs() + 3_600_000,
  };
  await core.store.updateWebhook(1, OWN_ID, { rotation }, ACT);
};

const added = ['destination 1 added', 'webhook 1 added'];
const secretOf = (secret: string | null, key: string | null) =>
  `{"rc":1,"msg":"Ok","id":1,"secret":${JSON.stringify(secret)},"public_key":${JSON.stringify(key)}}`;

const misfit = (name: string, request: Scenario['request'], detail: string): Scenario => ({
  name,
  path: ADD,
  says: 'invalid_parameters',
  request,
  answer: INVALID,
  detail,
});

const addScenarios: Scenario[] = [
  ...gateScenarios(ADD, { url: URL }, [], 'addWebhook'),
  {
    name: 'a URL alone: all events, signed by HMAC',
    path: ADD,
    says: 'ok',
    request: { url: URL },
    answer: secretOf('(drawn)', null),
    changed: added,
  },
  {
    name: 'a URL with Ed25519, for two kinds of events',
    path: ADD,
    says: 'ok',
    request: { url: URL, signature: 'v1a', events: 'link.full, device.admitted,link.full' },
    answer: secretOf(null, '(drawn)'),
    changed: added,
  },
  {
    name: 'a Telegram chat: its token is never shown',
    path: ADD,
    says: 'ok',
    request: { chat: '-1001', bot_token: TOKEN, locale: 'fa', events: 'all' },
    answer: secretOf(null, null),
    changed: added,
  },
  {
    name: 'one beyond the cap',
    path: ADD,
    options: { bounds: { webhooksPerOwnerMax: 1 } },
    says: 'webhook_limit_reached',
    given: [aWebhook(), aWebhook({ providerId: FOREIGN_ID })],
    request: { url: URL },
    answer: '{"rc":0,"msg":"Webhook limit reached"}',
    detail: 'the provider has as many webhooks as it may have',
  },
  {
    name: 'one that cannot be saved',
    path: ADD,
    says: 'webhook_save_error',
    request: { url: URL },
    fault: { method: 'addWebhook', kind: 'write_failed' },
    answer: SAVE_ERROR,
    detail: SAVE_DETAIL,
  },
  misfit('neither a URL nor a chat', {}, 'url or chat is required, one of them'),
  misfit(
    'both a URL and a chat',
    { url: URL, chat: '1', bot_token: TOKEN },
    'url or chat is required, one of them',
  ),
  misfit(
    'no URL',
    { url: 'bot.example.com' },
    'url is not an http or https address of up to 2048 characters',
  ),
  misfit('a URL without TLS', { url: 'http://bot.example.com/' }, 'url is not an https address'),
  misfit(
    'a URL of this machine',
    { url: 'https://localhost/hook' },
    'url leads to a network that is not public',
  ),
  misfit(
    'a URL of the metadata of a cloud, as one number',
    { url: 'https://2852039166/latest' },
    'url leads to a network that is not public',
  ),
  misfit(
    'a URL with a user in it',
    { url: 'https://me:pass@bot.example.com/' },
    'url has a user in it',
  ),
  misfit('a URL with a fragment', { url: `${URL}#part` }, 'url has a fragment'),
  misfit(
    'events of the operator',
    { url: URL, events: 'backup.failed' },
    `events must be all, or of ${KINDS}`,
  ),
  misfit('no kind of events', { url: URL, events: ' ,' }, `events must be all, or of ${KINDS}`),
  misfit('another signature', { url: URL, signature: 'v2' }, 'signature must be one of v1, v1a'),
  misfit('a chat without a token', { chat: '@channel' }, 'bot_token is required with chat'),
  misfit(
    'what is no token',
    { chat: '@channel', bot_token: 'x' },
    'the token must be that of a Telegram bot, such as 123456789:AA...',
  ),
  misfit(
    'a signature of a chat',
    { chat: '@channel', bot_token: TOKEN, signature: 'v1' },
    'signature goes with url',
  ),
  misfit('a token of a URL', { url: URL, bot_token: TOKEN }, 'bot_token goes with chat'),
  misfit('a language of a URL', { url: URL, locale: 'ru' }, 'locale goes with chat'),
  misfit('facts of a URL', { url: URL, with: 'note' }, 'with goes with chat'),
  misfit(
    'a chat that is none',
    { chat: 'my chat', bot_token: TOKEN },
    'chat must be the number of a chat, or @ and its public name, with / and the number of a topic behind it or none',
  ),
  misfit('another language', { url: URL, locale: 'de' }, 'locale must be one of en, ru, zh, fa'),
];

const TIME = '2026-11-20 15:00:00';
const urlRow = (id: number, more: object = {}) =>
  JSON.stringify({
    id,
    kind: 'webhook',
    url: 'https://bot.example.com/…',
    url_fingerprint: '6a088955',
    signature: 'v1',
    public_key: null,
    chat: null,
    bot: null,
    locale: null,
    figures: 0,
    with: [],
    events: [],
    secret_fingerprint: '53ec6c7e',
    old_secret_until: null,
    created_at: TIME,
    disabled_at: null,
    disabled_why: null,
    ...more,
  });
const chatRow = (id: number) =>
  urlRow(id, {
    kind: 'telegram',
    url: null,
    url_fingerprint: null,
    signature: null,
    chat: '-1001',
    bot: '123456789',
    locale: 'fa',
    secret_fingerprint: '2f235a8a',
  });
const listed = (...rows: string[]) => `{"rc":1,"msg":"Ok","data":[${rows.join(',')}]}`;

const listScenarios: Scenario[] = [
  ...gateScenarios(LIST, {}, [aWebhook()], 'listWebhooks'),
  {
    name: 'of its own, newest first, and no secret of any of them',
    path: LIST,
    says: 'ok',
    given: [
      aWebhook(),
      aWebhook({ providerId: FOREIGN_ID }),
      aWebhook({ providerId: null }),
      aChat,
    ],
    request: {},
    answer: listed(chatRow(4), urlRow(1)),
  },
  {
    name: 'one that is disabled, with the reason',
    path: LIST,
    says: 'ok',
    given: [aDisabledWebhook],
    request: {},
    answer: listed(urlRow(1, { disabled_at: TIME, disabled_why: 'the receiver answered 410' })),
  },
  {
    name: 'one whose old secret signs too',
    path: LIST,
    says: 'ok',
    given: [aWebhook(), aRotation, timePasses(3_599_999)],
    request: {},
    answer: listed(
      urlRow(1, { secret_fingerprint: '4fdc7144', old_secret_until: '2026-11-20 16:00:00' }),
    ),
  },
  {
    name: 'one whose old secret does no longer',
    path: LIST,
    says: 'ok',
    given: [aWebhook(), aRotation, timePasses(3_600_000)],
    request: {},
    answer: listed(urlRow(1, { secret_fingerprint: '4fdc7144' })),
  },
];

const updated = (
  name: string,
  request: Scenario['request'],
  changed: readonly string[],
  given: readonly Given[] = [aWebhook()],
): Scenario => ({
  name,
  path: UPDATE,
  says: 'ok',
  given,
  request: { id: 1, ...request },
  answer: OK,
  changed,
});

const notUpdated = (
  name: string,
  request: Scenario['request'],
  detail: string,
  given: readonly Given[] = [aWebhook()],
): Scenario => ({
  name,
  path: UPDATE,
  says: 'invalid_parameters',
  given,
  request: { id: 1, ...request },
  answer: INVALID,
  detail,
});

const stranger = (path: string, given: readonly Given[], request: object = {}): Scenario[] => [
  {
    name: "another provider's",
    path,
    says: 'webhook_not_found',
    given,
    request: { id: 1, ...request },
    answer: NOT_FOUND,
    detail: NOT_FOUND_DETAIL,
  },
  {
    name: 'no id',
    path,
    says: 'webhook_not_found',
    given,
    request: { ...request },
    answer: NOT_FOUND,
    detail: NO_ID_DETAIL,
  },
];
export const notOwn = (path: string, request: object = {}): Scenario[] =>
  stranger(path, [aWebhook({ providerId: FOREIGN_ID })], request);

const unsaved = (
  path: string,
  method: NonNullable<Scenario['fault']>['method'],
  request: Scenario['request'],
): Scenario => ({
  name: 'a change that cannot be saved',
  path,
  says: 'webhook_save_error',
  given: [aWebhook()],
  request,
  fault: { method, kind: 'write_failed' },
  answer: SAVE_ERROR,
  detail: SAVE_DETAIL,
});

const updateScenarios: Scenario[] = [
  ...gateScenarios(UPDATE, { id: 1, events: 'all' }, [aWebhook()], 'updateWebhook'),
  ...notOwn(UPDATE, { events: 'all' }),
  updated('nothing', {}, []),
  updated('another URL', { url: 'https://other.example.com/' }, [
    `webhook 1 address: "${URL}" -> "https://other.example.com/"`,
  ]),
  updated('kinds of events', { events: 'link.full' }, ['webhook 1 events: "" -> "link.full"']),
  updated('disabled', { enabled: 0 }, [
    'webhook 1 disabled_at_ms: null -> 1795176000000',
    'webhook 1 disabled_why: null -> "its owner disabled it"',
  ]),
  updated('disabled again: the first reason stays', { enabled: 0 }, [], [aDisabledWebhook]),
  updated(
    'enabled again',
    { enabled: 1 },
    [
      'webhook 1 disabled_at_ms: 1795176000000 -> null',
      'webhook 1 disabled_why: "the receiver answered 410" -> null',
    ],
    [aDisabledWebhook],
  ),
  updated(
    'another chat and another language',
    { chat: '@channel', locale: 'zh' },
    ['webhook 1 address: "-1001" -> "@channel"', 'webhook 1 locale: "fa" -> "zh"'],
    [aChat],
  ),
  notUpdated(
    'a private URL',
    { url: 'https://[fd00::1]/' },
    'url leads to a network that is not public',
  ),
  notUpdated(
    'a chat of a webhook',
    { chat: '1' },
    'chat, locale and with are of Telegram: this webhook has a URL',
  ),
  notUpdated(
    'a URL of a chat',
    { url: URL },
    'url is of webhooks: this one is a chat of Telegram',
    [aChat],
  ),
  notUpdated('kinds that are none', { events: 'link' }, `events must be all, or of ${KINDS}`),
  notUpdated('neither enabled nor not', { enabled: 2 }, 'enabled must be 0 or 1'),
  unsaved(UPDATE, 'updateWebhook', { id: 1, events: 'link.full' }),
];

const rotateScenarios: Scenario[] = [
  ...gateScenarios(ROTATE, { id: 1 }, [aWebhook()], 'updateWebhook'),
  ...notOwn(ROTATE),
  {
    name: 'a new secret: the old one signs for a day',
    path: ROTATE,
    says: 'ok',
    given: [aWebhook()],
    request: { id: 1 },
    answer: '{"rc":1,"msg":"Ok","secret":"(drawn)","public_key":null}',
    changed: [
      'webhook 1 previous_secret: null -> "(drawn)"',
      'webhook 1 previous_until_ms: null -> 1795262400000',
      'webhook 1 secret: "(drawn)" -> "(drawn)"',
    ],
  },
  {
    name: 'a new secret: the old one is dead at once',
    path: ROTATE,
    says: 'ok',
    given: [aWebhook()],
    request: { id: 1, keep_old_hours: 0 },
    answer: '{"rc":1,"msg":"Ok","secret":"(drawn)","public_key":null}',
    changed: ['webhook 1 secret: "(drawn)" -> "(drawn)"'],
  },
  {
    name: 'another bot of a chat',
    path: ROTATE,
    says: 'ok',
    given: [aChat],
    request: { id: 1, bot_token: OTHER_TOKEN },
    answer: '{"rc":1,"msg":"Ok","secret":null,"public_key":null}',
    changed: [`webhook 1 secret: "${TOKEN}" -> "${OTHER_TOKEN}"`],
  },
  {
    name: 'a chat without a token',
    path: ROTATE,
    says: 'invalid_parameters',
    given: [aChat],
    request: { id: 1 },
    answer: INVALID,
    detail: 'the token must be that of a Telegram bot, such as 123456789:AA...',
  },
  {
    name: 'a token for a URL',
    path: ROTATE,
    says: 'invalid_parameters',
    given: [aWebhook()],
    request: { id: 1, bot_token: TOKEN },
    answer: INVALID,
    detail: 'the secret of a webhook is made here: a token is of Telegram',
  },
  {
    name: 'more than a week',
    path: ROTATE,
    says: 'invalid_parameters',
    given: [aWebhook()],
    request: { id: 1, keep_old_hours: 169 },
    answer: INVALID,
    detail: 'keep_old_hours must be a whole number from 0 to 168',
  },
  unsaved(ROTATE, 'updateWebhook', { id: 1 }),
];

const removeScenarios: Scenario[] = [
  ...gateScenarios(REMOVE, { id: 1 }, [aWebhook()], 'removeWebhook'),
  ...notOwn(REMOVE),
  {
    name: 'a webhook with its queue',
    path: REMOVE,
    says: 'ok',
    given: [aWebhook()],
    request: { id: 1 },
    answer: OK,
    changed: ['destination 1 removed', 'webhook 1 removed'],
  },
  unsaved(REMOVE, 'removeWebhook', { id: 1 }),
];

export const webhookScenarios = [
  ...addScenarios,
  ...listScenarios,
  ...updateScenarios,
  ...rotateScenarios,
  ...removeScenarios,
];
