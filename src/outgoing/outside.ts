/**
 * Asks an address that an operator typed, once and from outside: whether a server there answers as
 * a panel does. Nothing secret is sent, and nothing that names Gatepost.
 */

import http from 'node:http';
import https from 'node:https';
import { addressOf, isCallable } from '../core/outbox/address.ts';
import type { Network } from '../core/port/reach.ts';
import type { OutgoingAnswer } from './call.ts';
import { ConnectionFault, failureOf } from './failure.ts';
import { exchangeHttp1 } from './http1.ts';
import { type Resolve, systemResolve } from './resolve.ts';

/** The bytes of an answer that are read. */
export const OUTSIDE_BYTES_MAX = 64 * 1024;
/** The headers of a question, as curl sends them. */
export const OUTSIDE_HEADERS = { accept: '*/*', 'user-agent': 'curl/8.5.0' } as const;
const TIMEOUT_MS = 5_000;

interface OutsideOptions {
  /** Networks that count as public. */
  allow: readonly Network[];
  /** Default: the machine's. */
  resolve?: Resolve | undefined;
  /** Further headers. */
  headers?: Readonly<Record<string, string>>;
  /** Called for each part of the body that arrives. */
  onPart?: () => void;
}

export const NOT_PUBLIC = Symbol('not public');

/**
 * Asks a place for a path; all addresses of its name must be public or allowed. It follows no
 * redirect. Any certificate will do, as an app may accept it. Returns the reason if there is no
 * answer.
 */
export async function askOutside(
  place: URL,
  path: string,
  { allow, resolve = systemResolve, headers = {}, onPart }: OutsideOptions,
): Promise<OutgoingAnswer | typeof NOT_PUBLIC | string> {
  const literal = addressOf(place.hostname);
  const addresses = literal === null ? await resolve(place.hostname).catch(() => []) : [literal];
  const [address] = addresses;
  const isPublic = addresses.every((one) => isCallable(one, allow));
  if (address === undefined || !isPublic) return NOT_PUBLIC;
  const isSecure = place.protocol === 'https:';
  const agent = isSecure ? new https.Agent({ rejectUnauthorized: false }) : new http.Agent();
  const answer = await exchangeHttp1({
    call: {
      method: 'GET',
      destination: 'page',
      url: place.href,
      trust: 'untrusted',
      headers: { ...OUTSIDE_HEADERS, ...headers },
      body: null,
      timeoutMs: TIMEOUT_MS,
      answerBytesMax: OUTSIDE_BYTES_MAX,
      originConcurrency: 1,
    },
    url: new URL(path, place),
    address,
    agent,
    ca: null,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    // Its Retry-After is not read.
    nowMs: () => 0,
    onPart,
  });
  agent.destroy();
  if (!(answer instanceof ConnectionFault)) return answer;
  return answer.code === 'ABORT_ERR'
    ? `${place.host} does not answer`
    : failureOf(answer, place.host).problem;
}
