/**
 * One timer for many members, each with its own pause. Members that are due at the same tick share
 * a slot. A timer for each member costs more; a loop over all would delay other callers.
 */

/** Members that are called in one turn of the event loop; the others are called in the next. */
const CALLED_AT_ONCE = 50;

/** A member; `slot` is the set that holds it. */
interface Member {
  slot: Set<unknown> | null;
}

export class Wheel<T extends Member> {
  /** The members by the tick at which they are due. */
  readonly #slots = new Map<number, Set<T>>();
  /** Members whose tick has come. */
  readonly #due = new Set<T>();
  #tick = 0;
  #count = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isCalling = false;

  /** `call` receives a member that is due. The member has left and may enter again. */
  constructor(
    private readonly tickMs: number,
    private readonly call: (member: T) => void,
  ) {}

  /** Makes a member due after a pause, or up to a tick earlier. */
  enter(member: T, pauseMs: number): void {
    const tick = this.#tick + Math.max(1, Math.ceil(pauseMs / this.tickMs));
    const slot = this.#slots.get(tick) ?? new Set();
    this.#slots.set(tick, slot.add(member));
    member.slot = slot;
    this.#count += 1;
    this.#timer ??= setInterval(() => this.#turn(), this.tickMs);
  }

  leave(member: T): void {
    if (!member.slot?.delete(member)) return;
    this.#count -= 1;
    if (this.#count > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #turn(): void {
    this.#tick += 1;
    for (const member of this.#slots.get(this.#tick) ?? []) {
      member.slot = this.#due.add(member);
    }
    this.#slots.delete(this.#tick);
    if (!this.#isCalling) this.#callSome();
  }

  #callSome(): void {
    let count = 0;
    for (const member of this.#due) {
      if (count === CALLED_AT_ONCE) break;
      count += 1;
      this.leave(member);
      this.call(member);
    }
    this.#isCalling = this.#due.size > 0;
    if (this.#isCalling) setImmediate(() => this.#callSome());
  }
}
