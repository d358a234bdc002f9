/**
 * Bounds of answers from other servers. `node:http` parses all bytes of a socket's read, up to half
 * a megabyte, in one go: an answer in chunks of one byte blocked the event loop for 60 to 250 ms, a
 * flood of 1xx for 20 to 70 ms; with these bounds it is 1 to 3 ms.
 */

import type http from 'node:http';
import type { Socket } from 'node:net';

interface SliceBounds {
  /** The most bytes that are parsed in one go. */
  sliceBytesMax: number;
  /** Receives the bytes of each slice before it is parsed, framing and 1xx included. */
  onBytes(count: number): void;
}

/** The bounds of the current request of a connection. */
const boundsOf = new WeakMap<Socket, SliceBounds>();

/** Parses the answer of a request in slices, and none after the connection was destroyed. */
export function readInSlices(request: http.ClientRequest, bounds: SliceBounds): void {
  request.once('socket', (socket) => {
    // A reused connection is sliced already.
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
  /** Pieces of any size that are allowed. */
  piecesFree: number;
  /** The smallest average of further pieces. */
  pieceBytesMin: number;
}

/** Returns whether an answer has too many small pieces, each of which costs a callback. */
export function isTooFine(
  pieces: number,
  bytes: number,
  { piecesFree, pieceBytesMin }: PieceBounds,
): boolean {
  return pieces > piecesFree + bytes / pieceBytesMin;
}

/** The most answers of 1xx before the final one. */
const INTERIM_COUNT_MAX = 16;

/** Calls `onFlood` when a server sends more answers of 1xx. */
export function boundInterims(request: http.ClientRequest, onFlood: () => void): void {
  let count = 0;
  const pass = () => {
    count += 1;
    if (count > INTERIM_COUNT_MAX) onFlood();
  };
  request.on('continue', pass);
  request.on('information', pass);
}
