/**
 * Panels that are followed: what the last whole pass saw of their users, and how passes went. Of a
 * user it holds hashes of id and key, state, limit and end; a note only if the operator wants it.
 */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/** States of a user in a panel; `on_hold`: its days begin with the first connection. */
export type PanelUserState = 'active' | 'on_hold' | 'disabled' | 'expired' | 'limited';

/**
 * Why a pass changed nothing:
 *
 * | | |
 * |---|---|
 * | `unreadable` | the panel, or its file, could not be read to the end |
 * | `refused` | the panel refuses the token, or the account |
 * | `too_many_users` | it has more users than may be followed |
 * | `many_missing` | over a tenth of the known users are not there |
 * | `other_view` | the token shows the users of another admin than before |
 * | `provider_not_found` | the provider of the upstream does not exist |
 * | `fault` | a fault here, which the log has |
 */
export type FollowProblem =
  | 'unreadable'
  | 'refused'
  | 'too_many_users'
  | 'many_missing'
  | 'other_view'
  | 'provider_not_found'
  | 'fault';

/** The counts of a whole pass. */
export interface FollowCounts {
  /** Users that the panel has. */
  userCount: number;
  /** Users that were new, and known ones that differed. */
  addedCount: number;
  changedCount: number;
  /** Users that two whole passes missed, and those that only this one missed. */
  goneCount: number;
  missingCount: number;
}

/** A pass that waits for the operator. */
export interface HeldPass {
  /** The known users that it did not see, of so many. */
  missingCount: number;
  knownCount: number;
  view: string;
}

/** A panel that is followed. */
export interface Follow {
  id: number;
  /** The host of its upstream. */
  host: string;
  /** The provider and the panel, `CODE/panel`, whose users are known. */
  source: string;
  /** The key of the hashes of ids, hex. */
  hashKey: string;
  /** The admin whose API showed the users; empty: all; null: no whole pass yet. */
  view: string | null;
  /** When a node last began a pass, and when the next one is due, UTC ms. */
  claimedAtMs: number;
  nextAtMs: number;
  /** The last whole pass; null: there was none. */
  pass: (FollowCounts & { atMs: number; tookMs: number }) | null;
  /** The failures since; null: the last pass was whole. */
  failure: {
    problem: FollowProblem;
    /** A sentence without names, keys and tokens. */
    reason: string;
    atMs: number;
    sinceMs: number;
    count: number;
  } | null;
  /** The pass that waits for the operator; null: none. */
  held: HeldPass | null;
  /** True: the operator agreed to that pass; the next one may do what it would have done. */
  isAccepted: boolean;
}

/** A user as the last whole pass saw it. */
export interface FollowedUser {
  /** Keyed hash of its id in the panel, hex. */
  userHash: string;
  /** Hash of the key of its subscription, hex. */
  keyHash: string;
  state: PanelUserState;
  /** The limit; 0: unlimited; null: the panel sets none. */
  panelLimit: number | null;
  /** The end, UTC ms; null: none, or its days have not begun. */
  endsAtMs: number | null;
  /** The note of the panel; null: none, or notes are not followed. */
  note: string | null;
  /** Whole passes in a row that did not see it. */
  missedCount: number;
}

/** The claim of a node on a panel. */
export interface FollowHold {
  id: number;
  owner: string;
  nowMs: number;
  leaseUntilMs: number;
}

/** Changes of the users that are known. */
interface FollowStep {
  /** Users to add or to replace. */
  put: readonly FollowedUser[];
  /** Hashes of users to forget. */
  drop: readonly string[];
}

/** The outcome of a pass: it was whole, or changed nothing. */
export type FollowOutcome =
  | { counts: FollowCounts; view: string }
  | {
      problem: FollowProblem;
      reason: string;
      /** The pass that now waits for the operator; absent: what waits and was agreed to stays. */
      held?: HeldPass;
    };

/** The end of a pass. */
type FollowEnd = FollowOutcome & { tookMs: number; nextAtMs: number };

export interface FollowStore {
  /** Lists the panels that are or were followed, by host. */
  listFollows(): Maybe<Follow[]>;
  /**
   * Claims a panel whose pass is due, until `leaseUntilMs`; a `fresh` one is due at once. Returns
   * null if it is not due, or another node holds it. A claim that ends later than this one would is
   * void, as a clock was set back.
   */
  claimFollow(
    host: string,
    fresh: Pick<Follow, 'source' | 'hashKey'>,
    claim: Omit<FollowHold, 'id'>,
  ): Promise<Follow | null>;
  /**
   * Deletes some of the known users of a panel, and with the last of them takes over another
   * source. Returns true if there may be more, and `lost` for a lost claim.
   */
  emptyFollow(hold: FollowHold, source: string): Promise<boolean | 'lost'>;
  /** Lists known users in the order of their hashes; `afterUser` empty: from the first. */
  listFollowed(id: number, page: { afterUser: string; countMax: number }): Maybe<FollowedUser[]>;
  /**
   * Finds the user with a key at the panel of a host, as the last whole pass saw it; null: it saw
   * none.
   */
  findFollowed(host: string, keyHash: string): Maybe<FollowedUser | null>;
  /**
   * Changes known users, and prolongs the claim. Returns false, without a change, if it was lost.
   */
  stepFollow(hold: FollowHold, step: FollowStep): Promise<boolean>;
  /** Ends a pass and the claim, unless that was lost. */
  endFollow(hold: FollowHold, end: FollowEnd): Promise<void>;
  /**
   * Agrees to the pass that waits, whose next try is then due. Returns `follow_not_found` for a
   * host that is not followed, and `follow_not_held` if no pass waits.
   */
  acceptFollow(host: string, act: Act): Promise<'ok' | 'follow_not_found' | 'follow_not_held'>;
  /**
   * Deletes panels that no node has followed since a time, some users at a time. Returns true if
   * there may be more.
   */
  forgetFollows(claimedBeforeMs: number): Promise<boolean>;
}
