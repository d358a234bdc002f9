/** A strict APNs: the HTTP/2 provider API with token authentication. */

import { createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import {
  type Answer,
  type Exchange,
  isRecord,
  json,
  type Outcome,
  type Service,
  Violation,
} from './exchange.ts';
import { readJwt } from './jwt.ts';

export interface ApnsConfig {
  teamId: string;
  topic: string;
  /** Public keys, PEM, by their ids. */
  keys: Record<string, string>;
}

/** Apple's table of reasons with their statuses. */
const REASONS: Record<string, number> = {
  BadCollapseId: 400,
  BadDeviceToken: 400,
  BadExpirationDate: 400,
  BadMessageId: 400,
  BadPriority: 400,
  BadTopic: 400,
  DeviceTokenNotForTopic: 400,
  DuplicateHeaders: 400,
  IdleTimeout: 400,
  InvalidPushType: 400,
  MissingDeviceToken: 400,
  MissingTopic: 400,
  PayloadEmpty: 400,
  TopicDisallowed: 400,
  BadCertificate: 403,
  BadCertificateEnvironment: 403,
  ExpiredProviderToken: 403,
  Forbidden: 403,
  InvalidProviderToken: 403,
  MissingProviderToken: 403,
  UnrelatedKeyIdInToken: 403,
  BadEnvironmentKeyIdInToken: 403,
  BadPath: 404,
  MethodNotAllowed: 405,
  ExpiredToken: 410,
  Unregistered: 410,
  PayloadTooLarge: 413,
  TooManyProviderTokenUpdates: 429,
  TooManyRequests: 429,
  InternalServerError: 500,
  ServiceUnavailable: 503,
  Shutdown: 503,
};
const BY_STATUS: Record<string, string> = {
  400: 'BadDeviceToken',
  403: 'InvalidProviderToken',
  410: 'Unregistered',
  413: 'PayloadTooLarge',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

const PATH = /^\/3\/device\/([^/?]*)$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TYPES = ['alert', 'background', 'voip', 'complication', 'fileprovider', 'mdm', 'location'];
const PAYLOAD_BYTES_MAX = 4096;
/** A provider token is renewed no more than once in 20 minutes, and no less than once an hour. */
const TOKEN_AGE_S_MIN = 1_200;
const TOKEN_AGE_S_MAX = 3_600;
/** Apple's clock and ours. */
const SKEW_S = 60;

export class ApnsService implements Service {
  readonly #keys: Map<string, KeyObject>;
  /** Provider tokens whose signature was verified, with their `iat`. */
  readonly #verified = new Map<string, { iat: number; keyId: string }>();
  /** The provider token in use on each connection, which is for one key. */
  readonly #inUse = new Map<number, { token: string; iat: number; keyId: string }>();

  constructor(private readonly config: ApnsConfig) {
    const keys = Object.entries(config.keys);
    this.#keys = new Map(keys.map(([id, pem]) => [id, createPublicKey(pem)]));
  }

  refusal(name: string): Answer {
    const reason = BY_STATUS[name] ?? name;
    const status = REASONS[reason];
    if (status === undefined) throw new Error(`APNs never answers ${name}`);
    const since = status === 410 ? { timestamp: Date.now() } : {};
    return json(status, { reason, ...since }, { 'apns-id': randomUUID().toUpperCase() });
  }

  handle(exchange: Exchange): Outcome {
    const { method, path, headers, body, protocol } = exchange;
    const wrong = (reason: string, why: string) => {
      const isBreach = reason !== 'InvalidProviderToken' && reason !== 'TopicDisallowed';
      return new Violation(this.refusal(reason), `${reason}: ${why}`, isBreach);
    };
    if (protocol !== 'h2') throw wrong('BadPath', 'not HTTP/2');
    if (method !== 'POST') throw wrong('MethodNotAllowed', method);
    const to = PATH.exec(path)?.[1];
    if (to === undefined) throw wrong('BadPath', path);
    if (to === '') throw wrong('MissingDeviceToken', path);
    if (!/^(?:[0-9a-fA-F]{2}){32,100}$/.test(to)) throw wrong('BadDeviceToken', to);
    this.#authenticate(exchange, wrong);
    checkHeaders(headers, this.config.topic, wrong);
    const payload = readPayload(body, headers, wrong);
    const id = headers['apns-id'] ?? randomUUID().toUpperCase();
    return {
      answer: { status: 200, headers: { 'apns-id': id } },
      to,
      id: `${headers['apns-id'] ?? ''} ${headers['apns-collapse-id'] ?? ''}`.trim(),
      content: payload,
      delivers: true,
    };
  }

  #authenticate(
    { headers, connection, nowS }: Exchange,
    wrong: (reason: string, why: string) => Violation,
  ): void {
    const token = /^bearer (\S+)$/i.exec(headers['authorization'] ?? '')?.[1];
    if (token === undefined) throw wrong('MissingProviderToken', 'no bearer token');
    let known = this.#verified.get(token);
    if (known === undefined) {
      const keyId = keyIdIn(token);
      const key = this.#keys.get(keyId);
      if (key === undefined) throw wrong('InvalidProviderToken', 'kid');
      const jwt = readJwt(token, 'ES256', key);
      if (typeof jwt === 'string') throw wrong('InvalidProviderToken', jwt);
      if (jwt.claims['iss'] !== this.config.teamId) throw wrong('InvalidProviderToken', 'iss');
      const issued = jwt.claims['iat'];
      if (typeof issued !== 'number') throw wrong('InvalidProviderToken', 'iat');
      known = { iat: issued, keyId };
      this.#verified.set(token, known);
    }
    const { iat, keyId } = known;
    if (nowS - iat > TOKEN_AGE_S_MAX || iat - nowS > SKEW_S) {
      throw wrong('ExpiredProviderToken', `iat ${iat} at ${nowS}`);
    }
    const before = this.#inUse.get(connection);
    if (before !== undefined && before.keyId !== keyId) {
      throw wrong('InvalidProviderToken', `the connection is for ${before.keyId}`);
    }
    if (before !== undefined && before.token !== token && iat - before.iat < TOKEN_AGE_S_MIN) {
      throw wrong('TooManyProviderTokenUpdates', `after ${iat - before.iat} s`);
    }
    this.#inUse.set(connection, { token, iat, keyId });
  }
}

/** The id of the key that signed a token, as it says itself. */
function keyIdIn(token: string): string {
  const [head = ''] = token.split('.');
  try {
    return String(JSON.parse(Buffer.from(head, 'base64url').toString()).kid);
  } catch {
    return '';
  }
}

function checkHeaders(
  headers: Exchange['headers'],
  ours: string,
  wrong: (reason: string, why: string) => Violation,
): void {
  const topic = headers['apns-topic'];
  const type = headers['apns-push-type'];
  const priority = headers['apns-priority'];
  const expiration = headers['apns-expiration'];
  const id = headers['apns-id'];
  if (topic === undefined) throw wrong('MissingTopic', 'no apns-topic');
  if (topic !== ours) throw wrong('TopicDisallowed', topic);
  if (type === undefined || !TYPES.includes(type)) throw wrong('InvalidPushType', `${type}`);
  if (priority !== undefined && !['1', '5', '10'].includes(priority)) {
    throw wrong('BadPriority', priority);
  }
  // "Specifying this priority for a notification that has a payload with content-available
  // causes an error."
  if (type === 'background' && priority !== '5')
    throw wrong('BadPriority', `background ${priority}`);
  if (expiration !== undefined && !/^\d{1,12}$/.test(expiration)) {
    throw wrong('BadExpirationDate', expiration);
  }
  if (id !== undefined && !UUID.test(id)) throw wrong('BadMessageId', id);
  if (Buffer.byteLength(headers['apns-collapse-id'] ?? '') > 64) {
    throw wrong('BadCollapseId', 'longer than 64 bytes');
  }
}

function readPayload(
  body: Buffer,
  headers: Exchange['headers'],
  wrong: (reason: string, why: string) => Violation,
): Record<string, unknown> {
  if (body.length === 0) throw wrong('PayloadEmpty', 'no body');
  if (body.length > PAYLOAD_BYTES_MAX) throw wrong('PayloadTooLarge', `${body.length} bytes`);
  let payload: unknown;
  try {
    payload = JSON.parse(body.toString('utf8'));
  } catch {
    throw wrong('PayloadEmpty', 'not JSON');
  }
  const aps = isRecord(payload) ? payload['aps'] : undefined;
  if (!isRecord(payload) || !isRecord(aps)) throw wrong('PayloadEmpty', 'no aps');
  const isSilent = aps['alert'] === undefined && aps['sound'] === undefined;
  if (headers['apns-push-type'] === 'background') {
    if (aps['content-available'] !== 1 || !isSilent) throw wrong('InvalidPushType', 'background');
  } else if (headers['apns-push-type'] === 'alert' && aps['alert'] === undefined) {
    throw wrong('InvalidPushType', 'an alert without one');
  }
  return payload;
}
