/** The summary of an import from a panel, beside the links that a {@link Tally} counts. */

import { INSTALL_LIMIT } from '../formats.ts';

/** The most users and pairs that a summary names. */
const NAMED_MAX = 1_000;

/** A user that no link can serve, and the reason. */
interface Unserved {
  user: string;
  why: string;
}

export class PanelTally {
  users = 0;
  devices = 0;
  /** Users that are disabled in the panel, and their links that an earlier import disabled. */
  disabled = 0;
  keptDisabled = 0;
  /** Users without a limit, or above 100. Some are omitted; others keep the limit of their link. */
  unlimited = 0;
  leftOut = 0;
  keptLimit = 0;
  /** Existing links that get a lower limit because their user has none. */
  lowered = 0;
  /** The number of links by their limit. */
  readonly limits = new Map<number, number>();
  devicesUnusable = 0;
  /** Links with more devices than their limit. */
  overLimit = 0;
  /** Links of users that the panel no longer has, and those that other views of it showed. */
  gone = 0;
  outOfView = 0;
  /** Links that ended because their user was deleted in the panel and made again. */
  replaced = 0;
  /** Users without a subscription key: the panel itself cannot serve them. */
  withoutKey = 0;
  /** Names of users whose keys are equal in the Unicode form NFKC. */
  readonly alike: string[][] = [];
  readonly unserved: Unserved[] = [];

  addLimit(limit: number): void {
    this.limits.set(limit, (this.limits.get(limit) ?? 0) + 1);
  }

  addUnserved(one: Unserved): void {
    if (this.unserved.length < NAMED_MAX) this.unserved.push(one);
  }

  addAlike(names: string[]): void {
    if (this.alike.length < NAMED_MAX) this.alike.push(names);
  }

  /** Returns true if most links have the largest limit, which stops no device. */
  get isMostlyUnlimited(): boolean {
    const all = this.limits.values().reduce((sum, count) => sum + count, 0);
    return (this.limits.get(INSTALL_LIMIT.maximum) ?? 0) * 2 > all;
  }
}
