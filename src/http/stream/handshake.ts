/**
 * The handshake of a stream, and its token. A browser cannot set `Authorization` on a WebSocket, so
 * the token may also come as a subprotocol, or later in the first frame.
 */

import { PING_SECONDS } from '../../core/message/patience.ts';
import { FRAME_HEADER, frameMaxOf } from '../answer/frames.ts';
import { bearerToken } from '../request/call.ts';
import { parseQuery, valueIn } from '../request/query.ts';

/** The subprotocol that the server selects. */
const SUBPROTOCOL = 'gatepost';
/** A subprotocol with this prefix carries the token. It is never selected: answers are logged. */
const TOKEN_PREFIX = 'bearer.';

/** The header of the answer to `?ping=`: the seconds between two pings. */
export const PING_HEADER = 'x-ping-interval';

interface Handshake {
  /** The token; null: it is missing or has a wrong form. */
  token: string | null;
  /** False: the first frame must carry the token. */
  isTokenShown: boolean;
  /** False: the request asks for no WebSocket. */
  isUpgrade: boolean;
  /** Headers of the answer. */
  headers: Readonly<Record<string, string>>;
}

/** Reads the headers of a handshake. `Authorization` takes precedence over a subprotocol. */
export function readHandshake(headers: Headers): Handshake {
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((p) => p.trim());
  const carrier = offered.find((protocol) => protocol.startsWith(TOKEN_PREFIX));
  const isAuthorized = headers.has('authorization');
  return {
    token: isAuthorized ? bearerToken(headers) : (carrier?.slice(TOKEN_PREFIX.length) ?? null),
    isTokenShown: isAuthorized || carrier !== undefined,
    isUpgrade: /^websocket$/i.test(headers.get('upgrade') ?? ''),
    // Without this header Bun selects the first offered protocol, which could be the token.
    headers: { 'sec-websocket-protocol': offered.includes(SUBPROTOCOL) ? SUBPROTOCOL : '' },
  };
}

/**
 * Returns the seconds between pings for `?ping=`. A number out of bounds becomes the nearest bound;
 * the operator sets the upper one. Returns null, for the default, if the parameter is absent,
 * repeated or no number.
 */
export function readPing(url: string, secondsMax: number): number | null {
  const text = valueIn(parseQuery(url, false), 'ping');
  if (typeof text !== 'string' || !/^[0-9]{1,15}$/.test(text)) return null;
  return Math.min(secondsMax, Math.max(PING_SECONDS.min, Number(text)));
}

/** Returns the longest frame that a device reads, bytes; null: it names none, or no number. */
export function readFrameMax({ headers, url }: Request): number | null {
  const text = headers.get(FRAME_HEADER) ?? valueIn(parseQuery(url, false), 'frame_max');
  if (typeof text !== 'string' || !/^[0-9]{1,15}$/.test(text)) return null;
  return frameMaxOf(Number(text));
}
