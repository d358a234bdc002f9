/** Named HWIDs: their part of the port. */

import type { Act } from './audit.ts';
import type { LinkSelector } from './link.ts';
import type { Maybe } from './maybe.ts';

/** A HWID that was named for a link and has not come; the times of a panel's are its own. */
export interface NamedHwid {
  hwid: string;
  namedAtMs: number;
  /** The model, if a panel knew it; else empty. */
  deviceName: string;
}

/** The HWIDs that a call named: `addedCount` are new on the link. */
export interface NamedHwids {
  installId: number;
  deviceCount: number;
  addedCount: number;
}

export interface NamedHwidStore {
  /**
   * Names HWIDs for a link of the provider: each takes a place of the limit until it is freed. All
   * or none; HWIDs that are on the link stay as they are. Reads nothing about the HWIDs elsewhere.
   * Returns `install_code_error` if the provider has no such link; `link_full` if the link has no
   * room for all; `named_limit` if the provider would have more than `namedMax` named HWIDs that
   * have not come.
   */
  nameHwids(
    providerId: number,
    selector: LinkSelector,
    hwids: readonly string[],
    namedMax: number,
    act: Act,
  ): Promise<NamedHwids | 'install_code_error' | 'link_full' | 'named_limit'>;
  /** Lists the named HWIDs of a link that have not come, the latest first. */
  listNamed(installId: number): Maybe<NamedHwid[]>;
}
