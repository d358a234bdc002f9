/**
 * The memory that callers may occupy by unread answers and unfinished bodies. It is bounded in
 * total and for each caller, which may open many connections.
 */

import type { Clock } from '../../base/clock.ts';
import { PartyQueue } from '../../base/queue.ts';

/** Answers and bodies from this size on need a place, bytes: less fits into a socket's buffer. */
export const LARGE_BYTES = 16 * 1024;

export interface RoomBounds {
  /** The most unread bytes of all callers, and of one. */
  bytesMax: number;
  bytesPerCallerMax: number;
  /** The most waiting answers of all callers, and of one. */
  waitingMax: number;
  waitingPerPartyMax: number;
  /** Bounds of the messages of one provider, which can have any number of devices. */
  perSender?: { bytesMax: number; waitingMax: number };
}

/** Room for some 50 usual lists of 5000 links, or for six of the largest size. */
export const PROVIDER_ROOM: RoomBounds = {
  bytesMax: 48 * 1024 * 1024,
  bytesPerCallerMax: 16 * 1024 * 1024,
  waitingMax: 400,
  waitingPerPartyMax: 200,
};
/** Room for answers to devices: one has some 600 KiB at most. */
export const DEVICE_ROOM: RoomBounds = {
  bytesMax: 24 * 1024 * 1024,
  bytesPerCallerMax: 2 * 1024 * 1024,
  waitingMax: 32,
  waitingPerPartyMax: 4,
  perSender: { bytesMax: 8 * 1024 * 1024, waitingMax: 10 },
};

/** No body waits for a place: Bun buffers an unread body. */
const NONE_WAIT = { waitingMax: 0, waitingPerPartyMax: 0 };
/** Room for the bodies of providers, each counted by its declared length. */
export const BODY_ROOM: RoomBounds = {
  bytesMax: 48 * 1024 * 1024,
  bytesPerCallerMax: 16 * 1024 * 1024,
  ...NONE_WAIT,
};
/** Room for the bodies of devices. It is separate because any client can have tokens. */
export const DEVICE_BODY_ROOM: RoomBounds = {
  bytesMax: 8 * 1024 * 1024,
  bytesPerCallerMax: 1024 * 1024,
  ...NONE_WAIT,
};

/** How long an answer may wait for its place, ms. */
export const WAIT_MAX_MS = 15_000;
/** Pauses between checks whether answers were taken, ms: while answers wait, and else. */
const BUSY_CHECK_MS = 20;
const IDLE_CHECK_MS = 1_000;
/** Answers that are checked in one step. */
const CHECKED_AT_ONCE_MAX = 64;

/** The place of an answer or body until it is taken. */
export interface Place {
  /** Sets the size once it is known. */
  resize(bytes: number): void;
  /** Gives up the place. */
  leave(): void;
}

/** An answer or body that has a place or waits for one. */
interface Occupant {
  caller: string;
  bytes: number;
  /** The provider that sent most of the bytes in it. */
  sender?: number | undefined;
  isTaken(): boolean;
}

interface Waiter extends Occupant {
  sinceMs: number;
  resolve(place: Place | null): void;
}

/** A bounded number of bytes, with a queue in which callers take turns. */
export class Room {
  /** Answers and bodies that were refused a place since the start. */
  refusedCount = 0;
  #bytes = 0;
  readonly #bytesOf = new Map<string, number>();
  /** Answers with a place, the one checked longest ago first. */
  readonly #occupants = new Set<Occupant>();
  readonly #waiting: PartyQueue<Waiter>;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #pauseMs = 0;
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
   * Takes a place until `isTaken`, which is also true after the caller disconnected. Waits up to
   * {@link WAIT_MAX_MS} while too many bytes of this caller, or of all, are unread. Returns null if
   * no place came free in time, or too many answers wait.
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
      this.#arm(BUSY_CHECK_MS);
    });
  }

  /** Refuses all waiting callers, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of [...this.#waiting.items()]) this.#dismiss(waiter);
  }

  #fits({ caller, bytes, sender }: Occupant): boolean {
    const own = this.#bytesOf.get(caller) ?? 0;
    const { bytesMax, bytesPerCallerMax, perSender } = this.bounds;
    const isOver = this.#bytes + bytes > bytesMax || own + bytes > bytesPerCallerMax;
    if (isOver || sender === undefined || perSender === undefined) return !isOver;
    return (this.#bytesOf.get(nameOfSender(sender)) ?? 0) + bytes <= perSender.bytesMax;
  }

  /** Returns whether the answers with messages of a provider have used up its queue. */
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
    this.#arm(IDLE_CHECK_MS);
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

  /** Releases the places of answers that were taken; checks a bounded number. */
  #sweep(): void {
    for (const occupant of [...this.#occupants.values().take(CHECKED_AT_ONCE_MAX)]) {
      if (occupant.isTaken()) {
        this.#release(occupant);
      } else {
        this.#occupants.delete(occupant);
        this.#occupants.add(occupant);
      }
    }
  }

  /** Ends waits that are over, then gives places to all that fit, callers in turn. */
  #admit(): void {
    const nowMs = this.clock.steadyMs();
    for (const waiter of [...this.#waiting.items()]) {
      if (waiter.isTaken()) this.#dismiss(waiter);
      else if (nowMs - waiter.sinceMs >= WAIT_MAX_MS) this.#refuse(waiter);
    }
    const fits = (_: string, first: Waiter) => this.#fits(first);
    for (let next = this.#waiting.take(fits); next !== null; next = this.#waiting.take(fits)) {
      next.item.resolve(this.#hold(next.item));
    }
  }

  #refuse(waiter: Waiter): void {
    this.refusedCount += 1;
    this.#dismiss(waiter);
  }

  #dismiss(waiter: Waiter): void {
    this.#waiting.remove(waiter.caller, waiter);
    waiter.resolve(null);
  }

  /** Starts the timer, or shortens the pause of the running one. */
  #arm(ms: number): void {
    if (this.#timer !== null && this.#pauseMs <= ms) return;
    clearTimeout(this.#timer ?? undefined);
    this.#pauseMs = ms;
    this.#timer = setTimeout(this.#tick, ms);
    this.#timer.unref();
  }

  #tick = (): void => {
    this.#timer = null;
    this.#sweep();
    this.#admit();
    if (this.#waiting.size > 0) this.#arm(BUSY_CHECK_MS);
    else if (this.#occupants.size > 0) this.#arm(IDLE_CHECK_MS);
  };
}

/** The name under which a sender is counted; no caller has such a name. */
function nameOfSender(providerId: number): string {
  return `sent by ${providerId}`;
}
