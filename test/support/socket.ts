/** Bytes over a socket, for what no HTTP client would send. */

import { connect, type Socket } from 'node:net';

export interface Connection {
  socket: Socket;
  /** Every byte that came back so far, as Latin-1. */
  received(): string;
  isClosed(): boolean;
  /** Settles when the connection is gone, whichever side ended it. */
  closed: Promise<void>;
}

/** Connects and sends. An error of the connection counts as its end. */
export function open(port: number, ...parts: (string | Uint8Array)[]): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let text = '';
    let hasClosed = false;
    const socket = connect({ port, host: '127.0.0.1' });
    const closed = new Promise<void>((settle) => {
      socket.on('close', () => {
        hasClosed = true;
        settle();
      });
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('connect', () => {
      for (const part of parts) socket.write(part);
      resolve({ socket, received: () => text, isClosed: () => hasClosed, closed });
    });
  });
}
