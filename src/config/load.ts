/**
 * Loads the configuration: flags override the environment, the environment the file, the file the
 * defaults. Reports every error at once.
 */

import { OperatorError, UsageError } from '../base/operator-error.ts';
import { checkSecretFile } from '../base/permissions.ts';
import { commandFileProblems } from './command-file.ts';
import { backupConflicts, databaseConflicts, gateConflicts } from './conflicts.ts';
import {
  type Asker,
  CONFIG_VARIABLE,
  type Environment,
  type Flags,
  type OpenedFiles,
  openFiles,
  usualData,
} from './files.ts';
import { frontConflicts } from './front-conflicts.ts';
import { nearest } from './nearest.ts';
import { type Config, SETTINGS, type SettingName, settingRows } from './settings/index.ts';
import { TableMistakes } from './tables.ts';
import type { Unseen } from './unseen.ts';

/** Origin of a value: the name of a flag or variable, a file with the line, or `default`. */
type Origin = string;
/** The origin of a default. */
export const DEFAULT: Origin = 'default';

/** Text and origin of a value. */
interface Source {
  text: string;
  origin: Origin;
  /** Origins of tables and of their keys, by place (`2.host`); only for the file. */
  origins?: ReadonlyMap<string, Origin>;
}

export interface LoadedConfig {
  config: Config;
  /** File that was read, or null. */
  file: string | null;
  /** That file and those of the folder beside it, in their order. */
  files: readonly string[];
  sources: Readonly<Record<SettingName, Source>>;
  /** File that a flag or variable names, {@link NO_FILE} for none, or null: the usual ones. */
  named: string | null;
  /** Variables that an orchestrator set for another service of the same name. */
  ignoredVariables: readonly string[];
  /** Settings that the running server has from variables which are not set here. */
  unseen: readonly Unseen[];
  /** File of the running server that cannot be read here, or null. */
  unseenFile: string | null;
}

/** A command of a program at no place of the package. */
export const ASKER: Asker = { isPackaged: false, serves: false };

/** The beginning of each variable's name. */
const PREFIX = 'GATEPOST_';

/** Settings, and proxies: Bun's `fetch` sends even requests to this machine through them. */
const OUTER_VARIABLE = /^(?:GATEPOST_.*|(?:http|https|all)_proxy)$/i;

/**
 * Removes variables that would connect a demonstration to its operator's real appliance, or send
 * its requests elsewhere. The checks that it starts inherit the environment.
 */
export function leaveEnvironment(environment: Record<string, string | undefined>): void {
  for (const name of Object.keys(environment)) {
    if (OUTER_VARIABLE.test(name)) delete environment[name];
  }
}

/**
 * Loads the effective configuration. Throws {@link OperatorError} with every problem, or
 * {@link UsageError} if only flags are wrong.
 */
export function loadConfig(
  flags: Flags,
  environment: Environment,
  asker: Asker = ASKER,
): LoadedConfig {
  const { env, ignoredVariables } = withoutNeighbours(environment);
  const problems = unknownVariables(env);
  const opened = openFiles(flags, env, asker, problems);
  const config: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  for (const [name, row] of settingRows) {
    const source = sourceOf(name, flags, env, opened) ?? {
      text: name === 'dataDir' ? usualData(asker) : row.default,
      origin: DEFAULT,
    };
    sources[name] = source;
    try {
      config[name] = row.read(source.text);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const isOfFile = source === opened.values.get(name);
      problems.push(...mistakesIn(isOfFile ? [row.key] : [], source, error));
    }
  }
  problems.push(...openSecrets(opened));
  if (problems.length === 0) {
    const valid = config as Config;
    problems.push(...databaseConflicts(valid), ...gateConflicts(valid), ...backupConflicts(valid));
    const proxies = [sources['trustedProxies'], sources['gateProxies']].flatMap(networksIn);
    problems.push(...frontConflicts(valid, proxies));
    problems.push(...openCommands(valid, sources));
  }
  if (problems.length > 0) {
    const isUsage = problems.every((problem) => problem.startsWith('--'));
    const sentence = listed(problems);
    throw isUsage ? new UsageError(sentence) : new OperatorError(sentence, 'config_invalid');
  }
  return {
    config: config as Config,
    file: opened.files[0]?.path ?? null,
    files: opened.files.map(({ path }) => path),
    named: flags.configFile || env[CONFIG_VARIABLE] || null,
    sources: sources as LoadedConfig['sources'],
    ignoredVariables,
    unseen: [],
    unseenFile: null,
  };
}

/** Formats the errors in a value as `origin: path: reason`. */
function mistakesIn(path: string[], source: Source, error: RangeError): string[] {
  const { message: reason } = error;
  const mistakes = error instanceof TableMistakes ? error.mistakes : [{ place: '', reason }];
  return mistakes.map(({ place, reason }) => {
    const whole = JSON.stringify([...path, place].filter((part) => part !== '').join('.'));
    return [originOf(source, place), whole.slice(1, -1), reason]
      .filter((part) => part !== '')
      .join(': ');
  });
}

/** Returns the origin of a key in a table of a setting, or that of the setting. */
export function originOf({ origin, origins }: Source, place: string): Origin {
  return origins?.get(place) ?? origin;
}

/** Returns a problem for each file that holds a secret and that others can read. */
function openSecrets({ files }: OpenedFiles): string[] {
  const holdsSecret = ({ values }: OpenedFiles['files'][number]) =>
    settingRows.some(([name, { isSecret, mask }]) => {
      const text = values.get(name)?.text ?? '';
      return isSecret ? text !== '' : mask !== undefined && mask(text) !== text;
    });
  return files.filter(holdsSecret).flatMap(({ path }) => {
    return checkSecretFile(path).map(({ problem }) => problem);
  });
}

const networksIn = (source: Source | undefined) =>
  (source?.text ?? '').split(',').flatMap((network) => network.trim() || []);

/** Returns a problem if another user may change the file that names a command. */
function openCommands({ backupAfter, dataDir }: Config, sources: Readonly<Record<string, Source>>) {
  if (backupAfter.length === 0) return [];
  const path = (sources['backupAfter']?.origin ?? '').replace(/:\d+$/, '');
  return commandFileProblems(SETTINGS.backupAfter.key, path, dataDir);
}

/**
 * Kubernetes announces the Services of a namespace to every container, and Docker its linked
 * containers, by variables that begin with their name in capitals. A Service named `gatepost` is no
 * error in the configuration; one named `gatepost-monitor` sets the variable of a port to a URL.
 */
const NEIGHBOURS: readonly { name: RegExp; value: RegExp }[] = [
  { name: /_SERVICE_(?:HOST|PORT|PORT_\w+)$/, value: /^/ },
  { name: /_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/, value: /^/ },
  { name: /_PORT$/, value: /^(?:tcp|udp|sctp):\/\// },
  { name: /_NAME$/, value: /^\/[^/]+\/[^/]+$/ },
  { name: /_ENV_\w+$/, value: /^/ },
];

function isOfNeighbour(variable: string, text: string): boolean {
  if (!variable.startsWith('GATEPOST_')) return false;
  return NEIGHBOURS.some(({ name, value }) => name.test(variable) && value.test(text));
}

function withoutNeighbours(env: Environment) {
  const isIgnored = ([name, value]: [string, string | undefined]) =>
    isOfNeighbour(name, value ?? '');
  const entries = Object.entries(env);
  return {
    env: Object.fromEntries(entries.filter((entry) => !isIgnored(entry))),
    ignoredVariables: entries.filter(isIgnored).map(([name]) => name),
  };
}

function unknownVariables(env: Environment): string[] {
  const known = [CONFIG_VARIABLE, ...settingRows.map(([, row]) => row.env)];
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const near = nearest(
        name.slice(PREFIX.length),
        known.map((one) => one.slice(PREFIX.length)),
      );
      return `unknown setting ${name}${near === null ? '' : `; the nearest is ${PREFIX}${near}`}`;
    });
}

/** Returns the value of a setting; null: the default. */
function sourceOf(
  name: SettingName,
  flags: Flags,
  env: Environment,
  { values }: OpenedFiles,
): Source | null {
  const row = SETTINGS[name];
  const flag = flags[name];
  // An empty one counts as absent: a unit file may pass on an unset variable.
  if (flag) return { text: flag, origin: `--${FLAG_NAMES[name] ?? name}` };
  const variable = env[row.env];
  if (variable) return { text: variable, origin: row.env };
  return values.get(name) ?? null;
}

const FLAG_NAMES: Partial<Record<SettingName, string>> = { dataDir: 'data' };

function listed(problems: string[]): string {
  const [first = '', ...more] = problems;
  return more.length === 0
    ? first
    : `${problems.length} errors in the configuration:\n  ${problems.join('\n  ')}`;
}

/** The effect of a changed configuration on a running process. */
export interface Change {
  /** Keys of settings that take effect at once. */
  live: string[];
  /** Keys of settings that wait for a restart. */
  waiting: string[];
}

/** Returns the settings that differ. */
export function changeBetween(before: LoadedConfig, after: LoadedConfig): Change {
  const changed = settingRows.filter(
    ([name]) => before.sources[name].text !== after.sources[name].text,
  );
  return {
    live: changed.filter(([, row]) => row.isLive).map(([, row]) => row.key),
    waiting: changed.filter(([, row]) => !row.isLive).map(([, row]) => row.key),
  };
}

/**
 * Returns `next` as a reload applies it: settings that wait for a restart stay those of `current`,
 * so that each reload names them until then.
 */
export function reloaded(current: LoadedConfig, next: LoadedConfig): LoadedConfig {
  const waiting = settingRows.filter(([, row]) => !row.isLive).map(([name]) => name);
  const kept = (from: Readonly<Record<SettingName, unknown>>) =>
    Object.fromEntries(waiting.map((name) => [name, from[name]]));
  return {
    ...next,
    config: { ...next.config, ...kept(current.config) },
    sources: { ...next.sources, ...kept(current.sources) },
  };
}
