/**
 * A strict push service (RFC 8030) with its user agents: checks VAPID (RFC 8292), and decrypts what
 * arrives (RFC 8291) by the package http_ece.
 */

import { createECDH, type ECDH, randomBytes } from 'node:crypto';
import { decrypt } from 'http_ece';
import {
  type Answer,
  type Exchange,
  json,
  type Outcome,
  type Service,
  undelivered,
  Violation,
} from './exchange.ts';
import { publicKeyOfPoint, readJwt } from './jwt.ts';

/** The standard subscription object. */
export interface Subscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

const STATUSES = [400, 401, 403, 404, 405, 410, 413, 415, 429, 500, 502, 503];
const PATH = /^\/push\/([A-Za-z0-9_-]+)$/;
const BODY_BYTES_MAX = 4096;
/** RFC 8292 2: no more than 24 hours ahead. */
const VAPID_LIFE_S_MAX = 86_400;
const VAPID = /^vapid t=([\w.-]+), ?k=([\w-]+)$/;

export class WebPushService implements Service {
  readonly #agents = new Map<string, { keys: ECDH; auth: Buffer }>();
  /** Senders that were verified: a token with its key. */
  readonly #verified = new Map<string, { exp: number }>();
  #sent = 0;
  /** The key that subscriptions are bound to (RFC 8292 4); null: any. */
  applicationServerKey: string | null = null;

  /** `origins`: those under which it is spoken to. */
  constructor(private readonly origins: () => readonly string[]) {}

  /** New subscriptions, each of a user agent of its own. */
  subscribe(origin: string, count: number): Subscription[] {
    return Array.from({ length: count }, () => {
      const keys = createECDH('prime256v1');
      keys.generateKeys();
      const auth = randomBytes(16);
      const name = randomBytes(12).toString('base64url');
      this.#agents.set(name, { keys, auth });
      return {
        endpoint: `${origin}/push/${name}`,
        keys: {
          p256dh: keys.getPublicKey().toString('base64url'),
          auth: auth.toString('base64url'),
        },
      };
    });
  }

  refusal(name: string): Answer {
    const status = Number(name);
    if (!STATUSES.includes(status)) throw new Error(`a push service never answers ${name}`);
    return json(status, { code: status, errno: 100, error: name, message: 'Refused by a test' });
  }

  handle(exchange: Exchange): Outcome {
    const { method, path, headers, body } = exchange;
    const wrong = (status: number, why: string) =>
      new Violation(this.refusal(String(status)), `${status}: ${why}`);
    const to = PATH.exec(path)?.[1];
    if (to === undefined) throw wrong(404, path);
    if (method !== 'POST') throw wrong(405, method);
    this.#authenticate(exchange, wrong);
    const { ttl, urgency, topic } = headers;
    if (ttl === undefined || !/^\d{1,10}$/.test(ttl)) throw wrong(400, `TTL ${ttl}`);
    if (urgency !== undefined && !/^(?:very-low|low|normal|high)$/.test(urgency)) {
      throw wrong(400, `Urgency ${urgency}`);
    }
    if (topic !== undefined && !/^[A-Za-z0-9_-]{1,32}$/.test(topic)) {
      throw wrong(400, `Topic ${topic}`);
    }
    if (headers['content-encoding'] !== 'aes128gcm') {
      throw wrong(415, `content-encoding ${headers['content-encoding']}`);
    }
    if (body.length > BODY_BYTES_MAX) throw wrong(413, `${body.length} bytes`);
    const agent = this.#agents.get(to);
    if (agent === undefined) return undelivered(this.refusal('410'), to);
    let text: string;
    try {
      text = decrypt(body, {
        version: 'aes128gcm',
        privateKey: agent.keys,
        authSecret: agent.auth,
      }).toString('utf8');
    } catch (error) {
      throw wrong(400, `it does not decrypt: ${String(error)}`);
    }
    const content = parse(text);
    this.#sent += 1;
    const location = `${this.origins()[0]}/message/${this.#sent}`;
    return {
      answer: { status: 201, headers: { location, ttl } },
      to,
      id: topic ?? idOf(content),
      content,
      delivers: true,
    };
  }

  #authenticate(
    { headers, nowS }: Exchange,
    wrong: (status: number, why: string) => Violation,
  ): void {
    const value = headers['authorization'] ?? '';
    const [, token = '', key = ''] = VAPID.exec(value) ?? [];
    if (token === '') throw wrong(401, 'no vapid authorization');
    const bound = this.applicationServerKey;
    if (bound !== null && key !== bound) throw wrong(403, 'another key than subscribed with');
    const known = this.#verified.get(value);
    if (known !== undefined && known.exp > nowS) return;
    let jwt: ReturnType<typeof readJwt>;
    try {
      jwt = readJwt(token, 'ES256', publicKeyOfPoint(Buffer.from(key, 'base64url')));
    } catch (error) {
      throw wrong(401, `k: ${String(error)}`);
    }
    if (typeof jwt === 'string') throw wrong(403, jwt);
    const { aud, exp, sub } = jwt.claims;
    if (!this.origins().includes(String(aud))) throw wrong(403, `aud ${aud}`);
    if (typeof exp !== 'number' || exp <= nowS || exp - nowS > VAPID_LIFE_S_MAX) {
      throw wrong(403, `exp ${exp} at ${nowS}`);
    }
    if (sub !== undefined && !/^(?:mailto:|https:)./.test(String(sub))) {
      throw wrong(403, `sub ${sub}`);
    }
    this.#verified.set(value, { exp });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function idOf(content: unknown): string {
  const id = (content as { id?: unknown } | null)?.id;
  return id === undefined ? '' : String(id);
}
