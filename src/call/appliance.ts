/**
 * The state of the process and its machine, as the operator's pages show it;
 * `src/parts/appliance.ts` implements it.
 */

import type { Finding } from '../base/finding.ts';
import type { Core } from '../core/core.ts';
import type { FollowStanding } from '../core/follow-standing.ts';
import type { SendOnce } from '../core/outbox/gateway-test.ts';
import type { Misfit, Refused } from '../core/outcome.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import type { PushGateway } from '../core/port/registration.ts';
import type { PanelReaction, UpstreamKeys } from '../core/port/upstream.ts';

/** A setting with its effective value; a secret is masked. */
interface ShownSetting {
  key: string;
  variable: string;
  value: string;
  /** A flag, a variable, `file:line` or `default`. */
  origin: string;
}

/** A check beside the server, with its last result at this node; null: it has not run. */
export interface Checkup<T> {
  last(): { atMs: number; result: T } | null;
  /** Runs the check, or waits for the running one. Returns null if it fails or takes too long. */
  run(nowMs: number): Promise<T | null>;
}

export interface AuditCheck {
  /** The number of verified entries. */
  count: number;
  head: string | null;
  /** The problem of the chain; null: it is intact. */
  problem: string | null;
}

/** The state of this process. */
interface ProcessState {
  version: string;
  node: string;
  startedAtMs: number;
  /** The reason why it is not ready, one sentence; null: it is ready. */
  notReady: string | null;
  /** The 99th percentile of the event loop's delay since the start, measured once a second, s. */
  loopLagSeconds: number | null;
  /** The number of delays above a tenth of a second, and of all measurements. */
  loopLateCount: number;
  loopCount: number;
  residentBytes: number;
  openFiles: number | null;
  openFilesMax: number | null;
  /** The end of the certificate; null: plain HTTP. */
  certificateEndsAtMs: number | null;
  isDatabaseFile: boolean;
}

/** A backup in the folder of scheduled ones. */
interface ListedBackup {
  name: string;
  atMs: number;
  /** The size; null: the file cannot be read. */
  bytes: number | null;
}

/** Backups of a database file; `src/backup/desk.ts` implements them. */
export interface Backups {
  list(): Promise<{
    folder: string;
    files: ListedBackup[];
    /** A cron pattern or a time of day, UTC; empty: never. */
    schedule: string;
    keep: number;
    nextMs: number | null;
    isEncrypted: boolean;
    lastFailure: { atMs: number; reason: string } | null;
    /** The copies by `backup.after`; null: there are none. */
    copies: { lastMs: number | null; lastFailure: { atMs: number; reason: string } | null } | null;
  }>;
  make(): Promise<string | null>;
  verify(name: string): Promise<{ problem: string | null } | 'not_found' | 'busy'>;
  prepare(
    passphrase: string,
    sessionId: number,
    nowMs: number,
    note: () => Promise<void>,
  ): Promise<{ bytes: number } | 'busy'>;
  copyOf(sessionId: number, nowMs: number): { file: string; bytes: number } | null;
}

/** An upstream from the form: its fields, and further keys as lines of a file. */
export interface GivenUpstream {
  keys: UpstreamKeys;
  more: string;
}

interface UpstreamSummary {
  host: string;
  url: string;
  provider: string;
  /** The upstream as a table of a configuration file. */
  toml: string;
}

/** How the following of an upstream's panel stands. */
export interface ListedFollow {
  host: string;
  standing: FollowStanding;
  /** The last whole pass; null: there was none. */
  pass: { atMs: number; userCount: number; changeCount: number } | null;
  /** Why the last pass changed nothing; null: it was whole, or there was none. */
  reason: string | null;
}

/** A panel that Gatepost knows by name. */
interface KnownPanel {
  name: PanelKind;
  title: string;
  /** The form that `key` with its name reads. */
  keys: 'plain' | 'uuid' | 'signed';
}

export interface ListedUpstreams {
  panels: KnownPanel[];
  /** The panels that are followed. */
  follows: ListedFollow[];
  /** The upstreams of the configuration. */
  own: UpstreamSummary[];
  kept: (UpstreamSummary & {
    keys: UpstreamKeys;
    updatedAtMs: number;
    updatedBy: string;
    /** False: the configuration has the same host, or this version cannot read the entry. */
    isInForce: boolean;
  })[];
}

/** The findings about an upstream before it is saved. */
export interface UpstreamCheck {
  toml: string;
  /** The addresses that this machine finds for the host. */
  addresses: string[];
  /**
   * `elsewhere`: this server speaks plain HTTP, so the proxy in front of it has the certificate.
   */
  certificate: 'covered' | 'not_covered' | 'elsewhere';
  /** The end of a certificate that covers the host; null: unknown. */
  certificateEndsAtMs: number | null;
  panel: PanelReaction;
  /** `not_bound`: saving the upstream binds the host. */
  binding: 'active' | 'not_bound' | 'disabled' | 'provider_not_found';
}

/** The upstreams of the gate; `src/parts/live-upstreams.ts` implements them. */
export interface UpstreamDesk {
  list(): Promise<ListedUpstreams>;
  /**
   * Tries an upstream without saving it, for at most ten seconds. Refuses `malformed` with the
   * reason, and `too_many_requests` while another check of the session runs.
   */
  check(
    given: GivenUpstream,
    sessionId: number,
    nowMs: number,
  ): Promise<UpstreamCheck | Misfit | Refused<'too_many_requests'>>;
  put(
    core: Core,
    given: GivenUpstream,
    isNew: boolean,
    nowMs: number,
  ): Promise<
    | 'ok'
    | Misfit
    | Refused<
        | 'upstream_in_file'
        | 'upstream_exists'
        | 'upstream_limit_reached'
        | 'upstream_not_found'
        | 'provider_not_found'
      >
  >;
  remove(core: Core, host: string, nowMs: number): Promise<'ok' | Refused<'upstream_not_found'>>;
}

export interface Appliance {
  upstreams: UpstreamDesk;
  /** Null: the data are in PostgreSQL. */
  backups: Backups | null;
  settings(): { file: string | null; rows: readonly ShownSetting[] };
  state(): Promise<ProcessState>;
  doctor: Checkup<readonly Finding[]>;
  auditCheck: Checkup<AuditCheck>;
  /**
   * Returns the function that sends through a gateway until the signal aborts; null: the gateway is
   * not configured.
   */
  pushSender(gateway: PushGateway, signal: AbortSignal): SendOnce | null;
}
