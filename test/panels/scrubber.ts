/** Replaces what is secret in the answers of a real panel: by a list per panel, and by forms. */

import {
  changeLayers,
  isMadeUp,
  layersOf,
  madeUpFor,
  resigned,
  type Secret,
  secretsIn,
} from '../support/made-up.ts';
import type { RealKind } from './panel.ts';

/** The fields of each panel's JSON that have a secret, whatever its form. */
const SECRET_FIELDS: Readonly<Record<RealKind, readonly string[]>> = {
  '3x-ui': ['uuid', 'password', 'auth', 'subId', 'privateKey', 'publicKey', 'shortId', 'secret'],
  marzban: ['password', 'access_token', 'private_key', 'public_key', 'short_id'],
  pasarguard: [
    ...['password', 'auth', 'access_token', 'private_key', 'public_key', 'api_key', 'short_id'],
  ],
  hiddify: [
    ...['ed25519_private_key', 'ed25519_public_key', 'wg_pk', 'wg_psk', 'wg_pub'],
    ...['password', 'private_key', 'public_key', 'short_id', 'obfs', 'secret'],
  ],
};

/** The panels whose addresses have tokens with a user and a time, which stay. */
const TOKEN = /(?<=\/sub\/)[\w-]{15,}(?:\.[\w-]{20,})?/g;
/** A shorter value may stand anywhere by chance. */
const LENGTH_MIN = 6;

export class Scrubber {
  /** The made-up value of each secret, so that a key stays one key in all answers. */
  readonly #instead = new Map<string, string>();
  #count = 0;

  constructor(readonly kind: RealKind) {}

  /** The secrets that were found. */
  get secrets(): string[] {
    return [...this.#instead.keys()];
  }

  /** Notes a secret of which the run itself knows. */
  learn(value: string): void {
    const kind = secretsIn(value).find((one) => one.value === value)?.kind ?? 'word';
    this.#note({ kind, value });
  }

  /** Notes all secrets in a body. */
  learnFrom(body: unknown): void {
    this.#learnFields(body);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    for (const layer of layersOf(text)) {
      if (this.kind === 'marzban' || this.kind === 'pasarguard') {
        for (const [token] of layer.matchAll(TOKEN)) this.#learnToken(token);
      }
      const rest = this.secrets.reduce((left, value) => left.replaceAll(value, ' '), layer);
      for (const secret of secretsIn(rest)) this.#note(secret);
    }
  }

  /** Returns the value with a made-up one in place of each secret. */
  clean<T>(value: T): T {
    return this.#clean(value) as T;
  }

  #clean(value: unknown): unknown {
    if (typeof value === 'string') return changeLayers(value, (layer) => this.#replaced(layer));
    if (Array.isArray(value)) return value.map((one) => this.#clean(one));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value);
    return Object.fromEntries(
      fields.map(([name, inner]) => [this.#replaced(name), this.#clean(inner)]),
    );
  }

  #replaced(layer: string): string {
    let text = layer;
    const longestFirst = this.secrets.toSorted((a, b) => b.length - a.length);
    for (const secret of longestFirst) {
      const instead = this.#instead.get(secret) ?? '';
      text = text.replaceAll(secret, instead);
      text = text.replaceAll(encodeURIComponent(secret), encodeURIComponent(instead));
    }
    return text;
  }

  #learnToken(token: string): void {
    const instead = resigned(token);
    if (instead !== null) this.#instead.set(token, instead);
  }

  #note(secret: Secret): void {
    if (isMadeUp(secret) || this.#instead.has(secret.value)) return;
    this.#count += 1;
    this.#instead.set(secret.value, madeUpFor(secret, this.#count));
  }

  #learnFields(body: unknown): void {
    if (Array.isArray(body)) {
      for (const one of body) this.#learnFields(one);
      return;
    }
    if (typeof body !== 'object' || body === null) return;
    for (const [name, value] of Object.entries(body)) {
      const isSecret = SECRET_FIELDS[this.kind].includes(name);
      if (!isSecret || typeof value !== 'string') this.#learnFields(value);
      else if (value.length >= LENGTH_MIN) this.learn(value);
    }
  }
}
