/** The origin of a provider, looked at before anything is made here. */

import { ProviderClient } from '../client/provider-client.ts';
import { importFromSource, type Mover, type Newcomer } from '../core/moving/import.ts';
import { hashKey } from '../core/secret.ts';
import { UsageError } from '../operator-error.ts';
import { VERSION } from '../version.ts';
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

/** An import under way. */
export interface ImportRun {
  context: CliContext;
  progress: Progress;
  options: ImportOptions;
  /** Ends the import in an orderly way. */
  signal: AbortSignal;
}

type Look = (run: ImportRun) => Promise<Origin>;

/** The time of the other server for one answer, ms. */
const TIMEOUT_MS = 30_000;
/** The most calls under way at a time; the rate bounds them too. */
const CALLS_MAX = 8;
/** The shortest pause worth a line, ms. */
const TELL_PAUSE_MS = 2_000;

/** An origin that was looked at and can be used. */
export interface Origin {
  newcomer: Newcomer;
  /** The number of links; 0: unknown. */
  linkCount: number;
  /** Brings everything over, or as much as it can until it is stopped. */
  bring(mover: Mover, onStep: () => void): Promise<void>;
}

/** Another server of the API, and the credentials there. */
interface ServerAddress {
  from: string;
  code: string;
  authKey: string;
}

/** The server in the options. Reads the key, perhaps from stdin. */
export function addressOf(context: CliContext, options: ImportOptions): ServerAddress {
  const { code, from } = options;
  if (code === undefined || from === undefined) throw new UsageError('--code is needed');
  const authKey = readKey(context, options);
  if (authKey === undefined) throw new UsageError('give --key or --key-file, one of them');
  if (/^http:/.test(from) && !/^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:|\/|$)/.test(from)) {
    context.stderr('gatepost: the key crosses the network unencrypted: https is safer\n');
  }
  return { from, code, authKey };
}

/** Looks at another server of the API. Throws CallFailed if it cannot be used with this key. */
export const lookAtServer =
  ({ from, code, authKey }: ServerAddress): Look =>
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
        if (pauseMs < TELL_PAUSE_MS) return;
        progress.note(`${why}: trying again in ${Math.round(pauseMs / 1000)} s`);
      },
    });
    // A wrong key must not become a provider's key here.
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

/** Reads a file that `export` wrote to its end. */
export const lookAtFile =
  (path: string): Look =>
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
