/**
 * How much memory of ours callers may hold at a time: by answers that they do not read, and by
 * bodies that they do not send to their end. On many connections, one of them could have it all.
 */

import type { Clock } from '../clock.ts';

/** Answers and bodies from this size on need a place, bytes; less fits into a socket's buffer. */
export const LARGE_BYTES = 16 * 1024;

export interface RoomBounds {
  /** Unread, of all callers and of one. */
  bytesMax: number;
  bytesPerCallerMax: number;
  /** Answers that wait for a place, of all callers and of one. */
  waitingMax: number;
  waitingPerCallerMax: number;
  /** The same of what one provider sent: one can have any number of devices. Without: no bound. */
  perSender?: { bytesMax: number; waitingMax: number };
}

/**
 * Room for half a hundred lists of 5000 links as they mostly are, or for six as large as they may
 * be: that much is kept free for each that is being made.
 */
export const PROVIDER_ROOM: RoomBounds = {
  bytesMax: 48 * 1024 * 1024,
  bytesPerCallerMax: 16 * 1024 * 1024,
  waitingMax: 400,
  waitingPerCallerMax: 200,
};
/** One answer to a device has some 600 KiB at most. */
export const DEVICE_ROOM: RoomBounds = {
  bytesMax: 24 * 1024 * 1024,
  bytesPerCallerMax: 2 * 1024 * 1024,
  waitingMax: 32,
  waitingPerCallerMax: 4,
  perSender: { bytesMax: 8 * 1024 * 1024, waitingMax: 10 },
};

/**
 * Of providers' bodies that come in, each as long as it may be. None waits: Bun takes in what comes
 * of a body that nobody reads.
 */
export const BODY_ROOM: RoomBounds = {
  bytesMax: 48 * 1024 * 1024,
  bytesPerCallerMax: 16 * 1024 * 1024,
  waitingMax: 0,
  waitingPerCallerMax: 0,
};
/** Of devices' bodies: a room apart, as anybody can have tokens. */
export const DEVICE_BODY_ROOM: RoomBounds = {
  bytesMax: 8 * 1024 * 1024,
  bytesPerCallerMax: 1024 * 1024,
  waitingMax: 0,
  waitingPerCallerMax: 0,
};

/** How long an answer may wait for its place, ms. */
export const WAIT_MAX_MS = 15_000;
/** How often it is asked whether an answer was taken: while others wait for its place, and else. */
const WAITED_FOR_MS = 20;
const UNHURRIED_MS = 1_000;
/** How many answers are asked about in one step. */
const ASKED_AT_ONCE_MAX = 64;

/** The room of an answer until it is taken. */
export interface Place {
  /** Now that the answer is made, its size is known. */
  resize(bytes: number): void;
  /** There will be no answer. */
  leave(): void;
}

/** An answer or body that has a place, or asks for one. */
interface Held {
  caller: string;
  bytes: number;
  /** The provider who sent (most of) what is in it. */
  sender?: number | undefined;
  isTaken(): boolean;
}

interface Waiter extends Held {
  sinceMs: number;
  resolve(place: Place | null): void;
}

/** A room of so many bytes, with a line before it: callers take turns, each in its own order. */
export class Room {
  /** Answers that were refused a place since the start. */
  refusedCount = 0;
  #bytes = 0;
  readonly #bytesOf = new Map<string, number>();
  /** The one asked longest ago is first. */
  readonly #held = new Set<Held>();
  /** The caller whose turn it is comes first. */
  readonly #waiting = new Map<string, Waiter[]>();
  #waitingCount = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isHurried = false;
  #isClosed = false;

  constructor(
    private readonly bounds: RoomBounds,
    private readonly clock: Clock,
  ) {}

  get unreadBytes(): number {
    return this.#bytes;
  }

  /**
   * A place for an answer to `caller` that holds until `isTaken`, which is also true of a caller
   * who left. Null: too much of what the caller was answered, or all were, is unread, and has been
   * for as long as an answer may wait; or too many wait already.
   */
  enter(asked: Readonly<Held>): Place | Promise<Place | null> {
    const { caller } = asked;
    if (!this.#waiting.has(caller)) {
      if (!this.#fits(asked)) this.#sweep();
      if (this.#fits(asked)) return this.#hold(asked);
    }
    const ofCaller = this.#waiting.get(caller) ?? [];
    const { waitingMax, waitingPerCallerMax } = this.bounds;
    const isFull = this.#waitingCount >= waitingMax || ofCaller.length >= waitingPerCallerMax;
    if (this.#isClosed || isFull || this.#isFullFor(asked.sender)) {
      this.refusedCount += 1;
      return Promise.resolve(null);
    }
    return new Promise((resolve) => {
      ofCaller.push({ ...asked, resolve, sinceMs: this.clock.steadyMs() });
      this.#waiting.set(caller, ofCaller);
      this.#waitingCount += 1;
      this.#arm(WAITED_FOR_MS);
    });
  }

  /** Nobody waits any longer. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of [...this.#waiting.values()].flat()) this.#dismiss(waiter, null);
  }

  #fits({ caller, bytes, sender }: Held): boolean {
    const own = this.#bytesOf.get(caller) ?? 0;
    const { bytesMax, bytesPerCallerMax, perSender } = this.bounds;
    const isOver = this.#bytes + bytes > bytesMax || own + bytes > bytesPerCallerMax;
    if (isOver || sender === undefined || perSender === undefined) return !isOver;
    return (this.#bytesOf.get(nameOfSender(sender)) ?? 0) + bytes <= perSender.bytesMax;
  }

  /** Does so much of a provider wait that no more may? */
  #isFullFor(sender: number | undefined): boolean {
    const { perSender } = this.bounds;
    if (sender === undefined || perSender === undefined) return false;
    const waiting = [...this.#waiting.values()].flat();
    return waiting.filter((other) => other.sender === sender).length >= perSender.waitingMax;
  }

  #hold(asked: Readonly<Held>): Place {
    const held = { ...asked };
    this.#held.add(held);
    this.#count(held, held.bytes);
    this.#arm(UNHURRIED_MS);
    return {
      resize: (bytes) => {
        if (!this.#held.has(held)) return;
        this.#count(held, bytes - held.bytes);
        held.bytes = bytes;
        if (this.#waitingCount > 0) this.#admit();
      },
      leave: () => this.#release(held),
    };
  }

  #release(held: Held): void {
    if (this.#held.delete(held)) this.#count(held, -held.bytes);
  }

  #count({ caller, sender }: Held, bytes: number): void {
    this.#bytes += bytes;
    for (const name of sender === undefined ? [caller] : [caller, nameOfSender(sender)]) {
      const own = (this.#bytesOf.get(name) ?? 0) + bytes;
      if (own === 0) this.#bytesOf.delete(name);
      else this.#bytesOf.set(name, own);
    }
  }

  /** Asks some of the answers whether they were taken. */
  #sweep(): void {
    for (const held of [...this.#held.values().take(ASKED_AT_ONCE_MAX)]) {
      if (held.isTaken()) {
        this.#release(held);
      } else {
        this.#held.delete(held);
        this.#held.add(held);
      }
    }
  }

  /** Lets in who fits, one of each caller in turn. */
  #admit(): void {
    const nowMs = this.clock.steadyMs();
    for (const waiter of [...this.#waiting.values()].flat()) {
      if (waiter.isTaken()) this.#dismiss(waiter, null);
      else if (nowMs - waiter.sinceMs >= WAIT_MAX_MS) this.#refuse(waiter);
    }
    for (let hasMoved = true; hasMoved; ) {
      hasMoved = false;
      for (const [caller, [first]] of [...this.#waiting]) {
        if (first === undefined || !this.#fits(first)) continue;
        this.#dismiss(first, this.#hold(first));
        hasMoved = true;
        const left = this.#waiting.get(caller);
        if (left === undefined) continue;
        // Behind the others.
        this.#waiting.delete(caller);
        this.#waiting.set(caller, left);
      }
    }
  }

  #refuse(waiter: Waiter): void {
    this.refusedCount += 1;
    this.#dismiss(waiter, null);
  }

  #dismiss(waiter: Waiter, place: Place | null): void {
    const ofCaller = this.#waiting.get(waiter.caller) ?? [];
    const left = ofCaller.filter((other) => other !== waiter);
    if (left.length === 0) this.#waiting.delete(waiter.caller);
    else this.#waiting.set(waiter.caller, left);
    this.#waitingCount -= 1;
    waiter.resolve(place);
  }

  #arm(ms: number): void {
    const isHurried = ms === WAITED_FOR_MS;
    if (this.#timer !== null && (this.#isHurried || !isHurried)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isHurried = isHurried;
    this.#timer = setTimeout(this.#tick, ms);
    this.#timer.unref();
  }

  #tick = (): void => {
    this.#timer = null;
    this.#sweep();
    this.#admit();
    if (this.#waitingCount > 0) this.#arm(WAITED_FOR_MS);
    else if (this.#held.size > 0) this.#arm(UNHURRIED_MS);
  };
}

/** Beside the names of callers. */
function nameOfSender(providerId: number): string {
  return `sent by ${providerId}`;
}
