/** What the fuzzer makes values of: texts, numbers, JSON and bytes that are nearly right. */

import fc from 'fast-check';
import { ODD_VALUES } from '../support/hostile-words.ts';
import type { Random } from '../support/random.ts';

/** A seed of its own for each case: any one of them can be made again without those before it. */
export function caseSeed(seed: number, surface: string, number: number): number {
  let hash = seed ^ 0x811c9dc5;
  for (const byte of Buffer.from(`${surface}/${number}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash;
}

/** Values of a description of values, drawn once: making them anew for each case costs more. */
export function drawn<T>(arbitrary: fc.Arbitrary<T>, seed: number, count: number): T[] {
  return fc.sample(arbitrary, { seed, numRuns: count });
}

const NUMBERS = [
  ...[0, -0, 1, -1, 5, 10, 99, 100, 101, 255, 256, 365, 366, 4096, 1.5, 1e-9, 1e21, 1e308],
  ...[2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 999_999_999_999_999],
];

const TEXTS = [
  ...[
    '',
    ' ',
    'true',
    'false',
    'on',
    '0',
    '1',
    '1-3',
    '3-1',
    'null',
    'ios',
    'android',
    'ios,android',
  ],
  ...[
    '\u0000',
    '\r\n',
    '\u2028',
    '\ud800',
    '\u{1f600}',
    'e\u0301',
    '\u202e',
    '<b>x',
    '<!--',
    '&#x0;',
  ],
  ...[
    'javascript:alert(1)',
    'https://example.com/',
    'tg:x',
    'intent:x',
    'http://[',
    'a'.repeat(300),
  ],
  ...['2026-02-30', '2099-12-31', '24:00', '23:59', '../../etc/passwd', '%00', '__proto__'],
];

const KEYS = [
  ...['__proto__', 'constructor', 'toString', 'hwid', 'os', 'items', 'id', 'push', 'token', 'body'],
  ...['locale', 'settings', 'link_for_open', 'link-for-open', 'type_push', '', '\u0000', 'a.b'],
];

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Any JSON, small unless chance wants it large. */
export function anyJson(random: Random, depth = 0): Json {
  const roll = random.next();
  if (roll < 0.25) return random.pick(TEXTS);
  if (roll < 0.45) return random.pick(NUMBERS);
  if (roll < 0.55) return random.pick([true, false, null]);
  if (roll < 0.6) return anyText(random);
  if (roll < 0.63) return nested(random);
  if (depth > 3) return [];
  const count = depth === 0 && random.chance(0.03) ? random.int(100, 2000) : random.int(0, 3);
  if (random.chance(0.5)) return Array.from({ length: count }, () => anyJson(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      random.chance(0.5) ? random.pick(KEYS) : `k${at}`,
      anyJson(random, depth + 1),
    ]),
  );
}

export function anyText(random: Random): string {
  const length = random.chance(0.05) ? random.int(1000, 9000) : random.int(0, 40);
  const alphabet = random.pick([
    'ab',
    '<>&"\'=/ ',
    '{}[],:"\\',
    '\u0430\u{10ffff}\n\t',
    'f0123456789',
  ]);
  return random.text(length, alphabet);
}

function nested(random: Random): Json {
  let value: Json = 1;
  for (let depth = random.pick([31, 32, 33, 200]); depth > 0; depth--) {
    value = random.chance(0.5) ? [value] : { a: value };
  }
  return value;
}

/** The same value with one to three things changed, dropped, repeated or put in. */
export function mutated(random: Random, value: Json): Json {
  let result = value;
  for (let count = random.int(1, 3); count > 0; count--) result = mutatedOnce(random, result);
  return result;
}

function mutatedOnce(random: Random, value: Json): Json {
  if (typeof value !== 'object' || value === null || random.chance(0.1)) {
    return random.chance(0.3) ? spoiltText(random, JSON.stringify(value)) : anyJson(random);
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return [anyJson(random)];
    const at = random.int(0, value.length - 1);
    const item = value[at] ?? null;
    const roll = random.next();
    if (roll < 0.15) return value.toSpliced(at, 1);
    if (roll < 0.3)
      return [...value, ...Array.from({ length: random.pick([1, 6, 200]) }, () => item)];
    return value.with(at, mutatedOnce(random, item));
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || random.chance(0.15)) {
    return { ...value, [random.pick(KEYS)]: anyJson(random) };
  }
  const [key, item] = random.pick(entries);
  if (random.chance(0.2)) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return { ...value, [key]: mutatedOnce(random, item) };
}

/** Text of JSON, now and then with what parsers differ on. */
export function jsonText(random: Random, value: Json): string {
  const text = JSON.stringify(value);
  const roll = random.next();
  if (roll < 0.85) return text;
  if (roll < 0.88) return spoiltText(random, text);
  if (roll < 0.9) return `\ufeff${text}`;
  if (roll < 0.92) return `${text}\r\n`;
  if (roll < 0.94) return text.replace(/\d+/, (digits) => `${digits}e400`);
  if (roll < 0.96) return text.replace('{', '{"hwid":"x","hwid":["y"],');
  if (roll < 0.97) return '['.repeat(random.pick([31, 33, 5000, 130_000]));
  if (roll < 0.98) return '{"a":'.repeat(random.pick([33, 20_000]));
  return text.slice(0, random.int(0, text.length));
}

export function spoiltText(random: Random, text: string): string {
  const at = random.int(0, text.length);
  const roll = random.next();
  if (roll < 0.3) return text.slice(0, at) + random.pick(ODD_VALUES) + text.slice(at);
  if (roll < 0.5) return text.slice(0, at) + text.slice(at + random.int(1, 5));
  if (roll < 0.7) return text.slice(0, at) + random.pick(TEXTS) + text.slice(at);
  return text.slice(0, at);
}

/** The same bytes with a few of them flipped, dropped, repeated or put in. */
export function spoiltBytes(random: Random, bytes: Uint8Array): Uint8Array {
  let result = Buffer.from(bytes);
  for (let count = random.int(1, 4); count > 0; count--) {
    const at = random.int(0, Math.max(result.length - 1, 0));
    const length = random.pick([1, 2, 8, 100]);
    const roll = random.next();
    if (roll < 0.4 && result.length > 0) result[at] = random.int(0, 255);
    else if (roll < 0.6)
      result = Buffer.concat([result.subarray(0, at), result.subarray(at + length)]);
    else if (roll < 0.8) {
      const put = Buffer.from(Array.from({ length }, () => random.int(0, 255)));
      result = Buffer.concat([result.subarray(0, at), put, result.subarray(at)]);
    } else if (roll < 0.9) {
      const again = result.subarray(at, at + length);
      result = Buffer.concat([result.subarray(0, at), again, result.subarray(at)]);
    } else result = result.subarray(0, at);
  }
  return result;
}

/** As a query carries it; `spoils`: now and then wrongly encoded. */
export function queryText(random: Random, text: string): string {
  if (random.chance(0.05)) return random.pick(ODD_VALUES).replaceAll('#', '%23');
  // A lone surrogate has no UTF-8.
  const encoded = encodeURIComponent(text.toWellFormed());
  if (random.chance(0.1)) return encoded.replaceAll('%20', '+');
  return random.chance(0.05)
    ? encoded.replace(/[a-z]/, (c) => `%${c.charCodeAt(0).toString(16)}`)
    : encoded;
}
