/**
 * Bounds of answers that come from outside. `node:http` parses in one go what a read of a socket
 * brought, up to half a megabyte, and nothing stops it: an answer in pieces of one byte took 60 to
 * 250 ms of the event loop, a flood of 1xx 20 to 70 ms; with these bounds it is 1 to 3 ms.
 */

import type http from 'node:http';
import type { Socket } from 'node:net';

interface SliceBounds {
  /** Bytes that the parser gets in one go. */
  sliceBytesMax: number;
  /** Is called before each slice with the number of its bytes, framing and 1xx included. */
  onBytes(count: number): void;
}

/** The bounds of the request that a connection serves. */
const boundsOf = new WeakMap<Socket, SliceBounds>();

/**
 * Hands the parser of a request's answer slices of what a read brought, and none after the
 * connection was destroyed.
 */
export function readInSlices(request: http.ClientRequest, bounds: SliceBounds): void {
  request.once('socket', (socket) => {
    // A connection that was kept open is sliced already.
    if (!boundsOf.has(socket)) slice(socket);
    boundsOf.set(socket, bounds);
  });
}

function slice(socket: Socket): void {
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...args: unknown[]) => boolean;
  socket.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    const [chunk] = args;
    const bounds = boundsOf.get(socket);
    if (event !== 'data' || !(chunk instanceof Uint8Array) || bounds === undefined) {
      return emit(event, ...args);
    }
    const { sliceBytesMax, onBytes } = bounds;
    for (let at = 0; at < chunk.length; at += sliceBytesMax) {
      const part = chunk.subarray(at, at + sliceBytesMax);
      onBytes(part.length);
      if (socket.destroyed) break;
      emit('data', part);
    }
    return true;
  };
}

interface PieceBounds {
  /** Pieces of which an answer may consist, however small they are. */
  piecesFree: number;
  /** Bytes that the others have on average. */
  pieceBytesMin: number;
}

/** Tells whether an answer comes in too small pieces: each costs a turn through JavaScript. */
export function isTooFine(
  pieces: number,
  bytes: number,
  { piecesFree, pieceBytesMin }: PieceBounds,
): boolean {
  return pieces > piecesFree + bytes / pieceBytesMin;
}

/** Answers of 1xx that may come before the true one. */
const INTERIM_COUNT_MAX = 16;

/** Calls `onFlood` when more answers of 1xx come than any server has a use for. */
export function boundInterims(request: http.ClientRequest, onFlood: () => void): void {
  let count = 0;
  const pass = () => {
    count += 1;
    if (count > INTERIM_COUNT_MAX) onFlood();
  };
  request.on('continue', pass);
  request.on('information', pass);
}
