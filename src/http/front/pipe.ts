/**
 * Two sockets as one connection: what comes on one goes out on the other, no faster than it is
 * taken there. Each end that one side closes reaches the other side after all bytes before it.
 */

/** The time for the last bytes to be taken, again after each part, and for the caller's end, ms. */
const LAST_BYTES_MAX_MS = 30_000;
const LAST_END_MAX_MS = 5_000;

/** A socket with the bytes that it has not taken yet. */
interface Side {
  socket: Bun.Socket<unknown>;
  rest: Buffer | null;
  /** Nothing more will be sent on it. */
  isEnding: boolean;
}

const sideOf = (socket: Bun.Socket<unknown>): Side => ({ socket, rest: null, isEnding: false });

export class Pipe {
  readonly #outer: Side;
  readonly #inner: Side;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #hasOuterEnded = false;
  #isFinished = false;

  /** `outer`: the socket of the caller; `inner`: the one to the server inside. */
  constructor(outer: Bun.Socket<unknown>, inner: Bun.Socket<unknown>) {
    this.#outer = sideOf(outer);
    this.#inner = sideOf(inner);
  }

  /** Takes bytes of the caller. */
  fromOuter(bytes: Buffer): void {
    pass(bytes, this.#inner, this.#outer);
  }

  /** Takes bytes of the server. */
  fromInner(bytes: Buffer): void {
    pass(bytes, this.#outer, this.#inner);
  }

  /** The caller takes bytes again. */
  outerDrained(): void {
    this.#timer?.refresh();
    if (drain(this.#outer, this.#inner)) this.#finish();
  }

  /** The server takes bytes again. */
  innerDrained(): void {
    if (drain(this.#inner, this.#outer)) this.#inner.socket.shutdown();
  }

  /** The caller sends no more. */
  outerEnded(): void {
    this.#hasOuterEnded = true;
    if (this.#isFinished) this.#outer.socket.end();
    if (this.#inner.isEnding) return;
    this.#inner.isEnding = true;
    if (this.#inner.rest === null) this.#inner.socket.shutdown();
  }

  /** The caller is gone. */
  outerClosed(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#inner.socket.terminate();
  }

  /** The server closed the connection: Bun sends nothing after that, and reads nothing. */
  innerEnded(): void {
    if (this.#outer.isEnding) return;
    this.#outer.isEnding = true;
    this.#inner.isEnding = true;
    this.#inner.rest = null;
    this.#inner.socket.end();
    this.#timer = setTimeout(() => this.#outer.socket.terminate(), LAST_BYTES_MAX_MS);
    if (this.#outer.rest === null) this.#finish();
  }

  /** Closes the outer side in order: an early close would reset bytes in flight. */
  #finish(): void {
    this.#isFinished = true;
    clearTimeout(this.#timer ?? undefined);
    this.#timer = setTimeout(() => this.#outer.socket.terminate(), LAST_END_MAX_MS);
    this.#outer.socket.resume();
    if (this.#hasOuterEnded) this.#outer.socket.end();
    else this.#outer.socket.shutdown();
  }
}

function pass(bytes: Buffer, to: Side, from: Side): void {
  if (to.isEnding) return;
  const written = to.rest === null ? Math.max(0, to.socket.write(bytes)) : 0;
  if (written === bytes.length) return;
  const left = bytes.subarray(written);
  // A copy: the buffer of an event belongs to Bun.
  to.rest = to.rest === null ? Buffer.from(left) : Buffer.concat([to.rest, left]);
  from.socket.pause();
}

/** Sends what waits. Returns true if all of it is sent, and the end of the side is due. */
function drain(to: Side, from: Side): boolean {
  if (to.rest === null) return false;
  const written = Math.max(0, to.socket.write(to.rest));
  to.rest = written === to.rest.length ? null : to.rest.subarray(written);
  if (to.rest !== null) return false;
  from.socket.resume();
  return to.isEnding;
}
