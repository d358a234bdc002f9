/** What the operator's pages show of the process and its machine: `src/appliance.ts` has it. */

import type { Core } from '../../core/core.ts';
import type { SendOnce } from '../../core/outbox/gateway-test.ts';
import type { Misfit, Refused } from '../../core/outcome.ts';
import type { PushGateway } from '../../core/port/registration.ts';
import type { UpstreamKeys } from '../../core/port/upstream.ts';
import type { Finding } from '../../finding.ts';
import type { PanelLook } from '../upstream/look.ts';

/** A setting with its effective value; a secret is masked. */
export interface ShownSetting {
  key: string;
  variable: string;
  value: string;
  /** A flag, a variable, `file:line` or `default`. */
  origin: string;
}

/** A check that runs beside the server, and its last result at this node; null: there is none. */
export interface Checkup<T> {
  last(): { atMs: number; result: T } | null;
  /** Runs it, or waits for the one that runs. Null: it failed, or took too long. */
  run(nowMs: number): Promise<T | null>;
}

export interface AuditCheck {
  /** Entries that were verified. */
  count: number;
  head: string | null;
  /** Null: the chain is whole. */
  problem: string | null;
}

/** The state of this process. */
export interface ProcessState {
  version: string;
  node: string;
  startedAtMs: number;
  /** Why it is not ready, a sentence; null: it is. */
  notReady: string | null;
  /** The delay of a timer once a second since the start: 99 of 100 are not longer, s. */
  loopLagSeconds: number | null;
  /** Delays above a tenth of a second, and all that were measured. */
  loopLateCount: number;
  loopCount: number;
  residentBytes: number;
  openFiles: number | null;
  openFilesMax: number | null;
  /** Null: plain HTTP. */
  certificateEndsAtMs: number | null;
  isDatabaseFile: boolean;
}

/** A backup in the folder of scheduled ones. */
interface ListedBackup {
  name: string;
  atMs: number;
  /** Null: it cannot be read. */
  bytes: number | null;
}

/** Backups of a database that is a file: `src/backup/desk.ts` has what they do. */
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

/** An upstream as a person gives it: the fields of a form, and other keys as lines of a file. */
export interface GivenUpstream {
  keys: UpstreamKeys;
  more: string;
}

interface UpstreamSummary {
  host: string;
  url: string;
  provider: string;
  /** The table of a configuration file. */
  toml: string;
}

export interface ListedUpstreams {
  /** Those of the configuration. */
  own: UpstreamSummary[];
  kept: (UpstreamSummary & {
    keys: UpstreamKeys;
    updatedAtMs: number;
    updatedBy: string;
    /** False: the configuration has the host, or this version cannot read it. */
    isInForce: boolean;
  })[];
}

/** What was found about an upstream before it is kept. */
export interface UpstreamCheck {
  toml: string;
  /** Addresses of the host, as this machine finds them. */
  addresses: string[];
  /** `elsewhere`: this server speaks plain HTTP, so a proxy has the certificate. */
  certificate: 'covered' | 'not_covered' | 'elsewhere';
  /** The end of a certificate that covers the host; null: it is not known. */
  certificateEndsAtMs: number | null;
  panel: PanelLook;
  /** `not_bound`: it is bound once the upstream is kept. */
  binding: 'active' | 'not_bound' | 'disabled' | 'provider_not_found';
}

/** Upstreams of the gate: `src/live-upstreams.ts` has what they do. */
export interface UpstreamDesk {
  list(): ListedUpstreams;
  /**
   * Tries a given upstream without keeping it, for ten seconds at most. Refuses `malformed` with
   * what is wrong, and `too_many_requests` while another check of the session runs.
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
  /** Returns what sends through a gateway until the signal aborts; null: it is not set up. */
  pushSender(gateway: PushGateway, signal: AbortSignal): SendOnce | null;
}
