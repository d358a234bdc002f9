/**
 * A seeded generator of requests that no honest client would send, with the answer each must get.
 */

import type { Credentials } from '../../src/core/provider.ts';
import { endpoints } from '../../src/http/endpoints/index.ts';
import {
  CHUNKED,
  HOST,
  LETTERS,
  METHODS,
  NOT_API_PATHS,
  ODD_HOSTS,
  ODD_NAMES,
  ODD_VALUES,
  OTHER_API_PATHS,
  PATHS,
  REFUSED,
  TRICK_PATHS,
  UNKNOWN_METHODS,
  type Verdict,
} from './hostile-words.ts';
import type { Random } from './random.ts';

/** Leaves room for the rest of a head within Bun's 16 KiB. */
const QUERY_LENGTH_MAX = 8_000;

export interface HostileRequest {
  kind: string;
  bytes: Uint8Array;
  verdict: Verdict;
  isHead: boolean;
  /** The number of requests in one write. Bun may close the connection instead of answering
   * one that comes before the answer to another. */
  count: number;
  /** The connection can be used again. */
  isClean: boolean;
}

export class Hostility {
  readonly #random: Random;
  readonly #credentials: Credentials;

  constructor(random: Random, credentials: Credentials) {
    this.#random = random;
    this.#credentials = credentials;
  }

  next(): HostileRequest {
    const random = this.#random;
    const roll = random.next();
    if (roll < 0.5) return this.#parameters();
    if (roll < 0.58) return this.#method();
    if (roll < 0.66) return this.#path();
    if (roll < 0.72) return this.#host();
    if (roll < 0.8) return this.#headers();
    if (roll < 0.86) return this.#body();
    if (roll < 0.9) return this.#pipeline();
    if (roll < 0.91) return this.#unknownMethod();
    return this.#refused();
  }

  /** A query of odd names and values on an endpoint that may well accept it. */
  #parameters(): HostileRequest {
    return this.#make('parameters', 'json', `GET ${this.#target()} ${HOST}\r\n`);
  }

  #method(): HostileRequest {
    const method = this.#random.pick(METHODS);
    const request = this.#make('method', 'json', `${method} ${this.#target()} ${HOST}\r\n`);
    return { ...request, isHead: method === 'HEAD', isClean: method !== 'CONNECT' };
  }

  #path(): HostileRequest {
    const random = this.#random;
    const [kind, verdict, paths] = random.pick([
      ['other path', 'json', OTHER_API_PATHS],
      ['path outside the API', 'plain', NOT_API_PATHS],
      ['the page for people', 'page', ['/', '//']],
      ['path trick', 'either', TRICK_PATHS],
    ] as const);
    const path = random.pick(paths);
    const origin = random.chance(0.3)
      ? random.pick(['http://x', 'HTTP://localhost:1', 'https://u:p@h'])
      : '';
    const target = `${path.startsWith('//') ? '' : origin}${path}?${this.#query()}`;
    const hosted = random.chance(0.7) ? HOST : 'HTTP/1.1\r\nHost: x\r\n';
    return this.#make(kind, verdict, `GET ${target} ${hosted}\r\n`);
  }

  #host(): HostileRequest {
    const random = this.#random;
    if (random.chance(0.3)) {
      const request = this.#make(
        'no Host in HTTP/1.0',
        'json',
        `GET ${this.#target()} HTTP/1.0\r\n\r\n`,
      );
      return { ...request, isClean: false };
    }
    const host = random.pick(ODD_HOSTS);
    return this.#make(
      'odd Host',
      'json',
      `GET ${this.#target()} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    );
  }

  #headers(): HostileRequest {
    const random = this.#random;
    const { authKey, code } = this.#credentials;
    const header = random.pick([
      `Authorization: Bearer ${authKey}`,
      `Cookie: auth_key=${authKey}; provider_code=${code}`,
      `Referer: http://localhost/?auth_key=${authKey}`,
      `X-Forwarded-For: ${random.pick(['1.2.3.4', '::1', 'x'.repeat(500), ',,,', "'"])}`,
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
      'Expect: 100-continue',
      'Expect: nonsense',
      `Accept-Encoding: ${'gzip,'.repeat(random.int(1, 500))}`,
      'Range: bytes=0-0',
      'If-None-Match: *',
      'Host: other',
      `X-Hwid: ${random.pick(['\xff\xfe', 'a b', 'a,b', 'x'.repeat(5000), '\xd0\x9f', '\x7f', ''])}`,
      `X-Device-Model: ${random.pick(['\xf0\x9f\x98\x80', '\xc3\x28', '<b>', 'x'.repeat(9000)])}`,
      Array.from({ length: random.int(1, 90) }, (_, i) => `X-H${i}: v`).join('\r\n'),
      `X-Long: ${'a'.repeat(random.int(1, 12_000))}`,
    ]);
    const path = random.pick(PATHS);
    return this.#make(
      'headers',
      'json',
      `GET ${path}?${this.#credentialQuery()} ${HOST}${header}\r\n\r\n`,
    );
  }

  #body(): HostileRequest {
    const random = this.#random;
    const method = random.pick(['POST', 'PUT', 'GET', 'DELETE']);
    const content = random.pick([
      `{"auth_key":"${this.#credentials.authKey}"`,
      `auth_key=${this.#credentials.authKey}&install_limit=1`,
      '[[[[[[[['.repeat(random.int(1, 500)),
      '\xff\xfe\0\0'.repeat(random.int(1, 500)),
      'a'.repeat(random.int(1, 100_000)),
    ]);
    const type = random.pick([
      'application/json',
      'multipart/form-data; boundary=x',
      'text/xml',
      '\xff',
    ]);
    const start = `${method} ${this.#target()} ${HOST}Content-Type: ${type}\r\n`;
    const size = content.length.toString(16);
    const [framing, text] = random.pick([
      ['well framed', `Content-Length: ${content.length}\r\n\r\n${content}`],
      ['well framed', `${CHUNKED}\r\n${size}\r\n${content}\r\n0\r\n\r\n`],
      ['badly framed', `Content-Length: ${content.length + random.int(1, 1e9)}\r\n\r\n${content}`],
      // The rest behind the declared length is a request of its own, and none at all.
      [
        'longer than declared',
        `Content-Length: ${random.int(0, content.length - 1)}\r\n\r\n${content}`,
      ],
      [
        'badly chunked',
        `${CHUNKED}\r\n${random.pick(['zz', '-1', 'f'.repeat(20)])}\r\n${content}\r\n`,
      ],
      ['badly chunked', `${CHUNKED}\r\n1\r\n${content}`],
    ] as const);
    const isRace = framing === 'badly chunked' || framing === 'longer than declared';
    const verdict = isRace ? 'race' : 'json';
    const request = this.#make(`body ${framing}`, verdict, start + text);
    return { ...request, isClean: false };
  }

  #pipeline(): HostileRequest {
    const count = this.#random.int(2, 8);
    const requests = Array.from({ length: count }, () => `GET ${this.#target()} ${HOST}\r\n`);
    return { ...this.#make('pipelined', 'json', requests.join('')), count };
  }

  #unknownMethod(): HostileRequest {
    const method = this.#random.pick(UNKNOWN_METHODS);
    const text = `${method} ${this.#target()} ${HOST}\r\n`;
    return { ...this.#make('unknown method', 'closed', text), isClean: false };
  }

  #refused(): HostileRequest {
    const [kind, verdict, request] = this.#random.pick(REFUSED);
    return { ...this.#make(kind, verdict, request(this.#random.pick(PATHS))), isClean: false };
  }

  #make(kind: string, verdict: Verdict, text: string): HostileRequest {
    const bytes = Buffer.from(text, 'latin1');
    return { kind, verdict, bytes, isHead: false, count: 1, isClean: true };
  }

  #target(): string {
    return `${this.#random.pick(PATHS)}?${this.#query()}`;
  }

  #query(): string {
    const random = this.#random;
    const pairs = Array.from({ length: random.int(0, 6) }, () => this.#pair());
    if (random.chance(0.8)) pairs.unshift(this.#credentialQuery());
    if (random.chance(0.1)) pairs.push('&'.repeat(random.int(1, 200)));
    return pairs.join(random.chance(0.95) ? '&' : ';').slice(0, QUERY_LENGTH_MAX);
  }

  /** Right, or wrong in some way; always with the real key, which must appear nowhere. */
  #credentialQuery(): string {
    const { code, authKey } = this.#credentials;
    const right = `provider_code=${code}&auth_key=${authKey}`;
    if (this.#random.chance(0.7)) return right;
    return this.#random.pick([
      `${right}&auth_key=${authKey}`,
      `provider_code=${authKey}&auth_key=${code}`,
      `auth_key[]=${authKey}&provider_code[]=${code}`,
      `auth_key=${authKey}%00&provider_code=${code}`,
      `AUTH_KEY=${authKey}&PROVIDER_CODE=${code}`,
      `auth_key=${authKey}&id=${authKey}&status=${authKey}&install_limit=${authKey}`,
      `${right}&id=${authKey}&domain_hash=${authKey}&install_code=${authKey}&${authKey}=${authKey}`,
    ]);
  }

  #pair(): string {
    const random = this.#random;
    const known = endpoints.flatMap((endpoint) => Object.keys(endpoint.params));
    const name = random.chance(0.75) ? random.pick(known) : random.pick(ODD_NAMES);
    const value = random.pick([
      () => random.pick(ODD_VALUES),
      () => random.text(random.int(0, 70), LETTERS),
      () => random.text(random.pick([12, 64, 255, 256, 3000]), 'abcdef0123456789'),
      () => Array.from({ length: random.int(1, 20) }, () => random.pick(ODD_VALUES)).join(''),
    ])();
    const clean = value.replaceAll('#', '%23');
    return random.chance(0.9) ? `${name}=${clean}` : `${name}=${clean}&${name}=${clean}`;
  }
}
