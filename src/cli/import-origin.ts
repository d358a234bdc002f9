/** The origin of an import, checked before anything is stored. */

import { UsageError } from '../base/operator-error.ts';
import { VERSION } from '../base/version.ts';
import { ProviderClient } from '../client/provider-client.ts';
import { importFromSource, type Mover, type Newcomer } from '../core/moving/import.ts';
import { hashKey } from '../core/secret.ts';
import type { CliContext, CommonOptions } from './context.ts';
import { readContents, storeFile } from './import-file.ts';
import { type KeyOptions, readKey } from './key.ts';
import type { Progress } from './progress.ts';
import { orNull, type Terms } from './terms.ts';

export interface ImportOptions extends CommonOptions, KeyOptions, Terms {
  from?: string;
  code?: string;
  newKey?: boolean;
  name?: string;
  rate: number;
  zone: number;
  ids?: { from: number; to: number };
  recheck?: boolean;
  update?: boolean;
}

/** A running import. */
export interface ImportRun {
  context: CliContext;
  progress: Progress;
  options: ImportOptions;
  /** Ends the import after the current step. */
  signal: AbortSignal;
}

type Check = (run: ImportRun) => Promise<Origin>;

/** The longest wait for an answer, ms. */
const TIMEOUT_MS = 30_000;
/** The most calls at a time; the rate bounds them too. */
const CALLS_MAX = 8;
/** The shortest pause that is reported, ms. */
const REPORTED_PAUSE_MS = 2_000;

/** An origin that passed its checks. */
export interface Origin {
  newcomer: Newcomer;
  /** The number of links; 0: unknown. */
  linkCount: number;
  /** Imports everything, or until it is stopped. */
  bring(mover: Mover, onStep: () => void): Promise<void>;
}

/** Another server of the API with the credentials there. */
interface ServerAddress {
  from: string;
  code: string;
  authKey: string;
}

/** Warns of a key that goes to another machine over plain HTTP. */
export function warnIfOpen(context: CliContext, from: string): void {
  if (/^http:/.test(from) && !/^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:|\/|$)/.test(from)) {
    context.stderr('gatepost: the key crosses the network unencrypted: https is safer\n');
  }
}

/** Returns the server in the options. Reads the key, perhaps from stdin. */
export function addressOf(context: CliContext, options: ImportOptions): ServerAddress {
  const { code, from } = options;
  if (code === undefined || from === undefined) throw new UsageError('--code is needed');
  const authKey = readKey(context, options);
  if (authKey === undefined) throw new UsageError('give either --key or --key-file');
  warnIfOpen(context, from);
  return { from, code, authKey };
}

/** Checks another server of the API. Throws CallFailed if it refuses the key. */
export const checkServer =
  ({ from, code, authKey }: ServerAddress): Check =>
  async ({ context, progress, options, signal }) => {
    const client = new ProviderClient({
      url: from,
      providerCode: code,
      authKey,
      callsPerSecondMax: options.rate,
      userAgent: `gatepost-import/${VERSION}`,
      timeoutMs: TIMEOUT_MS,
      nowMs: context.nowMs,
      sleep: context.sleep,
      signal,
      onPause: (why, pauseMs) => {
        if (pauseMs < REPORTED_PAUSE_MS) return;
        progress.note(`${why}: retry in ${Math.round(pauseMs / 1000)} s`);
      },
    });
    // A wrong key must not become the key of a provider here.
    await client.list('/api/list-domain', {});
    return {
      newcomer: {
        code,
        name: options.name ?? code,
        plan: options.plan,
        keyHash: hashKey(authKey),
        activeUntilMs: orNull(options.expires),
        suspendedAtMs: null,
        installCountMax: orNull(options.maxLinks),
        createdAtMs: context.nowMs(),
      },
      linkCount: 0,
      bring: (mover, onStep) =>
        importFromSource(mover, (path, query) => client.list(path, query), {
          offsetMinutes: options.zone,
          rechecks: options.recheck ?? false,
          ids: options.ids ?? null,
          callsMax: CALLS_MAX,
          isStopped: () => signal.aborted,
          onStep,
        }),
    };
  };

/** Checks a file of `gatepost export` to its end. */
export const checkFile =
  (path: string): Check =>
  async ({ options, signal }) => {
    const isStopped = () => signal.aborted;
    const { newcomer, counts, highest } = await readContents(path, isStopped);
    const { code = newcomer.code, name = newcomer.name } = options;
    return {
      newcomer: { ...newcomer, code, name },
      linkCount: counts.installs,
      bring: (mover, onStep) => storeFile(path, mover, highest, { isStopped, onStep }),
    };
  };
