/**
 * A pass over a followed panel. It reads all users twice: first it compares and counts, and changes
 * nothing if too many are missing; then it takes over what changed, by the code of imports. A kill
 * loses nothing: what was taken over is right, and the next pass goes on.
 */

import type { FollowCounts, FollowedUser, FollowOutcome } from '../port/follow.ts';
import { type Compared, compared } from './follow-compare.ts';
import { FollowedFigures } from './follow-figures.ts';
import { FollowedLinks } from './follow-links.ts';
import type { ComingUser, FollowPassParts } from './follow-parts.ts';
import { differs, followedOf, type ListedUser } from './follow-user.ts';

/** A line of a reading: the view, then all users in the order of their hashes, twice. */
export type FollowLine = { view: string } | { listed: ListedUser } | 'round';

/** The most users of a panel. */
const USERS_MAX = 500_000;
/** Users that are taken over together. */
const BATCH = 10;
/** Whole passes in a row after which a user that they missed is gone. */
const GONE_AFTER = 2;

/** The fault of a pass that ends early: another node has the claim, or the server stops. */
export class FollowLost extends Error {}

/** Returns the users of the next round. */
async function* roundOf(lines: AsyncIterator<FollowLine>): AsyncGenerator<ListedUser> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done || value === 'round') return;
    if ('listed' in value) yield value.listed;
  }
}

/** Makes a pass. Throws {@link FollowLost}, and the faults of `reading`. */
export async function followPanel(
  parts: FollowPassParts,
  reading: AsyncIterable<FollowLine>,
): Promise<FollowOutcome> {
  const lines = reading[Symbol.asyncIterator]();
  try {
    const first = await lines.next();
    const view =
      first.done || first.value === 'round' || !('view' in first.value) ? '' : first.value.view;
    return await new FollowPass(parts, view).run(lines);
  } finally {
    await lines.return?.();
  }
}

class FollowPass {
  readonly #links: FollowedLinks;
  readonly #figures: FollowedFigures;
  /** Known users at the begin, and those of them that the panel does not list. */
  #knownCount = 0;
  readonly #counts: FollowCounts = {
    userCount: 0,
    addedCount: 0,
    changedCount: 0,
    goneCount: 0,
    missingCount: 0,
  };
  #isListedTwice = false;

  constructor(
    private readonly parts: FollowPassParts,
    private readonly view: string,
  ) {
    this.#links = new FollowedLinks(parts, view);
    this.#figures = new FollowedFigures(parts);
  }

  async run(lines: AsyncIterator<FollowLine>): Promise<FollowOutcome> {
    const { view } = this;
    const { follow } = this.parts;
    const held = follow.isAccepted ? follow.held : null;
    if (follow.view !== null && follow.view !== view && held?.view !== view) {
      return {
        problem: 'other_view',
        reason: `the token shows the users of ${inWords(view)}, before it those of ${inWords(follow.view)}`,
        held: { missingCount: 0, knownCount: follow.pass?.userCount ?? 0, view },
      };
    }
    for await (const one of this.#compare(roundOf(lines))) this.#count(one);
    // A user that is listed twice may come after one that is missing.
    if (!this.#seesAll) Object.assign(this.#counts, { missingCount: 0, goneCount: 0 });
    const { missingCount, userCount } = this.#counts;
    if (userCount > USERS_MAX) {
      return { problem: 'too_many_users', reason: `it has more than ${USERS_MAX} users` };
    }
    const isAccepted = held?.view === view && missingCount <= held.missingCount;
    if (missingCount * 10 > this.#knownCount && !isAccepted) {
      const knownCount = this.#knownCount;
      return {
        problem: 'many_missing',
        reason: `${missingCount} of ${knownCount} known users are not there`,
        held: { missingCount, knownCount, view },
      };
    }
    await this.#takeOver(roundOf(lines));
    return { counts: this.#counts, view };
  }

  #compare(users: AsyncIterable<ListedUser>): AsyncIterable<Compared> {
    const { core, follow } = this.parts;
    return compared(core.store, follow.id, users, () => {
      this.#isListedTwice = true;
    });
  }

  /** Whether a user that is not listed is missing: others may see it, or the list is unsure. */
  get #seesAll(): boolean {
    return this.view === '' && !this.#isListedTwice;
  }

  #count({ listed, before }: Compared): void {
    const counts = this.#counts;
    if (before !== null) this.#knownCount += 1;
    if (listed === null) {
      if (before === null) return;
      if (before.missedCount + 1 >= GONE_AFTER) counts.goneCount += 1;
      else counts.missingCount += 1;
      return;
    }
    counts.userCount += 1;
    const now = this.#followed(listed);
    if (now === null) return;
    if (before === null) counts.addedCount += 1;
    else if (differs(before, now)) counts.changedCount += 1;
  }

  #followed(listed: ListedUser): FollowedUser | null {
    return followedOf(listed, this.#links.rules, this.parts.rules.withNotes);
  }

  async #takeOver(users: AsyncIterable<ListedUser>): Promise<void> {
    const batch: Batch = { coming: [], missed: [], gone: [] };
    for await (const { listed, before } of this.#compare(users)) {
      if (listed !== null) {
        const now = this.#followed(listed);
        if (now === null) continue;
        await this.#figures.add(now.keyHash, listed.user);
        const isSame = before !== null && !differs(before, now);
        if (isSame && before.missedCount === 0) continue;
        const after = isSame ? { ...before, missedCount: 0 } : now;
        batch.coming.push({ user: listed.user, before, now: after });
      } else if (before !== null && this.#seesAll) {
        const missed = { ...before, missedCount: before.missedCount + 1 };
        (missed.missedCount >= GONE_AFTER ? batch.gone : batch.missed).push(missed);
      }
      if (sizeOf(batch) >= BATCH) await this.#store(batch);
    }
    if (sizeOf(batch) > 0) await this.#store(batch);
    await this.#figures.keep();
  }

  /** Changes the links of some users, and then remembers them; empties the batch. */
  async #store({ coming, missed, gone }: Batch): Promise<void> {
    const { core, hold, signal } = this.parts;
    if (signal.aborted) throw new FollowLost();
    const [users, left] = [coming.splice(0), gone.splice(0)];
    const put = [...(await this.#links.bring(users)), ...missed.splice(0)];
    await this.#links.end(left);
    const drop = left.map(({ userHash }) => userHash);
    if (put.length + drop.length === 0) return;
    if (!(await core.store.stepFollow(hold(), { put, drop }))) throw new FollowLost();
  }
}

interface Batch {
  coming: ComingUser[];
  missed: FollowedUser[];
  gone: FollowedUser[];
}

const sizeOf = ({ coming, missed, gone }: Batch) => coming.length + missed.length + gone.length;

const inWords = (view: string) => (view === '' ? 'all admins' : `the admin ${view}`);
