/**
 * A receiver of webhooks: verifies signatures by the reference implementation of Standard Webhooks
 * (`v1`), and by node:crypto (`v1a`).
 */

import { createPublicKey, verify } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import {
  type Answer,
  type Exchange,
  isRecord,
  json,
  type Outcome,
  type Service,
  Violation,
} from './exchange.ts';

/** What a receiver knows of its sender. */
export interface Hook {
  /** `whsec_…` for `v1`; for `v1a` the public key, `whpk_…`. Each of them must verify. */
  secrets: string[];
}

const PATH = /^\/hook\/([A-Za-z0-9_-]+)(?:\?.*)?$/;
const BODY_BYTES_MAX = 20 * 1024;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const TOLERANCE_S = 300;
/** DER of an Ed25519 public key before its 32 bytes (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export class WebhookService implements Service {
  readonly #hooks = new Map<string, Hook>();

  setHook(name: string, hook: Hook): void {
    this.#hooks.set(name, hook);
  }

  refusal(name: string): Answer {
    const status = Number(name);
    if (!(status >= 300 && status <= 599)) throw new Error(`no refusal: ${name}`);
    return json(status, { error: `refused with ${name} by a test` });
  }

  handle(exchange: Exchange): Outcome {
    const { method, path, headers, body } = exchange;
    const wrong = (status: number, why: string) =>
      new Violation(this.refusal(String(status)), `${status}: ${why}`);
    const to = PATH.exec(path)?.[1];
    if (to === undefined) throw wrong(404, path);
    if (method !== 'POST') throw wrong(405, method);
    if (!headers['content-type']?.startsWith('application/json')) {
      throw wrong(415, `content-type ${headers['content-type']}`);
    }
    if (body.length > BODY_BYTES_MAX) throw wrong(413, `${body.length} bytes`);
    const id = headers['webhook-id'] ?? '';
    if (id === '' || id.includes('.')) throw wrong(400, `webhook-id ${id}`);
    const hook = this.#hooks.get(to);
    if (hook === undefined) throw wrong(401, `nobody knows the secret of ${to}`);
    for (const secret of hook.secrets) {
      const problem = secret.startsWith('whpk_')
        ? verifyAsymmetric(secret, exchange)
        : verifySymmetric(secret, exchange);
      if (problem !== null) throw wrong(401, `${to}: ${problem}`);
    }
    const content: unknown = JSON.parse(body.toString('utf8'));
    if (!isRecord(content)) throw wrong(400, 'no JSON object');
    const { type, timestamp, data } = content;
    if (typeof type !== 'string' || !/^[a-z]+(?:[.-][a-z]+)+$/.test(type)) {
      throw wrong(400, `type ${type}`);
    }
    if (typeof timestamp !== 'string' || !ISO.test(timestamp)) {
      throw wrong(400, `timestamp ${timestamp}`);
    }
    if (!isRecord(data)) throw wrong(400, 'data');
    return { answer: { status: 204 }, to, id, content, delivers: true };
  }
}

function verifySymmetric(secret: string, { headers, body }: Exchange): string | null {
  try {
    new Webhook(secret).verify(body.toString('utf8'), { ...headers });
    return null;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.message;
    throw error;
  }
}

function verifyAsymmetric(publicKey: string, { headers, body, nowS }: Exchange): string | null {
  const stamp = headers['webhook-timestamp'] ?? '';
  if (!/^\d+$/.test(stamp) || Math.abs(Number(stamp) - nowS) > TOLERANCE_S) {
    return `webhook-timestamp ${stamp}`;
  }
  const raw = Buffer.from(publicKey.slice('whpk_'.length), 'base64');
  const key = createPublicKey({
    key: Buffer.concat([ED25519_PREFIX, raw]),
    format: 'der',
    type: 'spki',
  });
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${stamp}.`), body]);
  const fits = (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const [version, signature = ''] = one.split(',');
    return version === 'v1a' && verify(null, signed, key, Buffer.from(signature, 'base64'));
  });
  return fits ? null : 'no v1a signature fits';
}
