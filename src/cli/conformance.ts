/** `gatepost conformance`: runs the cases of `conformance/` against a server of the API. */

import type { Command } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import { secretIn } from '../base/permissions.ts';
import type { Case } from '../conformance/case.ts';
import { allCases } from '../conformance/cases.ts';
import { type Caller, type CaseVerdict, runCases } from '../conformance/run.ts';
import { AUTH_KEY, PROVIDER_CODE } from '../core/formats.ts';
import { isRecord, readJsonObject } from '../core/json-input.ts';
import { isRefused } from '../core/outcome.ts';
import { checkNames, report, startOf } from './case-report.ts';
import type { CliContext, CommonOptions } from './context.ts';
import { warnIfOpen } from './import-origin.ts';
import { KEY_FILE, type KeyOptions, readKey } from './key.ts';
import { authKeyValue, baseUrlValue, fileValue, providerCodeValue } from './values.ts';

interface ConformanceOptions extends CommonOptions, KeyOptions {
  providerCode?: string;
  providers?: string;
  write?: boolean;
  contract?: boolean;
  only?: string[];
}

/** The most bytes and values in a file of callers. */
const CALLER_BOUNDS = { bytesMax: 64 * 1024, valuesMax: 100 };
/** The width of the longest name of a case. */
const NAME_WIDTH = 34;
/** The most characters of a value in a line. */
const SHOWN_LENGTH_MAX = 300;

function chosenCases({ contract, only }: ConformanceOptions): readonly Case[] {
  const all = allCases();
  checkNames(all, only ?? [], ': conformance/ has the names');
  return all.filter(({ name, ours }) => (only?.includes(name) ?? true) && !(contract && ours));
}

/** Reads the callers of `--providers`. Throws {@link OperatorError} for an invalid file. */
function readCallers(path: string): Record<string, Caller> {
  const read = readJsonObject(secretIn(path), CALLER_BOUNDS, path);
  if (isRefused(read)) throw new OperatorError(read.detail);
  const callers: Record<string, Caller> = {};
  for (const [name, given] of Object.entries(read)) {
    const { provider_code: code, auth_key: key } = isRecord(given) ? given : {};
    const isCaller = typeof code === 'string' && typeof key === 'string';
    if (!isCaller || isRefused(PROVIDER_CODE.read(code)) || isRefused(AUTH_KEY.read(key))) {
      throw new OperatorError(`${path} has no valid provider_code and auth_key of ${name}`);
    }
    callers[name] = { provider_code: code, auth_key: key };
  }
  return callers;
}

function callersOf(context: CliContext, options: ConformanceOptions): Record<string, Caller> {
  const { providerCode, providers } = options;
  const callers = providers === undefined ? {} : readCallers(providers);
  const key = readKey(context, options);
  if ((key === undefined) !== (providerCode === undefined)) {
    throw new UsageError('--provider-code and --key-file go together');
  }
  if (key !== undefined && providerCode !== undefined) {
    callers['own'] = { provider_code: providerCode, auth_key: key };
  }
  if (options.write && callers['own'] === undefined) {
    throw new UsageError('--write needs a test provider: --provider-code');
  }
  return callers;
}

/** Returns a value of an answer as JSON in ASCII, shortened, safe for a terminal. */
function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? 'nothing').replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}

function lineOf(one: CaseVerdict): string {
  const { at, difference, rule, verdict } = one;
  const start = startOf(one, NAME_WIDTH);
  if (verdict === 'skipped') return `${start}${at}`;
  if (difference === null) return `${start}${rule}`;
  const { expected, got, path } = difference;
  const where = `      ${at}\n      ${path}: expected ${shown(expected)}, got ${shown(got)}`;
  return `${start}${rule}\n${where}`;
}

async function conform(
  context: CliContext,
  url: string,
  options: ConformanceOptions,
): Promise<void> {
  const { json, write = false } = options;
  const cases = chosenCases(options);
  const callers = callersOf(context, options);
  if (Object.keys(callers).length > 0) warnIfOpen(context, url);
  const { nowMs, sleep } = context;
  const how = { url, callers, writes: write, nowMs, sleep };
  await report<CaseVerdict>(context, json, lineOf, (tell) => runCases(cases, how, tell));
}

export function addConformanceCommand(program: Command, context: CliContext): void {
  program
    .command('conformance')
    .description('run the cases of the API against a server, and report different answers')
    .argument('<url>', 'base URL of the server', baseUrlValue)
    .option('--write', 'also run cases that change data')
    .option('--provider-code <code>', 'a test provider', providerCodeValue)
    .option('--key <key>', 'its key', authKeyValue)
    .option(...KEY_FILE)
    .option(
      '--providers <file>',
      'a JSON file with the providers that the cases need, - for stdin',
      fileValue,
    )
    .option('--contract', 'skip the cases that the public contract does not define')
    .option('--only <case...>', 'run only these cases')
    .action((url: string, options: ConformanceOptions) => conform(context, url, options));
}
