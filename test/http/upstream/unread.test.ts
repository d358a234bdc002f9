/** A client that reads nothing of an answer: how long the panel's connection is kept for it. */

import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import type http from 'node:http';
import {
  Exchange,
  type Failure,
  type UpstreamResponse,
} from '../../../src/http/upstream/exchange.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';

const PIECE = Buffer.alloc(128 * 1024, 'x');
const TIMEOUT_MS = 10_000;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** An exchange that has begun an answer of which its client has read nothing. */
async function beginUnread() {
  const request = Object.assign(new EventEmitter(), { destroy: () => {}, reusedSocket: false });
  const message = Object.assign(new EventEmitter(), {
    statusCode: 200,
    headers: {},
    rawHeaders: [],
    complete: false,
    pause: () => {},
    resume: () => {},
  });
  const failures: (Failure | null)[] = [];
  const answer = await new Promise<UpstreamResponse>((resolve) => {
    const exchange = new Exchange(
      request as unknown as http.ClientRequest,
      { timeoutMs: TIMEOUT_MS, answerBytesMax: 8 * PIECE.length } as Upstream,
      {
        method: 'GET',
        path: '/sub/key',
        headers: {},
        signal: new AbortController().signal,
        onEnd: (failure) => failures.push(failure),
      },
      new Set(),
      (outcome) => resolve(outcome as UpstreamResponse),
    );
    exchange.receive(message as unknown as http.IncomingMessage);
    message.emit('data', PIECE);
  });
  return { answer, failures };
}

test('an answer that its client does not read is kept for two minutes', async () => {
  const { answer, failures } = await beginUnread();
  expect(answer.status).toBe(200);
  jest.advanceTimersByTime(119_000);
  expect(failures).toEqual([]);
  jest.advanceTimersByTime(2_000);
  expect(failures.map((failure) => failure?.kind)).toEqual(['client_left']);
});

test('once its client reads, the panel has its own time again', async () => {
  const { answer, failures } = await beginUnread();
  const body = answer.body() as ReadableStream<Uint8Array>;
  const reader = body.getReader();
  await reader.read();
  jest.advanceTimersByTime(TIMEOUT_MS - 1_000);
  expect(failures).toEqual([]);
  jest.advanceTimersByTime(2_000);
  expect(failures.map((failure) => failure?.kind)).toEqual(['upstream_slow']);
});
