/** FCM HTTP v1: pushes to Android, and to whatever else a Firebase project reaches. */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { readJsonObject } from '../core/json-input.ts';
import type { Gateway, Verdict } from '../core/outbox/carrier.ts';
import { isRefused } from '../core/outcome.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { PushAddress } from '../core/port/registration.ts';
import { OutgoingFailure } from '../outgoing/call.ts';
import { type AnswerBook, asCode, asWords, Experience, verdictOfFailure } from './answer.ts';
import { FCM_ANSWERS, fcmCode } from './fcm-answers.ts';
import { fitted, KeptTexts, PAYLOAD_BYTES_MAX } from './fit.ts';
import { ANSWER_BOUNDS, GATEWAY_CALL, type GatewayParts, NO_ADDRESS, ttlSeconds } from './parts.ts';
import { type NewToken, TokenKeeper } from './token.ts';

const CONCURRENCY = 64;
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Longest time for an access token, for which a push waits before its own call, ms. */
const EXCHANGE_MAX_MS = 5_000;
/** The life of an assertion, s; the longest that Google takes. */
const ASSERTION_SECONDS = 3_600;
/** Time before the end of an access token at which another one is fetched, ms. */
const RENEWAL_MS = 300_000;
/** The least time for which an access token is used, ms. */
const TOKEN_LIFE_MIN_MS = 60_000;

const BOOK: AnswerBook = {
  service: 'FCM',
  rows: FCM_ANSWERS,
  codeOf: ({ status, text }) => (status < 300 ? null : fcmCode(text)),
};

/** A key of a service account, as Google gives it out. */
export interface ServiceAccount {
  projectId: string;
  clientEmail: string;
  keyId: string | null;
  key: KeyObject;
  /** The address for access tokens. */
  tokenUri: string;
}

/** Reads the file of a service account; or returns what is wrong with it, behind its name. */
export function readServiceAccount(text: string): ServiceAccount | string {
  const account = readJsonObject(text, ANSWER_BOUNDS, 'it');
  if (isRefused(account)) return 'is not the JSON file of a service account';
  const fields = ['project_id', 'client_email', 'private_key', 'token_uri'] as const;
  const missing = fields.find((name) => typeof account[name] !== 'string' || account[name] === '');
  if (missing !== undefined) return `is not the JSON file of a service account: no ${missing}`;
  const [projectId, clientEmail, pem, tokenUri] = fields.map((name) => String(account[name]));
  if (!/^[\w.:-]+$/.test(projectId ?? '')) return 'names no project that could be one';
  if (!/^https:\/\//.test(tokenUri ?? '') || !URL.canParse(tokenUri ?? '')) {
    return 'has a token_uri that is no https address';
  }
  try {
    const key = createPrivateKey(pem ?? '');
    if (key.asymmetricKeyType !== 'rsa') return 'has a private key that is no RSA key';
    const keyId = typeof account['private_key_id'] === 'string' ? account['private_key_id'] : null;
    return {
      ...{ projectId: projectId ?? '', clientEmail: clientEmail ?? '' },
      ...{ keyId, key, tokenUri: tokenUri ?? '' },
    };
  } catch {
    return 'has a private key that cannot be read';
  }
}

export class Fcm implements Gateway {
  readonly concurrency = CONCURRENCY;
  readonly #account: ServiceAccount;
  /** Empty: the app's own. */
  readonly #channelId: string;
  readonly #url: string;
  readonly #parts: GatewayParts;
  readonly #tokens: TokenKeeper;
  readonly #experience = new Experience();
  readonly #texts = new KeptTexts();

  constructor(
    account: ServiceAccount,
    { endpoint, channelId }: { endpoint: string; channelId: string },
    parts: GatewayParts,
  ) {
    this.#account = account;
    this.#channelId = channelId;
    this.#url = `${endpoint}/v1/projects/${account.projectId}/messages:send`;
    this.#parts = parts;
    this.#tokens = new TokenKeeper((nowMs) => this.#exchange(nowMs), parts.clock.nowMs);
  }

  async send(address: PushAddress, content: PushContent, signal: AbortSignal): Promise<Verdict> {
    if (typeof address.token !== 'string') return NO_ADDRESS;
    const access = await this.#tokens.get(signal);
    if (typeof access !== 'string') return access;
    const answer = await this.#parts.outgoing.send(
      {
        ...GATEWAY_CALL,
        ...{ url: this.#url, trust: 'operator', http2: { pool: 'fcm' } },
        headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
        body: this.#bodyOf(address.token, content),
        originConcurrency: CONCURRENCY,
      },
      signal,
    );
    return this.#experience.judge(answer, BOOK, this.#tokens.shown(access));
  }

  #bodyOf(token: string, content: PushContent): string {
    const ttl = ttlSeconds(content, this.#parts.clock.nowMs());
    const message = this.#texts.of(content, ttl, () =>
      fitted(content, PAYLOAD_BYTES_MAX, (what) => composeMessage(what, ttl, this.#channelId)),
    );
    // The token is no part of what is measured.
    return `{"message":{"token":${JSON.stringify(token)},${message.slice(1)}}`;
  }

  /** Fetches an access token (RFC 7523). */
  async #exchange(nowMs: number): Promise<NewToken | Verdict> {
    const { clientEmail, key, keyId, tokenUri } = this.#account;
    const iat = Math.floor(nowMs / 1000);
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== null && { kid: keyId }) })
      .setIssuer(clientEmail)
      .setAudience(tokenUri)
      .setIssuedAt(iat)
      .setExpirationTime(iat + ASSERTION_SECONDS)
      .sign(key);
    const answer = await this.#parts.outgoing.send(
      {
        ...{ ...GATEWAY_CALL, url: tokenUri, trust: 'operator', timeoutMs: EXCHANGE_MAX_MS },
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
        originConcurrency: CONCURRENCY,
      },
      // Whoever asked first is not the only one who waits for it.
      new AbortController().signal,
    );
    return answer instanceof OutgoingFailure ? verdictOfFailure(answer) : readExchange(answer);
  }
}

/** The token in an answer of Google's authorization server (RFC 6749, 5.1 and 5.2). */
function readExchange(answer: {
  status: number;
  text: string;
  retryAfterMs: number | null;
}): NewToken | Verdict {
  const { status, retryAfterMs } = answer;
  const body = readJsonObject(answer.text, ANSWER_BOUNDS, 'the answer');
  const fields = isRefused(body) ? {} : body;
  const { access_token: value, expires_in: seconds, error, error_description: words } = fields;
  if (status === 200 && typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) {
    const wholeMs = typeof seconds === 'number' ? seconds * 1000 : 0;
    return { value, lifeMs: Math.max(wholeMs - RENEWAL_MS, TOKEN_LIFE_MIN_MS) };
  }
  const code = asCode(error);
  const said = [code, asWords(words)].filter((part) => part !== null).join(': ');
  const problem = `${status}${said === '' ? '' : ` ${said}`}`;
  // A page without a code is of something in between, such as a captive portal.
  if (code !== null && status >= 400 && status < 500 && status !== 429 && status !== 408) {
    return {
      verdict: 'credentials',
      problem: `Google gives out no access token for the service account (${problem}): its key may be revoked, or the clock of this machine wrong`,
    };
  }
  const outage = `Google gives out no access token for now (${problem})`;
  if (status === 429 && retryAfterMs !== null) {
    return { verdict: 'wait', afterMs: retryAfterMs, problem: outage };
  }
  return { verdict: 'retry', afterMs: retryAfterMs, problem: outage };
}

/** The fields of a message beside its token; `ttl` in seconds. */
function composeMessage(
  content: PushContent,
  ttl: number,
  channelId: string,
): Record<string, unknown> {
  const { kind, title, body, image, link, isUrgent, inboxMessage } = content;
  const id = String(content.id);
  const isSilent = kind === 'command';
  const data = {
    ...{ id, kind },
    ...(link !== null && { link }),
    ...(inboxMessage !== null && { message: inboxMessage }),
  };
  // Apple takes a silent message at low priority alone.
  const priority = isUrgent ? '10' : '5';
  const expiration = String(Math.floor(content.expiresAtMs / 1000));
  const headers = {
    ...{ 'apns-priority': priority, 'apns-push-type': isSilent ? 'background' : 'alert' },
    ...{ 'apns-collapse-id': id, 'apns-expiration': expiration },
  };
  const aps = isSilent
    ? { 'content-available': 1 }
    : { 'mutable-content': 1, ...(isUrgent && { sound: 'default' }) };
  const shown = { title, body, image };
  const notification = Object.fromEntries(
    Object.entries(shown).filter(([, value]) => value !== null),
  );
  // A repeat takes the place of what is shown already.
  const onAndroid = {
    tag: id,
    ...(channelId !== '' && { channel_id: channelId }),
    ...(isUrgent && { sound: 'default' }),
  };
  return {
    data,
    ...(!isSilent && { notification }),
    android: {
      ...{ collapse_key: id, priority: isUrgent ? 'high' : 'normal', ttl: `${ttl}s` },
      ...(!isSilent && { notification: onAndroid }),
    },
    apns: { headers, payload: { aps } },
    webpush: {
      headers: { TTL: String(ttl), Urgency: isUrgent ? 'high' : 'normal', Topic: id },
    },
  };
}
