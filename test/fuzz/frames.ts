/** Streams of devices by their frames (RFC 6455), right and wrong ones. */

import { connect, type Socket } from 'node:net';
import { inputSchemaAt } from '../support/openapi.ts';
import type { Random } from '../support/random.ts';
import { fitting } from '../support/schema-arbitrary.ts';
import { type Campaign, within } from './campaign.ts';
import { anyJson, drawn, type Json, jsonText, mutated, spoiltBytes } from './grammar.ts';
import type { Scene } from './scene.ts';

/** How long a handshake or a close may take on a busy machine, ms. */
const DEADLINE_MS = 15_000;
const FRAMES_MAX = 12;

const [TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG] = [1, 2, 0, 8, 9, 10];

export class FrameGrammar {
  readonly #acknowledgements: Json[];

  constructor(
    readonly scene: Scene,
    seed: number,
  ) {
    this.#acknowledgements = drawn(fitting(inputSchemaAt('/device/ack'), {}), seed, 60) as Json[];
  }

  handshake(random: Random): Buffer {
    const lines = [
      'GET /device/stream HTTP/1.1',
      'host: localhost',
      'connection: upgrade',
      'upgrade: websocket',
      `sec-websocket-version: ${random.chance(0.97) ? 13 : random.pick([8, 12, 14])}`,
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      `authorization: Bearer ${random.pick(this.scene.tokens)}`,
    ];
    if (random.chance(0.2)) {
      lines.push('sec-websocket-extensions: permessage-deflate; client_max_window_bits');
    }
    if (random.chance(0.05)) lines.splice(random.int(1, lines.length - 1), 1);
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  }

  /** Frames of one write. */
  frames(random: Random): Buffer {
    const text = () => Buffer.from(this.#text(random));
    const roll = random.next();
    if (roll < 0.6) return frame(random, TEXT, text());
    if (roll < 0.66) return frame(random, BINARY, text());
    if (roll < 0.76) return fragments(random, text());
    if (roll < 0.84) {
      const length = random.pick([0, 1, 2, 125, 126]);
      return frame(random, random.pick([PING, PONG]), Buffer.alloc(length, 0xff));
    }
    if (roll < 0.88) return frame(random, CLOSE, random.pick(CLOSES));
    if (roll < 0.9) return frame(random, CONTINUATION, text());
    if (roll < 0.92) return frame(random, random.int(0, 15), text(), random.int(0, 7));
    return Buffer.from(spoiltBytes(random, frame(random, TEXT, text())));
  }

  #text(random: Random): string {
    const base = random.pick(this.#acknowledgements);
    const roll = random.next();
    if (roll < 0.4) return JSON.stringify(base);
    if (roll < 0.75) return jsonText(random, mutated(random, base)).slice(0, 70_000);
    if (roll < 0.95) return JSON.stringify(anyJson(random));
    return random.pick(['['.repeat(60_000), '\ud800', '', ' '.repeat(65_000)]);
  }
}

const CLOSES = [
  Buffer.alloc(0),
  Buffer.from([3]),
  Buffer.from([3, 0xe8]),
  Buffer.from([3, 0xed]),
  Buffer.from([0xff, 0xff, 0xff, 0xfe]),
  Buffer.concat([Buffer.from([3, 0xe8]), Buffer.alloc(130, 0x61)]),
];

/** A frame as a client sends it: masked, but for a mistake. */
function frame(
  random: Random,
  opcode: number,
  payload: Buffer,
  reserved = 0,
  isLast = true,
): Buffer {
  const isMasked = random.chance(0.99);
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  const masked = isMasked ? 0x80 : 0;
  const length = random.chance(0.99) ? payload.length : payload.length + random.int(1, 2 ** 20);
  let head: Buffer;
  if (length < 126) head = Buffer.from([first, masked | length]);
  else if (length < 65_536) head = Buffer.from([first, masked | 126, length >> 8, length & 0xff]);
  else {
    head = Buffer.alloc(10);
    head.set([first, masked | 127]);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  if (!isMasked) return Buffer.concat([head, payload]);
  const mask = Buffer.from(Array.from({ length: 4 }, () => random.int(0, 255)));
  const covered = Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  return Buffer.concat([head, mask, covered]);
}

function fragments(random: Random, payload: Buffer): Buffer {
  const parts: Buffer[] = [];
  const size = Math.max(Math.ceil(payload.length / random.int(1, 6)), 1);
  for (let at = 0; at < payload.length || parts.length === 0; at += size) {
    const isLast = at + size >= payload.length && random.chance(0.9);
    const opcode = at === 0 ? TEXT : CONTINUATION;
    parts.push(frame(random, opcode, payload.subarray(at, at + size), 0, isLast));
    if (random.chance(0.2)) parts.push(frame(random, PING, Buffer.from('x')));
  }
  return Buffer.concat(parts);
}

/** Opens a stream, sends frames, and says goodbye, again and again. */
export async function fuzzFrames(
  campaign: Campaign,
  grammar: FrameGrammar,
  port: number,
  pause: () => Promise<void>,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await pause();
    const { number, random } = campaign.next('streams');
    const sent: Buffer[] = [];
    const problem = await oneStream(grammar, random, port, sent, pause);
    if (problem && !isOver()) {
      campaign.fault('streams', number, problem, Buffer.concat(sent));
    }
    campaign.saw(problem ?? 'stream ended');
  }
}

async function oneStream(
  grammar: FrameGrammar,
  random: Random,
  port: number,
  sent: Buffer[],
  pause: () => Promise<void>,
): Promise<string | null> {
  let received = '';
  let wake = () => {};
  const socket = connect({ port, host: '127.0.0.1' });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
    wake();
  });
  let failure: Error | null = null;
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    wake();
  });
  const send = (bytes: Buffer) => {
    sent.push(bytes);
    if (!isClosed) socket.write(bytes);
  };
  send(grammar.handshake(random));
  const answered = new Promise<void>((resolve) => {
    wake = () => {
      if (received.includes('\r\n\r\n') || isClosed) resolve();
    };
  });
  if (
    (await within(
      DEADLINE_MS,
      answered.then(() => true),
    )) === null
  ) {
    return ended(socket, `no answer to the handshake in ${DEADLINE_MS} ms`);
  }
  if (!received.startsWith('HTTP/1.1 101')) {
    const isRefusal = /^HTTP\/1\.1 (?:200|400|401|404|426) /.test(received) || isClosed;
    if (failure !== null && received === '') return ended(socket, `no connection: ${failure}`);
    return ended(socket, isRefusal ? null : `handshake: ${received.slice(0, 300)}`);
  }
  for (let count = random.int(1, FRAMES_MAX); count > 0 && !isClosed; count--) {
    send(grammar.frames(random));
    await pause();
  }
  if (received.includes('internal fault')) return ended(socket, `a fault: ${received}`);
  // Half of them just leave.
  if (random.chance(0.5)) return ended(socket, null);
  socket.end(frame(random, CLOSE, Buffer.from([3, 0xe8])));
  const isGone = await within(
    DEADLINE_MS,
    closed.then(() => true),
  );
  return ended(socket, isGone ? null : `not closed within ${DEADLINE_MS} ms of the end`);
}

function ended(socket: Socket, says: string | null): string | null {
  socket.destroy();
  return says;
}
