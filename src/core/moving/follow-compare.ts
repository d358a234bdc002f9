/** Compares the users of a panel with those that are known, a page at a time. */

import type { FollowedUser, FollowStore } from '../port/follow.ts';
import { nextTurn } from '../turn.ts';
import type { ListedUser } from './follow-user.ts';

/** A user of the panel, or of those that are known, or of both. */
export interface Compared {
  /** Null: the panel does not have it. */
  listed: ListedUser | null;
  before: FollowedUser | null;
}

/** Known users to read at a time, and users after which other work has a turn. */
const PAGE = 200;

/** The known users in the order of their hashes. */
class KnownUsers {
  #page: FollowedUser[] = [];
  #at = 0;
  #afterUser = '';
  #isLast = false;

  constructor(
    private readonly store: FollowStore,
    private readonly followId: number,
  ) {}

  /** Returns the next one, which stays the next one; null: there is none. */
  async peek(): Promise<FollowedUser | null> {
    if (this.#at === this.#page.length && !this.#isLast) {
      const { followId } = this;
      const page = { afterUser: this.#afterUser, countMax: PAGE };
      this.#page = await this.store.listFollowed(followId, page);
      this.#at = 0;
      this.#isLast = this.#page.length < PAGE;
      this.#afterUser = this.#page.at(-1)?.userHash ?? this.#afterUser;
      await nextTurn();
    }
    return this.#page[this.#at] ?? null;
  }

  take(): void {
    this.#at += 1;
  }
}

/**
 * Yields each user of the panel and each known one once; `users` come in the order of their hashes.
 * One that the panel lists twice comes once, and `onTwice` is called.
 */
export async function* compared(
  store: FollowStore,
  followId: number,
  users: AsyncIterable<ListedUser>,
  onTwice: () => void,
): AsyncGenerator<Compared> {
  const known = new KnownUsers(store, followId);
  let last = '';
  let count = 0;
  for await (const listed of users) {
    count += 1;
    if (count % PAGE === 0) await nextTurn();
    if (listed.userHash === last) {
      onTwice();
      continue;
    }
    last = listed.userHash;
    let before = await known.peek();
    for (; before !== null && before.userHash < last; before = await known.peek()) {
      known.take();
      yield { listed: null, before };
    }
    const isKnown = before?.userHash === last;
    if (isKnown) known.take();
    yield { listed, before: isKnown ? before : null };
  }
  for (let rest = await known.peek(); rest !== null; rest = await known.peek()) {
    known.take();
    yield { listed: null, before: rest };
  }
}
