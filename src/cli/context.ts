/** The product as commands see it, and their way to speak. */

import type { App } from '../app.ts';
import type { BackupTools } from '../backup/tools.ts';
import type { Flags, LoadedConfig } from '../config/load.ts';
import type { ShownSetting } from '../config/render.ts';
import type { Config } from '../config/settings/index.ts';
import { actingAs, type Core } from '../core/core.ts';
import type { EventSenders, Verdict } from '../core/outbox/carrier.ts';
import type { Actor } from '../core/port/audit.ts';
import type { PushContent } from '../core/port/outbox.ts';
import type { PushAddress, PushGateway } from '../core/port/registration.ts';
import type { Finding } from '../finding.ts';
import type { Move } from '../store/move/job.ts';
import type { ServiceManager } from '../systemd.ts';
import { type Columns, table } from './table.ts';

export interface CliContext {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
  loadConfig(flags: Flags): LoadedConfig;
  shownSettings(loaded: LoadedConfig): ShownSetting[];
  exampleConfig(): string;
  openApiDocument(): unknown;
  openCore(config: Config, create: boolean): Promise<Core>;
  startApp(loaded: LoadedConfig, signal: AbortSignal): Promise<App>;
  /** Sends events to webhooks. */
  openEventSenders(config: Config): { eventSenders: EventSenders; close(): void };
  /** The manager that started the program and wants to hear how it is. */
  serviceManager(): ServiceManager;
  /** The actor of the audit log. */
  operator: () => Actor;
  /** Throws `OperatorError` if the database is no file. */
  backup(config: Config): BackupTools;
  /**
   * The move of all data into the PostgreSQL database of a URL, or (`sqlite`) from there into the
   * data directory. Throws `OperatorError` if it makes no sense.
   */
  moveOf(config: Config, to: string): Move;
  /** Opens a way to devices, to try it. Throws `OperatorError` if it is not set up. */
  openGateway(config: Config, gateway: PushGateway): Promise<OpenGateway>;
  /** Looks at data, machine and settings. */
  examine(loaded: LoadedConfig): Promise<Finding[]>;
  /**
   * Prints; never rejects. It settles when the text has been taken; false: nobody takes any more.
   */
  stdout(text: string): Promise<boolean>;
  stderr(text: string): void;
  /** Somebody is there to answer a question. */
  isTerminal: boolean;
  /** The answer from the terminal; null: interrupted, or there is none. */
  ask(question: string): Promise<string | null>;
  /** A line on stderr may be drawn over and over. */
  isProgressDrawn: boolean;
  /** Columns of the terminal that stdout is; null: it is none. */
  columns: number | null;
}

/** A gateway that is open: hands a message over once. */
export interface OpenGateway {
  (address: PushAddress, content: PushContent): Promise<Verdict>;
  close(): void;
}

/** Options that every command takes. */
export interface CommonOptions {
  data?: string;
  config?: string;
  json?: boolean;
}

/** The flags among the options that every command takes. */
export function flagsOf({ data, config }: CommonOptions): Flags {
  return { dataDir: data, configFile: config };
}

/**
 * Opens the data, uses it, closes it. A missing database is made only for `create`, by commands
 * that an operator may well run before the first start.
 */
export async function withCore<T>(
  context: CliContext,
  options: CommonOptions,
  use: (core: Core) => Promise<T>,
  create = false,
): Promise<T> {
  const core = await context.openCore(context.loadConfig(flagsOf(options)).config, create);
  try {
    return await use(actingAs(core, context.operator));
  } finally {
    await core.store.close();
  }
}

/** Prints a result: as JSON if it was asked for, else as text for people. */
export function print(
  context: CliContext,
  options: CommonOptions,
  json: unknown,
  text: string,
): void {
  context.stdout(`${options.json ? JSON.stringify(json) : text.trimEnd()}\n`);
}

/** Prints records: all of them as JSON if it was asked for, else `columns` of them. */
export function printTable<T>(
  context: CliContext,
  options: CommonOptions,
  records: readonly T[],
  columns: Columns<T>,
): void {
  print(context, options, records, table(records, columns));
}
