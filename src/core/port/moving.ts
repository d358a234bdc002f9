/**
 * Moving in and out: a provider's records as they come from another server or from a file, and as
 * they leave.
 */

import type { Act } from './audit.ts';
import type { DeviceFacts } from './device.ts';
import type { InstallTerms } from './install.ts';
import type { Provider } from './provider.ts';

/** A HWID on a link elsewhere. */
export interface ImportedSlot extends DeviceFacts {
  hwid: string;
  registeredAtMs: number;
  firstSeenAtMs: number;
  lastSeenAtMs: number;
  /** Time at which its slot was last seen; absent: unknown, and it counts from the import. */
  slotSeenAtMs?: number;
}

/** A link elsewhere with its HWIDs. Everything is well formed. */
export interface ImportedInstall {
  /** The id to keep if it is free here; null: any. */
  id: number | null;
  installCode: string;
  installLimit: number;
  status: number;
  note: string | null;
  createdAtMs: number;
  /** Absent: they were not told. A key that another link has here stays with that. */
  terms?: InstallTerms;
  /** When a newcomer last replaced a slot: its cool-down goes on here. Absent: none did. */
  replacedAtMs?: number;
  /** Earliest registration first. */
  slots: ImportedSlot[];
}

/** A binding elsewhere. Everything is well formed. */
export interface ImportedDomain {
  /** The id to keep if it is free here; null: any. */
  id: number | null;
  domainHash: string;
  domainName: string;
  status: number;
  createdAtMs: number;
}

/**
 * Fate of a record: `different` was here already with another note, name, limit or status,
 * and stays as it is here; `updated` was different and has been made the same.
 */
export type ImportedAs = 'added' | 'present' | 'different' | 'updated';

interface ImportedInstallResult {
  was: ImportedAs;
  /** Its id here. */
  id: number;
  slotsAdded: number;
  slotsPresent: number;
  /** HWIDs left out because the link is full here. */
  slotsWithoutRoom: number;
}

/** A piece of what a provider owns: first the provider itself, then bindings, then links. */
export type ExportRecord =
  | { kind: 'provider'; provider: Provider }
  | { kind: 'domain'; domain: ImportedDomain }
  | { kind: 'install'; install: ImportedInstall };

export interface ImportStore {
  /** Sees to it that links and bindings get ids above these from now on. */
  reserveIds(upTo: { installId: number; domainId: number }): Promise<void>;
  /**
   * Adds a link with its HWIDs, or to a link that is here the HWIDs that it lacks. Nothing that is
   * here is lost: a link keeps its id, HWIDs and date, with `updates` it takes note, status and
   * limit (never below its HWIDs) from the import. Facts of a device that are known here win.
   *
   * Refuses `install_code_exists` for a code of another provider, `install_code_limit_reached` for
   * a new link beyond `installCountMax` of the provider.
   */
  importInstall(
    providerId: number,
    install: ImportedInstall,
    rules: { installCountMax: number; updates: boolean },
    act: Act,
  ): Promise<ImportedInstallResult | 'install_code_exists' | 'install_code_limit_reached'>;
  /**
   * Adds a binding, or with `updates` gives one that is here name and status of the import. Refuses
   * `domain_limit_reached` for a new one beyond `domainCountMax` of the provider.
   */
  importDomain(
    providerId: number,
    domain: ImportedDomain,
    rules: { domainCountMax: number; updates: boolean },
    act: Act,
  ): Promise<{ was: ImportedAs; id: number } | 'domain_limit_reached'>;
  /**
   * All that a provider owns, oldest first, as it was at one moment, however long the reading
   * takes. Nothing at all for an unknown provider.
   */
  exportProvider(code: string): AsyncIterable<ExportRecord>;
}
