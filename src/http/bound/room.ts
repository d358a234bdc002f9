/**
 * The memory of ours that callers may hold at a time: by answers that they do not read, and by
 * bodies that they do not send to their end. On many connections, one of them could have it all.
 */

import type { Clock } from '../../clock.ts';
import { PartyQueue } from '../../queue.ts';

/** The size from which answers and bodies need a place, bytes: less fits into a socket's buffer. */
export const LARGE_BYTES = 16 * 1024;

export interface RoomBounds {
  /** Bytes that may be unread, of all callers and of one. */
  bytesMax: number;
  bytesPerCallerMax: number;
  /** Answers that wait for a place, of all callers and of one. */
  waitingMax: number;
  waitingPerPartyMax: number;
  /** Bounds of one provider's messages: it can have any number of devices. Without it, none. */
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
  waitingPerPartyMax: 200,
};
/** Room for devices: one answer has some 600 KiB at most. */
export const DEVICE_ROOM: RoomBounds = {
  bytesMax: 24 * 1024 * 1024,
  bytesPerCallerMax: 2 * 1024 * 1024,
  waitingMax: 32,
  waitingPerPartyMax: 4,
  perSender: { bytesMax: 8 * 1024 * 1024, waitingMax: 10 },
};

/**
 * Room for providers' bodies that come in, each as long as it may be. None waits: Bun takes in
 * whatever comes of a body that nobody reads.
 */
export const BODY_ROOM: RoomBounds = {
  bytesMax: 48 * 1024 * 1024,
  bytesPerCallerMax: 16 * 1024 * 1024,
  waitingMax: 0,
  waitingPerPartyMax: 0,
};
/** Room for devices' bodies: one apart, as anybody can have tokens. */
export const DEVICE_BODY_ROOM: RoomBounds = {
  bytesMax: 8 * 1024 * 1024,
  bytesPerCallerMax: 1024 * 1024,
  waitingMax: 0,
  waitingPerPartyMax: 0,
};

/** The time that an answer may wait for its place, ms. */
export const WAIT_MAX_MS = 15_000;
/** Pauses between looks whether answers were taken, ms: while others wait for a place, and else. */
const WAITED_FOR_MS = 20;
const UNHURRIED_MS = 1_000;
/** The most answers that are asked about in one step. */
const ASKED_AT_ONCE_MAX = 64;

/** The room of an answer until it is taken. */
export interface Place {
  /** Sets the size, which is known once the answer is made. */
  resize(bytes: number): void;
  /** Gives the place up: there will be no answer. */
  leave(): void;
}

/** An answer or body that has a place, or asks for one. */
interface Occupant {
  caller: string;
  bytes: number;
  /** The provider who sent (most of) the messages in it. */
  sender?: number | undefined;
  isTaken(): boolean;
}

interface Waiter extends Occupant {
  sinceMs: number;
  resolve(place: Place | null): void;
}

/** A room of so many bytes, with a queue before it, in which callers take turns. */
export class Room {
  /** Answers that were refused a place since the start. */
  refusedCount = 0;
  #bytes = 0;
  readonly #bytesOf = new Map<string, number>();
  /** Answers with a place, the one asked about longest ago first. */
  readonly #occupants = new Set<Occupant>();
  readonly #waiting: PartyQueue<Waiter>;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isHurried = false;
  #isClosed = false;

  constructor(
    private readonly bounds: RoomBounds,
    private readonly clock: Clock,
  ) {
    this.#waiting = new PartyQueue(() => bounds);
  }

  get unreadBytes(): number {
    return this.#bytes;
  }

  /**
   * A place for an answer to `caller` that holds until `isTaken`, which is also true of a caller
   * who left. Null if too many bytes of this caller's answers, or of all, have been unread for as
   * long as an answer may wait, or if too many wait already.
   */
  enter(entering: Readonly<Occupant>): Place | Promise<Place | null> {
    const { caller } = entering;
    if (!this.#waiting.has(caller)) {
      if (!this.#fits(entering)) this.#sweep();
      if (this.#fits(entering)) return this.#hold(entering);
    }
    if (this.#isClosed || this.#isFullFor(entering.sender)) {
      this.refusedCount += 1;
      return Promise.resolve(null);
    }
    return new Promise((resolve) => {
      const waiter = { ...entering, resolve, sinceMs: this.clock.steadyMs() };
      const surplus = this.#waiting.add(caller, waiter);
      if (surplus !== null) this.#refuse(surplus);
      this.#arm(WAITED_FOR_MS);
    });
  }

  /** Refuses everybody who waits. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of [...this.#waiting.items()]) this.#dismiss(waiter, null);
  }

  #fits({ caller, bytes, sender }: Occupant): boolean {
    const own = this.#bytesOf.get(caller) ?? 0;
    const { bytesMax, bytesPerCallerMax, perSender } = this.bounds;
    const isOver = this.#bytes + bytes > bytesMax || own + bytes > bytesPerCallerMax;
    if (isOver || sender === undefined || perSender === undefined) return !isOver;
    return (this.#bytesOf.get(nameOfSender(sender)) ?? 0) + bytes <= perSender.bytesMax;
  }

  /** Tells whether so many messages of a provider wait that no more may. */
  #isFullFor(sender: number | undefined): boolean {
    const { perSender } = this.bounds;
    if (sender === undefined || perSender === undefined) return false;
    const waiting = this.#waiting.items().filter((other) => other.sender === sender);
    return [...waiting].length >= perSender.waitingMax;
  }

  #hold(entering: Readonly<Occupant>): Place {
    const occupant = { ...entering };
    this.#occupants.add(occupant);
    this.#count(occupant, occupant.bytes);
    this.#arm(UNHURRIED_MS);
    return {
      resize: (bytes) => {
        if (!this.#occupants.has(occupant)) return;
        this.#count(occupant, bytes - occupant.bytes);
        occupant.bytes = bytes;
        if (this.#waiting.size > 0) this.#admit();
      },
      leave: () => this.#release(occupant),
    };
  }

  #release(occupant: Occupant): void {
    if (this.#occupants.delete(occupant)) this.#count(occupant, -occupant.bytes);
  }

  #count({ caller, sender }: Occupant, bytes: number): void {
    this.#bytes += bytes;
    for (const name of sender === undefined ? [caller] : [caller, nameOfSender(sender)]) {
      const own = (this.#bytesOf.get(name) ?? 0) + bytes;
      if (own === 0) this.#bytesOf.delete(name);
      else this.#bytesOf.set(name, own);
    }
  }

  /** Asks some of the answers whether they were taken. */
  #sweep(): void {
    for (const occupant of [...this.#occupants.values().take(ASKED_AT_ONCE_MAX)]) {
      if (occupant.isTaken()) {
        this.#release(occupant);
      } else {
        this.#occupants.delete(occupant);
        this.#occupants.add(occupant);
      }
    }
  }

  /** Lets in who fits, one of each caller in turn. */
  #admit(): void {
    const nowMs = this.clock.steadyMs();
    for (const waiter of [...this.#waiting.items()]) {
      if (waiter.isTaken()) this.#dismiss(waiter, null);
      else if (nowMs - waiter.sinceMs >= WAIT_MAX_MS) this.#refuse(waiter);
    }
    const fits = (_: string, first: Waiter) => this.#fits(first);
    for (let next = this.#waiting.take(fits); next !== null; next = this.#waiting.take(fits)) {
      next.item.resolve(this.#hold(next.item));
    }
  }

  #refuse(waiter: Waiter): void {
    this.refusedCount += 1;
    this.#dismiss(waiter, null);
  }

  #dismiss(waiter: Waiter, place: Place | null): void {
    this.#waiting.remove(waiter.caller, waiter);
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
    if (this.#waiting.size > 0) this.#arm(WAITED_FOR_MS);
    else if (this.#occupants.size > 0) this.#arm(UNHURRIED_MS);
  };
}

/** The name of a sender, which no caller has. */
function nameOfSender(providerId: number): string {
  return `sent by ${providerId}`;
}
