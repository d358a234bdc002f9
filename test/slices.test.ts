/** The data of one read of a socket, in slices that can be abandoned in the middle. */

import { expect, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import type http from 'node:http';
import type { Socket } from 'node:net';
import { boundInterims, isTooFine, readInSlices } from '../src/outgoing/slices.ts';

class FakeSocket extends EventEmitter {
  destroyed = false;
}

/** A request on a connection, and the slices that its parser gets. */
function requestOn(socket: FakeSocket, sliceBytesMax: number, onBytes: (count: number) => void) {
  const request = new EventEmitter() as unknown as http.ClientRequest;
  readInSlices(request, { sliceBytesMax, onBytes });
  request.emit('socket', socket as unknown as Socket);
  return request;
}

test('a read is handed on in slices, whole and in its order', () => {
  const socket = new FakeSocket();
  const parts: string[] = [];
  const counts: number[] = [];
  socket.on('data', (part: Buffer) => parts.push(part.toString()));
  requestOn(socket, 4, (count) => counts.push(count));
  socket.emit('data', Buffer.from('abcdefghij'));
  socket.emit('data', Buffer.from('k'));
  expect(parts).toEqual(['abcd', 'efgh', 'ij', 'k']);
  expect(counts).toEqual([4, 4, 2, 1]);
});

test('no slice follows after the connection was given up', () => {
  const socket = new FakeSocket();
  const parts: string[] = [];
  socket.on('data', (part: Buffer) => {
    parts.push(part.toString());
    if (parts.length === 2) socket.destroyed = true;
  });
  requestOn(socket, 2, () => undefined);
  socket.emit('data', Buffer.from('abcdefghij'));
  expect(parts).toEqual(['ab', 'cd']);
});

test('who counts the bytes may give up before the slice is handed on', () => {
  const socket = new FakeSocket();
  const parts: string[] = [];
  socket.on('data', (part: Buffer) => parts.push(part.toString()));
  let bytes = 0;
  requestOn(socket, 2, (count) => {
    bytes += count;
    socket.destroyed = bytes > 4;
  });
  socket.emit('data', Buffer.from('abcdefghij'));
  expect(parts).toEqual(['ab', 'cd']);
});

test('a connection that is kept open is sliced once, by the bounds of the request that it serves', () => {
  const socket = new FakeSocket();
  const parts: string[] = [];
  const heard: string[] = [];
  socket.on('data', (part: Buffer) => parts.push(part.toString()));
  requestOn(socket, 2, () => heard.push('first'));
  requestOn(socket, 3, () => heard.push('second'));
  socket.emit('data', Buffer.from('abcdef'));
  expect(parts).toEqual(['abc', 'def']);
  expect(heard).toEqual(['second', 'second']);
  let isClosed = false;
  socket.on('close', () => {
    isClosed = true;
  });
  socket.emit('close', false);
  expect(isClosed).toBe(true);
});

test('pieces are too fine beyond a number, unless they have some bytes', () => {
  const bounds = { piecesFree: 10, pieceBytesMin: 100 };
  expect(isTooFine(10, 10, bounds)).toBe(false);
  expect(isTooFine(11, 11, bounds)).toBe(true);
  expect(isTooFine(1000, 99_000, bounds)).toBe(false);
  expect(isTooFine(1001, 99_000, bounds)).toBe(true);
});

test('sixteen answers of 1xx are passed over', () => {
  const request = new EventEmitter() as unknown as http.ClientRequest;
  let floods = 0;
  boundInterims(request, () => {
    floods += 1;
  });
  for (let count = 0; count < 8; count++) {
    request.emit('continue');
    request.emit('information');
  }
  expect(floods).toBe(0);
  request.emit('information');
  expect(floods).toBe(1);
});
