/**
 * A kind of store: the parts of a database, besides the port, that backups, the doctor and the
 * command line use.
 */

import type { Clock } from '../base/clock.ts';
import type { Finding } from '../base/finding.ts';
import type { Act } from '../core/port/audit.ts';
import type { CutStop } from '../core/port/cut-off.ts';
import type { Figure } from '../core/port/figure.ts';
import type { Follow } from '../core/port/follow.ts';
import type { StatementKind } from '../core/port/health.ts';
import type { SeenSighting } from '../core/port/sighting.ts';
import type { Store, Trouble } from '../core/port/store.ts';
import type { Upkeep } from '../core/port/upkeep.ts';
import type { KeptUpstream } from '../core/port/upstream.ts';

export interface StoreKind {
  /** Opens the store. Throws `OperatorError` with the reason when that fails. */
  open(options: StoreOptions): Promise<Store>;
  /** Reads the database for `gatepost doctor`; the hosts are looked up among the bindings. */
  survey(dataDir: string, hostsOf: HostsOf): Promise<DatabaseReport>;
  /** The database as a file. Null: it is on a server, which has its own backups. */
  file: DatabaseFile | null;
}

/** Returns a time, or during a leap of the clock the earliest that may be right. */
export type LeastMs = (atMs: number) => number;

export interface StoreOptions {
  dataDir: string;
  /** Permission to create or migrate the database if needed. */
  create: boolean;
  /**
   * Permission to migrate alone. Default: as `create`. A command that runs beside a server has
   * none.
   */
  migrates?: boolean;
  /**
   * Called before an existing database is migrated, with its schema and the new one. If it throws,
   * the store is not opened and nothing changes.
   */
  onMigration?: (from: number, to: number) => Promise<void>;
  /** Most writes in one commit. */
  commitBatchMax: number;
  onCommit?: CommitObserver;
  onFigure?: FigureObserver;
  /** Called after a commit that put something into the outbox. */
  onOutbox?: () => void;
  /** Called after the commit with the status with which a distribution ended. */
  onDistributionEnd?: (status: number) => void;
  /** Called after the commit that disabled a webhook for its failures. */
  onWebhookDisabled?: (webhook: DisabledWebhook) => void;
  /** Called after the commit that ended slots or links of devices that hold tokens. */
  onEnded?: (deviceIds: readonly number[]) => void;
  /** Called once at the start of each outage with its cause. */
  onAway?: (problem: string) => void;
  /** Called at the end of an outage, with its time, ms, and the calls that failed. */
  onBack?: (awayMs: number, refusedCount: number) => void;
  /** Called once a minute while calls fail for such a reason. */
  onTrouble?: (trouble: Trouble, problem: string) => void;
  /** Waits for the server until `signal`, and reports the wait once. Absent: waits some seconds. */
  waiting?: { signal: AbortSignal; onWaiting: (problem: string) => void };
  /**
   * Called after a statement or transaction on a server: its time, ms, and the calls that share it.
   */
  onStatement?: (kind: StatementKind, tookMs: number, callCount: number) => void;
  /** Called at each retry with its cause: an SQLSTATE, or `connection`. */
  onRetry?: (why: string) => void;
  /** Called at each signal of another process. */
  onSignal?: () => void;
  /** Default: the machine's. */
  clock?: Clock;
  /** As `leastMs` of src/core/timekeeper.ts; returns its argument by default. */
  leastMs?: LeastMs;
}

/**
 * Called after a commit: its writes, its time under the lock, ms (0: none), whether it was saved.
 */
export type CommitObserver = (writeCount: number, tookMs: number, isSaved: boolean) => void;

/** A webhook that was disabled for its failures. */
export interface DisabledWebhook {
  id: number;
  /** Null: a webhook of the operator. */
  providerId: number | null;
  why: string;
}

/** A host that should be bound at a provider, known by its code. */
export interface HostOfProvider {
  host: string;
  provider: string;
}

/** Returns the hosts to look up, given the upstreams in the database. */
export type HostsOf = (kept: readonly KeptUpstream[]) => readonly HostOfProvider[];

/** The binding of a host that was looked up. */
export type BoundHost = 'provider_not_found' | 'not_bound' | 'disabled' | 'active';

/** Called for each counted figure; for a change after its commit. */
export type FigureObserver = (figure: Figure, by: number) => void;

/** Links of a provider without a subscription key, beside those that the proxy made. */
export interface UnusedLinks {
  /** The host of the upstream. */
  host: string;
  /** The provider's code. */
  code: string;
  /** Links that the proxy made by keys. */
  madeCount: number;
  /** Links without a key that were made before the newest of them: without and with devices. */
  emptyCount: number;
  usedCount: number;
}

/** The fetches of a trusted bot without a HWID in a day. */
export interface BotFetches {
  host: string;
  name: string;
  /** The code of its provider. */
  code: string;
  /** The UTC day, as days since 1970. */
  day: number;
  keyCount: number;
  fetchCount: number;
  /** Keys that it fetched as often as it may. */
  usedUpCount: number;
}

/** HWIDs that several phones send, and rules for them. */
export interface HwidCopies {
  /** Links with such a HWID that take its phones for one device (`copied_hwid` `tell`). */
  linkCount: number;
  /** Links and providers whose `copied_hwid` is `count` or `refuse`. */
  ruleCount: number;
}

/** A name in the database. */
export interface PrivateName {
  kind: 'chat' | 'device' | 'node' | 'person' | 'provider';
  name: string;
}

export interface CutSurvey {
  stops: readonly CutStop[];
  waiting: readonly { host: string; count: number; askedAtMs: number }[];
}

export interface DatabaseReport {
  findings: Finding[];
  /** The bindings of the hosts, in their order; empty if the database cannot be read. */
  hosts: BoundHost[];
  /** Gateways that are stopped, with the cause. */
  stopped: { gateway: string; problem: string }[];
  /** Pushes in the queues of gateways; of Web Push those of all services. */
  waiting: { gateway: string; count: number }[];
  /** The key that signs for this database; null: it cannot be read. */
  signingKey: Uint8Array | null;
  /** True if a device has subscribed to Web Push, which depends on the VAPID key. */
  hasSubscriptions: boolean;
  /** Codes of some providers whose links admit apps without a HWID. */
  passing: string[];
  /** Providers with links that an import disabled, whose state is still the import's. */
  disabledByImport: { code: string; count: number }[];
  /** Providers with links at 100 that their panel does not limit. */
  unlimited: { code: string; linkCount: number }[];
  /** How often trusted bots fetched without a HWID, on the last day on which they did. */
  botFetches: BotFetches[];
  /** Cut-offs that wait, and upstreams that make none. */
  cuts: CutSurvey;
  /** Links at the panels of upstreams that no device uses. */
  unused: UnusedLinks[];
  /** HWIDs that several phones send. */
  copies: HwidCopies;
  /** Codes of the providers whose users have pages. */
  paged: string[];
  /** HWIDs that name no device and hold slots, those with most slots first. */
  junk: { hwid: string; slotCount: number }[];
  /** How each task of upkeep went last. */
  upkeep: Upkeep[];
  /** The panels that are followed. */
  follows: Follow[];
  /** The saved sightings. */
  sightings: SeenSighting[];
  /** Names of providers, people, chats and nodes, which leave the machine as other words. */
  names: PrivateName[];
  /** Rows of some tables, by name. */
  counts: Readonly<Record<string, number>>;
  /** The latest time in the database, UTC ms; null: unknown. */
  newestMs: number | null;
  /** Its size; 0: there is no database. */
  bytes: number;
  /** Names of other nodes that serve the database. */
  otherNodes: string[];
}

/** Copies, inspects and replaces a database that is one file. */
export interface DatabaseFile {
  /** Copies the database while servers run; blocks. Throws `OperatorError` or a disk error. */
  takeSnapshot(dataDir: string): Snapshot;
  /**
   * Throws `OperatorError` for a schema newer than this program's, with `file` and the version that
   * made it.
   */
  refuseNewer(file: string, schema: number, program: string): void;
  /** Receives a database for inspection in the first of `folders` with room. */
  inspect(folders: readonly string[]): Arrival;
  /**
   * Locks the database. Throws `OperatorError` while another process has it open, or a disk error.
   */
  replace(dataDir: string): Replacement;
}

/** A copy of the database at one moment; no other process can open it. */
export interface Snapshot {
  bytes: number;
  contents: Contents;
  /** Reads the copy from the start at each call. */
  read(signal?: AbortSignal): AsyncIterable<Uint8Array>;
  drop(): void;
}

/** The contents of a database file, found by reading all of it. */
export interface Contents {
  schema: number;
  /** Row counts by table. */
  rows: Readonly<Record<string, number>>;
}

/** Writes the next piece of a database. */
export type Write = (chunk: Uint8Array) => Promise<void> | void;

/** A database from a backup. */
export interface Arrival {
  /** Begins to receive `bytes`. Throws `OperatorError` if there is too little room. */
  begin(bytes: number): Promise<Write>;
  /** Reads everything. Throws `OperatorError` for damage or a database that is not Gatepost's. */
  contents(): Promise<Contents>;
  /** Removes everything that was not put in place. */
  drop(): Promise<void>;
}

/** A database from a backup that can replace the present one. */
export interface Replacement extends Arrival {
  /** Returns the rows that would be lost, as one sentence; null: none. */
  loss(): string | null;
  /**
   * Replaces the database, with an entry in the audit log about a restore of `momentMs`. A crash
   * leaves the old or the new one, whole. Returns the new path of the old one; null: there was
   * none.
   */
  putInPlace(act: Act, momentMs: number): string | null;
}
