/**
 * Callers who each ask one thing at a time, with a pause before the next, in a process of their
 * own; beside them may be connections that do nothing. Reads a `CallersOrder` in JSON from its
 * first argument, prints a `CallersReport` in JSON.
 */

import { connect, type Socket } from 'node:net';

export interface CallersOrder {
  host: string;
  port: number;
  /** A request of each caller; `{n}` in it stands for a number that never comes twice. */
  requests: string[];
  /** Regular expression of an answer that is no refusal. */
  good: string;
  seconds: number;
  pauseMs: number;
  idleConnections: number;
}

export interface CallersReport {
  calls: number;
  p50Ms: number;
  p99Ms: number;
  longestMs: number;
  refused: number;
  /** The first answer that was a refusal. */
  refusal: string | null;
}

/** The longest that an answer is waited for: then it counts as refused, ms. */
const ANSWER_MAX_MS = 15_000;
/** Connections that are opened at a time. */
const OPENED_AT_ONCE = 100;

const order = JSON.parse(process.argv[2] ?? '{}') as CallersOrder;
const good = new RegExp(order.good);
const times: number[] = [];
let refused = 0;
let refusal: string | null = null;
let number = Math.floor(Math.random() * 1e9);

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(order.port, order.host, () => resolve(socket));
    socket.on('error', reject);
  });
}

/** Sends a request and waits for the whole answer. */
function ask(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const end = (answer: string) => {
      clearTimeout(timer);
      socket.off('data', take);
      resolve(answer);
    };
    const timer = setTimeout(() => end('no answer in time'), ANSWER_MAX_MS);
    const take = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head >= 0 && text.length >= head + 4 + length) end(text);
    };
    socket.on('data', take);
    socket.write(request);
  });
}

async function call(template: string, endMs: number): Promise<void> {
  const socket = await open();
  // They are not to come all at once.
  await Bun.sleep(Math.random() * order.pauseMs);
  while (performance.now() < endMs) {
    number += 1;
    const beganMs = performance.now();
    const answer = await ask(socket, template.replaceAll('{n}', String(number)));
    times.push(performance.now() - beganMs);
    if (!good.test(answer)) {
      refused += 1;
      refusal ??= answer.slice(0, 600);
    }
    await Bun.sleep(order.pauseMs * (0.5 + Math.random()));
  }
  socket.destroy();
}

const idle: Socket[] = [];
while (idle.length < order.idleConnections) {
  const count = Math.min(OPENED_AT_ONCE, order.idleConnections - idle.length);
  idle.push(...(await Promise.all(Array.from({ length: count }, open))));
}
const endMs = performance.now() + order.seconds * 1_000;
await Promise.all(order.requests.map((request) => call(request, endMs)));
times.sort((a, b) => a - b);
const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? Number.NaN;
const report: CallersReport = {
  calls: times.length,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
  longestMs: at(1),
  refused,
  refusal,
};
console.log(JSON.stringify(report));
process.exit(0);
