/**
 * The mixed load of `load.lua` at a fixed rate, from a process of its own: a request is sent when
 * it is due, whatever became of those before, and its time counts from when it was due, so that a
 * server that stands still does not hide it.
 *
 *   bun bench/peers/paced.ts URL PER_SECOND SECONDS PROVIDERS LINKS DEVICES FRESH
 *
 * Prints `Paced` as JSON.
 */

import type { Socket } from 'bun';
import { who as credentials } from '../driver.ts';
import { DEVICE, domainHash, hwidOf, linkCode } from '../shape.ts';

export interface Paced {
  requests: number;
  /** Answers that were not as they should be. */
  wrong: number;
  p50Us: number;
  p99Us: number;
  p999Us: number;
  longestUs: number;
  /** The longest time without any answer while one was awaited. */
  stallUs: number;
}

interface Caller {
  socket: Socket<Caller> | null;
  dueMs: number;
  expected: string;
  received: string;
}

const CONNECTIONS = 64;
const PATIENCE_MS = 20_000;

const [url = '', ...words] = process.argv.slice(2);
const [perSecond = 0, seconds = 0, providers = 1, links = 1, devices = 1, fresh = 0] =
  words.map(Number);
const { hostname, port } = new URL(url);

const any = (most: number) => 1 + Math.floor(Math.random() * most);
const owner = (link: number) => ((link - 1) % providers) + 1;
const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

let nextFresh = fresh;

/** Draws a request, with the beginning of its answer's body. */
function draw(): [request: string, expected: string] {
  const share = Math.random();
  if (share < 0.5) {
    const device = any(devices);
    const link = device * (links / devices);
    const path = `/install?id=${domainHash(owner(link))}&installid=${linkCode(link)}`;
    const facts = Object.entries(DEVICE).map(([name, value]) => `${name}: ${value}\r\n`);
    return [
      get(path, `${facts.join('')}x-hwid: ${hwidOf(device)}\r\n`),
      '{"rc":1,"msg":"Ok","provider_id":',
    ];
  }
  if (share < 0.8) {
    const link = any(links);
    const path = `/api/list-install?${credentials(owner(link))}&id=${link}`;
    return [get(path), '{"rc":1,"msg":"Ok","data":[{'];
  }
  const who = any(providers);
  if (share < 0.9) {
    const wrong = credentials(who).replace('bench-key', 'wrong-key');
    return [get(`/api/list-install?${wrong}&id=1`), '{"rc":0,"msg":"Auth error"}'];
  }
  nextFresh += 1;
  const link = `&install_limit=5&note=bench&install_code=${linkCode(nextFresh)}`;
  return [get(`/api/add-install?${credentials(who)}${link}`), '{"rc":1,"msg":"Ok","install_code"'];
}

const tookMs: number[] = [];
const idle: Caller[] = [];
/** Due times of the requests for which no connection was idle, from `firstWaiting` on. */
const waiting: number[] = [];
let firstWaiting = 0;
let wrong = 0;
let sent = 0;
let lastSignMs = 0;
let stallMs = 0;

function send(caller: Caller, dueMs: number): void {
  const [request, expected] = draw();
  if (sent === tookMs.length) lastSignMs = performance.now();
  caller.dueMs = dueMs;
  caller.expected = expected;
  caller.received = '';
  sent += 1;
  caller.socket?.write(request);
}

function take(caller: Caller, chunk: string): void {
  caller.received += chunk;
  const end = caller.received.indexOf('\r\n\r\n');
  if (end < 0) return;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(caller.received)?.[1];
  if (length === undefined) throw new Error(`an answer without length: ${caller.received}`);
  if (caller.received.length < end + 4 + Number(length)) return;
  const nowMs = performance.now();
  if (!caller.received.startsWith(caller.expected, end + 4)) wrong += 1;
  tookMs.push(nowMs - caller.dueMs);
  stallMs = Math.max(stallMs, nowMs - lastSignMs);
  lastSignMs = nowMs;
  const dueMs = waiting[firstWaiting];
  if (dueMs === undefined) idle.push(caller);
  else {
    firstWaiting += 1;
    send(caller, dueMs);
  }
}

async function connect(): Promise<Caller> {
  const caller: Caller = { socket: null, dueMs: 0, expected: '', received: '' };
  caller.socket = await Bun.connect<Caller>({
    hostname,
    port: Number(port),
    data: caller,
    socket: {
      data: (_, chunk) => take(caller, chunk.toString('latin1')),
      close: () => {
        if (tookMs.length < sent) throw new Error('the server closed a connection');
      },
    },
  });
  return caller;
}

for (let n = 0; n < CONNECTIONS; n += 1) idle.push(await connect());
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const startMs = performance.now();
const count = Math.floor(perSecond * seconds);
for (let n = 0; n < count; ) {
  const nowMs = performance.now();
  for (; n < count; n += 1) {
    const dueMs = startMs + (n * 1000) / perSecond;
    if (dueMs > nowMs) break;
    // The longest idle connection: servers close connections that are idle for some seconds.
    const caller = idle.shift();
    if (caller) send(caller, dueMs);
    else waiting.push(dueMs);
  }
  // It has a core of its own, and a timer would be a millisecond late.
  await turn();
}
const endMs = performance.now();
while (tookMs.length < count && performance.now() - endMs < PATIENCE_MS) await turn();
if (tookMs.length < count) throw new Error(`${count - tookMs.length} requests without an answer`);
const sorted = tookMs.toSorted((a, b) => a - b);
const us = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0) * 1000;
const paced: Paced = {
  requests: count,
  wrong,
  p50Us: us(0.5),
  p99Us: us(0.99),
  p999Us: us(0.999),
  longestUs: us(1),
  stallUs: stallMs * 1000,
};
console.log(JSON.stringify(paced));
process.exit(0);
