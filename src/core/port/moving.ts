/** Moving in and out: a provider's records in an import or an export. */

import type { Act } from './audit.ts';
import type { Bar } from './bar.ts';
import type { DeviceFacts } from './device.ts';
import type { OwnBinding } from './domain.ts';
import type { LinkTermsAndKey, OwnLink } from './link.ts';
import type { Maybe } from './maybe.ts';
import type { Provider } from './provider.ts';
import type { OwnReminder } from './reminder.ts';

/** A HWID on an imported link. */
export interface ImportedSlot extends DeviceFacts {
  /** The HWID; `hwidOfHash` of core/formats.ts if only its hash is known. */
  hwid: string;
  registeredAtMs: number;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
  /** Time at which its slot was last seen; absent: unknown, the time of the import counts. */
  slotSeenAtMs?: number;
  /** True: it was named for the link, and has not come there; it is no device. */
  isNamed?: true;
}

/** An imported link with its HWIDs; all fields are well formed. */
export interface ImportedLink extends Omit<OwnLink, keyof LinkTermsAndKey> {
  /** The id to keep if it is free; null: any. */
  id: number | null;
  installCode: string;
  createdAtMs: number;
  /** The terms; absent: unknown. A subscription key of another link stays with that link. */
  terms?: LinkTermsAndKey;
  /** The time at which a new device last replaced a slot, for the cool-down; absent: none did. */
  replacedAtMs?: number;
  /** The number of HWIDs that it held while it only counted, if above its limit. */
  overMax?: number;
  /** The lower limit that it gets as its devices leave. */
  limitWanted?: number;
  /** The HWIDs that are barred on it; absent: none. */
  bars?: readonly Bar[];
  /** Its user in a panel, as `panel:user`, by which an existing link is found. */
  panelUser?: string;
  /** More about that user. */
  panel?: PanelNotes;
  /** Earliest registration first. */
  slots: ImportedSlot[];
}

/** Facts of a user that are no terms of its link. An import before 0.18.0 noted none of them. */
interface UserFacts {
  /** False: the panel has no limit for the user; the import chose the limit of the link. */
  isPanelLimit?: boolean;
  /** The time at which the panel made the user; null: it has none that lasts. */
  panelCreatedAtMs?: number | null;
  /** The admin whose API showed the user; empty: a view of the whole panel did. */
  view?: string;
}

/** Facts of a user in an import, beside the terms of its link. */
export interface PanelNotes extends UserFacts {
  /** True: an existing link keeps its state. */
  keepsStatus?: boolean;
  /** The id by which an older import noted the user; absent: none did. */
  formerUser?: string;
}

/**
 * The terms of a panel at the last import. A link that differs from them was edited by the
 * provider.
 */
export interface PanelFacts extends UserFacts {
  installLimit: number;
  status: number;
  note: string | null;
  subscriptionKeyHash: string | null;
  /**
   * Devices that the panel has known since before this time were imported, or were removed here
   * since.
   */
  devicesUntilMs: number;
}

/** A link that came from a panel. */
export interface PanelLink {
  id: number;
  installCode: string;
  /** The limit that was set: it may wait until devices leave. */
  installLimit: number;
  deviceCount: number;
  status: number;
  /** `panel:user` */
  panelUser: string;
  facts: PanelFacts;
}

/** An imported binding; all fields are well formed. */
export interface ImportedDomain extends OwnBinding {
  /** The id to keep if it is free; null: any. */
  id: number | null;
  domainHash: string;
  createdAtMs: number;
}

/**
 * Outcome of importing a record. `different`: it exists with another note, name, limit or status
 * and stays unchanged; `updated`: it was different and has the imported values now.
 */
export type ImportedAs = 'added' | 'present' | 'different' | 'updated';

interface ImportedLinkResult {
  was: ImportedAs;
  id: number;
  slotsAdded: number;
  slotsPresent: number;
  /** HWIDs without a slot, because the link is full. */
  slotsWithoutRoom: number;
}

/** A record of an export: first the provider, then its bindings, then its links. */
export type ExportRecord =
  | { kind: 'provider'; provider: Provider; reminders?: readonly OwnReminder[] }
  | { kind: 'domain'; domain: ImportedDomain }
  | { kind: 'install'; install: ImportedLink };

export interface ImportStore {
  /** Makes new links and bindings get ids above these from now on. */
  reserveIds(upTo: { installId: number; domainId: number }): Promise<void>;
  /**
   * Adds a link with its HWIDs, or the missing HWIDs to an existing link. An existing link keeps
   * its id, HWIDs and date; with `updates` it takes note, status and limit (never below its HWIDs)
   * from the import. Known facts of a device stay. A link with `panelUser` is found by it or by its
   * subscription key; it takes what changed in the panel since the last import, and devices that
   * the panel knows since then. Returns `install_code_exists` if another provider has the code, or
   * another user of the panel the key, `install_code_ended` if the link was removed or revoked
   * here, and `install_code_limit_reached` for a new link beyond `installCountMax`.
   */
  importLink(
    providerId: number,
    install: ImportedLink,
    rules: { installCountMax: number; updates: boolean },
    act: Act,
  ): Promise<
    ImportedLinkResult | 'install_code_exists' | 'install_code_ended' | 'install_code_limit_reached'
  >;
  /** Lists links that came from a panel, by user; `afterUser` empty: from the first. */
  listPanelLinks(
    providerId: number,
    panel: string,
    page: { afterUser: string; countMax: number },
  ): Maybe<PanelLink[]>;
  /**
   * Returns the facts of the provider's link with the subscription key of this hash; null: it has
   * no such link, or no import has noted any.
   */
  findPanelFacts(providerId: number, subscriptionKeyHash: string): Maybe<PanelFacts | null>;
  /**
   * Adds a binding, or with `updates` gives an existing one the imported name and status. Returns
   * `domain_limit_reached` for a new one beyond `domainCountMax`.
   */
  importDomain(
    providerId: number,
    domain: ImportedDomain,
    rules: { domainCountMax: number; updates: boolean },
    act: Act,
  ): Promise<{ was: ImportedAs; id: number } | 'domain_limit_reached'>;
  /**
   * Yields the records of a provider as of one moment, oldest first, however long reading takes.
   * Yields nothing for an unknown provider.
   */
  exportProvider(code: string): AsyncIterable<ExportRecord>;
}
