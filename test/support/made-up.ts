/**
 * What stands in recorded answers in place of the keys, tokens, passwords and addresses of a panel
 * that ran: values of the same form that anybody can tell from real ones.
 */

import { digestToken, jwtToken, macToken } from './signing-panel.ts';

const UUID = /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi;
const PEM = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;
const JWT = /\bey[\w-]{8,}\.ey[\w-]{8,}\.[\w-]{20,}/g;
/** A key of 32 bytes, also percent-encoded. */
const KEY_32 = /(?:[A-Za-z\d+/]|%2[BF]){43}(?:=|%3D)/g;
const SSH_KEY = /\bAAAA[A-Za-z\d+/]{30,}={0,2}/g;
const ADDRESS = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g;
const HOST = /(?<=:\/\/(?:[^\s/@"'<>]*@)?)[A-Za-z\d](?:[A-Za-z\d-]*\.)+[A-Za-z\d]+\b/g;
const TOKEN = /[\w-]{20,}(?:\.[\w-]{43}(?![\w-]))?/g;
const WORD = /[A-Za-z\d][\w-]{9,}/g;
/** What may be base64 of a text. */
const CODED = /(?<![A-Za-z\d+_-])[A-Za-z\d][A-Za-z\d+/_-]{15,}={0,2}/g;

/** Addresses that belong to nobody, and resolvers that every panel names. */
const KNOWN_ADDRESS = new RegExp(
  [
    String.raw`^(?:127\.|10\.|0\.0\.0\.0$|192\.168\.|172\.|198\.18\.|203\.0\.113\.`,
    String.raw`1\.[01]\.[01]\.1$|8\.8\.|9\.9\.9\.9$)`,
  ].join('|'),
);
/** Words of protocols that look like keys. */
const KNOWN_WORD =
  /^(?:x?chacha20|2022-blake3|aes-|ssh-ed25519|ecdsa-|\d{4}-\d\d-\d\d|upload=|rsa-sha2)/i;
/** Names and addresses that a URL may have in this project. */
const isExample = (host: string) =>
  /(?:^|\.)example(?:\.(?:com|org|net))?$|^localhost$|^127\./.test(host);

/** Returns whether a word seems to come from a generator of keys. */
function isRandom(word: string): boolean {
  if (KNOWN_WORD.test(word) || !/\d/.test(word) || !/[A-Za-z]/.test(word)) return false;
  return (/[a-z]/.test(word) && /[A-Z]/.test(word)) || (word.length >= 16 && !/[-_]/.test(word));
}

/** Returns the texts in a text: as it stands, without percent-encoding and without base64. */
export function layersOf(text: string, depth = 3): string[] {
  if (depth === 0) return [text];
  const inner = [...text.matchAll(CODED)].flatMap(([word]) => {
    const decoded = textIn(word);
    return decoded === null ? [] : layersOf(decoded, depth - 1);
  });
  const plain = text.replace(/(?:%[\da-f]{2})+/gi, (signs) => {
    try {
      return decodeURIComponent(signs);
    } catch {
      return signs;
    }
  });
  return [text, ...(plain === text ? [] : layersOf(plain, depth - 1)), ...inner];
}

/** Changes a text and every text that it has in base64. */
export function changeLayers(text: string, change: (layer: string) => string): string {
  const inner = text.replace(CODED, (word) => {
    const decoded = textIn(word);
    if (decoded === null) return word;
    const changed = Buffer.from(changeLayers(decoded, change));
    return /[+/=]/.test(word) || !/[-_]/.test(word)
      ? changed.toString('base64').replace(/=*$/, (end) => (word.length % 4 === 0 ? end : ''))
      : changed.toString('base64url');
  });
  return change(inner);
}

/** Returns the text in base64, of which all signs can be read; null: it has none. */
export function textIn(word: string): string | null {
  const bytes = Buffer.from(word, 'base64');
  const text = bytes.toString();
  const isSame = Buffer.from(text).equals(bytes);
  return isSame && !/[^\P{C}\n\r\t\u200c\u200d]/u.test(text) ? text : null;
}

type Kind = 'uuid' | 'pem' | 'jwt' | 'key' | 'ssh' | 'address' | 'host' | 'word';
export interface Secret {
  kind: Kind;
  value: string;
}

const found = (kind: Kind, text: string, form: RegExp, isOne: (value: string) => boolean) =>
  [...text.matchAll(form)].map(([value]) => ({ kind, value })).filter(({ value }) => isOne(value));

/** Returns what has the form of a secret or of a server's address in one layer of a text. */
export function secretsIn(layer: string): Secret[] {
  // What is base64 of a text is another layer.
  const text = layer
    .replace(TOKEN, (token) => (resigned(token) === token ? ' ' : token))
    .replace(CODED, (word) => (textIn(word) === null ? word : ' '));
  const all: Secret[] = [
    ...found('pem', text, PEM, () => true),
    ...found('uuid', text, UUID, () => true),
    ...found('jwt', text, JWT, () => true),
    ...found('key', text, KEY_32, () => true),
    ...found('ssh', text, SSH_KEY, () => true),
    ...found('address', text, ADDRESS, (value) => !KNOWN_ADDRESS.test(value)),
    ...found('host', text, HOST, (value) => !isExample(value)),
  ];
  // `%20` is no part of a word.
  const unsigned = text.replace(/%[\da-f]{2}/gi, ' ');
  const rest = all.reduce((left, { value }) => left.replaceAll(value, ' '), unsigned);
  return [...all, ...found('word', rest, WORD, isRandom)];
}

/** Returns a word of the same length that repeats a word, with a number at its end. */
function repeated(value: string, n: number): string {
  const isHex = /^[\da-f]+$/.test(value);
  const end = /=*$/.exec(value)?.[0] ?? '';
  const length = value.length - end.length;
  return `${(isHex ? 'decade' : 'MadeUp').repeat(length).slice(0, length - 4)}${padded(n, 4)}${end}`;
}

const padded = (n: number, length: number) => String(n).padStart(length, '0');

/** Returns the made-up value with a number in place of a secret. */
export function madeUpFor({ kind, value }: Secret, n: number): string {
  if (kind === 'uuid') return `${padded(n, 8)}-0000-4000-8000-${padded(n, 12)}`;
  if (kind === 'pem') return value.replace(/(?<=-----\n?)[^-]+(?=\n?-----END)/, `MadeUp${n}`);
  if (kind === 'jwt') return jwtToken(JSON.parse(textIn(value.split('.')[1] ?? '') ?? '{}'));
  if (kind === 'key') return repeated('A'.repeat(43), n) + (value.endsWith('%3D') ? '%3D' : '=');
  if (kind === 'address') return `203.0.113.${1 + (n % 250)}`;
  if (kind === 'host') return `n${n}.example.net`;
  return repeated(value, n);
}

/** Returns a token of a panel with its user and time, signed by a secret of tests; null: none. */
export function resigned(token: string): string | null {
  const dot = token.indexOf('.');
  const said = textIn(dot > 0 ? token.slice(0, dot) : token.slice(0, -10));
  if (said === null || !said.includes(',')) return null;
  return dot > 0 ? macToken(said) : digestToken(said);
}

/** Returns whether a value was made up here. */
export function isMadeUp({ kind, value }: Secret): boolean {
  if (kind === 'uuid') return /^0000\d{4}-0000-4000-8000-0{8}\d{4}$/.test(value);
  if (kind === 'pem') return /-----\n?MadeUp\d+\n?-----/.test(value);
  if (kind === 'jwt') return madeUpFor({ kind, value }, 0) === value;
  if (kind === 'address' || kind === 'host') return false;
  const word = value.replace(/=|%3D/g, '');
  return [repeated(word, 0), repeated('A'.repeat(word.length), 0)].some(
    (form) => form.slice(0, -4) === word.slice(0, -4) && /\d{4}$/.test(word),
  );
}

/** Returns the secrets in a text, in any of its layers, that were not made up here. */
export function strangeIn(text: string): string[] {
  const all = layersOf(text).flatMap(secretsIn);
  return [...new Set(all.filter((one) => !isMadeUp(one)).map(({ value }) => value))];
}
