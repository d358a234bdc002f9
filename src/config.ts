/**
 * The only reader of the environment. Every setting has one row in a table: its name, its default
 * with the reason, and how it is read. Flags go before the environment, the environment before the
 * defaults; everything that is wrong is reported at once.
 */

import { parseTrustedProxies, type TrustedProxies } from './http/address.ts';
import type { LogFormat } from './log.ts';
import { OperatorError } from './operator-error.ts';

interface Setting<T> {
  /** Environment variable. */
  env: string;
  /** As it would be written in the environment. */
  default: string;
  /** Returns the value, or throws RangeError with what it should have been. */
  read(text: string): T;
  about: string;
}

const setting = <T>(row: Setting<T>): Setting<T> => row;

export const SETTINGS = {
  dataDir: setting({
    env: 'GATEPOST_DATA',
    default: './data',
    read: (text) => text,
    about: 'The data directory.',
  }),
  host: setting({
    env: 'GATEPOST_HOST',
    // Open to the machine alone until the operator decides otherwise.
    default: '127.0.0.1',
    read: (text) => text,
    about: 'The address to listen on.',
  }),
  port: setting({
    env: 'GATEPOST_PORT',
    default: '8080',
    read: wholeNumber(0, 65_535),
    about: 'The port to listen on; 0 picks a free one.',
  }),
  outputOffsetMinutes: setting({
    env: 'GATEPOST_OUTPUT_ZONE',
    // The zone of send_date and send_time, so that a provider can compare them.
    default: '+03:00',
    read: utcOffset,
    about: 'The zone of the times in answers, as an offset from UTC.',
  }),
  linksPerProviderMax: setting({
    env: 'GATEPOST_LINKS_PER_PROVIDER_MAX',
    default: '100000',
    read: wholeNumber(0, 1_000_000_000),
    about: 'How many limited links a provider may have that has no number of its own.',
  }),
  authFailuresPerMinuteMax: setting({
    env: 'GATEPOST_AUTH_FAILURES_PER_MINUTE_MAX',
    // A bot with an old key retries about twice a second; it need not be slowed down.
    default: '120',
    read: wholeNumber(0, 1_000_000_000),
    about: 'Failed credentials a minute from one address before such answers are delayed by 1 s.',
  }),
  trustedProxies: setting({
    env: 'GATEPOST_TRUSTED_PROXIES',
    // Anybody can write X-Forwarded-For.
    default: '',
    read: networks,
    about: 'Networks, separated by commas, whose X-Forwarded-For is believed.',
  }),
  unboundCommandsPerDayMax: setting({
    env: 'GATEPOST_UNBOUND_COMMANDS_PER_DAY_MAX',
    // Enough to hand out first subscriptions, too few to write to strangers.
    default: '10',
    read: wholeNumber(0, 1_000_000_000),
    about: 'How many HWIDs that are not linked to it a provider may send a command to in 24 hours.',
  }),
  registrationsPerMinuteMax: setting({
    env: 'GATEPOST_REGISTRATIONS_PER_MINUTE_MAX',
    // Many phones share the address of a mobile carrier.
    default: '600',
    read: wholeNumber(0, 1_000_000_000),
    about: 'New devices a minute from one address, by /device/register or a first /provider.',
  }),
  streamCountMax: setting({
    env: 'GATEPOST_STREAMS_MAX',
    // Each costs some 6 KB of memory and a file descriptor.
    default: '20000',
    read: wholeNumber(0, 1_000_000),
    about: 'How many WebSocket streams of devices may be open at a time.',
  }),
  ledgerDays: setting({
    env: 'GATEPOST_LEDGER_DAYS',
    default: '90',
    read: wholeNumber(1, 36_500),
    about: 'For how many days the ledger of a finished distribution is kept.',
  }),
  commitBatchMax: setting({
    env: 'GATEPOST_COMMIT_BATCH_MAX',
    // A batch holds up the event loop: 1024 writes take some 20 ms.
    default: '1024',
    read: wholeNumber(1, 100_000),
    about: 'The most writes that share one commit to disk; 1 gives each its own.',
  }),
  logFormat: setting({
    env: 'GATEPOST_LOG_FORMAT',
    default: 'human',
    read: oneOf<LogFormat>('human', 'json'),
    about: 'How log lines are written: human or json.',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;

export type Config = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
};

/** What was given on the command line, unread. */
export type Flags = Partial<Record<SettingName, string | undefined>>;

/** The effective configuration. Throws {@link OperatorError} naming every problem. */
export function loadConfig(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
): Config {
  const problems: string[] = [];
  const known = new Set<string>(Object.values(SETTINGS).map((row) => row.env));
  for (const name of Object.keys(env)) {
    if (name.startsWith('GATEPOST_') && !known.has(name)) problems.push(`unknown setting ${name}`);
  }
  const config: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(SETTINGS)) {
    const flag = flags[name as SettingName];
    // An empty one, as from an unset variable in a unit file, is as good as none.
    const text = flag || env[row.env] || row.default;
    try {
      config[name] = row.read(text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const source = flag ? `--${name}` : row.env;
      problems.push(`${source}: ${error.message}`);
    }
  }
  if (problems.length > 0) throw new OperatorError(problems.join('; '));
  return config as Config;
}

function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    throw new RangeError(`'${text}' is not a whole number from ${minimum} to ${maximum}`);
  };
}

function oneOf<T extends string>(...values: T[]): (text: string) => T {
  return (text) => {
    const value = values.find((candidate) => candidate === text);
    if (value !== undefined) return value;
    throw new RangeError(`'${text}' is not ${values.join(' or ')}`);
  };
}

function utcOffset(text: string): number {
  const parts = /^([+-])(\d{2}):([0-5]\d)$/.exec(text);
  const minutes = parts ? Number(parts[2]) * 60 + Number(parts[3]) : Number.NaN;
  if (minutes <= 14 * 60) return parts?.[1] === '-' ? -minutes : minutes;
  throw new RangeError(`'${text}' is not an offset from UTC such as +03:00`);
}

function networks(text: string): TrustedProxies {
  return parseTrustedProxies(
    text
      .split(',')
      .map((network) => network.trim())
      .filter((network) => network !== ''),
  );
}
