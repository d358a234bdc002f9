/** FCM HTTP v1: pushes to Android, and to every other platform that a Firebase project reaches. */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { readJsonObject } from '../core/json-input.ts';
import type { AttemptVerdict, Gateway } from '../core/outbox/carrier.ts';
import { isRefused } from '../core/outcome.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { PushAddress } from '../core/port/registration.ts';
import { type OutgoingAnswer, OutgoingFailure } from '../outgoing/call.ts';
import { AnswerJudge, asCode, asSentence, verdictOfFailure } from './answer.ts';
import { FCM_ANSWERS, fcmCode } from './fcm-answers.ts';
import { fitted, PAYLOAD_BYTES_MAX, PayloadCache } from './fit.ts';
import { ANSWER_BOUNDS, GATEWAY_CALL, type GatewayParts, NO_ADDRESS, ttlSeconds } from './parts.ts';
import { type NewToken, TokenKeeper } from './token.ts';

const CONCURRENCY = 64;
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The timeout of a request for an access token, for which a push waits, ms. */
const EXCHANGE_MAX_MS = 5_000;
/** The life of an assertion, s; the longest that Google accepts. */
const ASSERTION_SECONDS = 3_600;
/** The time before the end of an access token at which another one is requested, ms. */
const RENEWAL_MS = 300_000;
/** The least time for which an access token is used, ms. */
const TOKEN_LIFE_MIN_MS = 60_000;

/** A key of a service account, as Google issues it. */
interface ServiceAccount {
  projectId: string;
  clientEmail: string;
  keyId: string | null;
  key: KeyObject;
  /** The address for access tokens. */
  tokenUri: string;
}

/** Reads the file of a service account; or returns what is wrong, to follow the file's name. */
export function readServiceAccount(text: string): ServiceAccount | string {
  const account = readJsonObject(text, ANSWER_BOUNDS, 'it');
  if (isRefused(account)) return 'is not the JSON file of a service account';
  const fields = ['project_id', 'client_email', 'private_key', 'token_uri'] as const;
  const missing = fields.find((name) => typeof account[name] !== 'string' || account[name] === '');
  if (missing !== undefined) return `is not the JSON file of a service account: no ${missing}`;
  const [projectId = '', clientEmail = '', pem = '', tokenUri = ''] = fields.map((name) =>
    String(account[name]),
  );
  if (!/^[\w.:-]+$/.test(projectId)) return 'has no valid project_id';
  if (!/^https:\/\//.test(tokenUri) || !URL.canParse(tokenUri)) {
    return 'has a token_uri that is no https URL';
  }
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'rsa') return 'has a private key that is not RSA';
    const keyId = typeof account['private_key_id'] === 'string' ? account['private_key_id'] : null;
    return { projectId, clientEmail, keyId, key, tokenUri };
  } catch {
    return 'has a private key that cannot be read';
  }
}

export class Fcm implements Gateway {
  readonly concurrency = CONCURRENCY;
  readonly #url: string;
  readonly #tokens: TokenKeeper;
  readonly #answers = new AnswerJudge({
    service: 'FCM',
    rows: FCM_ANSWERS,
    codeOf: ({ status, text }) => (status < 300 ? null : fcmCode(text)),
  });
  readonly #payloads = new PayloadCache();

  /** `channelId` is empty for the app's own channel. */
  constructor(
    private readonly account: ServiceAccount,
    private readonly options: { endpoint: string; channelId: string },
    private readonly parts: GatewayParts,
  ) {
    this.#url = `${options.endpoint}/v1/projects/${account.projectId}/messages:send`;
    this.#tokens = new TokenKeeper((nowMs) => this.#exchange(nowMs), parts.clock.nowMs);
  }

  async send(
    address: PushAddress,
    content: PushContent,
    signal: AbortSignal,
  ): Promise<AttemptVerdict> {
    if (typeof address.token !== 'string') return NO_ADDRESS;
    const access = await this.#tokens.get(signal);
    if (typeof access !== 'string') return access;
    const answer = await this.parts.outgoing.send(
      {
        ...GATEWAY_CALL,
        destination: 'fcm',
        url: this.#url,
        trust: 'operator',
        http2: { pool: 'fcm' },
        headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
        body: this.#bodyOf(address.token, content),
        originConcurrency: CONCURRENCY,
      },
      signal,
    );
    return this.#answers.classify(answer, this.#tokens.used(access));
  }

  #bodyOf(token: string, content: PushContent): string {
    const ttl = ttlSeconds(content, this.parts.clock.nowMs());
    const message = this.#payloads.of(content, ttl, () =>
      fitted(content, PAYLOAD_BYTES_MAX, (fit) => compose(fit, ttl, this.options.channelId)),
    );
    // FCM does not count the token as part of the payload.
    return `{"message":{"token":${JSON.stringify(token)},${message.slice(1)}}`;
  }

  /** Requests an access token (RFC 7523). */
  async #exchange(nowMs: number): Promise<NewToken | AttemptVerdict> {
    const { clientEmail, key, keyId, tokenUri } = this.account;
    const iat = Math.floor(nowMs / 1000);
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) })
      .setIssuer(clientEmail)
      .setAudience(tokenUri)
      .setIssuedAt(iat)
      .setExpirationTime(iat + ASSERTION_SECONDS)
      .sign(key);
    const answer = await this.parts.outgoing.send(
      {
        ...GATEWAY_CALL,
        destination: 'fcm',
        url: tokenUri,
        trust: 'operator',
        timeoutMs: EXCHANGE_MAX_MS,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
        originConcurrency: CONCURRENCY,
      },
      // Several pushes wait for the token: one that is aborted does not abort the request.
      new AbortController().signal,
    );
    return answer instanceof OutgoingFailure ? verdictOfFailure(answer) : readExchange(answer);
  }
}

/** Reads an answer of Google's authorization server (RFC 6749, 5.1 and 5.2). */
function readExchange({ status, text, retryAfterMs }: OutgoingAnswer): NewToken | AttemptVerdict {
  const body = readJsonObject(text, ANSWER_BOUNDS, 'the answer');
  const fields = isRefused(body) ? {} : body;
  const { access_token: value, expires_in: seconds } = fields;
  if (status === 200 && typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) {
    const wholeMs = typeof seconds === 'number' ? seconds * 1000 : 0;
    return { value, lifeMs: Math.max(wholeMs - RENEWAL_MS, TOKEN_LIFE_MIN_MS) };
  }
  const code = asCode(fields['error']);
  const details = [code, asSentence(fields['error_description'])].filter((part) => part !== null);
  const problem = `${status}${details.length === 0 ? '' : ` ${details.join(': ')}`}`;
  // An answer without a code is not Google's, but a captive portal's for example.
  if (code !== null && status >= 400 && status < 500 && status !== 429 && status !== 408) {
    return {
      verdict: 'credentials',
      problem: `Google refuses an access token for the service account (${problem}): its key may be revoked, or the clock of this machine may be wrong`,
    };
  }
  const outage = `Google issues no access token at present (${problem})`;
  if (status === 429 && retryAfterMs !== null) {
    return { verdict: 'wait', afterMs: retryAfterMs, problem: outage };
  }
  return { verdict: 'retry', afterMs: retryAfterMs, problem: outage };
}

/** Returns the fields of a message beside its token; `ttl` in seconds. */
function compose(content: PushContent, ttl: number, channelId: string): Record<string, unknown> {
  const { kind, title, body, image, link, isUrgent, inboxMessage } = content;
  const id = String(content.id);
  const isSilent = kind === 'command';
  const data = {
    id,
    kind,
    ...(link !== null && { link }),
    ...(inboxMessage !== null && { message: inboxMessage }),
  };
  const apnsHeaders = {
    // Apple accepts a silent message at low priority only.
    'apns-priority': isUrgent ? '10' : '5',
    'apns-push-type': isSilent ? 'background' : 'alert',
    'apns-collapse-id': id,
    'apns-expiration': String(Math.floor(content.expiresAtMs / 1000)),
  };
  const aps = isSilent
    ? { 'content-available': 1 }
    : { 'mutable-content': 1, ...(isUrgent && { sound: 'default' }) };
  const notification = Object.fromEntries(
    Object.entries({ title, body, image }).filter(([, value]) => value !== null),
  );
  const androidNotification = {
    // A repeat replaces the notification on the screen.
    tag: id,
    ...(channelId !== '' && { channel_id: channelId }),
    ...(isUrgent && { sound: 'default' }),
  };
  return {
    data,
    ...(!isSilent && { notification }),
    android: {
      collapse_key: id,
      priority: isUrgent ? 'high' : 'normal',
      ttl: `${ttl}s`,
      ...(!isSilent && { notification: androidNotification }),
    },
    apns: { headers: apnsHeaders, payload: { aps } },
    webpush: {
      headers: { TTL: String(ttl), Urgency: isUrgent ? 'high' : 'normal', Topic: id },
    },
  };
}
