/** The context of commands: access to the program, and their output. */

import type { Command } from 'commander';
import type { App } from '../app.ts';
import type { BackupTools } from '../backup/tools.ts';
import type { Finding } from '../base/finding.ts';
import type { LogLevel } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Flags } from '../config/files.ts';
import type { HiddenNames } from '../config/hidden-names.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { ShownSetting } from '../config/render.ts';
import type { Config } from '../config/settings/index.ts';
import { type Unseen, unseenFileText, unseenText } from '../config/unseen.ts';
import { actingAs, type Core } from '../core/core.ts';
import type { AttemptVerdict, EventSenders } from '../core/outbox/carrier.ts';
import type { Actor } from '../core/port/audit.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { PushAddress, PushGateway } from '../core/port/registration.ts';
import type { OutsideQuestions } from '../doctor/examine.ts';
import type { makeReport } from '../doctor/report.ts';
import type { Handover } from '../handover/handover.ts';
import type { ReadPanel } from '../panel/reader-process.ts';
import type { NewestRelease } from '../parts/release.ts';
import type { DatabaseReport } from '../store/kind.ts';
import type { Move } from '../store/move/job.ts';
import type { ServiceManager } from './systemd.ts';
import { type Columns, table } from './table.ts';

/** A code that Gatepost gives out. */
export interface Explanation {
  /** Where it stands: `event of the log, warn`. */
  kind: string;
  code: string;
  about: string;
  /** Other texts by which it is found: those of an answer. */
  texts?: readonly string[];
}

export interface CliContext {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  /** Loads the settings of the server that runs on the data directory, as far as they are seen. */
  loadConfig(flags: Flags): LoadedConfig;
  /** Loads the settings of a server that is to start. */
  loadServerConfig(flags: Flags): LoadedConfig;
  /** As `loadServerConfig`, without the environment. */
  loadOwnConfig(flags: Flags): LoadedConfig;
  /** Returns the URL at which a browser opens the server; `url`: where it listens, if known. */
  urlForPeople(config: Config, url?: string): Promise<string>;
  shownSettings(loaded: LoadedConfig): ShownSetting[];
  exampleConfig(): string;
  openApiDocument(): Promise<unknown>;
  /** Every code that Gatepost gives out. */
  explanations(): Promise<Explanation[]>;
  /** Returns what to add to the sentence about an unknown name; empty: no name is near. */
  nearestText(given: string, known: readonly string[]): string;
  openCore(config: Config, create: boolean): Promise<Core>;
  startApp(loaded: LoadedConfig, signal: AbortSignal): Promise<App>;
  /** Sends events to webhooks. */
  openEventSenders(config: Config): Promise<{ eventSenders: EventSenders; close(): void }>;
  /** As root for the data of another user: becomes that user. Returns null for all others. */
  asOwner(command: Command, isJson: boolean): Promise<Handover | null>;
  /** Sends the events that wait, beside a server or without one, until `isDone`, at most 45 s. */
  sendEvents(
    core: Core,
    config: Config,
    senders: EventSenders,
    isDone: () => Promise<boolean>,
  ): Promise<void>;
  /** Returns the name of this node; empty: the data are a file of one machine. */
  machineOf(config: Config): Promise<string>;
  /** The manager that started the program and receives its state. */
  serviceManager(): ServiceManager;
  /** The actor of the audit log. */
  operator: () => Actor;
  /** Throws `OperatorError` if the database is no file. */
  backup(config: Config): Promise<BackupTools>;
  /**
   * Returns the move of all data into the PostgreSQL database of a URL, or (`sqlite`) from there
   * into the data directory. Throws `OperatorError` if the data is already there.
   */
  moveOf(config: Config, to: string): Promise<Move>;
  /** Opens a gateway for a test. Throws `OperatorError` if it is not set up. */
  openGateway(config: Config, gateway: PushGateway): Promise<OpenGateway>;
  /** Asks the release page. Throws `OperatorError` if none is set or its release is refused. */
  newestRelease(config: Config): Promise<NewestRelease>;
  /** Reads the users of a panel. */
  readPanel: ReadPanel;
  /** Reads the files that settings name. Throws `OperatorError` with the first problem. */
  checkFiles(config: Config): Promise<void>;
  /**
   * Checks data, machine and settings; with `outside` asks the public addresses as well. Passes
   * the names and counts of the database to `onDatabase`.
   */
  examine(
    loaded: LoadedConfig,
    outside?: OutsideQuestions,
    onDatabase?: (report: Pick<DatabaseReport, 'counts' | 'names'>) => void,
  ): Promise<Finding[]>;
  /** Returns words in place of the names in the settings; null: they are unknown. */
  hiddenNames(loaded: LoadedConfig | null): HiddenNames;
  /** Makes the report of a fault. */
  report: typeof makeReport;
  /**
   * Prints; never rejects. Settles when the text is written, with false if the reader has closed.
   */
  stdout(text: string): Promise<boolean>;
  /** Prints on stderr; the journal of systemd gets the level too, `info` without one. */
  stderr(text: string, level?: LogLevel): void;
  /** Prints a warning on stderr, once. */
  warn(text: string): void;
  /** Prints control sequences of the program's own: `stdout` and `stderr` escape them. */
  terminal: Terminal;
  /** An operator can answer questions. */
  isTerminal: boolean;
  /** The answer from the terminal; null: interrupted, or there is none. */
  ask(question: string): Promise<string | null>;
  /** Stderr is a terminal, so a line can be redrawn. */
  isProgressDrawn: boolean;
  /** Columns of the terminal on stdout; null: it is no terminal. */
  columns: number | null;
}

/** The output without escapes. */
type Terminal = Pick<CliContext, 'stdout' | 'stderr'>;

/** An open gateway: sends a message once. */
interface OpenGateway {
  (address: PushAddress, content: PushContent): Promise<AttemptVerdict>;
  close(): void;
}

/** Options of every command. */
export interface CommonOptions {
  data?: string;
  config?: string;
  json?: boolean;
}

/** Returns the options that are flags of the configuration. */
export function flagsOf({ data, config }: CommonOptions): Flags {
  return { dataDir: data, configFile: config };
}

/**
 * Returns the settings for a command; warns on stderr of each one that the command uses and cannot
 * see as the running server has it. Throws `OperatorError` if that is the database.
 */
export function settingsFor(context: CliContext, options: CommonOptions): Config {
  const { config, unseen, unseenFile } = context.loadConfig(flagsOf(options));
  if (unseenFile !== null) context.warn(unseenFileText(unseenFile));
  if (unseen.length === 0) return config;
  const database = unseen.find(({ name }) => name === 'databaseUrl');
  if (database) throw new OperatorError(`${unseenText([database])}: it would use another database`);
  const hidden = new Map<PropertyKey, Unseen>(unseen.map((one) => [one.name, one]));
  return new Proxy(config, {
    get: (settings, name) => {
      const one = hidden.get(name);
      if (one) context.warn(`${unseenText([one])}: ${one.key} may differ`);
      return Reflect.get(settings, name);
    },
  });
}

/**
 * Opens the data, uses it, closes it. `create` makes a missing database: for commands that an
 * operator may run before the first start.
 */
export async function withCore<T>(
  context: CliContext,
  options: CommonOptions,
  use: (core: Core, config: Config) => Promise<T>,
  create = false,
): Promise<T> {
  const config = settingsFor(context, options);
  // Adds the upstreams in the database to the configuration.
  const core = await context.openCore(config, create);
  try {
    return await use(actingAs(core, context.operator), config);
  } finally {
    await core.store.close();
  }
}

/** Prints a result: as JSON with `--json`, else as text. */
export function print(
  context: CliContext,
  options: CommonOptions,
  json: unknown,
  text: string,
): void {
  context.stdout(`${options.json ? JSON.stringify(json) : text.trimEnd()}\n`);
}

/** Prints records: whole with `--json`, else their `columns`. */
export function printTable<T>(
  context: CliContext,
  options: CommonOptions,
  records: readonly T[],
  columns: Columns<T>,
): void {
  print(context, options, records, table(records, columns));
}
