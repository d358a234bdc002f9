/**
 * A strict FCM: the HTTP v1 API (projects.messages.send) and the token endpoint of its service
 * accounts (RFC 7523). Knows the fields of a message, and refuses others as the real one does.
 */

import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import {
  type Answer,
  type Exchange,
  isRecord,
  json,
  type Outcome,
  type Service,
  undelivered,
  Violation,
} from './exchange.ts';
import { readJwt } from './jwt.ts';

export interface FcmConfig {
  project: string;
  clientEmail: string;
  /** PEM of the service account's public key, and the id of the key. */
  publicKey: string;
  keyId: string;
}

const TOKEN_LIFE_S = 3_599;
/** Google takes an assertion whose clock is a little off. */
const SKEW_S = 300;
const SCOPE = /(?:^| )https:\/\/www\.googleapis\.com\/auth\/firebase\.messaging(?: |$)/;
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const PAYLOAD_BYTES_MAX = 4096;
const TTL_S_MAX = 2_419_200;
const DURATION = /^(\d{1,8})(?:\.\d{1,9})?s$/;

/** The refusals that clients are to know: HTTP status, status of the error, its FCM code. */
const REFUSALS: Record<string, [status: number, word: string, code: string | null, text: string]> =
  {
    INVALID_ARGUMENT: [
      400,
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'The registration token is not a valid FCM registration token',
    ],
    BAD_FIELD: [400, 'INVALID_ARGUMENT', null, 'Invalid value at message'],
    UNAUTHENTICATED: [
      401,
      'UNAUTHENTICATED',
      null,
      'Request had invalid authentication credentials.',
    ],
    THIRD_PARTY_AUTH_ERROR: [
      401,
      'UNAUTHENTICATED',
      'THIRD_PARTY_AUTH_ERROR',
      'Request is missing required authentication credential.',
    ],
    SENDER_ID_MISMATCH: [403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH', 'SenderId mismatch'],
    PERMISSION_DENIED: [
      403,
      'PERMISSION_DENIED',
      null,
      "Permission 'cloudmessaging.messages.create' denied on resource",
    ],
    UNREGISTERED: [404, 'NOT_FOUND', 'UNREGISTERED', 'Requested entity was not found.'],
    NOT_FOUND: [404, 'NOT_FOUND', null, 'Requested entity was not found.'],
    QUOTA_EXCEEDED: [429, 'RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED', 'Quota exceeded.'],
    INTERNAL: [500, 'INTERNAL', 'INTERNAL', 'Internal error encountered.'],
    UNAVAILABLE: [503, 'UNAVAILABLE', 'UNAVAILABLE', 'The service is currently unavailable.'],
  };
const BY_STATUS: Record<string, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'SENDER_ID_MISMATCH',
  404: 'UNREGISTERED',
  429: 'QUOTA_EXCEEDED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

const words = (text: string) => new Set(text.split(' '));
/** Fields of REST resource v1 projects.messages. */
const FIELDS = {
  request: words('message validateOnly validate_only'),
  message: words('token name data notification android webpush apns fcm_options fcmOptions'),
  notification: words('title body image'),
  android: words(
    'collapse_key collapseKey priority ttl restricted_package_name restrictedPackageName data notification fcm_options fcmOptions direct_boot_ok directBootOk bandwidth_constrained_ok bandwidthConstrainedOk',
  ),
  androidNotification: words(
    'title body icon color sound tag click_action clickAction body_loc_key bodyLocKey body_loc_args bodyLocArgs title_loc_key titleLocKey title_loc_args titleLocArgs channel_id channelId ticker sticky event_time eventTime local_only localOnly notification_priority notificationPriority default_sound defaultSound default_vibrate_timings defaultVibrateTimings default_light_settings defaultLightSettings vibrate_timings vibrateTimings visibility notification_count notificationCount light_settings lightSettings image bypass_proxy_notification bypassProxyNotification proxy',
  ),
};
/** Keys of `data` that FCM keeps for itself. */
const RESERVED_KEY = /^(?:from|message_type|google\..*|gcm\..*|gcm)$/;

export class FcmService implements Service {
  readonly #key: KeyObject;
  /** Access tokens that were given out, with their end, s since 1970. */
  readonly #access = new Map<string, number>();
  #sent = 0;

  /** `tokenUris`: the addresses of its token endpoint. */
  constructor(
    private readonly config: FcmConfig,
    private readonly tokenUris: () => readonly string[],
  ) {
    this.#key = createPublicKey(config.publicKey);
  }

  /** Lets every access token run out at once. */
  expireTokens(): void {
    this.#access.clear();
  }

  refusal(name: string): Answer {
    const found = REFUSALS[BY_STATUS[name] ?? name];
    if (found === undefined) throw new Error(`FCM never answers ${name}`);
    const [status, word, code, text] = found;
    const detail = {
      '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
      errorCode: code,
    };
    const details = code === null ? {} : { details: [detail] };
    return json(status, { error: { code: status, message: text, status: word, ...details } });
  }

  handle(exchange: Exchange): Outcome {
    const { pathname } = new URL(exchange.path, 'https://localhost');
    if (pathname === '/token') return undelivered(this.#exchangeToken(exchange));
    return this.#send(exchange, pathname);
  }

  #exchangeToken({ method, headers, body, nowS }: Exchange): Answer {
    const refuse = (error: string, why: string) => {
      return new Violation(json(400, { error, error_description: why }), `token: ${why}`);
    };
    if (method !== 'POST') throw refuse('invalid_request', `method ${method}`);
    if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
      throw refuse('invalid_request', `content-type ${headers['content-type']}`);
    }
    const form = new URLSearchParams(body.toString('utf8'));
    if (form.get('grant_type') !== GRANT) throw refuse('unsupported_grant_type', 'grant_type');
    const jwt = readJwt(form.get('assertion') ?? '', 'RS256', this.#key);
    if (typeof jwt === 'string') {
      return json(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
    }
    const { iss, scope, aud, iat, exp } = jwt.claims;
    const kid = jwt.header['kid'];
    if (kid !== undefined && kid !== this.config.keyId) throw refuse('invalid_grant', 'kid');
    if (iss !== this.config.clientEmail) throw refuse('invalid_grant', `iss ${iss}`);
    if (typeof scope !== 'string' || !SCOPE.test(scope)) {
      throw refuse('invalid_scope', `scope ${scope}`);
    }
    if (!this.tokenUris().includes(String(aud))) throw refuse('invalid_grant', `aud ${aud}`);
    if (typeof iat !== 'number' || Math.abs(iat - nowS) > SKEW_S) {
      throw refuse('invalid_grant', `iat ${iat}`);
    }
    if (typeof exp !== 'number' || exp <= nowS || exp - iat > 3_600) {
      throw refuse('invalid_grant', `exp ${exp}`);
    }
    const token = `ya29.${randomBytes(24).toString('base64url')}`;
    this.#access.set(token, nowS + TOKEN_LIFE_S);
    return json(200, { access_token: token, expires_in: TOKEN_LIFE_S, token_type: 'Bearer' });
  }

  #send({ method, headers, body, nowS }: Exchange, pathname: string): Outcome {
    const { project } = this.config;
    const wrong = (name: string, why: string) => new Violation(this.refusal(name), `send: ${why}`);
    if (pathname !== `/v1/projects/${project}/messages:send`) throw wrong('NOT_FOUND', pathname);
    if (method !== 'POST') throw wrong('NOT_FOUND', `method ${method}`);
    const bearer = /^Bearer (\S+)$/.exec(headers['authorization'] ?? '')?.[1];
    if (bearer === undefined) throw wrong('UNAUTHENTICATED', 'no bearer token');
    if (!headers['content-type']?.startsWith('application/json')) {
      throw wrong('BAD_FIELD', `content-type ${headers['content-type']}`);
    }
    const message = this.#readMessage(body, (why) => wrong('BAD_FIELD', why));
    const to = String(message['token']);
    const endS = this.#access.get(bearer);
    if (endS === undefined || endS <= nowS) {
      return undelivered(this.refusal('UNAUTHENTICATED'), to);
    }
    const android = isRecord(message['android']) ? message['android'] : {};
    const data = isRecord(message['data']) ? message['data'] : {};
    this.#sent += 1;
    return {
      answer: json(200, { name: `projects/${project}/messages/0:${this.#sent}%test` }),
      to,
      id: String(android['collapse_key'] ?? android['collapseKey'] ?? data['id'] ?? ''),
      content: message,
      delivers: true,
    };
  }

  #readMessage(body: Buffer, wrong: (why: string) => Violation): Record<string, unknown> {
    let request: unknown;
    try {
      request = JSON.parse(body.toString('utf8'));
    } catch {
      throw wrong('not JSON');
    }
    const fields = (value: unknown, known: Set<string>, where: string) => {
      if (!isRecord(value)) throw wrong(`${where} is no object`);
      const unknown = Object.keys(value).find((name) => !known.has(name));
      if (unknown !== undefined) throw wrong(`Unknown name "${unknown}" at '${where}'`);
      return value;
    };
    const { message } = fields(request, FIELDS.request, 'request');
    const read = fields(message, FIELDS.message, 'message');
    const { token, notification, data, android } = read;
    if (typeof token !== 'string' || token === '') throw wrong('message.token');
    let bytes = 0;
    const texts = (value: Record<string, unknown>, where: string) => {
      for (const [name, text] of Object.entries(value)) {
        if (typeof text !== 'string') throw wrong(`${where}.${name} is no string`);
        bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
      }
    };
    if (notification !== undefined) {
      texts(fields(notification, FIELDS.notification, 'message.notification'), 'notification');
    }
    if (data !== undefined) {
      if (!isRecord(data)) throw wrong('message.data is no object');
      const reserved = Object.keys(data).find((name) => RESERVED_KEY.test(name));
      if (reserved !== undefined) throw wrong(`Invalid data payload key: ${reserved}`);
      texts(data, 'data');
    }
    if (bytes > PAYLOAD_BYTES_MAX) throw wrong(`Android message is too big: ${bytes} bytes`);
    if (android !== undefined) {
      checkAndroid(fields(android, FIELDS.android, 'message.android'), fields, wrong);
    }
    return read;
  }
}

function checkAndroid(
  android: Record<string, unknown>,
  fields: (value: unknown, known: Set<string>, where: string) => Record<string, unknown>,
  wrong: (why: string) => Violation,
): void {
  const { priority, ttl, notification } = android;
  if (priority !== undefined && !['NORMAL', 'HIGH', 'normal', 'high'].includes(String(priority))) {
    throw wrong(`android.priority ${priority}`);
  }
  if (ttl !== undefined) {
    const seconds = DURATION.exec(String(ttl))?.[1];
    if (seconds === undefined || Number(seconds) > TTL_S_MAX) throw wrong(`android.ttl ${ttl}`);
  }
  if (notification !== undefined) {
    fields(notification, FIELDS.androidNotification, 'message.android.notification');
  }
}
