/**
 * The signature of a question that the doctor asks at the public address: it shows that a server on
 * the same database answers, and shows strangers nothing.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';

/** The path of the question. Strangers get there what they get at any unknown path. */
export const PROBE_PATH = '/device/probe';
/** The header of the answer, with the signature of the question. */
export const PROBE_HEADER = 'x-gatepost-probe';
/** Header bytes of an answer with a message and its buttons that ride, and those of a panel. */
export const PROBE_FILL_BYTES = 6 * 1024;
/** Time between the two parts of an answer, ms. */
export const PROBE_PAUSE_MS = 1_000;

/** The life of a signature: the clocks of nodes differ by seconds. */
const LIFE_MS = 120_000;
const SIGNATURE = /^(\d{1,15})\.([\w-]{43})$/;

/** The question as it arrived. */
export interface ProbeSeen {
  /** The host and port that the client asked for. */
  host: string;
  scheme: 'http' | 'https';
  /** `none`: no proxy shows itself. */
  proxy: 'none' | 'trusted' | 'untrusted';
}

const macOf = (key: Uint8Array, atMs: string) =>
  createHmac('sha256', key).update(`public probe ${atMs}\n`).digest('base64url');

/** Signs a question; `key` is that of the database. */
export const signProbe = (key: Uint8Array, nowMs: number): string =>
  `${nowMs}.${macOf(key, String(nowMs))}`;

/** Returns whether a signature is of this database and of the last two minutes. */
export function isSignedProbe(key: Uint8Array, signature: string, nowMs: number): boolean {
  const [, atMs = '', mac = ''] = SIGNATURE.exec(signature) ?? [];
  if (mac === '' || Math.abs(nowMs - Number(atMs)) > LIFE_MS) return false;
  return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(key, atMs)));
}
