/** Why a call brought no answer, in a word for the program and a sentence for people. */

/** The words of faults of the connection. */
export type FaultWord =
  | 'bad_url'
  | 'lost'
  | 'name'
  | 'not_json'
  | 'refused_port'
  | 'timeout'
  | 'tls'
  | 'wrong_path';

export interface Fault {
  reason: FaultWord;
  text: string;
}

/** The texts in errors of Node, Bun and Deno; a browser hides the cause. */
const SIGNS: readonly (readonly [RegExp, FaultWord, (url: string) => string])[] = [
  [
    /TimeoutError|timed ?out|ETIMEDOUT|CONNECT_TIMEOUT/i,
    'timeout',
    (url) => `${url} gave no answer in time.`,
  ],
  [
    /ENOTFOUND|EAI_|getaddrinfo|dns error/i,
    'name',
    (url) => `The name of the host in ${url} was not found.`,
  ],
  [
    /ECONNREFUSED|connection refused/i,
    'refused_port',
    (url) => `${url} refuses the connection: no server listens on this port.`,
  ],
  [
    /cert|ssl|tls|EPROTO|handshake|InvalidContentType/i,
    'tls',
    (url) => `The TLS connection to ${url} failed`,
  ],
];

/** Names the fault of a call that threw. `url` is the address of the server, without a path. */
export function faultOf(error: unknown, url: string): Fault {
  const said = causesOf(error).replaceAll(hostOf(url), '');
  const sign = SIGNS.find(([pattern]) => pattern.test(said));
  if (sign === undefined) {
    return { reason: 'lost', text: `The connection to ${url} ended without an answer.` };
  }
  const [, reason, sentence] = sign;
  const code = reason === 'tls' ? `: ${codeOf(error)}.` : '';
  return { reason, text: sentence(url) + code };
}

/** Names the fault of an answer that is none of the device protocol. */
export function wrongAnswer(status: number, url: string, path: string): Fault {
  const at = `${url}${path.replace(/\?.*/, '')}`;
  return status === 404
    ? {
        reason: 'wrong_path',
        text: `${at} is not there (404): ${url} is not the address of Gatepost.`,
      }
    : {
        reason: 'not_json',
        text: `${at} answered with status ${status} and a text that is not JSON: a proxy or another site answers there.`,
      };
}

/** Returns the fault of an address without scheme or host; null: it can be used. */
export function badUrl(url: string): Fault | null {
  const text = `"${url}" is not the address of a server: it must start with https:// or http://.`;
  return /^https?:\/\/[^/?#]/i.test(url) && hostOf(url) !== '' ? null : { reason: 'bad_url', text };
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return '';
  }
}

interface Shape {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  cause?: unknown;
}

const shapeOf = (error: unknown): Shape => Object(error);

const codeOf = (error: unknown): unknown =>
  shapeOf(shapeOf(error).cause).code ??
  shapeOf(error).code ??
  shapeOf(shapeOf(error).cause).message;

const causesOf = (error: unknown): string =>
  [shapeOf(error), shapeOf(shapeOf(error).cause)]
    .map(({ name, code, message }) => `${name} ${code} ${message}`)
    .join(' ');
