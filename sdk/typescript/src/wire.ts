/**
 * A WebSocket (RFC 6455) over `node:http`, for Node, Bun and Deno. Unlike theirs, it shows pings
 * and the headers of the handshake, and it ends without waiting for the other side.
 */

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { CUT, type Ended, type Handshake, type Socket, type SocketEvents } from './socket.ts';

/** The most bytes of a message. */
const MESSAGE_BYTES_MAX = 1024 * 1024;
const ACCEPT_SALT = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const CONTINUATION = 0;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
const NOTHING: Uint8Array = new Uint8Array();

/** Opens a socket; returns null in a browser. */
export function openWire(handshake: Handshake, on: SocketEvents): Socket | null {
  // Bundlers for browsers would look for an imported module.
  const module = globalThis.process?.getBuiltinModule;
  if (typeof module !== 'function') return null;
  const { request } = handshake.url.startsWith('https:')
    ? module('node:https')
    : module('node:http');
  const { createHash, randomBytes } = module('node:crypto');
  const key = randomBytes(16).toString('base64');
  const accept = createHash('sha1')
    .update(key + ACCEPT_SALT)
    .digest('base64');
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    authorization: `Bearer ${handshake.token}`,
    ...(handshake.locale !== '' && { 'accept-language': handshake.locale }),
    ...(handshake.frameMax !== undefined && { 'x-frame-max': `${handshake.frameMax}` }),
  };
  const asked = request(handshake.url, { headers, agent: false });
  const wire = new Wire(on, () => asked.destroy());
  asked.on('upgrade', (answer: IncomingMessage, stream: Duplex, head: Uint8Array) => {
    if (answer.headers['sec-websocket-accept'] !== accept) wire.end();
    const named = Number(answer.headers['x-ping-interval']);
    wire.begin(stream, named > 0 ? named : null, head);
  });
  asked.on('response', (answer) =>
    wire.finish({ code: 1006, reason: `status ${answer.statusCode}` }),
  );
  asked.on('error', () => wire.finish(CUT));
  asked.end();
  return wire;
}

class Wire implements Socket {
  readonly showsPings = true;
  #stream: Duplex | null = null;
  #hasEnded = false;
  #rest = NOTHING;
  /** The parts of a message in several frames; null: none has begun. */
  #parts: Uint8Array | null = null;

  constructor(
    private readonly on: SocketEvents,
    /** Ends a handshake. */
    private readonly abandon: () => void,
  ) {}

  get isOpen(): boolean {
    return this.#stream !== null && !this.#hasEnded;
  }

  begin(stream: Duplex, pingSeconds: number | null, head: Uint8Array): void {
    stream.on('error', () => this.finish(CUT));
    if (this.#hasEnded) {
      stream.destroy();
      return;
    }
    this.#stream = stream;
    stream.on('data', (bytes: Uint8Array) => this.#take(bytes));
    stream.on('end', () => this.finish(CUT));
    stream.on('close', () => this.finish(CUT));
    this.on.open(pingSeconds);
    if (head.length > 0) this.#take(head);
  }

  send(text: string): void {
    this.#write(TEXT, new TextEncoder().encode(text));
  }

  end(reason = ''): void {
    this.#close(1000, { ...CUT, reason });
  }

  /** Reports the end once, and drops the connection. */
  finish(ended: Ended): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#stream === null) this.abandon();
    else this.#stream.destroy();
    this.on.end(ended);
  }

  /** Sends a close frame, which leaves if the system takes it, and ends. */
  #close(code: number, ended: Ended): void {
    const stream = this.#stream;
    if (stream === null || this.#hasEnded) {
      this.finish(ended);
      return;
    }
    this.#write(CLOSE, new Uint8Array([code >> 8, code & 255]));
    this.#hasEnded = true;
    stream.end(() => stream.destroy());
    this.on.end(ended);
  }

  #write(opcode: number, payload: Uint8Array): void {
    if (this.isOpen) this.#stream?.write(frameOf(opcode, payload));
  }

  #take(bytes: Uint8Array): void {
    if (this.#hasEnded) return;
    this.#rest = joined(this.#rest, bytes);
    for (;;) {
      const frame = this.#hasEnded ? null : frameIn(this.#rest);
      if (frame === null) return;
      if (frame === 'malformed') {
        this.#close(1002, { code: 1002, reason: 'malformed frame' });
        return;
      }
      this.#rest = this.#rest.subarray(frame.length);
      this.on.heard();
      this.#frame(frame);
    }
  }

  #frame({ opcode, isLast, payload }: Frame): void {
    if (opcode === PING) {
      this.#write(PONG, payload);
    } else if (opcode === CLOSE) {
      const [high = 0, low = 0] = payload;
      const code = payload.length < 2 ? 1005 : high * 256 + low;
      const reason = textIn(payload.subarray(2)) ?? '';
      this.#close(code === 1005 ? 1000 : code, { code, reason });
    } else if (opcode === TEXT || opcode === CONTINUATION) {
      this.#part(opcode, isLast, payload);
    } else if (opcode !== PONG) {
      this.#close(1002, { code: 1002, reason: 'unknown frame' });
    }
  }

  /** Takes a part of a message, or all of it. */
  #part(opcode: number, isLast: boolean, payload: Uint8Array): void {
    const isContinued = opcode === CONTINUATION;
    const isInside = this.#parts !== null;
    const message = joined(this.#parts ?? NOTHING, payload);
    const text = isLast ? textIn(message) : '';
    this.#parts = isLast ? null : message;
    if (isContinued !== isInside) {
      this.#close(1002, { code: 1002, reason: 'unexpected frame' });
    } else if (message.length > MESSAGE_BYTES_MAX) {
      this.#close(1009, { code: 1009, reason: 'message too big' });
    } else if (text === null) {
      this.#close(1007, { code: 1007, reason: 'not UTF-8' });
    } else if (isLast) {
      this.on.text(text);
    }
  }
}

interface Frame {
  opcode: number;
  isLast: boolean;
  payload: Uint8Array;
  /** The bytes of the whole frame. */
  length: number;
}

/** Reads the first frame; null: it is not whole yet. A server masks none and negotiated nothing. */
function frameIn(bytes: Uint8Array): Frame | 'malformed' | null {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < 2) return null;
  if ((first & 0x70) !== 0 || (second & 0x80) !== 0) return 'malformed';
  const extra = second === 126 ? 2 : second === 127 ? 8 : 0;
  const start = 2 + extra;
  if (bytes.length < start) return null;
  let size = extra === 0 ? second : 0;
  for (const byte of bytes.subarray(2, start)) size = size * 256 + byte;
  if (size > MESSAGE_BYTES_MAX) return 'malformed';
  const length = start + size;
  if (bytes.length < length) return null;
  const payload = bytes.subarray(start, length);
  return { opcode: first & 15, isLast: (first & 0x80) !== 0, payload, length };
}

/** Returns a masked frame, as a client must send. */
function frameOf(opcode: number, payload: Uint8Array): Uint8Array {
  const size = payload.length;
  const head = [0x80 | opcode, 0x80 | (size < 126 ? size : size < 65_536 ? 126 : 127)];
  if (size >= 65_536) head.push(0, 0, 0, 0, (size >>> 24) & 255, (size >>> 16) & 255);
  if (size >= 126) head.push((size >>> 8) & 255, size & 255);
  const mask = crypto.getRandomValues(new Uint8Array(4));
  const masked = payload.map((byte, at) => byte ^ (mask[at & 3] ?? 0));
  return joined(joined(new Uint8Array(head), mask), masked);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Returns a UTF-8 text; null: it is none. */
function textIn(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
