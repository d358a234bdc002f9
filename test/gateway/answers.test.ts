/** The tables of answers, row by row: what each answer means, in the words of the ledger. */

import { describe, expect, test } from 'bun:test';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { AttemptVerdict, Gateway } from '../../src/core/outbox/carrier.ts';
import type { PushAddress } from '../../src/core/port/registration.ts';
import type { AnswerRow } from '../../src/gateway/answer.ts';
import { Apns } from '../../src/gateway/apns.ts';
import { APNS_ANSWERS } from '../../src/gateway/apns-answers.ts';
import { Fcm } from '../../src/gateway/fcm.ts';
import { FCM_ANSWERS } from '../../src/gateway/fcm-answers.ts';
import { VapidKey } from '../../src/gateway/vapid.ts';
import { WebPush } from '../../src/gateway/webpush.ts';
import { WEBPUSH_ANSWERS } from '../../src/gateway/webpush-answers.ts';
import { OutgoingFailure } from '../../src/outgoing/call.ts';
import { FakeClock } from '../support/clock.ts';
import { answer, contentAt, NEVER, ScriptedOutgoing } from '../support/gateway.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const p256Pem = String(p256.export({ type: 'pkcs8', format: 'pem' }));

const ACCESS = answer(200, { access_token: 'ya29.test', expires_in: 3_599 });

const MAKERS = {
  fcm: (outgoing: ScriptedOutgoing, clock: FakeClock): Gateway => {
    const account = {
      projectId: 'p',
      clientEmail: 'a@p.example',
      keyId: 'k',
      key: rsa,
      tokenUri: 'https://token.example/token',
    };
    return new Fcm(
      account,
      { endpoint: 'https://fcm.example', channelId: '' },
      { outgoing, clock },
    );
  },
  apns: (outgoing: ScriptedOutgoing, clock: FakeClock): Gateway => {
    const account = { key: createPrivateKey(p256Pem), keyId: 'K', teamId: 'T', topic: 'a.b' };
    return new Apns(account, 'https://apns.example', { outgoing, clock });
  },
  webpush: (outgoing: ScriptedOutgoing, clock: FakeClock): Gateway => {
    const key = VapidKey.read(p256Pem);
    if (typeof key === 'string') throw new Error(key);
    return new WebPush(key, 'mailto:a@b.example', { outgoing, clock });
  },
};

const ADDRESSES: Record<PushAddress['gateway'], PushAddress> = {
  fcm: { gateway: 'fcm', token: 'phone-1' },
  apns: { gateway: 'apns', token: 'ab'.repeat(32) },
  webpush: {
    gateway: 'webpush',
    token: {
      endpoint: 'https://push.example/1',
      keys: {
        p256dh:
          'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        auth: 'BTBZMqHH6r4Tts7J_aSIgg',
      },
    },
  },
};

type Answers = ConstructorParameters<typeof ScriptedOutgoing>[0];

/** A gateway whose other side answers so, one after the other. */
function scripted(name: PushAddress['gateway'], ...answers: Answers) {
  const clock = new FakeClock();
  const outgoing = new ScriptedOutgoing(name === 'fcm' ? [ACCESS, ...answers] : [...answers]);
  const gateway = MAKERS[name](outgoing, clock);
  const send = () => gateway.send(ADDRESSES[name], contentAt(clock.nowMs()), NEVER);
  return { send, outgoing, clock, gateway };
}

const GOOD = answer(201);
const good = (name: PushAddress['gateway']) => (name === 'webpush' ? GOOD : answer(200));

/** Bodies of FCM as Firebase documents them and as it was seen to answer. */
function fcmBody(status: number, word: string, code: string | null, more: object = {}) {
  const type = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';
  const details = code === null ? {} : { details: [{ '@type': type, errorCode: code }] };
  return { error: { code: status, status: word, message: 'Requested', ...details, ...more } };
}
const badField = (field: string) => ({
  details: [{ fieldViolations: [{ field, description: 'Invalid' }] }],
});
const BAD_TOKEN = 'The registration token is not a valid FCM registration token';
const FCM_SAID: [status: number, body: unknown, means: string, problem: string][] = [
  [200, { name: 'projects/p/messages/1' }, 'accepted', ''],
  [
    ...([
      400,
      fcmBody(400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', { message: BAD_TOKEN }),
    ] as const),
    ...(['dead', 'FCM does not know this token (400 INVALID_TOKEN)'] as const),
  ],
  [
    ...([400, fcmBody(400, 'INVALID_ARGUMENT', null, badField('message.token'))] as const),
    ...(['dead', 'FCM does not know this token (400 INVALID_TOKEN)'] as const),
  ],
  [
    ...([400, fcmBody(400, 'INVALID_ARGUMENT', null, badField('message.data'))] as const),
    ...(['failed', 'FCM rejects the message as invalid (400 INVALID_ARGUMENT)'] as const),
  ],
  [400, '<html>', 'failed', 'FCM rejects the message as invalid (400)'],
  [
    ...([401, fcmBody(401, 'UNAUTHENTICATED', 'THIRD_PARTY_AUTH_ERROR')] as const),
    'failed',
    'FCM cannot reach this device for the app: upload the key of Apple (or the Web Push certificate) in the Firebase console (401 THIRD_PARTY_AUTH_ERROR)',
  ],
  [
    ...([401, fcmBody(401, 'UNAUTHENTICATED', null)] as const),
    'retry',
    'FCM rejects the access tokens of the service account (401 UNAUTHENTICATED)',
  ],
  [
    ...([403, fcmBody(403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH')] as const),
    'retry',
    'the token belongs to another Firebase project than the service account (403 SENDER_ID_MISMATCH)',
  ],
  [
    ...([403, fcmBody(403, 'PERMISSION_DENIED', null)] as const),
    'credentials',
    'the service account may not send: enable the Firebase Cloud Messaging API for its project, and give it the role Firebase Cloud Messaging API Admin (403 PERMISSION_DENIED)',
  ],
  [
    ...([404, fcmBody(404, 'NOT_FOUND', 'UNREGISTERED')] as const),
    'dead',
    'the app was removed from the device, or has a new token (404 UNREGISTERED)',
  ],
  [
    ...([404, fcmBody(404, 'NOT_FOUND', null), 'retry'] as const),
    'FCM answers without a reason: check that the project of the service account exists, and that no other server answers in its place (404 NOT_FOUND)',
  ],
  [
    ...([404, '<html>', 'retry'] as const),
    'FCM answers without a reason: check that the project of the service account exists, and that no other server answers in its place (404)',
  ],
  [
    ...([429, fcmBody(429, 'RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED'), 'retry'] as const),
    'too many messages for FCM (429 QUOTA_EXCEEDED)',
  ],
  [
    ...([500, fcmBody(500, 'INTERNAL', 'INTERNAL'), 'retry'] as const),
    'FCM is temporarily unavailable (500 INTERNAL)',
  ],
  [502, '<html>', 'retry', 'FCM is temporarily unavailable (502)'],
  [
    ...([503, fcmBody(503, 'UNAVAILABLE', 'UNAVAILABLE'), 'retry'] as const),
    'FCM is temporarily unavailable (503 UNAVAILABLE)',
  ],
  [302, '', 'retry', 'the answer is not from FCM (302)'],
  [418, '', 'retry', 'the answer is not from FCM (418)'],
];

test.each(FCM_SAID)('FCM %d %j: %s', async (status, body, verdict, problem) => {
  const { send } = scripted('fcm', answer(status, body));
  expect(await send()).toMatchObject(problem === '' ? { verdict } : { verdict, problem });
});

/** Reasons of Apple's table with their statuses. */
const APNS_SAID: [status: number, reasons: string[], verdict: AttemptVerdict['verdict']][] = [
  [
    400,
    [
      ...['BadCollapseId', 'BadExpirationDate', 'BadMessageId', 'BadPriority', 'DuplicateHeaders'],
      ...['InvalidPushType', 'PayloadEmpty', 'SomethingNew'],
    ],
    'failed',
  ],
  [400, ['MissingDeviceToken'], 'dead'],
  [400, ['BadDeviceToken', 'DeviceTokenNotForTopic', 'IdleTimeout'], 'retry'],
  [400, ['BadTopic', 'MissingTopic', 'TopicDisallowed'], 'credentials'],
  [
    403,
    [
      ...['BadCertificate', 'BadCertificateEnvironment', 'Forbidden', 'InvalidProviderToken'],
      ...['MissingProviderToken', 'BadEnvironmentKeyIdInToken', 'BadEnvironmentKeyInToken'],
      'SomethingNew',
    ],
    'credentials',
  ],
  [403, ['ExpiredProviderToken', 'UnrelatedKeyIdInToken'], 'retry'],
  [404, ['BadPath'], 'failed'],
  [405, ['MethodNotAllowed'], 'failed'],
  [410, ['ExpiredToken', 'Unregistered'], 'dead'],
  [413, ['PayloadTooLarge'], 'failed'],
  [429, ['TooManyProviderTokenUpdates', 'TooManyRequests'], 'retry'],
  [500, ['InternalServerError'], 'retry'],
  [503, ['ServiceUnavailable', 'Shutdown'], 'retry'],
];

describe.each(APNS_SAID)('APNs %d', (status, reasons, verdict) => {
  test.each(reasons)(`%s: ${verdict}`, async (reason) => {
    const { send } = scripted('apns', answer(status, { reason }));
    const given = await send();
    expect(given.verdict).toBe(verdict);
    expect('problem' in given && given.problem).toEndWith(`(${status} ${reason})`);
  });
});

const WEBPUSH_SAID: [verdict: AttemptVerdict['verdict'], statuses: number[]][] = [
  ['accepted', [200, 201, 202]],
  ['dead', [404, 410]],
  ['failed', [400, 405, 413, 415]],
  ['retry', [301, 307, 401, 403, 406, 408, 429, 500, 502, 503, 507]],
];

describe.each(WEBPUSH_SAID)('Web Push: %s', (verdict, statuses) => {
  test.each(statuses)('%d', async (status) => {
    const { send } = scripted('webpush', answer(status, 'https://push.example/secret'));
    const given = await send();
    expect(given.verdict).toBe(verdict);
    if ('problem' in given) {
      expect(given.problem).toEndWith(`(${status})`);
      // What a stranger answered is not repeated.
      expect(given.problem).not.toContain('secret');
    }
  });
});

describe('an address that may be another app’s', () => {
  const FOREIGN: [PushAddress['gateway'], ReturnType<typeof answer>][] = [
    ['fcm', answer(403, fcmBody(403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH'))],
    ['apns', answer(400, { reason: 'BadDeviceToken' })],
    ['apns', answer(400, { reason: 'DeviceTokenNotForTopic' })],
    ['webpush', answer(403)],
  ];

  test.each(FOREIGN)(
    '%s: it is kept until another one was accepted, and dropped then',
    async (name, no) => {
      const { send } = scripted(name, no, no, good(name), no);
      const verdicts = [await send(), await send(), await send(), await send()];
      expect(verdicts.map(({ verdict }) => verdict)).toEqual([
        'retry',
        'retry',
        'accepted',
        'dead',
      ]);
    },
  );

  test.each([
    ...FOREIGN,
    ['apns', answer(429, { reason: 'TooManyRequests' })] as const,
    ['webpush', answer(429)] as const,
  ])('%s: whatever is said of it says nothing of the others', async (name, no) => {
    expect(await scripted(name, no).send()).toMatchObject({ verdict: 'retry', isOfOne: true });
  });

  test('what one push service accepts proves nothing of another', async () => {
    const { send, gateway, clock } = scripted('webpush', GOOD, answer(403));
    expect((await send()).verdict).toBe('accepted');
    const { token } = ADDRESSES.webpush;
    const other = { ...(token as object), endpoint: 'https://other.example/1' };
    const address = { gateway: 'webpush', token: other } as PushAddress;
    expect((await gateway.send(address, contentAt(clock.nowMs()), NEVER)).verdict).toBe('retry');
  });
});

describe('tokens by which we are known', () => {
  const REFUSED = answer(401, fcmBody(401, 'UNAUTHENTICATED', null));

  test('FCM: a second one that is refused too shows that it is the account', async () => {
    const { send, outgoing } = scripted('fcm', REFUSED, ACCESS, REFUSED, ACCESS, answer(200));
    expect(await send()).toMatchObject({ verdict: 'retry', afterMs: 0 });
    expect((await send()).verdict).toBe('credentials');
    // Mended meanwhile: told to try again, it does.
    expect((await send()).verdict).toBe('accepted');
    expect(outgoing.calls.map(({ url }) => new URL(url).hostname)).toEqual([
      ...['token.example', 'fcm.example', 'token.example', 'fcm.example'],
      ...['token.example', 'fcm.example'],
    ]);
  });

  test('FCM: one that was taken in between makes a refusal the first again', async () => {
    const { send } = scripted('fcm', REFUSED, ACCESS, answer(200), REFUSED, ACCESS, answer(200));
    const verdicts = [await send(), await send(), await send(), await send()];
    expect(verdicts.map(({ verdict }) => verdict)).toEqual([
      'retry',
      'accepted',
      'retry',
      'accepted',
    ]);
  });

  test('FCM: so does an answer about the device, which only known senders get', async () => {
    const gone = answer(404, fcmBody(404, 'NOT_FOUND', 'UNREGISTERED'));
    const other = answer(403, fcmBody(403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH'));
    for (const about of [gone, other]) {
      const { send } = scripted('fcm', REFUSED, ACCESS, about, REFUSED, ACCESS, answer(200));
      const verdicts = [await send(), await send(), await send(), await send()];
      expect(verdicts.map(({ verdict }) => verdict)).not.toContain('credentials');
    }
  });

  test('FCM: an access token is fetched again five minutes before its end', async () => {
    const answers = [answer(200), answer(200), ACCESS, answer(200)];
    const { send, clock, outgoing } = scripted('fcm', ...answers);
    await send();
    clock.advance((3_599 - 301) * 1_000);
    await send();
    expect(outgoing.calls).toHaveLength(3);
    clock.advance(2_000);
    await send();
    expect(outgoing.calls).toHaveLength(5);
  });

  test('APNs: signed anew after 45 minutes, and after the clock was set back', async () => {
    const { send, clock, outgoing } = scripted('apns', answer(200));
    for (const ms of [0, 44 * 60_000, 60_000, -3_600_000]) {
      clock.advance(ms);
      await send();
    }
    const signed = outgoing.calls.map(({ headers }) => headers['authorization']);
    expect(signed[0]).toBe(signed[1]);
    expect(new Set(signed).size).toBe(3);
  });

  test('APNs: what is too old is signed anew; twice, and it is the clock', async () => {
    const { send, clock } = scripted('apns', answer(403, { reason: 'ExpiredProviderToken' }));
    expect(await send()).toMatchObject({ verdict: 'retry', afterMs: 0 });
    clock.advance(1_000);
    expect((await send()).verdict).toBe('credentials');
  });

  test('FCM: no token is dropped for a bare 404, whatever was accepted before', async () => {
    const bare = answer(404, fcmBody(404, 'NOT_FOUND', null));
    const { send } = scripted('fcm', answer(200), answer(404, '<html>'), bare);
    const kept = { verdict: 'retry', afterMs: 900_000, isOfOne: true };
    expect(await send()).toEqual({ verdict: 'accepted' });
    for (const _ of [1, 2]) expect(await send()).toMatchObject(kept);
  });

  test('FCM: what Google says of a service account is said', async () => {
    const error_description = 'Invalid JWT: Token must be a short-lived token.\n\u001b[1m';
    const refused = answer(400, { error: 'invalid_grant', error_description });
    const outgoing = new ScriptedOutgoing([refused]);
    const given = await MAKERS.fcm(outgoing, new FakeClock()).send(
      ADDRESSES.fcm,
      contentAt(0),
      NEVER,
    );
    const said = '(400 invalid_grant: Invalid JWT: Token must be a short-lived token. [1m)';
    expect('problem' in given && given.problem).toContain(said);
  });

  test.each([
    [400, { error: 'invalid_grant' }, 'credentials'],
    [401, { error: 'invalid_client' }, 'credentials'],
    [403, '<html>', 'retry'],
    [404, {}, 'retry'],
    [429, { error: 'slow_down' }, 'retry'],
    [429, {}, 'retry'],
    [500, {}, 'retry'],
    [302, '', 'retry'],
    [200, { access_token: 'two words' }, 'retry'],
  ])('no access token: %d %j is %s', async (status, body, verdict) => {
    const outgoing = new ScriptedOutgoing([answer(status, body)]);
    const gateway = MAKERS.fcm(outgoing, new FakeClock());
    const given = await gateway.send(ADDRESSES.fcm, contentAt(0), NEVER);
    expect(given.verdict).toBe(verdict as AttemptVerdict['verdict']);
  });
});

describe('no answer', () => {
  test.each([
    ['address', 'failed'],
    ['unsendable', 'failed'],
    ['name', 'retry'],
    ['unreachable', 'retry'],
    ['tls', 'retry'],
    ['timeout', 'retry'],
    ['reset', 'retry'],
    ['protocol', 'retry'],
    ['busy', 'busy'],
    ['stopped', 'retry'],
  ] as const)('%s: %s', async (kind, verdict) => {
    for (const name of ['fcm', 'apns', 'webpush'] as const) {
      const { send } = scripted(name, new OutgoingFailure(kind, 'a problem'));
      expect(await send()).toMatchObject({ verdict, problem: 'a problem' });
    }
  });
});

test.each([
  ['fcm', ADDRESSES.webpush.token],
  ['apns', ADDRESSES.webpush.token],
  ['apns', '../../3/device/ab'],
  ['webpush', 'phone-1'],
  ['webpush', { endpoint: 'https://push.example/1', keys: {} }],
  ['webpush', { ...(ADDRESSES.webpush.token as object), endpoint: 'push.example' }],
] as [PushAddress['gateway'], PushAddress['token']][])(
  '%s: %j, from before addresses were checked, is dead and goes nowhere',
  async (name, token) => {
    const { gateway, outgoing } = scripted(name, good(name));
    const sent = await gateway.send({ gateway: name, token }, contentAt(0), NEVER);
    expect(sent.verdict).toBe('dead');
    expect(outgoing.calls).toEqual([]);
  },
);

test.each([
  ['FCM', FCM_ANSWERS],
  ['APNs', APNS_ANSWERS],
  ['Web Push', WEBPUSH_ANSWERS],
] as [string, readonly AnswerRow[]][])('%s: no row hides another', (_, table) => {
  const hidden = table.filter((row, at) =>
    table.slice(0, at).some((before) => {
      const [from, to] = [row.status, row.status].map((status, n) =>
        typeof status === 'number' ? status : (status[n] ?? 0),
      );
      const [first, last] = [before.status, before.status].map((status, n) =>
        typeof status === 'number' ? status : (status[n] ?? 0),
      );
      const isWider = (first ?? 0) <= (from ?? 0) && (last ?? 0) >= (to ?? 0);
      return isWider && (before.code === null || before.code === row.code);
    }),
  );
  expect(hidden).toEqual([]);
  expect(table.filter(({ means, problem }) => (means === 'accepted') !== (problem === ''))).toEqual(
    [],
  );
});
